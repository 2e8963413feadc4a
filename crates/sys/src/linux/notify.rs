//! Reports of changes, by inotify(7).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use rustix::io::Errno;

use crate::notify::{Event, Kinds};

/// Room for some hundred events.
const BUFFER: usize = 1 << 15;

/// A queue of reports. It is readable when there are some.
#[derive(Debug)]
pub struct ReportQueue(OwnedFd);

impl ReportQueue {
    /// Creates a queue.
    ///
    /// # Errors
    /// If the system has no queue left for this user.
    pub fn new() -> io::Result<Self> {
        Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
    }

    /// Watches the file or directory at a path. Returns the number of the watch, which is the same for all paths of a file.
    ///
    /// # Errors
    /// If there is nothing, or it may not be read, or, with `StorageFull`, the system allows no more watches.
    pub fn watch(&self, path: &Path, kinds: Kinds) -> io::Result<i32> {
        Ok(add_watch(&self.0, path, WatchFlags::from_bits_retain(kinds.0))?)
    }

    /// Watches an open file or directory, even if it has another path by now.
    ///
    /// # Errors
    /// As for a path.
    pub fn watch_open(&self, file: impl AsFd, kinds: Kinds) -> io::Result<i32> {
        self.watch(Path::new(&format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())), kinds)
    }

    /// Ends a watch, which may have ended with its file.
    pub fn unwatch(&self, watch: i32) {
        let _ = remove_watch(&self.0, watch);
    }

    /// Adds some events of the queue to `events`. Returns `false` if that was all.
    ///
    /// # Errors
    /// If the queue cannot be read.
    pub fn take(&self, events: &mut Vec<Event>) -> io::Result<bool> {
        let mut buffer = [const { MaybeUninit::uninit() }; BUFFER];
        let mut reader = Reader::new(&self.0, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => events.push(Event {
                    watch: event.wd(),
                    kinds: Kinds(event.events().bits()),
                    name: event.file_name().map(|name| name.to_bytes().to_vec()),
                    cookie: event.cookie(),
                }),
                Err(Errno::WOULDBLOCK) => return Ok(false),
                Err(Errno::INTR) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
            if reader.is_buffer_empty() {
                return Ok(true);
            }
        }
    }
}

impl AsFd for ReportQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
