//! Usage that the kernel counts for each thread.

use std::fs;

use crate::Usage;
use crate::usage::reported;

/// Usage of the calling thread.
pub(crate) fn of_thread() -> Usage {
    Usage::of(libc::RUSAGE_THREAD)
}

/// Bytes that this process has caused to be read from storage (see proc_pid_io(5)).
pub(crate) fn bytes_from_storage() -> Option<u64> {
    bytes_read("/proc/self/io")
}

/// The same for the calling thread alone.
pub(crate) fn bytes_from_storage_by_thread() -> Option<u64> {
    bytes_read("/proc/thread-self/io")
}

/// Blocks that the calling thread has caused to be read from storage.
#[inline]
pub(crate) fn blocks_from_storage_by_thread() -> u64 {
    reported(libc::RUSAGE_THREAD).map_or(0, |usage| usage.ru_inblock.unsigned_abs())
}

fn bytes_read(path: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok())
}
