//! Groups of threads that run the same function.

use std::panic::resume_unwind;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, Builder};
use std::time::Instant;

use finecomb_sys::locks::unpoisoned;

use crate::error::{Error, Result};

/// Calls `take` once for every number below `count`, in ascending order, on `width` new threads that start immediately and have
/// a state each; returns the states in the order of the threads. Propagates panics. Fails if the system refuses a thread; the
/// threads that have started then stop.
pub(crate) fn distribute<S: Default + Send>(
    width: usize,
    count: usize,
    take: impl Fn(&mut S, usize) + Sync,
) -> Result<Vec<S>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut state = S::default();
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                number if number < count => take(&mut state, number),
                _ => return state,
            }
        }
    };
    let stop_unless_complete = |complete: bool| {
        if !complete {
            next.store(count, Ordering::Relaxed);
        }
    };
    run_threads(width, |_| Builder::new(), work, stop_unless_complete)
}

/// Calls `work` on `count` new threads at the same instant, passed as its argument, and returns the results in the order of
/// the threads. Propagates panics. Fails if the system refuses a thread; then no thread calls `work`.
pub(crate) fn start_together<T: Send>(count: usize, work: impl Fn(Instant) -> T + Sync) -> Result<Vec<T>> {
    start_at_gate(count, |_| Builder::new(), work)
}

/// [`start_together`] with a builder for each thread number.
///
/// The gate is a lock that is held for writing until all threads wait to read it. When it is released, the kernel wakes all of
/// them at once, and none waits for another. With [`std::sync::Barrier`] each would have to acquire the same mutex in turn: of
/// 40 CPU-bound threads, the last started two seconds after the first. A barrier also cannot be abandoned if the system
/// refuses the last thread.
fn start_at_gate<T: Send>(
    count: usize,
    builder: impl Fn(usize) -> Builder,
    work: impl Fn(Instant) -> T + Sync,
) -> Result<Vec<T>> {
    let gate = RwLock::new(None);
    let (arrive, arrived) = channel();
    let mut opened = unpoisoned(gate.write());
    let wait_and_work = || {
        // The receiver exists until all have arrived.
        let _ = arrive.send(());
        let opened: Option<Instant> = *unpoisoned(gate.read());
        opened.map(&work)
    };
    // If a thread was refused, the gate opens without an instant, and the other threads return.
    let results = run_threads(count, builder, wait_and_work, move |complete| {
        if complete {
            arrived.iter().take(count).for_each(drop);
            *opened = Some(Instant::now());
        }
    })?;
    Ok(results.into_iter().flatten().collect())
}

/// Starts threads, calls `ready` with `true` if all have been started, and joins them.
fn run_threads<T: Send>(
    count: usize,
    builder: impl Fn(usize) -> Builder,
    work: impl Fn() -> T + Sync,
    ready: impl FnOnce(bool),
) -> Result<Vec<T>> {
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(count);
        for number in 0..count {
            match builder(number).spawn_scoped(scope, &work) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    ready(false);
                    return Err(Error::Thread { count, error });
                }
            }
        }
        ready(true);
        let results =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(results.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_taken_once() {
        for (width, count) in [(1, 9), (9, 9), (9, 1), (3, 1000), (2, 0)] {
            let take = |taken: &mut Vec<usize>, number| taken.push(number);
            let parts = distribute(width, count, take).expect("threads");
            assert!(parts.len() == width && parts.iter().all(|part| part.is_sorted()));
            let mut all = parts.concat();
            all.sort_unstable();
            assert_eq!(all, Vec::from_iter(0..count));
        }
    }

    #[test]
    fn no_thread_starts_work_before_all_have_arrived() {
        for count in [1, 2, 17] {
            let present = AtomicUsize::new(0);
            let begun = start_together(count, |opened| {
                present.fetch_add(1, Ordering::Relaxed);
                (opened, Instant::now())
            })
            .expect("threads");
            assert_eq!((begun.len(), present.into_inner()), (count, count));
            assert!(begun.iter().all(|&(opened, now)| opened == begun[0].0 && now >= opened));
        }
    }

    #[test]
    fn no_thread_works_or_remains_if_one_is_refused() {
        let begun = AtomicUsize::new(0);
        let too_large_at_last =
            |number| Builder::new().stack_size(if number == 4 { 1 << 62 } else { 1 << 16 });
        let refused = start_at_gate(5, too_large_at_last, |_| begun.fetch_add(1, Ordering::Relaxed));
        assert!(matches!(refused, Err(Error::Thread { count: 5, .. })), "{refused:?}");
        assert_eq!(begun.into_inner(), 0);
    }
}
