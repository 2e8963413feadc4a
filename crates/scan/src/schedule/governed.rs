//! The view of a job that its governor has.

use std::time::{Duration, Instant};

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

    /// The work done so far, in a unit of the job.
    fn work(&self) -> u64;

    /// Lets only the workers with numbers below `workers` run.
    fn set_workers(&self, workers: usize);
}
