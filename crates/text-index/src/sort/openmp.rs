//! Threads of OpenMP, which libsais sorts with.

use std::sync::{Mutex, mpsc};
use std::thread;

use finecomb_sys::locks::lock;
use finecomb_sys::out_of_memory::try_reserve_exact;
use finecomb_sys::threads;
use libsais::ThreadCount;
// Not used directly: its feature statically links the OpenMP runtime.
use openmp_sys as _;

/// The number of threads to sort with: as many as the system grants, up to `wanted`.
pub(super) fn thread_count(wanted: usize) -> ThreadCount {
    ThreadCount::fixed(u16::try_from(available_threads(wanted)).unwrap_or(u16::MAX))
}

/// Address space that OpenMP reserves for the stack of a thread, in bytes: Linux's default limit.
const STACK: usize = 8 << 20;

/// Number of threads, up to `wanted` and including the caller's, that the system grants at the same time.
///
/// OpenMP ends the process if it cannot start a thread. Starting the same number of threads here first, and keeping them until
/// all are counted, determines the number that is safe.
fn available_threads(wanted: usize) -> usize {
    let gate = Mutex::new(());
    let (report, reports) = mpsc::channel();
    thread::scope(|scope| {
        let closed = gate.lock();
        let start = |_| {
            let (gate, report) = (&gate, report.clone());
            let thread = threads::spawn(scope, move || {
                let mut stack: Vec<u8> = Vec::new();
                let has_space = try_reserve_exact(&mut stack, STACK).is_ok();
                let _ = report.send(has_space);
                drop(lock(gate));
            });
            // A thread that the system refused sends nothing.
            thread.and_then(|_| reports.recv().ok()).filter(|&has_space| has_space)
        };
        let started = (1..wanted).map_while(start).count();
        drop(closed);
        started + 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_thread_is_counted() {
        assert_eq!(available_threads(0), 1);
        assert_eq!(available_threads(1), 1);
        assert_eq!(available_threads(3), 3);
    }
}
