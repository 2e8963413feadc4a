//! The distribution of the numbers of a field.

use crate::measure::histogram::Histogram;
use crate::measure::number::{Decimal, MAX_PLACES, POWERS, parse_plain, parse_with_unit};
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

/// The numbers of a field with many distinct values. As in measures, those without a unit are no numbers of a field with units.
#[derive(Debug, Default)]
pub(super) struct NumberSketch {
    pub(super) others: u64,
    plain: Sketch,
    with_unit: Sketch,
}

#[derive(Debug, Default)]
struct Sketch {
    /// The most decimal places of a number.
    places: u8,
    histogram: Histogram,
}

impl Sketch {
    #[inline(always)]
    fn add(&mut self, Decimal { units, places }: Decimal, count: u64) {
        self.places = self.places.max(places);
        self.histogram.add_several(units * POWERS[usize::from(MAX_PLACES - places)], count);
    }

    fn merge(&mut self, other: &Self) {
        self.places = self.places.max(other.places);
        self.histogram.merge(&other.histogram);
    }
}

impl NumberSketch {
    #[inline(always)]
    pub(super) fn add(&mut self, text: &[u8], (start, end): (usize, usize), count: u64) {
        match parse_plain(text, start, end) {
            Some((units, places)) => self.plain.add(Decimal::new(units.into(), places), count),
            None => self.add_other(text, (start, end), count),
        }
    }

    #[inline(never)]
    fn add_other(&mut self, text: &[u8], (start, end): (usize, usize), count: u64) {
        match parse_with_unit(text, start, end) {
            Ok((number, true)) => self.with_unit.add(number, count),
            Ok((number, false)) => self.plain.add(number, count),
            Err(_) => self.others += count,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.others += other.others;
        self.plain.merge(&other.plain);
        self.with_unit.merge(&other.with_unit);
    }

    pub(super) fn summary(&self) -> Option<Numbers> {
        let (plain, with_unit) = (self.plain.histogram.count(), self.with_unit.histogram.count());
        let (sketch, count, others) = match with_unit {
            0 => (&self.plain, plain, self.others),
            _ => (&self.with_unit, with_unit, self.others + plain),
        };
        let value = |rank| sketch.histogram.value(rank, sketch.places);
        prevails(count, others).then(|| Numbers::by_rank(count, others, value))
    }
}

/// The numbers among distinct texts with their counts, as [`NumberSketch`] has them.
pub(super) fn summary_of<'t>(texts: impl Iterator<Item = (&'t [u8], u64)>) -> Option<Numbers> {
    let (mut numbers, mut all) = (Vec::new(), 0);
    for (text, occurrences) in texts {
        all += occurrences;
        if let Ok((number, has_unit)) = parse_with_unit(text, 0, text.len()) {
            numbers.push((number, has_unit, occurrences));
        }
    }
    let have_units = numbers.iter().any(|(_, has_unit, _)| *has_unit);
    numbers.retain(|(_, has_unit, _)| *has_unit == have_units);
    let count: u64 = numbers.iter().map(|(.., occurrences)| occurrences).sum();
    let others = all - count;
    if !prevails(count, others) {
        return None;
    }
    numbers.sort_unstable_by_key(|(number, ..)| *number);
    let value = |rank| {
        let mut before = 0;
        let found = numbers.iter().find(|(.., occurrences)| {
            before += occurrences;
            before >= rank
        });
        found.map_or(Quantity::None, |(number, ..)| Quantity::Number(*number))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_unit_are_others_where_some_have_one() {
        let summary = |texts: &[(&str, u64)]| {
            let mut sketch = NumberSketch::default();
            for &(text, count) in texts {
                sketch.add(text.as_bytes(), (0, text.len()), count);
            }
            let exact = |numbers: Numbers| {
                (numbers.count, numbers.others, numbers.min.to_string(), numbers.max.to_string())
            };
            let of_texts = summary_of(texts.iter().map(|&(text, count)| (text.as_bytes(), count)));
            assert_eq!(sketch.summary().map(exact), of_texts.clone().map(exact), "{texts:?}");
            of_texts.map(exact)
        };
        let shown =
            |count, others, min: &str, max: &str| Some((count, others, min.to_owned(), max.to_owned()));
        assert_eq!(summary(&[("12", 3), ("0.5", 1)]), shown(4, 0, "0.5", "12"));
        assert_eq!(summary(&[("500ms", 20), ("2s", 1), ("12", 2)]), shown(21, 2, "0.5", "2"));
        assert_eq!(summary(&[("500ms", 2), ("12", 2)]), None);
        assert_eq!(summary(&[("x", 1), ("7", 10)]), shown(10, 1, "7", "7"));
    }
}
