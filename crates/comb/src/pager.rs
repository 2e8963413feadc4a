//! A program that shows the output on a terminal.

use std::fs::File;
use std::io::{self, Write, stdout};
use std::process::{Child, Command, Stdio};

use rustix::stdio::dup2_stdout;

/// A running pager, which reads what this process prints. Waits for its end when dropped.
pub(crate) struct Pager(Child);

impl Pager {
    /// Starts a command in a shell, and makes its input the standard output of this process.
    ///
    /// # Errors
    /// If there is no shell.
    pub(crate) fn start(command: &str) -> io::Result<Self> {
        let mut child = Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).spawn()?;
        if let Some(input) = child.stdin.take() {
            dup2_stdout(&input)?;
        }
        Ok(Self(child))
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // The pager ends when its input does. Nothing is printed afterwards.
        let _ = stdout().flush();
        if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
            let _ = dup2_stdout(&nowhere);
        }
        let _ = self.0.wait();
    }
}
