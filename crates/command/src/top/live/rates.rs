//! Records per second.

use std::collections::VecDeque;
use std::time::Duration;

/// Time over which the present rate is measured.
const WINDOW: Duration = Duration::from_secs(2);

/// The number of counted records over time.
#[derive(Default)]
pub(super) struct Rates {
    /// The last samples, in the order of time.
    samples: VecDeque<Sample>,
    /// The first sample of the mean.
    base: Sample,
    is_following: bool,
}

#[derive(Clone, Copy, Default)]
struct Sample {
    elapsed: Duration,
    records: u64,
}

impl Rates {
    /// Adds a sample. Once inputs are followed, the mean is that of what is added to them: what was there before was read
    /// at another speed.
    pub(super) fn add(&mut self, elapsed: Duration, records: u64, is_following: bool) {
        let sample = Sample { elapsed, records };
        if is_following && !self.is_following {
            self.is_following = true;
            self.base = sample;
            self.samples.clear();
        }
        self.samples.push_back(sample);
        while self.samples.get(1).is_some_and(|second| elapsed.saturating_sub(second.elapsed) >= WINDOW) {
            self.samples.pop_front();
        }
    }

    /// Records per second in the last two seconds.
    pub(super) fn now(&self) -> f64 {
        let first = if self.samples.len() > 1 { self.samples.front() } else { Some(&self.base) };
        self.since(first.copied().unwrap_or_default())
    }

    /// Records per second since the beginning.
    pub(super) fn mean(&self) -> f64 {
        self.since(self.base)
    }

    fn since(&self, first: Sample) -> f64 {
        let last = self.samples.back().copied().unwrap_or_default();
        let seconds = last.elapsed.saturating_sub(first.elapsed).as_secs_f64();
        if seconds > 0.0 { last.records.saturating_sub(first.records) as f64 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(samples: &[(u64, u64, bool)]) -> (f64, f64) {
        let mut rates = Rates::default();
        for &(seconds, records, is_following) in samples {
            rates.add(Duration::from_secs(seconds), records, is_following);
        }
        (rates.now(), rates.mean())
    }

    #[test]
    fn the_present_rate_is_that_of_two_seconds_and_the_mean_that_of_what_was_added() {
        for (samples, expected) in [
            (&[][..], (0.0, 0.0)),
            (&[(2, 100, false)], (50.0, 50.0)),
            (&[(1, 100, false), (2, 100, false), (4, 100, false)], (0.0, 25.0)),
            (&[(1, 100, false), (2, 300, false), (3, 500, false), (4, 1000, false)], (350.0, 250.0)),
            (&[(1, 9000, false), (2, 9000, true), (4, 9010, true), (12, 9100, true)], (11.25, 10.0)),
            (&[(9, 9000, true)], (0.0, 0.0)),
        ] {
            assert_eq!(rates(samples), expected, "{samples:?}");
        }
    }
}
