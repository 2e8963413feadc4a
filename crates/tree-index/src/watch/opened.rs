//! Files that searches of this process have opened. Being opened ends the proof of a file, so a search takes a lease of it, with which the
//! watch proves it again: it need not open it once more, and the next search need not compare it.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};

use finecomb_sys::lease::Lease;
use finecomb_sys::locks::lock;

use super::waker::Waker;

/// Maximum number of leases that wait for the watch, each with a file descriptor. Files beyond that are opened by the watch.
const MOST: usize = 256;

/// Number of leases that wake the watch before the search has ended.
const MANY: usize = 64;

/// A file that was opened, with a lease of it.
pub(super) struct OpenedFile {
    /// Number in the catalog.
    pub(super) file: u32,
    pub(super) lease: Lease<OwnedFd>,
    /// Number of times that all proofs had been given up when its search began.
    pub(super) doubts: u64,
}

/// Files that wait for the watch. They wait at most until it has gathered the events that opening them has raised, so a writer does not
/// wait for long.
pub(super) struct OpenedFiles {
    waker: Arc<Waker>,
    files: Mutex<Vec<OpenedFile>>,
}

impl OpenedFiles {
    pub(super) fn new(waker: Arc<Waker>) -> Self {
        Self { waker, files: Mutex::default() }
    }

    pub(super) fn take(&self) -> Vec<OpenedFile> {
        std::mem::take(&mut lock(&self.files))
    }

    fn len(&self) -> usize {
        lock(&self.files).len()
    }

    /// Adds a file. Returns how many wait.
    fn add(&self, file: OpenedFile) -> usize {
        let mut files = lock(&self.files);
        files.push(file);
        files.len()
    }
}

/// The files that a search opens.
pub(super) struct Opening {
    waiting: Arc<OpenedFiles>,
    doubts: u64,
}

impl Opening {
    pub(super) fn new(waiting: Arc<OpenedFiles>, doubts: u64) -> Self {
        Self { waiting, doubts }
    }

    /// Takes a lease of a file that was opened. Without one, the watch opens the file itself.
    pub(super) fn add(&self, file: u32, opened: BorrowedFd<'_>) {
        let Self { waiting, doubts } = self;
        let lease = || Lease::take(opened.try_clone_to_owned()?);
        if waiting.len() < MOST
            && let Ok(lease) = lease()
            && waiting.add(OpenedFile { file, lease, doubts: *doubts }).is_multiple_of(MANY)
        {
            waiting.waker.wake();
        }
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if self.waiting.len() > 0 {
            self.waiting.waker.wake();
        }
    }
}
