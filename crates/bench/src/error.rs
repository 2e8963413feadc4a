//! Errors of measurements.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use finecomb_sys::io_reason;
use thiserror::Error;

/// A result whose error is this crate's.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a measurement.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be opened, read, written or listed.
    #[error("{}: {doing}{}", path.display(), io_reason(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation, with a colon and a space behind it; empty if the reason says it all.
        doing: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// A file is not what it should be, or cannot become it.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A command could not be started, or what it wrote could not be read.
    #[error("cannot run {command}: {}", io_reason(error))]
    Start {
        /// The command line.
        command: String,
        /// The system's error.
        error: io::Error,
    },
    /// A command failed.
    #[error("{command} {}", failure(*status, said))]
    Failed {
        /// The command line.
        command: String,
        /// Its exit status.
        status: ExitStatus,
        /// The last lines of its standard error, joined to one.
        said: String,
    },
    /// The system did not give a process as many threads as it should have.
    #[error("cannot start {count} threads: {}; use fewer threads", io_reason(error))]
    Thread {
        /// Number of threads asked for.
        count: usize,
        /// The system's error.
        error: io::Error,
    },
    /// Two ways gave different results.
    #[error("{this} found {found}, but {other} found {expected}; the files may have changed")]
    Differs {
        /// One way.
        this: String,
        /// Its result.
        found: String,
        /// The other way.
        other: String,
        /// Its result.
        expected: String,
    },
    /// Any other reason.
    #[error("{0}")]
    Other(String),
}

/// Exit status and messages of a command.
fn failure(status: ExitStatus, said: &str) -> String {
    let ended = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended without a status".to_owned(),
    };
    if said.is_empty() { format!("{ended}, without a message") } else { format!("{ended}: {said}") }
}
