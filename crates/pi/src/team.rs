//! Threads of a computation, with a stop flag and progress.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use finecomb_sys::locks::lock;
use finecomb_sys::threads;

use crate::progress::Progress;
use crate::transform::Tables;
use crate::{Error, Options};

/// Length of the transforms that the first tables cover, as a power of two.
const FIRST_TABLES: u32 = 12;

/// A limited number of threads that work on one computation.
///
/// A thread is started when there are two tasks and fewer threads run than allowed, and ends with its task. A thread
/// that waits for another task frees its place meanwhile.
pub(crate) struct Team<'a> {
    /// Number of threads that may still be started.
    idle: AtomicUsize,
    stop: Option<&'a AtomicBool>,
    progress: Progress<'a>,
    /// Roots of unity for transforms of up to the maximum length so far.
    tables: Mutex<Arc<Tables>>,
}

impl<'a> Team<'a> {
    /// Creates the team of `options` for a computation of about this much `work`: see [`work_of_product`](crate::product::work_of_product).
    pub(crate) fn new(options: &Options<'a>, work: f64) -> Self {
        Self {
            idle: AtomicUsize::new(options.threads.get() - 1),
            stop: options.stop,
            progress: Progress::new(options.progress, work),
            tables: Mutex::new(Arc::new(Tables::new(FIRST_TABLES))),
        }
    }

    /// Fails if the computation is to stop.
    pub(crate) fn check_stop(&self) -> Result<(), Error> {
        let stopped = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if stopped { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Records work that is done.
    pub(crate) fn add_work(&self, work: u64) {
        self.progress.add(work);
    }

    /// Reports the end to the caller.
    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    fn claim_thread(&self) -> bool {
        let take = |idle: usize| idle.checked_sub(1);
        self.idle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Runs both tasks, concurrently if another thread is available.
    pub(crate) fn join<A, B>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B)
    where
        A: Send,
        B: Send,
    {
        if self.claim_thread() { self.join_on_threads(first, second) } else { (first(), second()) }
    }

    fn join_on_threads<A, B>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B)
    where
        A: Send,
        B: Send,
    {
        // The task that ends first frees a place for another thread; the other one continues after the join.
        let one_is_done = AtomicBool::new(false);
        let release_thread = || {
            if !one_is_done.swap(true, Ordering::Relaxed) {
                self.idle.fetch_add(1, Ordering::Relaxed);
            }
        };
        // A thread that cannot be started drops its closure, so the task stays here.
        let task = Mutex::new(Some(second));
        let take_task = || lock(&task).take();
        thread::scope(|scope| {
            let run_task = || {
                let done = take_task().map(|second| second());
                release_thread();
                done
            };
            let helper = threads::spawn(scope, run_task);
            let first = first();
            release_thread();
            // The task is still here if the thread could not be started, or has not begun yet.
            match (take_task(), helper) {
                (Some(second), _) => (first, second()),
                (None, Some(helper)) => match helper.join() {
                    Ok(Some(second)) => (first, second),
                    Ok(None) => unreachable!("the task was taken, and not here"),
                    Err(panic) => resume_unwind(panic),
                },
                (None, None) => unreachable!("only a started thread takes the task"),
            }
        })
    }

    /// Runs both tasks as [`join`](Self::join) does if they are `large`, and otherwise one after the other.
    pub(crate) fn join_if<A: Send, B: Send>(
        &self,
        large: bool,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        if large { self.join(first, second) } else { (first(), second()) }
    }

    /// Runs both tasks as [`join`](Self::join) does if they are `large`, and otherwise one after the other. Fails if
    /// one of them does.
    pub(crate) fn try_join<A: Send, B: Send>(
        &self,
        large: bool,
        first: impl FnOnce() -> Result<A, Error> + Send,
        second: impl FnOnce() -> Result<B, Error> + Send,
    ) -> Result<(A, B), Error> {
        if !large {
            return Ok((first()?, second()?));
        }
        let (first, second) = self.join(first, second);
        Ok((first?, second?))
    }

    /// Returns roots of unity for transforms of up to 2^`length_bits` residues.
    pub(crate) fn tables(&self, length_bits: u32) -> Arc<Tables> {
        let mut tables = lock(&self.tables);
        if !tables.cover(length_bits) {
            *tables = Arc::new(Tables::new(length_bits));
        }
        Arc::clone(&tables)
    }
}

/// A team of a single thread, for tests.
#[cfg(test)]
pub(crate) fn single_threaded() -> Team<'static> {
    Team::new(&Options::new(std::num::NonZeroUsize::MIN), 1.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::num::NonZeroUsize;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    pub(crate) fn team_of(threads: usize) -> Team<'static> {
        Team::new(&Options::new(NonZeroUsize::new(threads).unwrap()), 1.0)
    }

    /// Forks into 2^`depth` leaves and returns their number.
    fn fork(team: &Team<'_>, depth: u32, running: &AtomicUsize, most: &AtomicUsize) -> usize {
        if depth == 0 {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_micros(200));
            running.fetch_sub(1, Ordering::SeqCst);
            return 1;
        }
        let deeper = || fork(team, depth - 1, running, most);
        let (first, second) = team.join(deeper, deeper);
        first + second
    }

    #[test]
    fn the_limit_of_threads_is_kept() {
        for threads in [1, 2, 3, 8] {
            let team = team_of(threads);
            let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            assert_eq!(fork(&team, 8, &running, &most), 256);
            assert!(most.into_inner() <= threads, "{threads} threads");
            assert_eq!(team.idle.into_inner(), threads - 1, "all places are free again");
        }
    }

    #[test]
    fn a_panic_on_a_thread_is_propagated() {
        let team = team_of(2);
        let panicking = std::panic::AssertUnwindSafe(|| {
            team.join(|| thread::sleep(std::time::Duration::from_millis(20)), || panic!("on a thread"))
        });
        let panic = std::panic::catch_unwind(panicking).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on a thread"));
    }
}
