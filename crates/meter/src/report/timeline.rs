//! The phases of a thread over time, as columns of a chart.

use std::fmt::Write;
use std::time::Duration;

use crate::phase::{PHASES, Phase};
use crate::spans::Span;

/// Number of columns of a timeline.
pub(super) const COLUMNS: u32 = 600;

/// Height of a column.
pub(super) const HEIGHT: u32 = 40;

/// Upper edge of each phase in each column. Phases are stacked in their order, from the bottom.
pub(super) struct Timeline(Vec<[u32; PHASES]>);

impl Timeline {
    /// Makes the columns from the spans of a job that took `wall`.
    pub(super) fn new<'a>(spans: impl IntoIterator<Item = &'a Span>, wall: Duration) -> Self {
        let column = (wall.as_nanos() as f64 / f64::from(COLUMNS)).max(1.0);
        let mut shares = vec![[0.0; PHASES]; COLUMNS as usize];
        for span in spans {
            let (start, end) = (span.start.as_nanos() as f64 / column, span.end.as_nanos() as f64 / column);
            let first = start.floor() as usize;
            for (number, shares) in shares.iter_mut().enumerate().skip(first) {
                let (left, right) = (number as f64, number as f64 + 1.0);
                if left >= end {
                    break;
                }
                shares[span.phase as usize] += end.min(right) - start.max(left);
            }
        }
        Self(shares.into_iter().map(stacked).collect())
    }

    /// Area of a phase as an SVG path: a rectangle for each run of columns in which its edges are the same.
    pub(super) fn path(&self, phase: Phase) -> String {
        let extent = |column: &[u32; PHASES]| {
            let below = (phase as usize).checked_sub(1).map_or(0, |below| column[below]);
            (below, column[phase as usize])
        };
        let mut path = String::new();
        let mut start = 0;
        for run in self.0.chunk_by(|one, other| extent(one) == extent(other)) {
            let (below, above) = extent(&run[0]);
            if above > below {
                let (width, top, height) = (run.len(), HEIGHT - above, above - below);
                let _ = write!(path, "M{start} {top}h{width}v{height}h-{width}z");
            }
            start += run.len();
        }
        path
    }
}

fn stacked(shares: [f64; PHASES]) -> [u32; PHASES] {
    let mut sum = 0.0;
    shares.map(|share| {
        sum += share;
        ((sum * f64::from(HEIGHT)).round() as u32).min(HEIGHT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spans::Spans;

    #[test]
    fn columns_show_the_share_of_each_phase() {
        let wall = Duration::from_millis(u64::from(COLUMNS));
        let mut spans = Spans::default();
        spans.push(Phase::Read, Duration::ZERO, Duration::from_micros(10_250));
        spans.push(Phase::Count, Duration::from_micros(10_250), Duration::from_millis(12));
        let timeline = Timeline::new(spans.as_slice(), wall);
        assert_eq!(timeline.path(Phase::Read), "M0 0h10v40h-10zM10 30h1v10h-1z");
        assert_eq!(timeline.path(Phase::Count), "M10 0h1v30h-1zM11 0h1v40h-1z");
        assert_eq!(timeline.path(Phase::Walk), "");
    }

    #[test]
    fn a_job_may_take_no_time() {
        assert_eq!(Timeline::new([], Duration::ZERO).path(Phase::Read), "");
    }
}
