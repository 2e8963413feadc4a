//! A process that writes to the standard input of a job.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{Error, Result};

/// A process that feeds a job, or none.
pub(super) struct Feed(Option<Child>);

impl Feed {
    /// Starts `cat` with a file, if there is one.
    pub(super) fn start(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = opened(path).map_err(|error| Error::Io { path: path.to_owned(), doing: "", error })?;
        let mut command = Command::new("cat");
        command.stdin(file).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |error| Error::Start { command: "cat".to_owned(), error };
        Ok(Self(Some(command.spawn().map_err(failed)?)))
    }

    /// The read end of its pipe.
    pub(super) fn input(&mut self) -> Stdio {
        self.0.as_mut().and_then(|cat| cat.stdout.take()).map_or_else(Stdio::null, Stdio::from)
    }
}

/// Opens what `cat` can read.
fn opened(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

impl Drop for Feed {
    /// Waits for it: it ends when nobody reads the pipe any more. Only now, after the usage of the job was read, does its own
    /// usage count as that of a child.
    fn drop(&mut self) {
        if let Some(cat) = &mut self.0 {
            drop(cat.stdout.take());
            // It has not been waited for, so this cannot fail.
            let _ = cat.wait();
        }
    }
}
