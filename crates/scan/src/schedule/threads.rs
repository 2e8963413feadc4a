//! The threads of a job.

#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use finecomb_sys::{Usage, bytes_from_storage, threads};

use super::governor::{Governor, Window};
use super::pace::Governed;
use crate::options::{MAX_WIDTH, Width};
use crate::progress::Over;

/// How long a window of the governor is at first: a job that waits for storage should not do so for long.
const FIRST_WINDOW: Duration = Duration::from_millis(5);

/// How long it is once a job runs for longer. To look takes about 15 microseconds.
const WINDOW: Duration = Duration::from_millis(20);

/// From when on a job runs for longer.
const LONGER: Duration = Duration::from_millis(200);

/// Lets workers work: the calling thread does `first`, with number 0, and others `work` with theirs. If the width is not
/// fixed, a governor changes how many there are. Gives what they gave, by their numbers.
pub(crate) fn run<R: Send>(
    width: Width,
    job: &dyn Governed,
    over: &Over,
    first: impl FnOnce() -> R,
    work: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    let done = Mutex::new(Vec::new());
    let (done_by, work) = (&done, &work);
    let put = |number, result| done_by.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
    thread::scope(|scope| {
        let spawn_worker = move |number| {
            let member = move || put(number, work(number));
            // Where the system refuses more threads, those that there are do the work.
            threads::spawn(scope, member).is_some()
        };
        start(scope, width, job, over, spawn_worker);
        put(0, first());
        over.declare();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|&(number, _)| number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Starts the workers that there are at first, and the governor if there is one.
fn start<'scope, 'env: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    width: Width,
    job: &'env dyn Governed,
    over: &'env Over,
    spawn_worker: impl Fn(usize) -> bool + Send + 'scope,
) {
    match width {
        Width::Fixed(workers) => {
            (1..workers.min(MAX_WIDTH)).all(spawn_worker);
        }
        #[cfg(test)]
        Width::Restless(seed) => {
            (1..8).all(spawn_worker);
            let _ = threads::spawn(scope, move || restless(seed, job, over));
        }
        Width::Auto => {
            let governor = Governor::new(Width::processors());
            let started = 1 + (1..governor.wanted()).take_while(|&number| spawn_worker(number)).count();
            // Without it the job is done all the same.
            let _ = threads::spawn(scope, move || govern(governor, job, over, started, spawn_worker));
        }
    }
}

/// Looks at the job now and then until it is over, and has as many workers work as is best.
fn govern(
    mut governor: Governor,
    job: &dyn Governed,
    over: &Over,
    mut started: usize,
    spawn_worker: impl Fn(usize) -> bool,
) {
    let start = Instant::now();
    let mut present = governor.wanted();
    let mut seen = Seen::of(job);
    while over.is_still_running_after(if start.elapsed() < LONGER { FIRST_WINDOW } else { WINDOW }) {
        let now = Seen::of(job);
        let wanted = governor.decide(&now.since(&seen, job));
        seen = now;
        job.pace().set_cold(governor.is_cold());
        if wanted != present {
            present = wanted;
            job.want(wanted);
            while started < wanted && spawn_worker(started) {
                started += 1;
            }
        }
    }
}

/// Has another number of workers work every now and then, sometimes to the end and sometimes for a few times only: what
/// waits for a worker that nobody calls back shows only then.
#[cfg(test)]
fn restless(mut random: u64, job: &dyn Governed, over: &Over) {
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
        job.want((random >> 32) as usize % 4);
    }
}

/// What had been done and used up to some time.
struct Seen {
    at: Instant,
    processor: Duration,
    idle: Duration,
    from_storage: u64,
    work: u64,
}

impl Seen {
    fn of(job: &dyn Governed) -> Self {
        Self {
            at: Instant::now(),
            processor: Usage::of_process().processor(),
            idle: job.idle(),
            from_storage: bytes_from_storage().unwrap_or_default(),
            work: job.pace().work(),
        }
    }

    fn since(&self, before: &Self, job: &dyn Governed) -> Window {
        Window {
            time: self.at - before.at,
            processor: self.processor.saturating_sub(before.processor),
            idle: self.idle.saturating_sub(before.idle),
            from_storage: self.from_storage.saturating_sub(before.from_storage),
            work: self.work - before.work,
            has_backlog: job.has_backlog(),
        }
    }
}
