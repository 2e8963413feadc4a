//! Progress of a computation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use finecomb_sys::locks::lock;

/// Maximum number of progress reports.
const STEPS: f64 = 1_000.0;

/// Adds up the work done and reports each step to the caller, in order.
pub(crate) struct Progress<'a> {
    report: Option<&'a (dyn Fn(f64) + Sync)>,
    /// Expected total work.
    work: f64,
    done: AtomicU64,
    /// The last reported step.
    reported: Mutex<f64>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(report: Option<&'a (dyn Fn(f64) + Sync)>, work: f64) -> Self {
        Self { report, work, done: AtomicU64::new(0), reported: Mutex::new(0.0) }
    }

    /// Adds work done.
    pub(crate) fn add(&self, work: u64) {
        let Some(report) = self.report else { return };
        let done = self.done.fetch_add(work, Ordering::Relaxed) + work;
        // The expected work is an estimate: only `finish` reports the end.
        let step = (STEPS * done as f64 / self.work).floor().min(STEPS - 1.0);
        self.report_step(report, step);
    }

    /// Reports the end.
    pub(crate) fn finish(&self) {
        if let Some(report) = self.report {
            self.report_step(report, STEPS);
        }
    }

    fn report_step(&self, report: &(dyn Fn(f64) + Sync), step: f64) {
        // The lock is held during the call, so that steps are reported in order.
        let mut reported = lock(&self.reported);
        if step > *reported {
            *reported = step;
            report(step / STEPS);
        }
    }
}
