//! A program that shows the output on a terminal.

use std::fs::File;
use std::io::{self, IsTerminal, Write, stderr, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

use finecomb_scan::Stop;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stderr, dup2_stdout};

/// A running pager, which reads the output of this process. Waits for its end when dropped.
///
/// Messages go through the pager too if they would go to the terminal, where they would be printed across its screen.
///
/// Ctrl-C stops the job, and the pager shows the output so far. This process must not end before the pager does: the shell would
/// then read from the same terminal.
pub(crate) struct Pager {
    child: Child,
    /// The terminal, if messages go through the pager.
    errors: Option<OwnedFd>,
    interrupt: Arc<Stop>,
}

impl Pager {
    /// Starts a command in a shell, and makes its input the standard output of this process.
    ///
    /// # Errors
    /// If there is no shell, or the system refuses a file descriptor.
    pub(crate) fn start(command: &str) -> io::Result<Self> {
        let interrupt = Arc::new(Stop::on_interrupts()?);
        let mut child = Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).spawn()?;
        // The input is open in this process only as its standard output: the pager waits for the end of it.
        match child.stdin.take().map_or(Ok(None), |input| redirect(&input)) {
            Ok(errors) => Ok(Self { child, errors, interrupt }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Raised by Ctrl-C.
    pub(crate) fn interrupt(&self) -> &Arc<Stop> {
        &self.interrupt
    }
}

/// Makes the input of the pager the standard output, and the standard error if that is a terminal. Returns the terminal.
fn redirect(input: &ChildStdin) -> io::Result<Option<OwnedFd>> {
    let errors = match stderr().is_terminal() {
        true => Some(fcntl_dupfd_cloexec(stderr(), 0)?),
        false => None,
    };
    dup2_stdout(input)?;
    if errors.is_some() {
        dup2_stderr(input)?;
    }
    Ok(errors)
}

impl Drop for Pager {
    fn drop(&mut self) {
        // The pager ends when its input does. Nothing is printed to it afterwards.
        let _ = stdout().flush();
        if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
            let _ = dup2_stdout(&nowhere);
        }
        if let Some(errors) = &self.errors {
            let _ = dup2_stderr(errors.as_fd());
        }
        let _ = self.child.wait();
    }
}
