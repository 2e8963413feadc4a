//! Files that a command writes where a user names them: what it reads, or what it did not write, is not replaced.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bytes that tell what a file is.
const HEAD: u64 = 64;

/// A file that is going to be written.
pub(crate) struct Output<'a> {
    pub(crate) path: &'a Path,
    /// The files that are read.
    pub(crate) sources: &'a [&'a Path],
    /// Whether to replace a file of any kind.
    pub(crate) force: bool,
}

/// A kind of file that a command writes and may replace: a name, and whether the first bytes of a file are of this kind.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) is_this: fn(&[u8]) -> bool,
}

impl Output<'_> {
    /// Refuses to write over a source, over what is not a regular file, and without `force` over a file of another kind, or over
    /// any file if there is no kind to recognise. An empty file may be replaced: nothing is lost with it.
    ///
    /// # Errors
    ///
    /// Says why not, and what to do.
    pub(crate) fn check(&self, kind: Option<&Kind>) -> Result<(), String> {
        let path = self.path.display();
        // If there is no file, or no directory, writing it says so.
        let Ok(metadata) = fs::metadata(self.path) else { return Ok(()) };
        not_an_input(self.path, self.sources)?;
        if !metadata.is_file() {
            return Err(format!("{path}: not a regular file; name another output"));
        }
        if self.force || metadata.len() == 0 || kind.is_some_and(|kind| self.is(kind)) {
            return Ok(());
        }
        let what = kind.map_or_else(String::new, |kind| format!(" and is not {}", kind.name));
        Err(format!("{path}: the file exists{what}; name another output, or use --force to replace it"))
    }

    fn is(&self, kind: &Kind) -> bool {
        let mut head = Vec::new();
        let read = File::open(self.path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        read.is_ok() && (kind.is_this)(&head)
    }
}

/// Refuses an output that is an input, by whatever name.
///
/// # Errors
///
/// Says which.
pub(crate) fn not_an_input(output: &Path, inputs: &[impl AsRef<Path>]) -> Result<(), String> {
    // A device may well be both.
    let identity = |path: &Path| {
        let metadata = fs::metadata(path).ok().filter(|metadata| metadata.is_file())?;
        Some((metadata.dev(), metadata.ino()))
    };
    let Some(written) = identity(output) else { return Ok(()) };
    match inputs.iter().find(|input| identity(input.as_ref()) == Some(written)) {
        None => Ok(()),
        Some(input) => {
            let (output, input) = (output.display(), input.as_ref().display());
            Err(format!("{output}: the output is the input {input}; name another file"))
        }
    }
}
