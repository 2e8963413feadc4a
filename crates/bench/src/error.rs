//! What can go wrong with a measurement.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use finecomb_sys::io_reason;
use thiserror::Error;

/// A result whose error is this crate's.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be opened, read, written or listed.
    #[error("{}: {doing}{}", path.display(), io_reason(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done, with a colon and a space behind it; empty if the reason says it all.
        doing: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// A command could not be started, or what it wrote could not be read.
    #[error("cannot run {command}: {}", io_reason(error))]
    Start {
        /// The command line.
        command: String,
        /// What the system said.
        error: io::Error,
    },
    /// A command failed.
    #[error("{command} {}", failure(*status, said))]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its standard error, joined to one.
        said: String,
    },
    /// The name of a picture does not say in which format to draw it.
    #[error("{}: a picture's name ends with .svg or .png", path.display())]
    PictureEnding {
        /// The name.
        path: PathBuf,
    },
    /// There is no font to write the labels of a PNG with.
    #[error(
        "{}: a PNG cannot be labelled here, as no fonts are installed; name a file that ends with .svg instead",
        path.display()
    )]
    NoFonts {
        /// The picture.
        path: PathBuf,
    },
    /// A picture could not be turned into pixels.
    #[error("{}: cannot draw the picture: {reason}", path.display())]
    Picture {
        /// The picture.
        path: PathBuf,
        /// What the library said.
        reason: String,
    },
    /// The system did not give a process as many threads as it should have.
    #[error("cannot start {count} threads: {}; ask for fewer", io_reason(error))]
    Thread {
        /// How many there should have been.
        count: usize,
        /// What the system said.
        error: io::Error,
    },
    /// What should be in memory does not fit in it.
    #[error("cannot hold {bytes} bytes in memory")]
    Memory {
        /// How many bytes it takes.
        bytes: u64,
    },
    /// A file is not what an experiment has written.
    #[error("{}: this is not a result of '{experiment}': {reason}", path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// The experiment.
        experiment: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A command that has no width was to be run at several.
    #[error(
        "'{command}' has no width to set; top and grep have, as in 'comb bench scale -- top -f 7 access.log'"
    )]
    NotScalable {
        /// The command.
        command: String,
    },
    /// A command that is to be run at several widths sets its own.
    #[error("leave out {flag}: 'comb bench scale' sets the width, those of --widths")]
    OwnWidth {
        /// What sets it.
        flag: String,
    },
    /// A command writes something else at another width.
    #[error("{job}: what it writes at width {other} is not what it writes at width {same}")]
    OutputsDiffer {
        /// The command line.
        job: String,
        /// The widths at which it writes the same as at the first.
        same: String,
        /// The others.
        other: String,
    },
    /// What should give the same result in every way did not.
    #[error("{this} found {found}, and {other} {expected}; did the files change meanwhile?")]
    Differs {
        /// The way of which that is said.
        this: String,
        /// What came of it.
        found: String,
        /// The way it is compared with.
        other: String,
        /// What came of that.
        expected: String,
    },
    /// A pattern is no regular expression.
    #[error("the pattern '{pattern}' is no regular expression: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server that is to be asked does not answer as it should.
    #[error("{reason}")]
    Server {
        /// What it said, or what was said of it.
        reason: String,
    },
    /// A question was not answered as it should have been.
    #[error("{way}: {reason}")]
    Asking {
        /// How it was asked.
        way: crate::serve::Way,
        /// What went wrong.
        reason: String,
    },
}

/// How a command ended, and what it had to say.
fn failure(status: ExitStatus, said: &str) -> String {
    let ended = match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "did not end as a process does".to_owned(),
    };
    if said.is_empty() { format!("{ended}; it said nothing") } else { format!("{ended}: {said}") }
}
