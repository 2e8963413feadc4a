//! The distribution of the numbers of a field.

use crate::measure::histogram::Histogram;
use crate::measure::number::{Decimal, MAX_PLACES, POWERS, parse_span};
use crate::measure::percentiles::Percentile;
use crate::measure::quantity::Quantity;
use crate::overview::answer::Numbers;

/// Maximum number of values of a field of numbers or times that are something else. The bound is absolute, so that a worker that has
/// seen as many knows that all values together have as many.
pub(super) const MAX_OTHERS: u64 = 1000;

/// Whether a field is one of numbers or times: it has `count` of them and `others`.
pub(super) fn prevails(count: u64, others: u64) -> bool {
    count > 0 && others <= MAX_OTHERS && 10 * others <= count
}

/// The numbers of a field with many distinct values.
#[derive(Debug, Default)]
pub(super) struct NumberSketch {
    pub(super) others: u64,
    /// The most decimal places of a number.
    places: u8,
    histogram: Histogram,
}

impl NumberSketch {
    #[inline(always)]
    pub(super) fn add(&mut self, text: &[u8], (start, end): (usize, usize), count: u64) {
        match parse_span(text, start, end) {
            Ok(Decimal { units, places }) => {
                self.places = self.places.max(places);
                self.histogram.add_several(units * POWERS[usize::from(MAX_PLACES - places)], count);
            }
            Err(_) => self.others += count,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.others += other.others;
        self.places = self.places.max(other.places);
        self.histogram.merge(&other.histogram);
    }

    pub(super) fn summary(&self) -> Option<Numbers> {
        let count = self.histogram.count();
        let value = |rank| {
            let units = self.histogram.value(rank, self.places);
            Quantity::Number(Decimal::new(units, MAX_PLACES))
        };
        prevails(count, self.others).then(|| Numbers::by_rank(count, self.others, value))
    }
}

/// The numbers among distinct texts with their counts.
pub(super) fn summary_of<'t>(texts: impl Iterator<Item = (&'t [u8], u64)>) -> Option<Numbers> {
    let (mut numbers, mut count, mut others) = (Vec::new(), 0, 0);
    for (text, occurrences) in texts {
        match Decimal::parse(text) {
            Ok(number) => {
                numbers.push((number, occurrences));
                count += occurrences;
            }
            Err(_) => others += occurrences,
        }
    }
    if !prevails(count, others) {
        return None;
    }
    numbers.sort_unstable_by_key(|(number, _)| *number);
    let value = |rank| {
        let mut before = 0;
        let found = numbers.iter().find(|(_, occurrences)| {
            before += occurrences;
            before >= rank
        });
        found.map_or(Quantity::None, |(number, _)| Quantity::Number(*number))
    };
    Some(Numbers::by_rank(count, others, value))
}

impl Numbers {
    /// `value` returns the number with a rank, from 1 to the count.
    fn by_rank(count: u64, others: u64, value: impl Fn(u64) -> Quantity) -> Self {
        let at = |percentile: Percentile| value(percentile.rank(count));
        Self {
            count,
            others,
            min: value(1),
            median: at(Percentile::P50),
            p95: at(Percentile::P95),
            max: value(count),
        }
    }
}
