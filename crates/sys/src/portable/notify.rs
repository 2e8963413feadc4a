//! Reports of changes: unsupported.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::unsupported;
use crate::notify::{Event, Kinds};

/// A queue of reports. There is none.
#[derive(Debug)]
pub struct ReportQueue(OwnedFd);

impl ReportQueue {
    /// Creates no queue.
    ///
    /// # Errors
    /// Always.
    pub fn new() -> io::Result<Self> {
        unsupported()
    }

    /// Watches nothing.
    ///
    /// # Errors
    /// Always.
    pub fn watch(&self, _path: &Path, _kinds: Kinds) -> io::Result<i32> {
        unsupported()
    }

    /// Watches nothing.
    ///
    /// # Errors
    /// Always.
    pub fn watch_open(&self, _file: impl AsFd, _kinds: Kinds) -> io::Result<i32> {
        unsupported()
    }

    /// Does nothing: there is no watch.
    pub fn unwatch(&self, _watch: i32) {}

    /// Takes no events.
    ///
    /// # Errors
    /// Always.
    pub fn take(&self, _events: &mut Vec<Event>) -> io::Result<bool> {
        unsupported()
    }
}

impl AsFd for ReportQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
