//! Threads that all do the same work.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{PoisonError, RwLock};
use std::thread::{self, Builder};
use std::time::Instant;

use crate::error::{Error, Result};

/// Takes every number below `count` once, in ascending order, by `width` new threads, each of which begins at
/// once and has a state of its own; returns the states in the order of the threads. A panic in one is a panic
/// here. Fails if the system refuses a thread; those that have begun then come to their end.
pub(crate) fn share_out<S: Default + Send>(
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
    let leave = |complete: bool| {
        if !complete {
            next.store(count, Ordering::Relaxed);
        }
    };
    started(width, |_| Builder::new(), work, leave)
}

/// Calls `work` on `count` new threads at the same instant, which it is given, and returns the results in the
/// order of the threads. A panic in one is a panic here. Fails if the system refuses a thread; none has begun
/// then.
pub(crate) fn together<T: Send>(count: usize, work: impl Fn(Instant) -> T + Sync) -> Result<Vec<T>> {
    at_gate(count, |_| Builder::new(), work)
}

/// Threads as [`together`] starts them, each built by its number.
///
/// The gate is a lock that is held for writing until all are there, and that they wait to read. When it is
/// released, the system wakes all of them at once, and none waits for another. With [`std::sync::Barrier`]
/// each would have to hold the same mutex in turn: a picture of 40 greedy threads showed the last one begin
/// two seconds after the first. Also, a barrier cannot be given up when the system refuses the last of them.
fn at_gate<T: Send>(
    count: usize,
    builder: impl Fn(usize) -> Builder,
    work: impl Fn(Instant) -> T + Sync,
) -> Result<Vec<T>> {
    let gate = RwLock::new(None);
    let (arrive, arrived) = channel();
    let mut opened = gate.write().unwrap_or_else(PoisonError::into_inner);
    let wait_and_work = || {
        // The receiver exists until all have arrived.
        let _ = arrive.send(());
        let opened: Option<Instant> = *gate.read().unwrap_or_else(PoisonError::into_inner);
        opened.map(&work)
    };
    // If a thread was refused, the gate opens without an instant, and the others end.
    let results = started(count, builder, wait_and_work, move |complete| {
        if complete {
            arrived.iter().take(count).for_each(drop);
            *opened = Some(Instant::now());
        }
    })?;
    Ok(results.into_iter().flatten().collect())
}

/// Starts threads, calls `ready` with whether all have been started, and waits for them.
fn started<T: Send>(
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
            let parts = share_out(width, count, take).expect("threads");
            assert!(parts.len() == width && parts.iter().all(|part| part.is_sorted()));
            let mut all = parts.concat();
            all.sort_unstable();
            assert_eq!(all, Vec::from_iter(0..count));
        }
    }

    #[test]
    fn no_thread_begins_before_all_are_there() {
        for count in [1, 2, 17] {
            let there = AtomicUsize::new(0);
            let begun = together(count, |opened| {
                there.fetch_add(1, Ordering::Relaxed);
                (opened, Instant::now())
            })
            .expect("threads");
            assert_eq!((begun.len(), there.into_inner()), (count, count));
            assert!(begun.iter().all(|&(opened, now)| opened == begun[0].0 && now >= opened));
        }
    }

    #[test]
    fn no_thread_begins_or_stays_when_one_is_refused() {
        let begun = AtomicUsize::new(0);
        let too_large_at_last =
            |number| Builder::new().stack_size(if number == 4 { 1 << 62 } else { 1 << 16 });
        let refused = at_gate(5, too_large_at_last, |_| begun.fetch_add(1, Ordering::Relaxed));
        assert!(matches!(refused, Err(Error::Thread { count: 5, .. })), "{refused:?}");
        assert_eq!(begun.into_inner(), 0);
    }
}
