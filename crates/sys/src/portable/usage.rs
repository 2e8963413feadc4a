//! Usage that all systems count for each thread: CPU time alone.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::Usage;

/// CPU time of the calling thread. That in the kernel counts as time in user mode, and nothing else is known.
pub(crate) fn of_thread() -> Usage {
    let user = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    Usage { user, ..Usage::default() }
}

/// Returns `None`: bytes from storage are not counted.
pub(crate) fn bytes_from_storage() -> Option<u64> {
    None
}

/// Returns `None`: bytes from storage are not counted.
pub(crate) fn bytes_from_storage_by_thread() -> Option<u64> {
    None
}

/// Returns zero: blocks from storage are not counted for each thread.
#[inline]
pub(crate) fn blocks_from_storage_by_thread() -> u64 {
    0
}
