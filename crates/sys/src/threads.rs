//! Starting threads. If the system refuses a thread, the work continues with fewer.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, OnceLock};
use std::thread::{self, Builder, JoinHandle, Scope, ScopedJoinHandle};

use rustix::process::{Resource, getrlimit};

use crate::locks::{lock, unpoisoned};
use crate::memory::has_address_space;

/// Address space that must be free to start a thread, in bytes. The thread itself takes about 3 MiB: the default stack
/// of the standard library, its guard page, the alternative signal stack, and the first allocations. The rest is for
/// concurrent allocations of other threads.
const THREAD_SPACE: usize = 16 << 20;

/// Number of cores that were available to this process when it was first asked for (CPU affinity and control group), which takes 12 system calls.
pub fn cores() -> NonZeroUsize {
    static CORES: OnceLock<NonZeroUsize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

/// Starts a thread in `scope`. Returns `None` if the system refuses; `work` is then dropped without being called.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let (running, started) = room()?;
    let work = move || {
        running.signal();
        work()
    };
    let thread = Builder::new().spawn_scoped(scope, work).ok()?;
    started.wait();
    Some(thread)
}

/// Starts a thread that is not joined, and ends with the process at the latest. Returns `false` if the system refuses;
/// `work` is then dropped without being called.
pub fn spawn_detached(work: impl FnOnce() + Send + 'static) -> bool {
    spawn_free(work).is_some()
}

/// Starts a thread of no scope. Returns `None` if the system refuses; `work` is then dropped without being called.
pub fn spawn_free<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<JoinHandle<T>> {
    let (running, started) = room()?;
    let work = move || {
        running.signal();
        work()
    };
    let thread = Builder::new().spawn(work).ok()?;
    started.wait();
    Some(thread)
}

/// Checks that there is room for one more thread.
///
/// The standard library aborts if the alternative signal stack of a started thread cannot be mapped. So if address
/// space is limited (`ulimit -v`), it is probed before the thread is started, and the caller waits until the thread has
/// made its allocations before it probes for the next one. Without a limit this is a single system call, which takes
/// less than a hundredth of the time of starting a thread.
fn room() -> Option<(StartSignal, Started)> {
    if getrlimit(Resource::As).current.is_none() {
        return Some((StartSignal(None), Started(None)));
    }
    let (running, started) = mpsc::channel();
    has_address_space(THREAD_SPACE).then_some((StartSignal(Some(running)), Started(Some(started))))
}

/// The side of the new thread.
struct StartSignal(Option<Sender<()>>);

impl StartSignal {
    /// Signals that the thread runs. This is its first allocation, for which the C library takes address space.
    fn signal(self) {
        // The other side is waiting, so it receives this.
        let _ = self.0.map(|running| running.send(()));
    }
}

/// The side of the thread that starts it.
struct Started(Option<Receiver<()>>);

impl Started {
    fn wait(self) {
        let _ = self.0.map(|started| started.recv());
    }
}

/// Calls `work` for each part on up to `threads` threads, including the caller's, and returns the results in the order
/// of the parts. Each thread pulls the next part when it is done with one. A panic in one thread is propagated to the
/// caller.
pub fn map<P: Send, T: Send>(
    threads: usize,
    parts: impl IntoIterator<Item = P, IntoIter: Send>,
    work: impl Fn(P) -> T + Sync,
) -> Vec<T> {
    let parts = Mutex::new(parts.into_iter().enumerate());
    let next = || lock(&parts).next();
    let results = NumberedResults::default();
    on_each(threads, &|| {
        while let Some((number, part)) = next() {
            results.put(number, work(part));
        }
    });
    results.in_order()
}

/// Results of numbered parts, which threads put in any order.
#[derive(Debug)]
pub struct NumberedResults<T>(Mutex<Vec<Option<T>>>);

impl<T> Default for NumberedResults<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> NumberedResults<T> {
    /// Puts the result of the part with this number, which takes memory for all numbers below.
    pub fn put(&self, number: usize, result: T) {
        let mut results = lock(&self.0);
        if results.len() <= number {
            results.resize_with(number + 1, || None);
        }
        results[number] = Some(result);
    }

    /// The results that are present, in the order of the numbers.
    pub fn in_order(self) -> Vec<T> {
        unpoisoned(self.0.into_inner()).into_iter().flatten().collect()
    }
}

/// Calls `work` on up to `threads` threads, including the caller's. Not generic, so that [`map`] has no copy of it for each kind of part.
fn on_each(threads: usize, work: &(dyn Fn() + Sync)) {
    thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map_while(|_| spawn(scope, work)).collect();
        work();
        for worker in workers {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
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
    fn results_may_be_put_in_any_order_and_be_missing() {
        let results = NumberedResults::default();
        for number in [5, 0, 3] {
            results.put(number, number);
        }
        assert_eq!(results.in_order(), [0, 3, 5]);
    }

    #[test]
    fn a_panic_on_a_thread_is_propagated() {
        let panicking = || {
            map(2, 0..8, |part| {
                assert!(part != 5, "the sixth part");
            })
        };
        assert!(std::panic::catch_unwind(panicking).is_err());
    }
}
