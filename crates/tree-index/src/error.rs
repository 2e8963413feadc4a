//! Why an index cannot be used, or not be written.

use std::io;
use std::path::PathBuf;

use finecomb_sys::io_reason;
use thiserror::Error;

/// Why an index cannot be built, opened or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory of the index cannot be read or written.
    #[error("{}: {}", path.display(), io_reason(error))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// There is no index of this directory.
    #[error("{}: no index", .0.display())]
    Missing(PathBuf),
    /// A file of the index is damaged.
    #[error("{}: damaged {what}; build the index again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damaged part.
        what: &'static str,
    },
    /// Values that were derived from texts are damaged.
    #[error("{}: damaged; remove it", .0.display())]
    Values(PathBuf),
    /// The terms of a segment's files are damaged.
    #[error("{}: damaged; remove it", .0.display())]
    Terms(PathBuf),
    /// The index was written by another version of the program, in another format.
    #[error("{}: the format of another version of comb; build the index again", .0.display())]
    Version(PathBuf),
    /// The index was built by another user, or a user with other groups, who may read other files.
    #[error("{}: built with other permissions; build the index again", .0.display())]
    Credentials(PathBuf),
    /// The clock shows a time before the build.
    #[error("{}: built in the future; check the clock, and build the index again", .0.display())]
    Clock(PathBuf),
    /// The directory to be indexed cannot be listed.
    #[error("{0}")]
    Tree(String),
    /// Another process writes the index.
    #[error("{}: another process is writing this index", .0.display())]
    Busy(PathBuf),
    /// The system does not report the changes that a watch needs.
    #[error("{}: a watch needs Linux, whose kernel reports changes and writers", .0.display())]
    NoWatch(PathBuf),
    /// Another process watches the tree.
    #[error("{}: another process is watching this tree", .0.display())]
    Watched(PathBuf),
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |error| Self::Io { path, error }
    }

    pub(crate) fn damaged(path: impl Into<PathBuf>, what: &'static str) -> Self {
        Self::Damaged { path: path.into(), what }
    }
}
