//! Progress of a running job.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread::Scope;
use std::time::Duration;

use finecomb_meter::{Activity, Stopwatch};
use finecomb_sys::locks::{lock, unpoisoned};
use finecomb_sys::setters;
use finecomb_sys::threads::spawn;

use crate::inputs::Inputs;
use crate::walk;

setters! {
    /// A callback that receives the progress of a job, and its interval. It is called from a thread of its own.
    #[derive(Clone, Copy)]
    #[non_exhaustive]
    pub struct Watch<'a> {
        /// Delay before the first call: short jobs show nothing.
        pub after: Duration,
        /// Delay between calls.
        pub every: Duration,
        /// Whether to report the activity of each thread, and to process the data of a pipe as it arrives rather than in
        /// full blocks. Default: no.
        pub threads: bool,
        /// The callback.
        pub show: &'a (dyn Fn(Progress) + Sync),
    }
}

impl<'a> Watch<'a> {
    /// Calls `show` once in each interval.
    pub fn new(every: Duration, show: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self { after: every, every, threads: false, show }
    }
}

/// Progress of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes processed.
    pub done: u64,
    /// Total bytes, if every input has a size.
    pub total: Option<u64>,
    /// Time since the start of the job.
    pub elapsed: Duration,
    /// Activity of each thread, if requested.
    pub threads: Vec<Activity>,
}

/// Signals the end of the job to the threads that observe it.
#[derive(Default)]
pub(crate) struct JobEnd {
    over: Mutex<bool>,
    changed: Condvar,
}

impl JobEnd {
    pub(crate) fn signal(&self) {
        *lock(&self.over) = true;
        self.changed.notify_all();
    }

    /// Waits for the end of the job, for at most `time`. Returns `false` if it has ended.
    pub(crate) fn is_still_running_after(&self, time: Duration) -> bool {
        let over = lock(&self.over);
        let waited = self.changed.wait_timeout_while(over, time, |over| !*over);
        !*unpoisoned(waited).0
    }
}

/// Calls a function when it is dropped, also by a panic.
pub(crate) struct OnDrop<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Facts on the number of bytes that a job processes in all.
#[derive(Default)]
pub(crate) struct Extent {
    /// Set once any input is decompressed or decoded.
    is_decoded: AtomicBool,
    /// Bytes of opened files that are not read.
    left_out: AtomicU64,
}

impl Extent {
    /// Records that an input is decompressed or decoded.
    pub(crate) fn record_decoded(&self) {
        self.is_decoded.store(true, Ordering::Relaxed);
    }

    /// Records that this many bytes of a file are not read.
    pub(crate) fn record_left_out(&self, bytes: u64) {
        self.left_out.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The bytes that are processed of inputs of this size. The size of decoded data is not known in advance.
    fn of(&self, size: u64) -> Option<u64> {
        let is_known = !self.is_decoded.load(Ordering::Relaxed);
        is_known.then(|| size.saturating_sub(self.left_out.load(Ordering::Relaxed)))
    }
}

/// Reports the progress of the job on a thread until it is over. `inputs` are those whose total size is known from the start; `done`
/// returns the bytes that were processed. The job also completes without reports.
pub(crate) fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    watch: Watch<'env>,
    inputs: Option<&'env Inputs>,
    (done, extent): (&'env (dyn Fn() -> u64 + Sync), &'env Extent),
    over: &'env JobEnd,
    stopwatch: &'env Stopwatch,
) {
    let _ = spawn(scope, move || show(watch, inputs, (done, extent), over, stopwatch));
}

fn show(
    watch: Watch<'_>,
    inputs: Option<&Inputs>,
    (done, extent): (&dyn Fn() -> u64, &Extent),
    over: &JobEnd,
    stopwatch: &Stopwatch,
) {
    if !over.is_still_running_after(watch.after) {
        return;
    }
    let size = inputs.and_then(walk::total_bytes);
    loop {
        (watch.show)(Progress {
            done: done(),
            total: size.and_then(|size| extent.of(size)),
            elapsed: stopwatch.elapsed(),
            threads: stopwatch.activities(),
        });
        if !over.is_still_running_after(watch.every) {
            return;
        }
    }
}
