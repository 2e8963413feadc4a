//! Changes of mounts.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::event::PollFd;
use rustix::event::{PollFlags, Timespec, poll};

/// Device and inode of the namespace of mounts that this process is in.
///
/// # Errors
/// If the kernel does not report it.
pub fn namespace() -> io::Result<(u64, u64)> {
    fs::metadata("/proc/self/ns/mnt").map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Reports changes of mounts.
#[derive(Debug)]
pub struct Mounts(Option<File>);

impl Mounts {
    /// Reports changes from now on.
    pub fn watch() -> Self {
        Self(File::open("/proc/self/mountinfo").ok())
    }

    /// File that becomes ready when there is a change.
    pub fn poll(&self) -> Option<PollFd<'_>> {
        self.0.as_ref().map(|mounts| PollFd::new(mounts, PollFlags::PRI))
    }

    /// Returns `true` if mounts may have changed since the last call.
    pub fn take(&self) -> bool {
        self.poll().is_none_or(|change| poll(&mut [change], Some(&Timespec::default())) != Ok(0))
    }
}
