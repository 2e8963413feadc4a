//! The pool of work of a job: workers take work from it, sleep while there is none, and are parked by the governor.
//!
//! A worker is parked between two tasks, when it holds no work and no lock.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use finecomb_meter::{Meter, Phase};
use finecomb_sys::locks::{lock, unpoisoned};

use super::governed::{Governed, Idle};
use crate::stop::Stop;

/// Work that is waiting for a worker, in the order that the kind of job wants.
pub(crate) trait Backlog: Send {
    type Work;

    /// Takes the next work that may begin now.
    fn take(&mut self) -> Option<Self::Work>;

    /// Returns `true` if no work is left.
    fn is_empty(&self) -> bool;

    /// Number of tasks that no worker has claimed.
    fn waiting(&self) -> usize;

    /// Returns `true` if the end of a worker's work may free other work.
    fn is_freed_by_results(&self) -> bool {
        true
    }

    /// Returns `true` if parked workers must look for work, too.
    fn needs_all(&self) -> bool {
        false
    }
}

/// The work of a job, and what its workers share. Idle workers wait on a condition variable; no thread spins.
pub(crate) struct Pool<B> {
    /// Number of workers that may run.
    wanted: AtomicUsize,
    /// Work done so far, in a unit of the job.
    work: AtomicU64,
    pub(crate) stop: Option<Arc<Stop>>,
    /// Set once a raised stop is ignored, and all work is done.
    outlasts_stop: AtomicBool,
    halted: AtomicBool,
    state: Mutex<Locked<B>>,
    changed: Condvar,
    /// Notified when parked workers are to run again.
    unparked: Condvar,
    /// Number of waiting tasks, as of the last change.
    waiting: AtomicUsize,
}

/// The backlog of a locked pool, and the workers that wait for it.
pub(crate) struct Locked<B> {
    backlog: B,
    /// Number of workers that may still add work.
    busy: usize,
    idle: Idle,
}

impl<B> Locked<B> {
    /// Waking is a system call, so it is done only if a worker sleeps.
    fn has_idle(&self) -> bool {
        self.idle.workers() > 0
    }
}

impl<B> Deref for Locked<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.backlog
    }
}

impl<B> DerefMut for Locked<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.backlog
    }
}

impl<B: Backlog> Pool<B> {
    pub(crate) fn new(backlog: B, stop: Option<Arc<Stop>>) -> Self {
        Self {
            wanted: AtomicUsize::new(usize::MAX),
            work: AtomicU64::new(0),
            stop,
            outlasts_stop: AtomicBool::new(false),
            halted: AtomicBool::new(false),
            waiting: AtomicUsize::new(backlog.waiting()),
            state: Mutex::new(Locked { backlog, busy: 0, idle: Idle::default() }),
            changed: Condvar::new(),
            unparked: Condvar::new(),
        }
    }

    /// Returns `true` if the workers should stop.
    pub(crate) fn is_halted(&self) -> bool {
        self.has_ended()
            || self.stop.as_ref().is_some_and(|stop| stop.is_raised())
                && !self.outlasts_stop.load(Ordering::Relaxed)
    }

    /// Returns `true` if the workers should stop because the job has ended, not because it has been asked to end.
    pub(crate) fn has_ended(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    /// Lets the workers do all work from now on, also after a request to end the job.
    pub(crate) fn outlast_stop(&self) {
        self.outlasts_stop.store(true, Ordering::Relaxed);
    }

    /// Makes all workers stop, even if they wait for work.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
        let _locked = self.lock();
        self.notify_all();
    }

    /// Returns `true` if the worker with this number may run. Number 0 always may.
    pub(crate) fn is_wanted(&self, number: usize) -> bool {
        number < self.wanted.load(Ordering::Relaxed).max(1)
    }

    /// Adds work done, in a unit of the job.
    pub(crate) fn add_work(&self, work: u64) {
        self.work.fetch_add(work, Ordering::Relaxed);
    }

    /// Number of tasks that no worker has claimed, as it was a moment ago.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the next work for the worker with this number. Waits until there is some and the worker is not parked.
    /// Returns `None` when everything is done or the workers should stop. The caller counts as busy until it calls
    /// [`Pool::finish_and_next`].
    pub(crate) fn next(&self, number: usize, meter: &mut Meter) -> Option<B::Work> {
        let mut locked = self.lock();
        loop {
            if self.is_halted() || locked.busy == 0 && locked.is_empty() {
                self.notify_all();
                return None;
            }
            if !self.is_wanted(number) && !locked.needs_all() {
                meter.enter(Phase::Park);
                locked = unpoisoned(self.unparked.wait(locked));
                continue;
            }
            meter.enter(Phase::Wait);
            if let Some(work) = locked.take() {
                locked.busy += 1;
                self.waiting.store(locked.waiting(), Ordering::Relaxed);
                return Some(work);
            }
            locked = self.sleep(locked);
        }
    }

    /// Ends the work of a worker, whose result is in the backlog, and returns the next work as [`Pool::next`] does. All of
    /// this takes the lock once: with many workers it is the point of contention (docs/scaling.md).
    pub(crate) fn finish_and_next(
        &self,
        mut locked: MutexGuard<'_, Locked<B>>,
        number: usize,
        meter: &mut Meter,
    ) -> Option<B::Work> {
        locked.busy -= 1;
        let may_take = self.is_wanted(number) && !self.is_halted();
        let work = if may_take { locked.take() } else { None };
        locked.busy += usize::from(work.is_some());
        if locked.is_freed_by_results() || locked.busy == 0 && locked.is_empty() {
            self.wake(locked);
        } else {
            self.waiting.store(locked.waiting(), Ordering::Relaxed);
            drop(locked);
        }
        work.or_else(|| self.next(number, meter))
    }

    /// Changes the backlog, and wakes the workers that wait for work.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut B) -> R) -> R {
        let mut locked = self.lock();
        let result = change(&mut locked);
        self.wake(locked);
        result
    }

    /// Waits for the next change.
    pub(crate) fn sleep<'p>(&'p self, mut locked: MutexGuard<'p, Locked<B>>) -> MutexGuard<'p, Locked<B>> {
        locked.idle.begin();
        let mut locked = unpoisoned(self.changed.wait(locked));
        locked.idle.end();
        locked
    }

    /// Wakes idle workers, without the lock.
    fn wake(&self, locked: MutexGuard<'_, Locked<B>>) {
        self.waiting.store(locked.waiting(), Ordering::Relaxed);
        let has_idle = locked.has_idle();
        drop(locked);
        if has_idle {
            self.changed.notify_all();
        }
    }

    /// Wakes idle workers.
    pub(crate) fn wake_idle(&self, locked: &Locked<B>) {
        if locked.has_idle() {
            self.changed.notify_all();
        }
    }

    /// Wakes parked workers, which look whether they are needed.
    pub(crate) fn wake_parked(&self) {
        self.unparked.notify_all();
    }

    fn notify_all(&self) {
        self.changed.notify_all();
        self.unparked.notify_all();
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Locked<B>> {
        lock(&self.state)
    }
}

impl<B: Backlog> Governed for Pool<B> {
    fn idle(&self) -> Duration {
        self.lock().idle.total()
    }

    fn has_backlog(&self) -> bool {
        self.waiting() > 1
    }

    fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    fn set_workers(&self, workers: usize) {
        let _locked = self.lock();
        self.wanted.store(workers, Ordering::Relaxed);
        self.wake_parked();
    }
}
