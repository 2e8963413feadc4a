//! What the workers of a job and its governor tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many workers may work, and how much they have done.
pub(crate) struct Pace {
    wanted: AtomicUsize,
    cold: AtomicBool,
    work: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { wanted: AtomicUsize::new(usize::MAX), cold: AtomicBool::new(false), work: AtomicU64::new(0) }
    }
}

impl Pace {
    /// Whether the worker of a number may work. The one of number 0 always may.
    pub(crate) fn is_wanted(&self, number: usize) -> bool {
        number < self.wanted.load(Ordering::Relaxed).max(1)
    }

    pub(crate) fn set_wanted(&self, workers: usize) {
        self.wanted.store(workers, Ordering::Relaxed);
    }

    /// Whether files come from storage at the moment, so that it pays to ask for them early.
    pub(crate) fn is_cold(&self) -> bool {
        self.cold.load(Ordering::Relaxed)
    }

    pub(crate) fn set_cold(&self, cold: bool) {
        self.cold.store(cold, Ordering::Relaxed);
    }

    /// Books work that was done, in a unit of the job's own.
    pub(crate) fn book(&self, work: u64) {
        self.work.fetch_add(work, Ordering::Relaxed);
    }

    pub(crate) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }
}

/// How many workers wait for something to do, and how long all of them together have.
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
        self.settle();
        self.workers += 1;
    }

    pub(crate) fn end(&mut self) {
        self.settle();
        self.workers -= 1;
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// The waiting so far.
    pub(crate) fn total(&mut self) -> Duration {
        self.settle();
        self.before
    }

    fn settle(&mut self) {
        let now = Instant::now();
        let workers = u32::try_from(self.workers).unwrap_or(u32::MAX);
        self.before += (now - self.since) * workers;
        self.since = now;
    }
}

/// What a governor governs.
pub(crate) trait Governed: Sync {
    /// How long all workers together have waited for something to do.
    fn idle(&self) -> Duration;

    /// Whether there are files that nobody has opened yet.
    fn has_backlog(&self) -> bool;

    /// What it shares with its workers.
    fn pace(&self) -> &Pace;

    /// Lets workers with numbers below this work, and none else.
    fn want(&self, workers: usize);
}
