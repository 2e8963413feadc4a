//! Counts of values in buckets whose width is proportional to the values.
//!
//! A value v has N = |v| · 10^18 units, a natural number less than 2^127 (more places are not kept). For N < 512 the
//! bucket has only N. Otherwise, let 2^s be the greatest power of two with N / 2^s ≥ 256: the bucket has the 2^s natural
//! numbers that are the same if divided by 2^s and rounded down.
//!
//! **Error.** Let the least number of a bucket be L ≥ 256 · 2^s and the greatest L + 2^s - 1. The true value and the result are
//! both in the bucket, so they differ by less than 2^s, and the value is at least L: the relative error is less than 2^s / (256 ·
//! 2^s) = 2^-8. Only numbers with as few decimal places as the values are candidates for the result. If there is only one, as with
//! integers below 256, there is no error. Otherwise, the result has the fewest digits with which a number is in the bucket, mostly three:
//! more would be those of the bucket and not of the values. Zero has a bucket of its own, and negative values have theirs, so that they have the same bound. As N is exact, there are
//! no subnormal numbers and no rounding at borders.

use finecomb_sys::varint;

use crate::measure::number::{Decimal, MAX_PLACES, POWERS};
use crate::measure::quantity::{MAX_COUNT, Quantity, take_units};

/// Number of units of 1.
const ONE: i128 = POWERS[MAX_PLACES as usize];

/// Number of buckets per power of two, by which windows are extended.
const OCTAVE: usize = 256;

/// Number of buckets of all numbers, rounded to whole octaves.
const ALL_BUCKETS: usize = 120 * OCTAVE;

/// Counts by bucket of a group's values, which are given as units of 10^-18.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    count: u64,
    least: i128,
    greatest: i128,
    negative: BucketCounts,
    zeros: u64,
    positive: BucketCounts,
}

impl Default for Histogram {
    fn default() -> Self {
        let (negative, positive) = (BucketCounts::default(), BucketCounts::default());
        Self { count: 0, least: i128::MAX, greatest: i128::MIN, negative, zeros: 0, positive }
    }
}

impl Histogram {
    #[inline(always)]
    pub(super) fn add(&mut self, units: i128) {
        self.add_several(units, 1);
    }

    /// Adds a value that occurs several times.
    #[inline(always)]
    pub(crate) fn add_several(&mut self, units: i128, count: u64) {
        self.count += count;
        self.least = self.least.min(units);
        self.greatest = self.greatest.max(units);
        if units > 0 {
            self.positive.add(bucket(units as u128), count);
        } else if units < 0 {
            self.negative.add(bucket(units.unsigned_abs()), count);
        } else {
            self.zeros += count;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.negative.merge(&other.negative);
        self.zeros += other.zeros;
        self.positive.merge(&other.positive);
    }

    /// Appends all counts.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        varint::put(out, self.count);
        varint::put_signed(out, self.least);
        varint::put_signed(out, self.greatest);
        self.negative.encode(out);
        varint::put(out, self.zeros);
        self.positive.encode(out);
    }

    /// The histogram at the beginning of `bytes`. `None` if there is none.
    pub(super) fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let histogram = Self {
            count: varint::take(bytes).filter(|count| *count <= MAX_COUNT)?,
            least: take_units(MAX_PLACES, bytes)?,
            greatest: take_units(MAX_PLACES, bytes)?,
            negative: BucketCounts::decode(bytes)?,
            zeros: varint::take(bytes)?,
            positive: BucketCounts::decode(bytes)?,
        };
        let is_valid = histogram.count > 0 && histogram.sum_of_counts() == Some(histogram.count);
        is_valid.then_some(histogram)
    }

    /// Number of values in all buckets. `None` if it does not fit.
    fn sum_of_counts(&self) -> Option<u64> {
        let counts = self.negative.counts.iter().chain(&self.positive.counts);
        counts.chain([&self.zeros]).try_fold(0, |sum: u64, count| sum.checked_add(*count))
    }

    /// Number of values.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the value with this rank, from 1 to the number of values, within the error. The result has no more than `places`
    /// decimal places, the number that all values need.
    pub(crate) fn value(&self, rank: u64, places: u8) -> Quantity {
        let unit = ONE / POWERS[usize::from(places)];
        let exact = |units: i128| Quantity::Number(Decimal::new(units / unit, places));
        if rank <= 1 {
            return exact(self.least);
        }
        if rank >= self.count {
            return exact(self.greatest);
        }
        let (low, high) = self.bounds(rank);
        let (low, high) = (low.max(self.least), high.min(self.greatest));
        let candidates = |step: i128| {
            let last = high - high.rem_euclid(step);
            (last >= low).then(|| ((last - low) / step, last))
        };
        match candidates(unit) {
            Some((0, only)) => exact(only),
            _ => {
                let most = low.abs().max(high.abs());
                let steps = POWERS.iter().map(|power| power * unit).take_while(|step| *step <= most);
                let found = steps.map_while(|step| Some((step, candidates(step)?))).last();
                let (step, (others, last)) = found.unwrap_or((unit, (0, high)));
                Quantity::Estimate(Decimal::new((last - others / 2 * step) / unit, places))
            }
        }
    }

    /// The least and the greatest number in the bucket of the value with this rank.
    fn bounds(&self, rank: u64) -> (i128, i128) {
        let mut before = 0;
        for (bucket, count) in self.negative.counts().rev() {
            before += count;
            if before >= rank {
                let (low, high) = bounds(bucket);
                return (-high, -low);
            }
        }
        before += self.zeros;
        if before >= rank {
            return (0, 0);
        }
        for (bucket, count) in self.positive.counts() {
            before += count;
            if before >= rank {
                return bounds(bucket);
            }
        }
        (self.greatest, self.greatest)
    }

    /// Allocated memory in bytes, without that of the histogram itself.
    pub(super) fn memory(&self) -> usize {
        self.negative.memory() + self.positive.memory()
    }
}

/// The bucket of a positive number.
#[inline(always)]
pub(super) fn bucket(units: u128) -> usize {
    let shift = (u128::BITS - units.leading_zeros()).saturating_sub(OCTAVE.ilog2() + 1);
    OCTAVE * shift as usize + (units >> shift) as usize
}

/// The least and the greatest number of a bucket.
fn bounds(bucket: usize) -> (i128, i128) {
    if bucket < OCTAVE {
        return (bucket as i128, bucket as i128);
    }
    let shift = bucket / OCTAVE - 1;
    let low = ((bucket % OCTAVE + OCTAVE) as i128) << shift;
    (low, low + (1 << shift) - 1)
}

/// Counts of the buckets from the lowest to the highest one in use, rounded to whole octaves.
#[derive(Clone, Debug, Default)]
struct BucketCounts {
    lowest: usize,
    counts: Vec<u64>,
}

impl BucketCounts {
    #[inline(always)]
    fn add(&mut self, bucket: usize, count: u64) {
        match self.counts.get_mut(bucket.wrapping_sub(self.lowest)) {
            Some(known) => *known += count,
            None => {
                self.extend(bucket);
                self.counts[bucket - self.lowest] += count;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn extend(&mut self, bucket: usize) {
        let lowest = bucket - bucket % OCTAVE;
        if self.counts.is_empty() {
            self.lowest = lowest;
        }
        let before = self.lowest.saturating_sub(lowest);
        self.lowest -= before;
        let length = (lowest + OCTAVE - self.lowest).max(before + self.counts.len());
        let mut counts = vec![0; length];
        counts[before..before + self.counts.len()].copy_from_slice(&self.counts);
        self.counts = counts;
    }

    fn merge(&mut self, other: &Self) {
        if let (Some((first, _)), Some((last, _))) = (other.counts().next(), other.counts().next_back()) {
            self.add(first, 0);
            self.add(last, 0);
            other.counts().for_each(|(bucket, count)| self.counts[bucket - self.lowest] += count);
        }
    }

    /// The buckets from the lowest one on, each with its count.
    fn counts(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> {
        self.counts.iter().enumerate().map(|(index, &count)| (self.lowest + index, count))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        varint::put(out, self.lowest as u64);
        varint::put(out, self.counts.len() as u64);
        self.counts.iter().for_each(|count| varint::put(out, *count));
    }

    fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let mut take_buckets = || {
            let buckets = usize::try_from(varint::take(bytes)?).ok()?;
            (buckets <= ALL_BUCKETS && buckets.is_multiple_of(OCTAVE)).then_some(buckets)
        };
        let (lowest, length) = (take_buckets()?, take_buckets()?);
        let is_valid = lowest + length <= ALL_BUCKETS;
        let counts = (0..length).map(|_| varint::take(bytes)).collect::<Option<_>>()?;
        is_valid.then_some(Self { lowest, counts })
    }

    fn memory(&self) -> usize {
        self.counts.capacity() * size_of::<u64>()
    }
}

/// The number of bytes of the counts of a histogram of numbers in these ranges of positive numbers.
pub(super) fn counts_size(ranges: impl IntoIterator<Item = (u128, u128)>) -> usize {
    let octaves = ranges.into_iter().map(|(low, high)| bucket(high) / OCTAVE - bucket(low) / OCTAVE + 1);
    octaves.sum::<usize>() * OCTAVE * size_of::<u64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_consecutive_and_each_has_a_relative_width_of_at_most_2_to_the_minus_8() {
        let mut next = 1;
        for bucket in 1.. {
            let (low, high) = bounds(bucket);
            assert_eq!(low, next);
            assert_eq!([super::bucket(low as u128), super::bucket(high as u128)], [bucket; 2]);
            assert!((high - low) * 256 < low, "{low}");
            if high >= i128::MAX / 2 {
                break;
            }
            next = high + 1;
        }
        assert_eq!(super::bucket(POWERS[38] as u128 - 1), 30_508);
    }

    proptest! {
        #[test]
        fn a_number_is_in_its_bucket(units in 1..POWERS[38], shift in 0..127_u32) {
            let units = (units >> shift).max(1);
            let (low, high) = bounds(bucket(units as u128));
            prop_assert!((low..=high).contains(&units));
        }
    }
}
