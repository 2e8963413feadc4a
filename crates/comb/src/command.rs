//! Options to results: each command calls its crate and prints what comes of it.

pub(crate) mod bench;
pub(crate) mod find;
pub(crate) mod generate;
pub(crate) mod grep;
pub(crate) mod index;
mod output;
#[cfg(feature = "pi")]
pub(crate) mod pi;
mod profile;
pub(crate) mod serve;
pub(crate) mod top;

use std::fmt::Display;
use std::io;
use std::process::{ExitCode, Termination};

use finecomb_sys::io_reason;
use finecomb_sys::memory;
use finecomb_sys::units::Bytes;

use crate::message;

/// How comb ends: as grep does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Found = 0,
    Nothing = 1,
    Trouble = 2,
    /// 128 and the number of the signal, as shells say it.
    Interrupted = 130,
    Terminated = 143,
}

impl Exit {
    /// This, unless it says that all went well: then `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Found { other } else { self }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

/// Says what went wrong with all of the command.
pub(crate) fn trouble(reason: impl Display) -> Exit {
    message::error(reason);
    Exit::Trouble
}

/// Refuses what would be killed half-way: `what` needs so many bytes of memory.
pub(crate) fn fits_memory(what: impl Display, needed: u64) -> Result<(), String> {
    match memory::available() {
        Some(available) if needed > available => {
            Err(format!("{what} {} of memory, and {} are available", Bytes(needed), Bytes(available)))
        }
        _ => Ok(()),
    }
}

/// Says why standard output cannot be written. That its reader has gone away is a quiet end.
pub(crate) fn output_failed(error: &io::Error) -> Exit {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Exit::Found;
    }
    message::error(format_args!("standard output: {}", io_reason(error)));
    Exit::Trouble
}
