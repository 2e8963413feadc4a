//! Available memory, and huge pages.
#![allow(unsafe_code, reason = "advice on memory has no safe interface")]

use std::fs;
use std::ptr::NonNull;

use rustix::mm::{Advice, madvise};

/// Asks for huge pages for a range of memory that begins at one.
///
/// # Safety
/// The memory must have been allocated.
pub(crate) unsafe fn use_huge_pages(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the memory is there, and this advice does not change its contents. A failure is harmless.
    let _ = unsafe { madvise(start.as_ptr().cast(), bytes, Advice::LinuxHugepage) };
}

/// Gives memory that was freed back to the system. The allocator keeps what threads have freed, each in an area of its own.
pub(crate) fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call touches free memory only.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg_attr(not(target_env = "gnu"), allow(unused_variables))]
pub(crate) fn limit_parts(most: usize) {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call sets a number of the allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, i32::try_from(most).unwrap_or(i32::MAX));
    }
}

/// Memory available without swapping, in bytes: the lower of the kernel's estimate and the remaining limit of the control
/// group. `None` if neither can be read.
pub(crate) fn available() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok();
    let system = meminfo.and_then(|meminfo| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let number = |file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|most| most.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    system.into_iter().chain(group).min()
}
