//! When a thread was in which phase.

use std::time::Duration;

use crate::phase::Phase;

/// How many spans of a thread are kept at most.
const MOST: usize = 1 << 17;

/// Below this, joining spans saves little.
const FIRST_GRAIN: Duration = Duration::from_micros(1);

/// A time in one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The phase; of what was joined, the one of the longest piece.
    pub phase: Phase,
    /// When it began, from the start of the job.
    pub start: Duration,
    /// When it ended, from the start of the job.
    pub end: Duration,
    longest: Duration,
}

/// The spans of one thread, in order and without gaps. When there are too many, the shortest are joined with what
/// follows them, so that memory stays bounded and all of the time is covered.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    spans: Vec<Span>,
    grain: Duration,
}

impl Spans {
    /// The spans.
    pub fn as_slice(&self) -> &[Span] {
        &self.spans
    }

    /// Spans shorter than this were joined with what follows; zero if none were.
    pub fn grain(&self) -> Duration {
        self.grain
    }

    pub(crate) fn push(&mut self, phase: Phase, start: Duration, end: Duration) {
        let span = Span { phase, start, end, longest: end.saturating_sub(start) };
        append(&mut self.spans, span, self.grain);
        if self.spans.len() >= MOST {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        while self.spans.len() > MOST / 2 {
            self.grain = (2 * self.grain).max(FIRST_GRAIN);
            let mut joined = Vec::with_capacity(MOST);
            for span in self.spans.drain(..) {
                append(&mut joined, span, self.grain);
            }
            self.spans = joined;
        }
    }
}

/// Adds a span, or joins it to the last one if that has its phase or is shorter than the grain.
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
    fn a_phase_that_goes_on_is_one_span() {
        let mut spans = Spans::default();
        spans.push(Phase::Read, micros(0), micros(5));
        spans.push(Phase::Read, micros(5), micros(7));
        spans.push(Phase::Count, micros(7), micros(8));
        let shown: Vec<_> = spans.as_slice().iter().map(|span| (span.phase, span.start, span.end)).collect();
        assert_eq!(shown, [(Phase::Read, micros(0), micros(7)), (Phase::Count, micros(7), micros(8))]);
        assert_eq!(spans.grain(), Duration::ZERO);
    }

    #[test]
    fn very_many_are_joined_without_gaps() {
        let mut spans = Spans::default();
        let mut now = Duration::ZERO;
        for number in 0..1_000_000_u64 {
            // Two of three parts of the time are spent counting.
            let (phase, length) = [(Phase::Read, 300), (Phase::Count, 600)][(number % 2) as usize];
            let start = now;
            now += Duration::from_nanos(length);
            spans.push(phase, start, now);
        }
        let all = spans.as_slice();
        assert!(all.len() < MOST && all.len() > MOST / 8);
        assert!(spans.grain() > Duration::ZERO);
        assert_eq!((all[0].start, all[all.len() - 1].end), (Duration::ZERO, now));
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(all[..all.len() - 1].iter().all(|span| span.end - span.start >= spans.grain()));
        assert!(all.iter().any(|span| span.phase == Phase::Count));
    }
}
