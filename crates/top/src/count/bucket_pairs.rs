//! Counts of pairs of a bucket of time and a key, while the keys are counted as well.
//!
//! A pair is the number of its bucket and that of its key, in one word. Most pairs of a log are rare, so a table of them would
//! mostly grow; they are sorted and counted in portions instead, and the portions are merged. The keys of the answer are
//! chosen from the counts of the keys alone.
//!
//! Counts that are shown or written to files before they are complete have the bucket at the beginning of each key instead:
//! see [`timeline`](crate::count::timeline).

use std::collections::HashMap;
use std::sync::Arc;

use crate::count::answer::KeyCount;
use crate::count::table::{SHARDS, Table};

/// Number of pairs that are sorted together: they fit into the cache of a core.
const PORTION: usize = 1 << 15;

/// Counts the pairs of a worker.
#[derive(Debug, Default)]
pub(crate) struct PairCounts {
    /// Pairs that are not yet counted.
    recent: Vec<u64>,
    /// Pairs and their counts. The first `merged` are sorted and distinct, and so is each portion after them.
    counts: Vec<(u64, u64)>,
    merged: usize,
    /// The start of each bucket, by its number.
    starts: Vec<i64>,
    numbers: HashMap<i64, u32>,
    /// The last bucket and its number: mostly the next one, too.
    last: Option<(i64, u32)>,
}

impl PairCounts {
    /// Counts the keys of a block, each with its group and the start of its bucket.
    pub(crate) fn count(&mut self, groups: &[u32], starts: impl Iterator<Item = i64>) {
        for (start, &group) in starts.zip(groups) {
            let bucket = self.number(start);
            self.recent.push(u64::from(bucket) << 32 | u64::from(group));
        }
        if self.recent.len() >= PORTION {
            self.add_recent();
        }
    }

    /// Ends the count.
    pub(crate) fn finish(&mut self) {
        self.add_recent();
        self.merge();
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        let bucket = size_of::<i64>() + size_of::<(i64, u32)>();
        self.counts.capacity() * size_of::<(u64, u64)>()
            + self.recent.capacity() * size_of::<u64>()
            + self.starts.capacity() * bucket
    }

    /// The counts of all pairs, each with the start of its bucket.
    pub(crate) fn counts_by_bucket(&self) -> impl Iterator<Item = (i64, u64)> {
        self.counts.iter().map(|&(pair, count)| (self.starts[(pair >> 32) as usize], count))
    }

    fn number(&mut self, start: i64) -> u32 {
        match self.last {
            Some((last, number)) if last == start => number,
            _ => {
                let next = self.starts.len() as u32;
                let number = *self.numbers.entry(start).or_insert(next);
                if number == next {
                    self.starts.push(start);
                }
                self.last = Some((start, number));
                number
            }
        }
    }

    fn add_recent(&mut self) {
        self.recent.sort_unstable();
        let portions = self.recent.chunk_by(|one, other| one == other);
        self.counts.extend(portions.map(|equal| (equal[0], equal.len() as u64)));
        self.recent.clear();
        // Portions that repeat each other do not take more memory than twice that of all pairs.
        if self.counts.len() > 2 * self.merged + PORTION {
            self.merge();
        }
    }

    fn merge(&mut self) {
        // This sort takes advantage of portions that are in order.
        self.counts.sort_by_key(|&(pair, _)| pair);
        add_up(&mut self.counts);
        self.merged = self.counts.len();
    }
}

/// The counts of a worker that has finished.
pub(crate) struct OfWorker {
    /// The keys, which have groups.
    pub(crate) keys: Arc<Table>,
    pub(crate) pairs: PairCounts,
}

/// The start of a bucket and the place of a key in a list, and their count.
pub(crate) type Ranked = ((i64, usize), u64);

/// The counts of the pairs that have one of these keys, in the order of time and of the keys.
pub(crate) fn ranked(workers: &[OfWorker], keys: &[KeyCount]) -> Vec<Ranked> {
    let ranks: HashMap<&[u8], usize> = keys.iter().map(|key| key.key.as_slice()).zip(0..).collect();
    let mut ranked: Vec<Ranked> = Vec::new();
    for OfWorker { keys, pairs } in workers {
        let of_groups = ranks_of_groups(keys, &ranks);
        ranked.extend(pairs.counts.iter().filter_map(|&(pair, count)| {
            let rank = of_groups.get(pair as u32 as usize).copied().flatten()?;
            Some(((pairs.starts[(pair >> 32) as usize], rank), count))
        }));
    }
    ranked.sort_unstable();
    add_up(&mut ranked);
    ranked
}

/// Adds up the counts of equal pairs, which follow each other.
fn add_up<T: PartialEq>(counts: &mut Vec<(T, u64)>) {
    counts.dedup_by(|(pair, count), (known, sum)| {
        let is_known = pair == known;
        *sum += if is_known { *count } else { 0 };
        is_known
    });
}

/// The place of the key of each group of a table, if it has one.
fn ranks_of_groups(table: &Table, ranks: &HashMap<&[u8], usize>) -> Vec<Option<usize>> {
    let mut of_groups = Vec::new();
    for shard in 0..SHARDS {
        table.visit_shard(shard, |entry| {
            let group = entry.group as usize;
            if of_groups.len() <= group {
                of_groups.resize(group + 1, None);
            }
            of_groups[group] = ranks.get(entry.key).copied();
        });
    }
    of_groups
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::key::hash::Hasher;
    use crate::measure::Measures;

    /// Counts keys, each with a bucket, in blocks of this many.
    fn worker(hasher: Hasher, records: &[(i64, u8)], block: usize) -> OfWorker {
        let mut keys = Table::with_groups(hasher, Measures::new(&[]));
        let (mut pairs, mut groups) = (PairCounts::default(), Vec::new());
        for records in records.chunks(block) {
            let text: Vec<u8> = records.iter().map(|&(_, key)| key).collect();
            let spans: Vec<_> = (0..text.len()).map(|at| (at, at + 1)).collect();
            keys.group(&text, &spans, &mut groups).expect("a table with groups");
            pairs.count(&groups, records.iter().map(|&(start, _)| start));
        }
        pairs.finish();
        OfWorker { keys: Arc::new(keys), pairs }
    }

    proptest! {
        #[test]
        fn pairs_are_counted_as_by_a_map(
            workers in prop::collection::vec(prop::collection::vec((-3..4_i64, 0..5_u8), 0..60), 0..4),
            repeated in 1..2000_usize,
            block in 1..100_usize,
        ) {
            let hasher = Hasher::random();
            // More than a portion, so that portions are merged.
            let workers: Vec<_> = workers.iter().map(|records| records.repeat(repeated)).collect();
            let keys: Vec<KeyCount> = [3, 1, 200].map(|key| KeyCount::new(vec![key], 0)).to_vec();
            let mut expected: BTreeMap<(i64, usize), u64> = BTreeMap::new();
            for &(start, key) in workers.iter().flatten() {
                if let Some(rank) = keys.iter().position(|wanted| wanted.key == [key]) {
                    *expected.entry((start, rank)).or_default() += 1;
                }
            }
            let counted: Vec<_> = workers.iter().map(|records| worker(hasher, records, block)).collect();
            prop_assert_eq!(ranked(&counted, &keys), expected.into_iter().collect::<Vec<_>>());
        }
    }
}
