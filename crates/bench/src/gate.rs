//! A starting gate: threads that are to begin together wait at it.

use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::sync::{PoisonError, RwLock};
use std::thread::{self, Builder};
use std::time::Instant;

use crate::error::{Error, Result};

/// Starts `count` threads, lets them begin `work` at the same instant, which it is told, and returns what
/// came of it, in the order of the threads. A panic in one is a panic here.
///
/// The gate is a lock that is held for writing until all are there, and that they wait to read. When it is
/// released, the system wakes all of them at once, and none waits for another. With [`std::sync::Barrier`]
/// each would have to hold the same mutex in turn: a picture of 40 greedy threads showed the last one begin
/// two seconds after the first. Also, a barrier cannot be given up when the system refuses the last of them.
///
/// # Errors
///
/// [`Error::Thread`] if the system does not give so many threads. None has begun then.
pub(crate) fn together<T: Send>(count: usize, work: impl Fn(Instant) -> T + Sync) -> Result<Vec<T>> {
    started(count, |_| Builder::new(), work)
}

/// The same with threads of one's own making, each known by its number.
fn started<T: Send>(
    count: usize,
    builder: impl Fn(usize) -> Builder,
    work: impl Fn(Instant) -> T + Sync,
) -> Result<Vec<T>> {
    let gate = RwLock::new(None);
    let (arrive, arrived) = channel();
    thread::scope(|scope| {
        let mut opened = gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut threads = Vec::with_capacity(count);
        for number in 0..count {
            let (gate, arrive, work) = (&gate, arrive.clone(), &work);
            let begin = move || {
                // Whoever opens the gate is there until all have arrived.
                let _ = arrive.send(());
                let opened: Option<Instant> = *gate.read().unwrap_or_else(PoisonError::into_inner);
                opened.map(work)
            };
            // On an error the gate opens without an instant, and everyone leaves.
            let thread = builder(number).spawn_scoped(scope, begin);
            threads.push(thread.map_err(|error| Error::Thread { count, error })?);
        }
        arrived.iter().take(count).for_each(drop);
        *opened = Some(Instant::now());
        drop(opened);
        let ended =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(ended.flatten().collect())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn nobody_begins_before_all_are_there() {
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
    fn nobody_begins_or_stays_when_one_is_refused() {
        let begun = AtomicUsize::new(0);
        let too_large_at_last =
            |number| Builder::new().stack_size(if number == 4 { 1 << 62 } else { 1 << 16 });
        let refused = started(5, too_large_at_last, |_| begun.fetch_add(1, Ordering::Relaxed));
        assert!(matches!(refused, Err(Error::Thread { count: 5, .. })), "{refused:?}");
        assert_eq!(begun.into_inner(), 0);
    }
}
