//! A fixed number of threads that all do the same work.

use std::panic::resume_unwind;
use std::thread;

use crate::error::{Error, Result};

/// Does `work` on so many new threads, each of which begins at once, and returns what came of it. A panic in
/// one is a panic here.
///
/// # Errors
///
/// [`Error::Thread`] if the system does not give so many threads. `leave` is called then, for those that have
/// begun to come to their end.
pub(crate) fn on_threads<T: Send>(
    count: usize,
    work: impl Fn() -> T + Sync,
    leave: impl FnOnce(),
) -> Result<Vec<T>> {
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(count);
        for _ in 0..count {
            match thread::Builder::new().spawn_scoped(scope, &work) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    leave();
                    return Err(Error::Thread { count, error });
                }
            }
        }
        Ok(threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_thread_does_the_work_once() {
        let next = AtomicUsize::new(0);
        let mut all = on_threads(9, || next.fetch_add(1, Ordering::Relaxed), || ()).expect("threads");
        all.sort_unstable();
        assert_eq!(all, Vec::from_iter(0..9));
    }
}
