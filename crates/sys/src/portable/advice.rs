//! Advice on files: does nothing.

use std::os::fd::AsFd;

/// Whether files can be dropped from the page cache.
pub const CAN_FORGET: bool = false;

/// Does nothing: the system decides how far a file is read ahead.
#[inline]
pub fn read_in_order(_file: impl AsFd, _start: u64) {}

/// Does nothing: the system decides how far a file is read ahead.
#[inline]
pub fn read_at_random(_file: impl AsFd, _start: u64) {}

/// Does nothing: a file comes from storage when it is read.
#[inline]
pub fn prefetch(_file: impl AsFd, _offset: u64, _length: u64) {}

/// Does nothing: the page cache cannot be controlled.
#[inline]
pub fn forget(_file: impl AsFd, _offset: u64, _length: u64) {}

/// Returns `false`: the caches cannot be controlled.
pub fn forget_everything() -> bool {
    false
}

/// Does nothing: a pipe has the size that the system gives it.
#[inline]
pub fn enlarge_pipe(_file: impl AsFd) {}
