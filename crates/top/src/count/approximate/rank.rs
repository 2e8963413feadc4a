//! The most frequent of keys whose counts have errors, and the keys that are certainly among them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::summary::SummaryEntry;
use crate::count::answer::KeyCount;
use crate::query::Order;

/// A key that occurs `count` times at least, and at most `error` times more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BoundedKey {
    pub(super) key: Vec<u8>,
    pub(super) count: u64,
    pub(super) error: u64,
}

impl SummaryEntry<'_> {
    pub(super) fn to_bounded_key(self) -> BoundedKey {
        BoundedKey { key: self.key(), count: self.count, error: self.error }
    }
}

impl BoundedKey {
    fn least(&self) -> Rank<'_> {
        Rank(self.count, &self.key)
    }

    fn most(&self) -> Rank<'_> {
        Rank(self.count + self.error, &self.key)
    }
}

/// Place of a key in the order of an answer: lower is earlier.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rank<'r>(u64, &'r [u8]);

impl Ord for Rank<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        Reverse(self.0).cmp(&Reverse(other.0)).then_with(|| self.1.cmp(other.1))
    }
}

impl PartialOrd for Rank<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A row, ordered by the lower or the upper bound of its count.
struct By<const MOST: bool>(BoundedKey);

impl<const MOST: bool> By<MOST> {
    fn rank(&self) -> Rank<'_> {
        if MOST { self.0.most() } else { self.0.least() }
    }
}

impl<const MOST: bool> Ord for By<MOST> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl<const MOST: bool> PartialOrd for By<MOST> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const MOST: bool> PartialEq for By<MOST> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<const MOST: bool> Eq for By<MOST> {}

/// Returns the first `number` rows.
fn first<'s, const MOST: bool>(
    entries: impl Iterator<Item = SummaryEntry<'s>>,
    number: usize,
) -> Vec<BoundedKey> {
    let mut first: BinaryHeap<By<MOST>> = BinaryHeap::new();
    for entry in entries {
        let value = if MOST { entry.most() } else { entry.count };
        let is_full = first.len() >= number;
        if is_full && first.peek().is_none_or(|last| value < last.rank().0) {
            continue;
        }
        first.push(By(entry.to_bounded_key()));
        if is_full {
            first.pop();
        }
    }
    first.into_iter().map(|By(row)| row).collect()
}

/// The rows that may be in an answer.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    /// The rows with the largest counts, as many as there may be in the answer.
    rows: Vec<BoundedKey>,
    /// The rows with the largest sums of count and error, one more than in the answer.
    rivals: Vec<BoundedKey>,
    number: usize,
}

impl Ranking {
    /// A ranking for an answer of `number` keys.
    pub(super) fn of<'s>(entries: impl Iterator<Item = SummaryEntry<'s>> + Clone, number: usize) -> Self {
        // If all keys are wanted, there are no rivals.
        let rivals = match number.checked_add(1) {
            Some(number) => first::<true>(entries.clone(), number),
            None => Vec::new(),
        };
        Self { rows: first::<false>(entries, number), rivals, number }
    }

    /// The least count of the answer; 0 if there are fewer keys than it may have.
    pub(super) fn least(&self) -> u64 {
        let least = self.rows.iter().map(|row| row.count).min();
        least.filter(|_| self.rows.len() == self.number).unwrap_or_default()
    }

    /// Adds other keys.
    pub(super) fn add(&mut self, rows: &[BoundedKey]) {
        self.rows.extend_from_slice(rows);
        if self.number < usize::MAX {
            self.rivals.extend_from_slice(rows);
        }
    }

    /// The first keys in an order by descending count. No other key occurs more often than `bound`.
    pub(super) fn into_top(self, bound: u64, order: Order) -> Vec<KeyCount> {
        let Self { mut rows, mut rivals, number } = self;
        rows.sort_unstable_by(|one, other| one.least().cmp(&other.least()));
        rows.truncate(number);
        rows.retain(|row| row.count >= order.min_count);
        rivals.sort_unstable_by(|one, other| one.most().cmp(&other.most()));
        let is_certain = |row: &BoundedKey| {
            let before = rivals.partition_point(|rival| rival.most() < row.least());
            // It precedes itself if it may occur more often than it is known to.
            let others = before - usize::from(row.error > 0 && before > 0);
            number == usize::MAX || others < number && (bound == 0 || row.count > bound)
        };
        let uncertain: Vec<bool> = rows.iter().map(|row| !is_certain(row)).collect();
        let keys = rows.into_iter().zip(uncertain).map(|(row, is_uncertain)| KeyCount {
            error: row.error,
            is_uncertain,
            ..KeyCount::new(row.key, row.count)
        });
        keys.collect()
    }
}
