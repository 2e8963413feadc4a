//! How long answers took: as many as there are, in a few kilobytes.

use std::time::Duration;

use crate::effort::seconds;

/// Bits that are kept of a number of nanoseconds, besides how long it is: what is read out is off by less
/// than 1 %.
const BITS: u32 = 6;
const SUBDIVISIONS: u64 = 1 << BITS;
const BUCKETS: usize = (64 - BITS as usize + 1) << BITS;

/// Durations, counted in buckets whose width is in proportion to what they hold (as Gil Tene's HdrHistogram
/// does), as a fast server gives more answers than one would want to keep.
#[derive(Clone)]
pub(super) struct Latencies {
    counts: Vec<u64>,
    count: u64,
    longest: Duration,
}

impl Latencies {
    pub(super) fn new() -> Self {
        Self { counts: vec![0; BUCKETS], count: 0, longest: Duration::ZERO }
    }

    pub(super) fn push(&mut self, latency: Duration) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanoseconds)] += 1;
        self.count += 1;
        self.longest = self.longest.max(latency);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The longest, in seconds; exact.
    pub(super) fn longest(&self) -> f64 {
        seconds(self.longest)
    }

    /// The latency in seconds that a share of all (from 0 to 1) does not exceed; not a number if there are
    /// none.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut sum = 0;
        let reaches = |count: &u64| {
            sum += count;
            sum >= rank
        };
        match self.counts.iter().position(reaches) {
            Some(bucket) => (middle(bucket).round() / 1e9).min(self.longest()),
            None => f64::NAN,
        }
    }
}

fn bucket(nanoseconds: u64) -> usize {
    let shift = nanoseconds.checked_ilog2().unwrap_or(0).saturating_sub(BITS);
    let leading = nanoseconds >> shift;
    // Below 2 × SUBDIVISIONS a number is its own bucket; each doubling beyond has as many buckets as that has
    // above SUBDIVISIONS.
    (u64::from(shift) * SUBDIVISIONS + leading) as usize
}

/// The middle of what a bucket holds, in nanoseconds.
fn middle(bucket: usize) -> f64 {
    let bucket = bucket as u64;
    let shift = (bucket / SUBDIVISIONS).saturating_sub(1);
    let leading = bucket - shift * SUBDIVISIONS;
    let width = (1_u64 << shift) as f64;
    leading as f64 * width + (width - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(nanoseconds: &[u64]) -> Latencies {
        let mut latencies = Latencies::new();
        nanoseconds.iter().for_each(|&latency| latencies.push(Duration::from_nanos(latency)));
        latencies
    }

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let mut latencies = all(&Vec::from_iter(1..=50));
        latencies.merge(&all(&Vec::from_iter(51..=100)));
        let nanoseconds = [0.0, 0.01, 0.5, 0.99, 1.0].map(|share| (latencies.quantile(share) * 1e9).round());
        assert_eq!(nanoseconds, [1.0, 1.0, 50.0, 99.0, 100.0]);
        assert_eq!((latencies.count(), latencies.longest()), (100, 100e-9));
        assert!(Latencies::new().quantile(0.5).is_nan());
    }

    #[test]
    fn every_duration_has_a_bucket() {
        assert_eq!(bucket(0), 0);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    proptest! {
        #[test]
        fn what_is_read_out_is_less_than_one_percent_off(nanoseconds in 1_u64..1 << 50) {
            let read = middle(bucket(nanoseconds));
            prop_assert!((read / nanoseconds as f64 - 1.0).abs() < 0.01, "{}", read);
        }

        #[test]
        fn longer_durations_have_no_earlier_buckets(one: u64, other: u64) {
            prop_assert_eq!(bucket(one.max(other)), bucket(one).max(bucket(other)));
        }
    }
}
