//! Knowledge of a tree from an earlier time, such as an index of it, and the proof that it still holds.
//!
//! A directory or a file is unchanged if its [`Stamp`] is. The job compares stamps while it walks: of every directory that it
//! enters, and of every file that it omits because of the snapshot. So an answer from a snapshot is correct for the time of the
//! job.
//!
//! The walk is that of any job, with three short cuts. A directory with the stamp of the snapshot takes its entries from there. Entries
//! are selected as they were if options and rules are the same ([`Snapshot::selection`]). A file that is known to hold no match
//! is compared by its stamp, and not opened. Everything else is read, so a wrong answer takes a file that differs under the same stamp.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Stat, fstat};

use crate::walk::listing::EntryKind;

/// Identity and version of a file or a directory, as the file system records them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Device of the file system.
    pub device: u64,
    /// Number of the file in the file system.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification. Anyone may set it.
    pub modified: Instant,
    /// Time of the last change of contents or metadata, which only the system sets.
    pub changed: Instant,
}

/// Seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    /// Seconds, rounded down.
    pub seconds: i64,
    /// Nanoseconds since then.
    pub nanoseconds: u32,
}

impl Stamp {
    /// The stamp of an open file or directory.
    ///
    /// # Errors
    /// If its metadata cannot be read.
    pub fn of_open(file: impl AsFd) -> io::Result<Self> {
        Ok(Self::of(&fstat(file)?))
    }

    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub(crate) fn of(stat: &Stat) -> Self {
        let instant = |seconds, nanoseconds| Instant { seconds, nanoseconds };
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: instant(stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            changed: instant(stat.st_ctime as i64, stat.st_ctime_nsec as u32),
        }
    }
}

/// A source of snapshots.
pub trait Snapshots: Send + Sync {
    /// Opens the snapshots of the trees that these inputs are in. Called once, before anything is read. `selection_in`
    /// returns the number of the [selection](Snapshot::selection) in a directory, if it has one.
    fn open(&self, named: &[PathBuf], selection_in: &dyn Fn(&Path) -> Option<u64>) -> Vec<Arc<dyn Snapshot>>;
}

/// Knowledge of a tree from an earlier time. Directories and files have numbers, each from 0.
pub trait Snapshot: Send + Sync {
    /// Returns the number of a directory, given its absolute path without links.
    fn find(&self, path: &Path) -> Option<u32>;

    /// Returns a bound of the number of entries of a directory.
    fn entry_count(&self, directory: u32) -> usize;

    /// Passes the entries of a directory to `add`, in the order of the bytes of their names, and returns the stamp with
    /// which they are complete; `None` if it may have other entries with any stamp.
    fn list(&self, directory: u32, add: &mut dyn FnMut(KnownEntry<'_>)) -> Option<Stamp>;

    /// Returns a number for all that decided which entries of a directory were selected: the options, and the text of the
    /// rule files there and above. `None` if the same text would not give the same selection, or not the same messages.
    fn selection(&self, directory: u32) -> Option<u64>;

    /// Returns the knowledge of a file.
    fn file(&self, file: u32) -> Known;

    /// Returns the stamp with which a file has the text that it had.
    fn stamp(&self, file: u32) -> Option<Stamp>;

    /// Returns the parts of a candidate that may hold a match, in order; `None` if it is to be read as a whole. The text must be
    /// the whole file, without a NUL and without a byte order mark. Default: `None`.
    fn parts(&self, _file: u32) -> Option<Vec<TextPart>> {
        None
    }

    /// Learns that a file was opened to be read. It may be another one than the snapshot knows by now. Default: nothing is done.
    fn opened(&self, _file: u32, _opened: BorrowedFd<'_>) {}
}

/// A part of a text: whole lines. Only the last line of the text may lack its line feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPart {
    /// Offset of its first byte.
    pub start: u64,
    /// Offset after its last byte.
    pub end: u64,
    /// Number of lines before it.
    pub lines_before: u64,
}

/// An entry of a directory of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct KnownEntry<'a> {
    /// Name in the directory.
    pub name: &'a CStr,
    /// Kind, that of the link itself for a symbolic link.
    pub kind: EntryKind,
    /// Number in the file system.
    pub inode: u64,
    /// Number of the file or directory in the snapshot, if it has one.
    pub number: Option<u32>,
    /// Whether it was selected.
    pub is_selected: bool,
}

/// Knowledge of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing that helps.
    Nothing,
    /// It may hold a match.
    Candidate,
    /// It does not, as long as it has this stamp.
    Absent(Absent),
}

/// A file without what a job looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The stamp with which it is without it.
    pub stamp: Stamp,
    /// Set if this holds for the whole file, which is text without a NUL and without a byte order mark. Otherwise it
    /// holds for the text before the first NUL.
    pub is_plain: bool,
}

/// Numbers of files that snapshots spared, and did not spare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Files whose stamps were compared.
    pub checked: u64,
    /// Files that have changed or can no longer be examined, among the compared ones.
    pub changed: u64,
    /// Files that may hold a match.
    pub candidates: u64,
    /// Files that no snapshot knows.
    pub unknown: u64,
    /// Files that were not read.
    pub omitted: u64,
}

impl Checks {
    pub(crate) fn add(&mut self, other: Self) {
        self.checked += other.checked;
        self.changed += other.changed;
        self.candidates += other.candidates;
        self.unknown += other.unknown;
        self.omitted += other.omitted;
    }
}
