//! Advice on how files will be read. A kernel may ignore it, so that no function here reports success.

use std::fs;
use std::num::NonZeroU64;
use std::os::fd::AsFd;

use rustix::fs::{Advice, fadvise, sync};
use rustix::pipe::fcntl_setpipe_size;

/// Kernel interface to drop all caches; writable by root only.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Drops the page cache, directory entries and inodes.
const PAGES_AND_NAMES: &str = "3\n";

/// Requested capacity of a pipe, in bytes: the maximum without privileges.
const PIPE_SIZE: usize = 1 << 20;

/// Whether files can be dropped from the page cache.
pub const CAN_FORGET: bool = true;

/// A file will be read in order from an offset on, so that it is read ahead further.
#[inline]
pub fn read_in_order(file: impl AsFd, start: u64) {
    let _ = fadvise(file, start, None, Advice::Sequential);
}

/// A file will be read here and there from an offset on, so that it is not read ahead.
#[inline]
pub fn read_at_random(file: impl AsFd, start: u64) {
    let _ = fadvise(file, start, None, Advice::Random);
}

/// A part of a file will be read soon, and is read into the page cache meanwhile. No length means up to the end.
#[inline]
pub fn prefetch(file: impl AsFd, offset: u64, length: u64) {
    let _ = fadvise(file, offset, NonZeroU64::new(length), Advice::WillNeed);
}

/// Drops a part of a file from the page cache, except pages that have not been written to storage. No length means up to the end.
#[inline]
pub fn forget(file: impl AsFd, offset: u64, length: u64) {
    let _ = fadvise(file, offset, NonZeroU64::new(length), Advice::DontNeed);
}

/// Drops all files, directory entries and inodes from the caches. Returns `false` if this process may not.
pub fn forget_everything() -> bool {
    // What has not been written cannot be dropped.
    sync();
    fs::write(DROP_CACHES, PAGES_AND_NAMES).is_ok()
}

/// Makes room in a pipe, so that writer and reader wait less often for each other. Does nothing for other files, and if the
/// pipes of the user take up as much as the system allows.
#[inline]
pub fn enlarge_pipe(file: impl AsFd) {
    let _ = fcntl_setpipe_size(file, PIPE_SIZE);
}
