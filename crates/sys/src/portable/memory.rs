//! Available memory, and huge pages.
#![allow(unsafe_code, reason = "it has the signature of the function for Linux")]

use std::ptr::NonNull;

/// Does nothing: the system decides about huge pages.
///
/// # Safety
/// There is no requirement.
pub(crate) unsafe fn use_huge_pages(_start: NonNull<u8>, _bytes: usize) {}

/// Returns `None`: no call that all systems have tells it.
pub(crate) fn available() -> Option<u64> {
    None
}
