//! Changes of counts: each key with its count before and after.
//!
//! During the count, a key begins with its side, so that the table counts the pairs. Here they are separated again.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::mem;

use crate::count::answer::{Answer, Changes, KeyCount};
use crate::measure::number::Decimal;
use crate::measure::quantity::Quantity;
use crate::query::options::SortBy;
use crate::query::{Order, Query};

/// Names of the columns of an answer beside the count, in order.
pub const CHANGE_COLUMNS: [&str; 3] = ["before", "change", "change_percent"];

/// Index of the column of the changes.
pub(crate) const CHANGE: usize = 1;

/// A part of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl Side {
    pub(crate) fn append(self, out: &mut Vec<u8>) {
        out.push(self as u8);
    }

    /// The side and the key that were counted as one.
    pub(crate) fn split(pair: &[u8]) -> (Self, &[u8]) {
        match pair.split_first() {
            Some((&side, key)) if side == Self::Before as u8 => (Self::Before, key),
            Some((_, key)) => (Self::After, key),
            None => (Self::After, pair),
        }
    }
}

/// A key with its counts before and after.
struct Change<'k> {
    key: &'k [u8],
    before: u64,
    after: u64,
}

impl Change<'_> {
    fn size(&self) -> u64 {
        self.before.abs_diff(self.after)
    }

    fn row(&self) -> KeyCount {
        let change = i128::from(self.after) - i128::from(self.before);
        let number = |units, places| Quantity::Number(Decimal::new(units, places));
        let percent = match self.before {
            0 => Quantity::None,
            before => number(hundredths(change, before), 2),
        };
        let values = vec![number(self.before.into(), 0), number(change, 0), percent];
        KeyCount { values, ..KeyCount::new(self.key.to_vec(), self.after) }
    }
}

/// A change in hundredths of a percent of a count, a half rounded away from 0.
fn hundredths(change: i128, before: u64) -> i128 {
    let before = i128::from(before);
    (change.abs() * 20_000 + before) / (2 * before) * change.signum()
}

/// Makes the rows of counts whose keys begin with their sides.
pub(crate) fn arrange(answer: &mut Answer, query: &Query) {
    let pairs = mem::take(&mut answer.top);
    let counts = pairs.iter().map(|pair| {
        let (side, key) = Side::split(&pair.key);
        (side, key, pair.count)
    });
    show(answer, query, counts);
}

/// Makes the rows of these counts, each with its side and key.
pub(crate) fn show<'k>(
    answer: &mut Answer,
    query: &Query,
    counts: impl Iterator<Item = (Side, &'k [u8], u64)>,
) {
    let mut sides: HashMap<&[u8], [u64; 2]> = HashMap::new();
    for (side, key, count) in counts {
        sides.entry(key).or_default()[side as usize] += count;
    }
    let changes = sides.into_iter().map(|(key, [before, after])| Change { key, before, after });
    let mut changes: Vec<Change<'_>> = changes.collect();
    let records = changes.iter().map(|change| change.before).sum();
    let new = changes.iter().filter(|change| change.before == 0).count() as u64;
    let gone = changes.iter().filter(|change| change.after == 0).count() as u64;
    answer.distinct = changes.len() as u64;
    answer.changes = Some(Changes { before: records, new, gone });
    sort(&mut changes, &query.order);
    answer.measure_names = CHANGE_COLUMNS.map(str::to_owned).to_vec();
    answer.top = changes.iter().map(Change::row).collect();
    answer.top.iter_mut().for_each(|key| key.split(query.joint));
}

/// Sorts changes, and keeps the first. The order of a change is that of its size, in either direction.
fn sort(changes: &mut Vec<Change<'_>>, order: &Order) {
    changes.retain(|change| change.before.max(change.after) >= order.min_count);
    let rank = |change: &Change<'_>| {
        let number = match order.by {
            SortBy::Count => change.after,
            SortBy::Measure(CHANGE) => change.size(),
            SortBy::Measure(_) => change.before,
            SortBy::Key => 0,
        };
        if order.reverse { number } else { !number }
    };
    match order {
        Order { by: SortBy::Key, reverse: true, .. } => {
            changes.sort_unstable_by_key(|change| Reverse(change.key))
        }
        _ => changes.sort_unstable_by(|one, other| rank(one).cmp(&rank(other)).then(one.key.cmp(other.key))),
    }
    changes.truncate(order.number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_rounded_to_hundredths_of_a_percent() {
        for (before, after, expected) in [
            (3, 4, "33.33"),
            (3, 5, "66.67"),
            (8, 7, "-12.5"),
            (80_000, 79_999, "0"),
            (16_000, 15_999, "-0.01"),
            (1, 0, "-100"),
            (1, u64::MAX, "1844674407370955161400"),
            (u64::MAX, 0, "-100"),
            (7, 7, "0"),
        ] {
            let change = Change { key: b"", before, after };
            assert_eq!(change.row().values[2].to_string(), expected, "{before} {after}");
        }
        assert_eq!(Change { key: b"", before: 0, after: 1 }.row().values[2], Quantity::None);
    }

    #[test]
    fn keys_are_sorted_by_the_size_of_their_change() {
        let sorted = |by, reverse, number, min_count| {
            let counts = [(b"a", 1, 9), (b"b", 9, 0), (b"c", 5, 6), (b"d", 0, 1), (b"e", 9, 1)];
            let change = |&(key, before, after): &(&'static [u8; 1], u64, u64)| Change { key, before, after };
            let mut changes: Vec<Change<'_>> = counts.iter().map(change).collect();
            sort(&mut changes, &Order { by, reverse, number, min_count });
            String::from_utf8(changes.iter().flat_map(|change| change.key.to_vec()).collect())
                .expect("letters")
        };
        assert_eq!(sorted(SortBy::Measure(CHANGE), false, 9, 1), "baecd");
        assert_eq!(sorted(SortBy::Measure(CHANGE), true, 3, 1), "cda");
        assert_eq!(sorted(SortBy::Measure(0), false, 9, 1), "becad");
        assert_eq!(sorted(SortBy::Count, false, 9, 1), "acdeb");
        assert_eq!(sorted(SortBy::Key, false, 9, 6), "abce");
        assert_eq!(sorted(SortBy::Key, true, 2, 1), "ed");
    }
}
