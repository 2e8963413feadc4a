//! The threads of a job.

#[cfg(test)]
mod tests;

use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use finecomb_sys::{Usage, bytes_from_storage, threads};

use super::governed::Governed;
use super::governor::{Governor, Measurement};
use crate::options::{MAX_WIDTH, Width};
use crate::progress::{JobEnd, OnDrop};

/// Length of a window of the governor at first: a job that waits for storage should get more workers soon.
const FIRST_WINDOW: Duration = Duration::from_millis(5);

/// Length of a window of a long job. A sample takes about 15 µs.
const WINDOW: Duration = Duration::from_millis(20);

/// Age from which a job is long.
const LONG_JOB: Duration = Duration::from_millis(200);

/// Runs the workers. The calling thread runs `first` as number 0, other threads run `work` with their numbers. Unless
/// the width is fixed, a governor changes the number of workers. Returns their results, ordered by worker number.
pub(crate) fn run<R: Send>(
    width: Width,
    job: &dyn Governed,
    over: &JobEnd,
    first: impl FnOnce() -> R,
    work: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    let done = threads::NumberedResults::default();
    let first = Box::new(|| done.put(0, first()));
    run_each(width, job, over, first, &|number| done.put(number, work(number)));
    done.in_order()
}

/// Does the same without results. Not generic, so that there is one copy for all kinds of jobs.
fn run_each(
    width: Width,
    job: &dyn Governed,
    over: &JobEnd,
    first: Box<dyn FnOnce() + '_>,
    work: &(dyn Fn(usize) + Sync),
) {
    thread::scope(|scope| {
        // If the system refuses more threads, the existing ones do the work.
        let spawn_worker = move |number| threads::spawn(scope, move || work(number)).is_some();
        let _over = OnDrop(|| over.signal());
        start(scope, width, job, over, spawn_worker);
        first();
    });
}

/// Starts the initial workers, and the governor if there is one.
fn start<'scope, 'env: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    width: Width,
    job: &'env dyn Governed,
    over: &'env JobEnd,
    spawn_worker: impl Fn(usize) -> bool + Send + 'scope,
) {
    match width {
        Width::Fixed(workers) => {
            (1..workers.min(MAX_WIDTH)).all(spawn_worker);
        }
        #[cfg(test)]
        Width::Random(seed) => {
            (1..8).all(spawn_worker);
            let _ = threads::spawn(scope, move || vary_workers(seed, job, over));
        }
        Width::Auto => {
            let governor = Governor::new(Width::processors());
            let started = 1 + (1..governor.wanted()).take_while(|&number| spawn_worker(number)).count();
            // The job also completes without a governor.
            let _ = threads::spawn(scope, move || govern(governor, job, over, started, spawn_worker));
        }
    }
}

/// Samples the job until it is over, and adapts the number of workers.
fn govern(
    mut governor: Governor,
    job: &dyn Governed,
    over: &JobEnd,
    mut started: usize,
    spawn_worker: impl Fn(usize) -> bool,
) {
    let start = Instant::now();
    let mut present = governor.wanted();
    let mut last = JobTotals::of(job);
    while over.is_still_running_after(if start.elapsed() < LONG_JOB { FIRST_WINDOW } else { WINDOW }) {
        let sample = JobTotals::of(job);
        let wanted = governor.decide(&sample.since(&last, job));
        last = sample;
        if wanted != present {
            present = wanted;
            job.set_workers(wanted);
            while started < wanted && spawn_worker(started) {
                started += 1;
            }
        }
    }
}

/// Changes the number of workers at random, sometimes until the end and sometimes only a few times: that reveals work
/// that waits for a worker that is never unparked.
#[cfg(test)]
fn vary_workers(mut random: u64, job: &dyn Governed, over: &JobEnd) {
    let times = [1, 2, 5, usize::MAX][(random >> 8) as usize % 4];
    for _ in 0..times {
        if !over.is_still_running_after(Duration::from_micros(random % 300)) {
            return;
        }
        // Marsaglia's xorshift generator.
        random |= 1;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        job.set_workers((random >> 32) as usize % 4);
    }
}

/// Totals of a job at some time.
struct JobTotals {
    at: Instant,
    cpu_time: Duration,
    idle: Duration,
    from_storage: u64,
    work: u64,
}

impl JobTotals {
    fn of(job: &dyn Governed) -> Self {
        Self {
            at: Instant::now(),
            cpu_time: Usage::of_process().cpu_time(),
            idle: job.idle(),
            from_storage: bytes_from_storage().unwrap_or_default(),
            work: job.work(),
        }
    }

    fn since(&self, before: &Self, job: &dyn Governed) -> Measurement {
        Measurement {
            time: self.at - before.at,
            cpu_time: self.cpu_time.saturating_sub(before.cpu_time),
            idle: self.idle.saturating_sub(before.idle),
            from_storage: self.from_storage.saturating_sub(before.from_storage),
            work: self.work - before.work,
            has_backlog: job.has_backlog(),
        }
    }
}
