//! The figures of a profile as rows of a table.

use std::time::Duration;

use finecomb_sys::units::Count;

use super::Report;
use crate::clock::ThreadTimes;

/// A figure of every thread, and its sum.
pub(super) struct FigureRow {
    pub(super) name: &'static str,
    pub(super) values: Vec<f64>,
    pub(super) sum: f64,
    /// Whether values are counts, without decimals.
    is_count: bool,
    /// For a phase, its share of the time of all threads, in per cent.
    pub(super) share: Option<f64>,
}

impl FigureRow {
    /// Formats a value of this row, with one decimal unless it is a count.
    pub(super) fn cell(&self, value: f64) -> String {
        if self.is_count {
            return Count(value as u64).to_string();
        }
        let tenths = (value * 10.0).round() as u64;
        format!("{}.{}", Count(tenths / 10), tenths % 10)
    }
}

impl Report {
    /// Returns a row for each phase that took any time, in milliseconds, and for each other figure that is not zero.
    pub(super) fn rows(&self) -> Vec<FigureRow> {
        let all: Duration = self.threads.iter().map(ThreadTimes::total).sum();
        let mut rows = Vec::new();
        for phase in self.phases() {
            let share = 100.0 * self.of_phase(phase).as_secs_f64() / all.as_secs_f64();
            let row = self.row(phase.name(), |thread| millis(thread.spent(phase)));
            rows.push(FigureRow { share: Some(share), ..row });
        }
        rows.push(self.row("total", |thread| millis(thread.total())));
        rows.push(self.row("user CPU time", |thread| millis(thread.usage.user)));
        rows.push(self.row("system CPU time", |thread| millis(thread.usage.system)));
        let faults = |thread: &ThreadTimes| thread.usage.minor_faults + thread.usage.major_faults;
        let optional = [
            self.count("voluntary switches", |thread| thread.usage.voluntary_switches),
            self.count("involuntary switches", |thread| thread.usage.involuntary_switches),
            self.count("page faults", faults),
            self.count("major page faults", |thread| thread.usage.major_faults),
            self.row("MB", |thread| thread.bytes as f64 / 1e6),
            self.count("records", |thread| thread.records),
            self.count("files", |thread| thread.files),
        ];
        rows.extend(optional.into_iter().filter(|row| row.sum > 0.0));
        rows
    }

    fn count(&self, name: &'static str, value: impl Fn(&ThreadTimes) -> u64) -> FigureRow {
        FigureRow { is_count: true, ..self.row(name, |thread| value(thread) as f64) }
    }

    fn row(&self, name: &'static str, value: impl Fn(&ThreadTimes) -> f64) -> FigureRow {
        let values: Vec<f64> = self.threads.iter().map(value).collect();
        let sum = values.iter().sum();
        FigureRow { name, values, sum, is_count: false, share: None }
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
