//! A sample of a field's values that depends neither on the order of the records nor on how they are divided among workers.

use twox_hash::XxHash3_64;

/// Maximum number of values in a sample. A share of 10 % has a standard error of 0.5 %.
pub(super) const SAMPLE: usize = 4096;

/// The values with the least priorities, at least [`SAMPLE`] of them if there are as many.
///
/// The priority of a value is a hash of the place of its record, so each value is in the sample with the same probability.
#[derive(Debug)]
pub(super) struct Sample<T> {
    values: Vec<(u64, T)>,
    /// Values with this priority or a greater one are not in the sample.
    limit: u64,
}

impl<T> Default for Sample<T> {
    fn default() -> Self {
        Self { values: Vec::new(), limit: u64::MAX }
    }
}

impl<T: Ord> Sample<T> {
    /// Whether a value of this priority would be in the sample.
    #[inline(always)]
    pub(super) fn takes(&self, priority: u64) -> bool {
        priority < self.limit
    }

    /// Adds a value that the sample takes.
    #[inline(never)]
    pub(super) fn push(&mut self, priority: u64, value: T) {
        if self.values.len() == 2 * SAMPLE {
            self.shrink();
        }
        if self.takes(priority) {
            self.values.push((priority, value));
        }
    }

    /// Keeps the values with the least priorities.
    fn shrink(&mut self) {
        if self.values.len() > SAMPLE {
            let limit = self.values.select_nth_unstable(SAMPLE).1.0;
            self.values.truncate(SAMPLE);
            self.limit = limit;
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (priority, value) in other.values {
            if self.takes(priority) {
                self.push(priority, value);
            }
        }
    }

    /// Maps each value of the sample to another one.
    pub(super) fn map<U>(self, map: impl Fn(T) -> U) -> Sample<U> {
        let values = self.values.into_iter().map(|(priority, value)| (priority, map(value))).collect();
        Sample { values, limit: self.limit }
    }

    /// The [`SAMPLE`] values with the least priorities, or all.
    pub(super) fn into_values(mut self) -> impl Iterator<Item = T> {
        self.shrink();
        self.values.into_iter().map(|(_, value)| value)
    }
}

/// The priorities of the records of a source, by their offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Priorities(u64);

impl Priorities {
    pub(super) fn of_source(argument: usize, path: &[u8]) -> Self {
        Self(XxHash3_64::oneshot_with_seed(argument as u64, path))
    }

    /// The priority of the record at an offset: the finalizer of splitmix64 (Steele, Lea, Flood 2014).
    #[inline(always)]
    pub(super) fn at(self, offset: u64) -> u64 {
        let mut state = (self.0 ^ offset).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        state ^ state >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_same_in_any_order_and_in_parts() {
        let priorities = Priorities::of_source(0, b"a.log");
        let values: Vec<(u64, u64)> = (0..30_000).map(|at| (priorities.at(at), at)).collect();
        let sample = |values: &mut dyn Iterator<Item = &(u64, u64)>| {
            let mut sample = Sample::default();
            values.for_each(|&(priority, value)| {
                if sample.takes(priority) {
                    sample.push(priority, value);
                }
            });
            sample
        };
        let sorted = |sample: Sample<u64>| {
            let mut values: Vec<u64> = sample.into_values().collect();
            values.sort_unstable();
            values
        };
        let all = sorted(sample(&mut values.iter()));
        assert_eq!(all.len(), SAMPLE);
        assert_eq!(sorted(sample(&mut values.iter().rev())), all);
        let mut merged = sample(&mut values[..100].iter());
        merged.merge(sample(&mut values[100..20_000].iter()));
        merged.merge(sample(&mut values[20_000..].iter()));
        assert_eq!(sorted(merged), all);
        let below = all.iter().filter(|at| **at < 15_000).count();
        assert!((1800..2300).contains(&below), "{below}");
    }
}
