//! Starting threads. There is one policy for when the system refuses a thread: the work goes on with fewer.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use rustix::process::{Resource, getrlimit};

use crate::memory::has_address_space;

/// Address space that is free when a thread is started, in bytes. It takes about 3 MiB itself: the standard library's default
/// stack, its guard page, the alternative signal stack, and the first allocations. The rest is for what other threads
/// allocate meanwhile.
const THREAD_SPACE: usize = 16 << 20;

/// How many threads can run at the same time: the processors that this process may use, by its affinity and its control group.
pub fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Starts a thread in `scope`. None if the system refuses; `work` is then dropped without being called.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let (running, started) = room()?;
    let work = move || {
        running.tell();
        work()
    };
    let thread = Builder::new().spawn_scoped(scope, work).ok()?;
    started.wait();
    Some(thread)
}

/// Starts a thread that ends with the process at the latest, without being joined. False if the system refuses; `work` is
/// then dropped without being called.
pub fn spawn_detached(work: impl FnOnce() + Send + 'static) -> bool {
    let Some((running, started)) = room() else { return false };
    let work = move || {
        running.tell();
        work();
    };
    let is_spawned = Builder::new().spawn(work).is_ok();
    if is_spawned {
        started.wait();
    }
    is_spawned
}

/// Room for one more thread, if there is.
///
/// The standard library aborts when the alternative signal stack of a thread that has already started cannot be mapped. So
/// where address space is limited (`ulimit -v`), it is probed before the thread is started, and the starter waits until the
/// thread has what it needs: what the next one needs is probed after that. Without a limit this is one system call, which takes
/// less than a hundredth of starting a thread.
fn room() -> Option<(Running, Started)> {
    if getrlimit(Resource::As).current.is_none() {
        return Some((Running(None), Started(None)));
    }
    let (running, started) = mpsc::channel();
    has_address_space(THREAD_SPACE).then_some((Running(Some(running)), Started(Some(started))))
}

/// A new thread's side.
struct Running(Option<Sender<()>>);

impl Running {
    /// Tells that the thread runs. This is its first allocation, for which the C library takes address space.
    fn tell(self) {
        // The starter waits, so it receives this.
        let _ = self.0.map(|running| running.send(()));
    }
}

/// Its starter's side.
struct Started(Option<Receiver<()>>);

impl Started {
    fn wait(self) {
        let _ = self.0.map(|started| started.recv());
    }
}

/// Calls `work` for each part, on up to `threads` threads including the caller's, and returns the results in the order of the
/// parts. Each thread pulls the next part when it is done with one. A panic in one thread is a panic here.
pub fn map<P: Send, T: Send>(
    threads: usize,
    parts: impl IntoIterator<Item = P, IntoIter: Send>,
    work: impl Fn(P) -> T + Sync,
) -> Vec<T> {
    let parts = Mutex::new(parts.into_iter().enumerate());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let pull = || {
        let mut results = Vec::new();
        while let Some((number, part)) = next() {
            results.push((number, work(part)));
        }
        results
    };
    let mut results = thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map_while(|_| spawn(scope, pull)).collect();
        let mut results = pull();
        for worker in workers {
            results.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_parts() {
        for threads in [0, 1, 2, 3, 8, 64] {
            let squares = map(threads, 0..1000_u64, |number| number * number);
            assert!(squares.into_iter().eq((0..1000).map(|number| number * number)), "{threads} threads");
        }
        assert_eq!(map(1, [0; 0], |part| part), [0; 0]);
    }

    #[test]
    fn a_panic_on_a_thread_is_passed_on() {
        let panicking = || {
            map(2, 0..8, |part| {
                assert!(part != 5, "the sixth part");
            })
        };
        assert!(std::panic::catch_unwind(panicking).is_err());
    }
}
