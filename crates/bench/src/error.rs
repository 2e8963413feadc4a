//! Errors of measurements.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use finecomb_sys::io_reason;
use finecomb_sys::units::counted;
use thiserror::Error;

/// A result with the error of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a measurement.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be opened, read, written or listed.
    #[error("{}: {doing}{}", path.display(), io_reason(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// The failed operation, followed by a colon and a space; empty if the reason alone is clear.
        doing: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// A file has an invalid name or content, or cannot be made.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A command could not be started, or its output could not be read.
    #[error("cannot run {command}: {}", io_reason(error))]
    Start {
        /// The command line.
        command: String,
        /// The system's error.
        error: io::Error,
    },
    /// A command failed.
    #[error("{command} {}", failure(*status, message))]
    Failed {
        /// The command line.
        command: String,
        /// Its exit status.
        status: ExitStatus,
        /// The last lines of its standard error, joined to one line.
        message: String,
    },
    /// The system refused to start a thread.
    #[error("cannot start {}: {}; use fewer", counted(*count as u64, "thread"), io_reason(error))]
    Thread {
        /// Number of threads requested.
        count: usize,
        /// The system's error.
        error: io::Error,
    },
    /// Two runs that must agree gave different results.
    #[error("results differ: {this} found {found}, {other} found {expected}; did the files change?")]
    Differs {
        /// Name of one run.
        this: String,
        /// Its result.
        found: String,
        /// Name of the other run.
        other: String,
        /// Its result.
        expected: String,
    },
    /// The system cannot drop files from the page cache.
    #[error("cold runs of 'comb bench' need Linux, which drops files from the page cache; measure warm ones")]
    NoColdCache,
    /// Any other reason.
    #[error("{0}")]
    Other(String),
}

/// Exit status and message of a failed command.
fn failure(status: ExitStatus, message: &str) -> String {
    let ended = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended with an unknown status".to_owned(),
    };
    if message.is_empty() { format!("{ended} without a message") } else { format!("{ended}: {message}") }
}
