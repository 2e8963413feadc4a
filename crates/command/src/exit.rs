//! Exit statuses of the commands, and the errors that end one.

use std::fmt::Display;
use std::io::{self, Write, stdout};
use std::process::{ExitCode, Termination};
use std::sync::Arc;

use finecomb_sys::units::Bytes;
use finecomb_sys::{io_reason, memory, stdio};
use signal_hook::consts::SIGXFSZ;

use crate::advice::Advised;
use crate::args::selection::UsageError;
use crate::message;
use crate::program::Program;

/// Exit status, as that of grep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Something was found, or the command succeeded.
    Found = 0,
    /// Nothing was found.
    NotFound = 1,
    /// An error occurred.
    Error = 2,
    /// An interrupt ended it: 128 plus the number of the signal, as in shells.
    Interrupted = 130,
    /// The same for a request to end.
    Terminated = 143,
}

impl Exit {
    /// Returns `other` if this is a success, and this status otherwise.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Found { other } else { self }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

/// Makes writes beyond the limit of file sizes (`ulimit -f`) fail, so that they are reported; by default a signal ends the process. Programs
/// that it starts have the default.
pub(crate) fn survive_full_files() {
    // If it fails, the default is left.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Error that ends a command. It becomes a line on standard error in one place, where the command is called.
#[derive(Debug)]
pub enum Failure {
    /// An error in words.
    Message(String),
    /// Error of a write to standard output.
    Output(io::Error),
}

impl Failure {
    /// Prints the error. A closed pipe is not an error: its reader has seen enough.
    pub fn exit(self) -> Exit {
        match self {
            Self::Message(text) => fail(text),
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Found,
            Self::Output(error) => fail(format_args!("standard output: {}", io_reason(&error))),
        }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Message(text)
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Self::Message(text.to_owned())
    }
}

impl From<UsageError> for Failure {
    fn from(UsageError(text): UsageError) -> Self {
        let text = Program::current().renamed(text);
        Self::Message(text)
    }
}

impl<E: Advised> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Message(error.advised())
    }
}

/// An error of a write to standard output. Those of files are put in words, with the path, where they occur.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// End of a search over files. Its exit status is that of grep.
pub(crate) struct Ending {
    /// Error that ended the output.
    pub(crate) output_error: Option<io::Error>,
    /// Exit status of printing the profile.
    pub(crate) profiled: Exit,
    /// Whether anything was found.
    pub(crate) any: bool,
    /// Whether anything went wrong with an input.
    pub(crate) failed: bool,
    /// Whether only the exit status is wanted: a match then takes precedence over errors.
    pub(crate) quiet: bool,
}

impl Ending {
    /// Reports an error of the output.
    pub(crate) fn exit(self) -> Exit {
        let Self { output_error, profiled, any, failed, quiet } = self;
        if let Some(error) = output_error {
            return Failure::from(error).exit().or(if failed { Exit::Error } else { Exit::Found });
        }
        profiled.or(match any {
            true if quiet || !failed => Exit::Found,
            _ if failed => Exit::Error,
            _ => Exit::NotFound,
        })
    }
}

/// Prints the whole output of a command.
pub(crate) fn print(text: &[u8]) -> Exit {
    stdout().write_all(text).map_or_else(|error| Failure::from(error).exit(), |()| Exit::Found)
}

/// Prints an error after which the command continues, and returns its exit status.
pub fn fail(reason: impl Display) -> Exit {
    message::error(reason);
    Exit::Error
}

/// Checks that standard output is not closed, which would lose the result.
///
/// # Errors
/// If it is.
pub fn check_output() -> Result<(), Failure> {
    if stdio::output_was_closed() {
        return Err("standard output: closed; redirect output to a file or a pipe".into());
    }
    Ok(())
}

/// Checks that `needed` bytes of memory are available, as the system would kill the process half-way otherwise. `what`
/// begins the message, as in "10 digits take".
pub fn fits_memory(what: impl Display, needed: u64) -> Result<(), String> {
    match memory::available() {
        Some(available) if needed > available => {
            Err(format!("{what} {} of memory, and {} are available", Bytes(needed), Bytes(available)))
        }
        _ => Ok(()),
    }
}
