//! What came of a count.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use finecomb_scan::{Place, Problem, Report};
use finecomb_sys::simd::prefetch;

use crate::table::Entry;

/// A key and how often it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCount {
    /// The key. It need not be UTF-8.
    pub key: Vec<u8>,
    /// How many records have it.
    pub count: u64,
}

/// In the order of an answer: the highest count first, equal counts by the bytes of the key.
impl Ord for KeyCount {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |this: &Self| Reverse(this.count);
        rank(self).cmp(&rank(other)).then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialOrd for KeyCount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What came of a count.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The most frequent keys, the highest count first, equal counts by the bytes of the key.
    pub top: Vec<KeyCount>,
    /// How many different keys there were.
    pub distinct: u64,
    /// How many records were counted.
    pub records: u64,
    /// Records that were chosen but have no key, if there were any.
    pub skipped: Option<Skipped>,
    /// Whether the count was interrupted, so that this is only part of the answer.
    pub partial: bool,
}

/// Records that have no key: too few fields, or a quote that is never closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// Where the first one is.
    pub first: Place,
    /// What the first one begins with: at most 256 bytes of it.
    pub record: Vec<u8>,
}

impl Skipped {
    /// The most that is kept of a record, in bytes.
    pub(crate) const KEPT: usize = 256;

    /// Joins what two workers skipped.
    pub(crate) fn merge(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (one, other) = match (one, other) {
            (Some(one), Some(other)) => (one, other),
            (one, other) => return one.or(other),
        };
        let count = one.count + other.count;
        let first = if one.first < other.first { one } else { other };
        Some(Self { count, ..first })
    }
}

/// An answer and what happened on the way to it.
#[derive(Debug)]
pub struct Outcome {
    /// The answer.
    pub answer: Answer,
    /// What went wrong with inputs, in their order.
    pub problems: Vec<Problem>,
    /// Bytes taken in.
    pub bytes: u64,
    /// Bytes of memory that the workers' tables held in the end.
    pub memory: u64,
    /// Where the time went, if it was measured.
    pub report: Option<Report>,
}

/// How many keys are looked at together, so that their memory is fetched at once.
const BATCH: usize = 32;

/// The first `number` of some keys in the order of an answer; they are given in no order.
pub(crate) fn most_frequent<'e, 't: 'e>(
    mut entries: impl Iterator<Item = &'e Entry<'t>>,
    number: usize,
) -> Vec<KeyCount> {
    if number == 0 {
        return Vec::new();
    }
    // The heap's greatest is the last in the order of the answer: the one to go when a better one comes.
    let mut best: BinaryHeap<KeyCount> = BinaryHeap::new();
    let mut batch: Vec<&Entry<'t>> = Vec::with_capacity(BATCH);
    loop {
        let least = if best.len() < number { 1 } else { best.peek().map_or(1, |worst| worst.count) };
        batch.clear();
        batch.extend(entries.by_ref().filter(|entry| entry.count >= least).take(BATCH));
        if batch.is_empty() {
            return best.into_vec();
        }
        for byte in batch.iter().filter_map(|entry| entry.key.first()) {
            prefetch(byte);
        }
        for entry in &batch {
            consider(&mut best, number, entry.key, entry.count);
        }
    }
}

/// Takes a key among the best `number`, if it is one of them.
fn consider(best: &mut BinaryHeap<KeyCount>, number: usize, key: &[u8], count: u64) {
    if best.len() < number {
        best.push(KeyCount { key: key.to_vec(), count });
    } else if let Some(mut worst) = best.peek_mut()
        && (count > worst.count || count == worst.count && key < worst.key.as_slice())
    {
        *worst = KeyCount { key: key.to_vec(), count };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hasher;
    use crate::table::tests::table_of;
    use crate::table::{JoinedShard, SHARDS};

    #[test]
    fn the_most_frequent_are_those_that_sorting_puts_first() {
        let mut all = Vec::new();
        let mut keys = Vec::new();
        for number in 0..500_u32 {
            let key = format!("key {}", number.wrapping_mul(2_654_435_761) % 100_000).into_bytes();
            let count = number as usize % 7 + 1;
            all.push(KeyCount { key: key.clone(), count: count as u64 });
            keys.extend(vec![key; count]);
        }
        all.sort();
        let table = table_of(Hasher::random(), &keys);
        let tables = [&table];
        let shards: Vec<_> = (0..SHARDS).map(|shard| JoinedShard::new(&tables, shard)).collect();
        for number in [0, 1, 2, 10, 31, 32, 33, 64, 499, 500, 501, usize::MAX] {
            let mut best = most_frequent(shards.iter().flat_map(JoinedShard::entries), number);
            best.sort();
            assert_eq!(best, all[..number.min(500)]);
        }
    }

    /// Keys are looked at in batches: those of a batch that begins before there are enough may have any count, and so may
    /// those of later batches as long as there are not enough.
    #[test]
    fn an_answer_that_is_longer_than_a_batch_has_its_rarest_keys() {
        let mut entries: Vec<(Vec<u8>, u64)> =
            (0..3 * BATCH as u64).map(|number| (vec![number as u8], 1000 - number)).collect();
        for number in [BATCH + 1, 2 * BATCH, 2 * BATCH + 5, 3 * BATCH] {
            let found =
                entries.iter().map(|(key, count)| Entry { hash: 0, key, count: *count }).collect::<Vec<_>>();
            let mut best = most_frequent(found.iter(), number);
            best.sort();
            let counts: Vec<u64> = best.iter().map(|key| key.count).collect();
            assert_eq!(
                counts,
                (0..number as u64).map(|number| 1000 - number).collect::<Vec<_>>(),
                "{number}"
            );
            entries.rotate_left(BATCH / 2);
        }
    }
}
