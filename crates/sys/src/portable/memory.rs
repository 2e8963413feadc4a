//! Available memory, and huge pages.
#![allow(unsafe_code, reason = "functions of the C library, and one with the signature of that for Linux")]

use std::ptr::NonNull;

use rustix::param::page_size;

/// Does nothing: the system decides about huge pages.
///
/// # Safety
/// There is no requirement.
pub(crate) unsafe fn use_huge_pages(_start: NonNull<u8>, _bytes: usize) {}

/// Does nothing: the allocator decides what it keeps.
pub(crate) fn give_back() {}

/// Does nothing, too.
pub(crate) fn limit_parts(_most: usize) {}

/// All memory of the machine, in bytes: how much of it is free is not known.
pub(crate) fn available() -> Option<u64> {
    // SAFETY: the call takes a number and touches no memory of this process.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    u64::try_from(pages).ok()?.checked_mul(page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_memory() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
