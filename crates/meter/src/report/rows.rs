//! The figures of a profile, row by row.

use std::time::Duration;

use super::Report;
use crate::clock::ThreadTimes;

/// A figure of every thread.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) values: Vec<f64>,
    pub(super) sum: f64,
    /// How many digits after the point are worth showing.
    pub(super) decimals: usize,
    /// Of a phase: how many per cent of all threads' time it took.
    pub(super) share: Option<f64>,
}

impl Report {
    /// A row for each phase that took any time, in milliseconds, and for all else that there is any of.
    pub(super) fn rows(&self) -> Vec<Row> {
        let all: Duration = self.threads.iter().map(ThreadTimes::total).sum();
        let mut rows = Vec::new();
        for phase in self.phases() {
            let share = 100.0 * self.of_phase(phase).as_secs_f64() / all.as_secs_f64();
            let row = self.row(phase.name(), 1, |thread| millis(thread.spent(phase)));
            rows.push(Row { share: Some(share), ..row });
        }
        rows.push(self.row("total", 1, |thread| millis(thread.total())));
        let unaccounted = self.row("unaccounted", 1, |thread| millis(self.unaccounted(thread)));
        if unaccounted.sum > 0.0 {
            rows.push(unaccounted);
        }
        rows.push(self.row("user", 1, |thread| millis(thread.usage.user)));
        rows.push(self.row("system", 1, |thread| millis(thread.usage.system)));
        let optional = [
            self.row("gave way", 0, |thread| thread.usage.voluntary_switches as f64),
            self.row("preempted", 0, |thread| thread.usage.involuntary_switches as f64),
            self.row("faults", 0, |thread| thread.usage.minor_faults as f64),
            self.row("disk faults", 0, |thread| thread.usage.major_faults as f64),
            self.row("megabytes", 1, |thread| thread.bytes as f64 / 1e6),
            self.row("records", 0, |thread| thread.records as f64),
            self.row("files", 0, |thread| thread.files as f64),
        ];
        rows.extend(optional.into_iter().filter(|row| row.sum > 0.0));
        rows
    }

    fn row(&self, name: &'static str, decimals: usize, value: impl Fn(&ThreadTimes) -> f64) -> Row {
        let values: Vec<f64> = self.threads.iter().map(value).collect();
        let sum = values.iter().sum();
        Row { name, values, sum, decimals, share: None }
    }
}

pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
