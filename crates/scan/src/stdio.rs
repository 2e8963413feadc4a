//! Which of the standard streams were closed when the process started.
//!
//! The Rust runtime opens `/dev/null` in their place before `main`, so that a program cannot tell a closed stream
//! from an empty one any more: its input would be read as empty and its output would be lost without a word.

/// Whether standard input was closed when the process started. Known on Linux; elsewhere never.
pub fn input_was_closed() -> bool {
    at_start::was_closed(0)
}

/// Whether standard output was closed when the process started. Known on Linux; elsewhere never.
pub fn output_was_closed() -> bool {
    at_start::was_closed(1)
}

#[cfg(target_os = "linux")]
mod at_start {
    use std::os::fd::BorrowedFd;
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

    pub(super) fn was_closed(stream: usize) -> bool {
        CLOSED[stream].load(Ordering::Relaxed)
    }

    extern "C" fn look() {
        for (stream, closed) in (0..).zip(&CLOSED) {
            // SAFETY: the borrow ends within this statement, and asking the kernel about a descriptor that is not
            // open does no harm: it answers EBADF, which is what this asks for.
            let open = rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(stream) }).is_ok();
            closed.store(!open, Ordering::Relaxed);
        }
    }

    // SAFETY: the loader calls each function of this section once, before the runtime starts, with a C calling
    // convention. `look` needs nothing of the runtime: it makes two system calls and stores to atomics.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}

#[cfg(not(target_os = "linux"))]
mod at_start {
    pub(super) fn was_closed(_stream: usize) -> bool {
        false
    }
}
