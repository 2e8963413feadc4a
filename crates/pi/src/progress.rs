//! How far a computation has come.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How often progress is told, at most.
const STEPS: f64 = 1_000.0;

/// Adds up the work done and tells the caller of each step, in order.
pub(crate) struct Progress<'a> {
    tell: Option<&'a (dyn Fn(f64) + Sync)>,
    /// What all the work is expected to be.
    work: f64,
    done: AtomicU64,
    /// The last step told.
    told: Mutex<f64>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(tell: Option<&'a (dyn Fn(f64) + Sync)>, work: f64) -> Self {
        Self { tell, work, done: AtomicU64::new(0), told: Mutex::new(0.0) }
    }

    /// Books work done.
    pub(crate) fn add(&self, work: u64) {
        let Some(tell) = self.tell else { return };
        let done = self.done.fetch_add(work, Ordering::Relaxed) + work;
        // The expected work is not exact: the end is for `finish` to tell.
        let step = (STEPS * done as f64 / self.work).floor().min(STEPS - 1.0);
        self.tell_step(tell, step);
    }

    /// Tells the end.
    pub(crate) fn finish(&self) {
        if let Some(tell) = self.tell {
            self.tell_step(tell, STEPS);
        }
    }

    fn tell_step(&self, tell: &(dyn Fn(f64) + Sync), step: f64) {
        // Held while telling, so that the steps come in order.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if step > *told {
            *told = step;
            tell(step / STEPS);
        }
    }
}
