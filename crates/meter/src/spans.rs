//! The phases of a thread over time.

use std::time::Duration;

use crate::phase::Phase;

/// Maximum number of spans of a thread.
const MAX_SPANS: usize = 1 << 17;

/// Smallest grain; merging shorter spans saves little.
const MIN_GRAIN: Duration = Duration::from_micros(1);

/// A continuous stay in one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The phase. Merged spans have the phase of the longest.
    pub phase: Phase,
    /// Start, from the start of the job.
    pub start: Duration,
    /// End, from the start of the job.
    pub end: Duration,
    /// Length of the longest span that was merged into this one.
    longest: Duration,
}

/// Spans of a thread, in order and without gaps. When there are too many, the shortest are merged with their
/// successors, so that memory stays bounded and the spans still cover all of the time.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    spans: Vec<Span>,
    grain: Duration,
}

impl Spans {
    /// Returns the spans.
    pub fn as_slice(&self) -> &[Span] {
        &self.spans
    }

    /// Spans shorter than this were merged with their successor; zero if none were.
    pub fn grain(&self) -> Duration {
        self.grain
    }

    pub(crate) fn push(&mut self, phase: Phase, start: Duration, end: Duration) {
        let span = Span { phase, start, end, longest: end.saturating_sub(start) };
        append(&mut self.spans, span, self.grain);
        if self.spans.len() >= MAX_SPANS {
            self.coarsen();
        }
    }

    /// Doubles the grain until half of the spans are left.
    fn coarsen(&mut self) {
        while self.spans.len() > MAX_SPANS / 2 {
            self.grain = (2 * self.grain).max(MIN_GRAIN);
            let mut merged = Vec::with_capacity(MAX_SPANS);
            for span in self.spans.drain(..) {
                append(&mut merged, span, self.grain);
            }
            self.spans = merged;
        }
    }
}

/// Appends a span, or merges it into the last one if that has the same phase or is shorter than the grain.
fn append(spans: &mut Vec<Span>, span: Span, grain: Duration) {
    match spans.last_mut() {
        Some(last) if last.phase == span.phase && last.longest == last.end - last.start => {
            last.end = span.end;
            last.longest = last.end - last.start;
        }
        Some(last) if last.end - last.start < grain => {
            last.end = span.end;
            if span.longest > last.longest {
                (last.phase, last.longest) = (span.phase, span.longest);
            }
        }
        _ => spans.push(span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn adjacent_spans_of_a_phase_are_one_span() {
        let mut spans = Spans::default();
        spans.push(Phase::Read, micros(0), micros(5));
        spans.push(Phase::Read, micros(5), micros(7));
        spans.push(Phase::Count, micros(7), micros(8));
        let shown: Vec<_> = spans.as_slice().iter().map(|span| (span.phase, span.start, span.end)).collect();
        assert_eq!(shown, [(Phase::Read, micros(0), micros(7)), (Phase::Count, micros(7), micros(8))]);
        assert_eq!(spans.grain(), Duration::ZERO);
    }

    #[test]
    fn too_many_spans_are_merged_without_gaps() {
        let mut spans = Spans::default();
        let mut now = Duration::ZERO;
        for number in 0..1_000_000_u64 {
            // Two thirds of the time are spent counting.
            let (phase, length) = [(Phase::Read, 300), (Phase::Count, 600)][(number % 2) as usize];
            let start = now;
            now += Duration::from_nanos(length);
            spans.push(phase, start, now);
        }
        let all = spans.as_slice();
        assert!(all.len() < MAX_SPANS && all.len() > MAX_SPANS / 8);
        assert!(spans.grain() > Duration::ZERO);
        assert_eq!((all[0].start, all[all.len() - 1].end), (Duration::ZERO, now));
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(all[..all.len() - 1].iter().all(|span| span.end - span.start >= spans.grain()));
        assert!(all.iter().any(|span| span.phase == Phase::Count));
    }
}
