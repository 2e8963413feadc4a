//! Asking for files before they are read.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::fs::{Advice, fadvise};

use crate::walk::directory::Directory;

/// How many files are asked for before the one that is read.
const FILES: usize = 4;

/// The files of a directory, each opened when it is its turn, or, if they come from storage, a few earlier.
pub(super) struct Ahead<'a> {
    directory: &'a Directory,
    follow: bool,
    opened: VecDeque<io::Result<OwnedFd>>,
    /// Those that have not been opened.
    rest: Range<usize>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(directory: &'a Directory, entries: Range<usize>, follow: bool) -> Self {
        Self { directory, follow, opened: VecDeque::new(), rest: entries }
    }

    /// The next file. If files come from storage, those behind it are asked for.
    pub(super) fn open(&mut self, is_cold: bool) -> io::Result<OwnedFd> {
        while self.opened.is_empty() || is_cold && self.opened.len() <= FILES {
            let Some(entry) = self.rest.next() else { break };
            let opened = self.directory.open(&self.directory.listing.entries()[entry], self.follow);
            if let Ok(file) = &opened
                && is_cold
            {
                // An advice: where it is not taken, the file is read all the same.
                let _ = fadvise(file, 0, None, Advice::WillNeed);
            }
            self.opened.push_back(opened);
        }
        self.opened.pop_front().unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
    }
}
