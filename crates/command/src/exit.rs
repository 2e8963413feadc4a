//! Exit statuses of the commands, and the errors that end one.

use std::fmt::Display;
use std::io::{self, Write, stdout};
use std::process::{ExitCode, Termination};

use finecomb_sys::units::Bytes;
use finecomb_sys::{io_reason, memory, stdio};

use crate::message;

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
            return output_failed(&error).or(if failed { Exit::Error } else { Exit::Found });
        }
        profiled.or(match () {
            () if any && (quiet || !failed) => Exit::Found,
            () if failed => Exit::Error,
            () => Exit::NotFound,
        })
    }
}

/// Prints the whole output of a command.
pub(crate) fn print(text: &[u8]) -> Exit {
    match stdout().write_all(text) {
        Ok(()) => Exit::Found,
        Err(error) => output_failed(&error),
    }
}

/// Prints an error that ends the command.
pub fn fail(reason: impl Display) -> Exit {
    message::error(reason);
    Exit::Error
}

/// Prints an error if standard output is closed, which would lose the result.
pub fn check_output() -> Result<(), Exit> {
    if stdio::output_was_closed() {
        return Err(fail("standard output: closed; redirect output to a file or a pipe"));
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

/// Prints an error of a write to standard output. A closed pipe is not an error: its reader has seen enough.
pub fn output_failed(error: &io::Error) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Exit::Found;
    }
    fail(format_args!("standard output: {}", io_reason(error)))
}
