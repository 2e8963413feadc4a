//! State shared by the workers of a job and its governor.
//!
//! A worker is parked between two tasks, when it holds no work and no lock.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The number of workers that may run, and the work done so far.
pub(crate) struct Pace {
    wanted: AtomicUsize,
    work: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { wanted: AtomicUsize::new(usize::MAX), work: AtomicU64::new(0) }
    }
}

impl Pace {
    /// Returns `true` if the worker with this number may run. Number 0 always may.
    pub(crate) fn is_wanted(&self, number: usize) -> bool {
        number < self.wanted.load(Ordering::Relaxed).max(1)
    }

    pub(crate) fn set_wanted(&self, workers: usize) {
        self.wanted.store(workers, Ordering::Relaxed);
    }

    /// Adds work done, in a unit of the job.
    pub(crate) fn add_work(&self, work: u64) {
        self.work.fetch_add(work, Ordering::Relaxed);
    }

    pub(crate) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }
}

/// Number of workers that wait for work, and their total waiting time.
pub(crate) struct Idle {
    workers: usize,
    since: Instant,
    before: Duration,
}

impl Default for Idle {
    fn default() -> Self {
        Self { workers: 0, since: Instant::now(), before: Duration::ZERO }
    }
}

impl Idle {
    pub(crate) fn begin(&mut self) {
        self.update();
        self.workers += 1;
    }

    pub(crate) fn end(&mut self) {
        self.update();
        self.workers -= 1;
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Total waiting time so far.
    pub(crate) fn total(&mut self) -> Duration {
        self.update();
        self.before
    }

    fn update(&mut self) {
        let now = Instant::now();
        let workers = u32::try_from(self.workers).unwrap_or(u32::MAX);
        self.before += (now - self.since) * workers;
        self.since = now;
    }
}

/// A job whose number of workers a governor adapts.
pub(crate) trait Governed: Sync {
    /// Total time that workers have waited for work.
    fn idle(&self) -> Duration;

    /// Returns `true` if there are files to open.
    fn has_backlog(&self) -> bool;

    /// The state shared with the workers.
    fn pace(&self) -> &Pace;

    /// Lets only the workers with numbers below `workers` run.
    fn set_workers(&self, workers: usize);
}
