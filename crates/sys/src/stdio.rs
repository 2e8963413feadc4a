//! Standard streams that were closed when the process started.
//!
//! The Rust runtime opens `/dev/null` in place of closed streams before `main`, so a program cannot distinguish a
//! closed stream from an empty one: its input would be read as empty and its output would be lost silently. A binary
//! that needs to know calls [`record_closed_streams`] before the runtime starts.
#![allow(unsafe_code, reason = "a stream that may be closed is examined by its number")]

use std::io::{stdin, stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{FdFlags, fcntl_setfd};

static CLOSED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

/// Returns `true` if standard input was closed when the process started; `false` without a call of
/// [`record_closed_streams`].
pub fn input_was_closed() -> bool {
    CLOSED[0].load(Ordering::Relaxed)
}

/// Returns `true` if standard output was closed when the process started; `false` without a call of
/// [`record_closed_streams`].
pub fn output_was_closed() -> bool {
    CLOSED[1].load(Ordering::Relaxed)
}

/// Makes streams that were closed when the process started closed ones of the program that this process becomes next.
pub fn close_again_on_exec() {
    for (was_closed, stream) in
        [(input_was_closed(), stdin().as_fd()), (output_was_closed(), stdout().as_fd())]
    {
        if was_closed {
            // If it fails, the program reads nothing, or writes to nowhere.
            let _ = fcntl_setfd(stream, FdFlags::CLOEXEC);
        }
    }
}

/// Records whether standard input and output are closed.
///
/// Place it in the `.init_array` section of the binary, whose functions the loader calls before the runtime starts. It
/// does not use the runtime: it makes two system calls and stores to two atomics.
pub extern "C" fn record_closed_streams() {
    for (stream, closed) in (0..).zip(&CLOSED) {
        // SAFETY: the borrow ends within this statement. Querying a descriptor that is not open is harmless: the kernel
        // returns EBADF.
        let open = rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(stream) }).is_ok();
        closed.store(!open, Ordering::Relaxed);
    }
}
