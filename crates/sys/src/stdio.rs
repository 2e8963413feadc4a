//! Which standard streams were closed when the process started.
//!
//! The Rust runtime opens `/dev/null` in place of closed streams before `main`, so a program cannot tell a closed stream from
//! an empty one any more: its input would be read as empty and its output would be lost silently. A binary that wants to know
//! calls [`record_closed_streams`] before the runtime starts.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

/// Whether standard input was closed when the process started; false if nobody called [`record_closed_streams`].
pub fn input_was_closed() -> bool {
    CLOSED[0].load(Ordering::Relaxed)
}

/// Whether standard output was closed when the process started; false if nobody called [`record_closed_streams`].
pub fn output_was_closed() -> bool {
    CLOSED[1].load(Ordering::Relaxed)
}

/// Records which of standard input and output are closed.
///
/// To be placed in the binary's `.init_array` section, whose functions the loader calls before the runtime starts. It needs
/// nothing of the runtime: it makes two system calls and stores to two atomics.
pub extern "C" fn record_closed_streams() {
    for (stream, closed) in (0..).zip(&CLOSED) {
        // SAFETY: the borrow ends within this statement. Asking the kernel about a descriptor that is not open does no harm:
        // it answers EBADF, which is what this asks for.
        let open = rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(stream) }).is_ok();
        closed.store(!open, Ordering::Relaxed);
    }
}
