//! Showing how far a job is while it runs.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use finecomb_meter::{Activity, Stopwatch};

use crate::inputs::Inputs;
use crate::schedule::queue::Queue;
use crate::walk;

/// Whom to show how far a job is, and how often. It is called from a thread of its own.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// How long to wait before the first time: a short job is not worth showing.
    pub after: Duration,
    /// How long to wait between two times.
    pub every: Duration,
    /// Whether to say what each thread does, and to take in what a pipe has as it comes rather than in blocks.
    pub threads: bool,
    /// Who is shown it.
    pub show: &'a (dyn Fn(Progress) + Sync),
}

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes taken in.
    pub done: u64,
    /// Bytes in all, if every input has a size.
    pub total: Option<u64>,
    /// Since the job began.
    pub elapsed: Duration,
    /// What each thread has done, if that was asked for.
    pub threads: Vec<Activity>,
}

/// Tells a watching thread that the job is over.
#[derive(Default)]
pub(crate) struct Over {
    over: Mutex<bool>,
    changed: Condvar,
}

impl Over {
    pub(crate) fn declare(&self) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for the end of the job for at most `time`. False if it came.
    pub(crate) fn is_still_running_after(&self, time: Duration) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(over, time, |over| !*over);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Shows the progress of the job until it is over.
pub(crate) fn show(watch: Watch<'_>, inputs: &Inputs, queue: &Queue, over: &Over, stopwatch: &Stopwatch) {
    if !over.is_still_running_after(watch.after) {
        return;
    }
    let total = walk::total_bytes(inputs);
    loop {
        (watch.show)(Progress {
            done: queue.pace.work(),
            // Of what is decoded nobody knows how much it will be.
            total: total.filter(|_| !queue.has_decoded()),
            elapsed: stopwatch.elapsed(),
            threads: stopwatch.activities(),
        });
        if !over.is_still_running_after(watch.every) {
            return;
        }
    }
}
