//! Selection and order of the keys of an answer.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::count::answer::KeyCount;
use crate::measure::Measures;
use crate::measure::quantity::Quantity;
use crate::query::options::SortBy;
use crate::query::{CountShape, Order, Query};
use finecomb_sys::simd::prefetch;

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'t> {
    pub(crate) key: &'t [u8],
    pub(crate) count: u64,
    pub(crate) hash: u32,
    /// Group of the key, if the table has groups.
    pub(crate) group: u32,
}

/// The entries of a shard that are needed for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selection {
    /// The first keys in an order.
    Keys(Order),
    /// The starts and counts of all buckets, in the order of time and without measures: there may be many.
    Buckets,
}

impl Selection {
    pub(crate) fn of(query: &Query) -> Self {
        match query.shape() {
            CountShape::Buckets(_) if query.measure_names.is_empty() && query.order.by == SortBy::Key => {
                Self::Buckets
            }
            _ => Self::Keys(query.order_of_entries()),
        }
    }
}

impl Order {
    /// Returns the first of these keys, unsorted. The measures are by the groups of the entries.
    pub(crate) fn select_from<'e, 't: 'e>(
        &self,
        entries: impl Iterator<Item = &'e Entry<'t>>,
        measures: Option<&Measures>,
    ) -> Vec<KeyCount> {
        if measures.is_none() && self.is_plain() {
            return most_frequent(entries, self.number);
        }
        if measures.is_none() && self.number == usize::MAX && self.min_count <= 1 {
            return entries.map(|entry| KeyCount::new(entry.key.to_vec(), entry.count)).collect();
        }
        let values = |group| measures.map(|measures| measures.results(group)).unwrap_or_default();
        let first = self.first(entries, measures).into_iter();
        first
            .map(|entry| KeyCount {
                values: values(entry.group),
                ..KeyCount::new(entry.key.to_vec(), entry.count)
            })
            .collect()
    }

    /// Returns the first of these entries, unsorted.
    pub(crate) fn first<'e, 't: 'e>(
        &self,
        entries: impl Iterator<Item = &'e Entry<'t>>,
        measures: Option<&Measures>,
    ) -> Vec<&'e Entry<'t>> {
        let mut keys: Vec<(Quantity, &Entry<'_>)> = entries
            .filter(|entry| entry.count >= self.min_count)
            .map(|entry| (self.criterion(entry, measures), entry))
            .collect();
        if self.number == 0 {
            keys.clear();
        } else if self.number < keys.len() {
            keys.select_nth_unstable_by(self.number - 1, |(one_value, one), (other_value, other)| {
                self.compare_by((one_value, one.count, one.key), (other_value, other.count, other.key))
            });
            keys.truncate(self.number);
        }
        keys.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Whether keys are ordered by descending count, and then by their bytes.
    pub(crate) fn is_by_descending_count(&self) -> bool {
        self.by == SortBy::Count && !self.reverse
    }

    fn is_plain(&self) -> bool {
        self.is_by_descending_count() && self.min_count <= 1
    }

    fn criterion(&self, entry: &Entry<'_>, measures: Option<&Measures>) -> Quantity {
        match (self.by, measures) {
            (SortBy::Measure(number), Some(measures)) => measures.value(number, entry.group),
            _ => Quantity::None,
        }
    }

    /// Sorts keys, and keeps the first.
    pub(crate) fn arrange(&self, keys: &mut Vec<KeyCount>) {
        keys.sort_unstable_by(|one, other| self.compare(one, other));
        keys.truncate(self.number);
    }

    /// Compares two keys in the order of the answer.
    pub(crate) fn compare(&self, one: &KeyCount, other: &KeyCount) -> Ordering {
        let rank = |key: &KeyCount| match self.by {
            SortBy::Measure(number) => key.values.get(number).copied().unwrap_or(Quantity::None),
            SortBy::Count | SortBy::Key => Quantity::None,
        };
        let (one_value, other_value) = (rank(one), rank(other));
        self.compare_by((&one_value, one.count, &one.key), (&other_value, other.count, &other.key))
    }

    fn compare_by(&self, one: (&Quantity, u64, &[u8]), other: (&Quantity, u64, &[u8])) -> Ordering {
        let by_key = one.2.cmp(other.2);
        let directed = |ascending: Ordering| if self.reverse { ascending } else { ascending.reverse() };
        match self.by {
            SortBy::Count => directed(one.1.cmp(&other.1)).then(by_key),
            SortBy::Key if self.reverse => by_key.reverse(),
            SortBy::Key => by_key,
            SortBy::Measure(_) => match (*one.0 == Quantity::None, *other.0 == Quantity::None) {
                (false, false) => directed(one.0.cmp(other.0)).then(by_key),
                (no_value, other_has_none) => no_value.cmp(&other_has_none).then(by_key),
            },
        }
    }
}

/// Number of keys that are prefetched together.
const BATCH: usize = 32;

/// Returns the first `number` keys in the order of an answer, unsorted.
pub(crate) fn most_frequent<'e, 't: 'e>(
    mut entries: impl Iterator<Item = &'e Entry<'t>>,
    number: usize,
) -> Vec<KeyCount> {
    if number == 0 {
        return Vec::new();
    }
    // The maximum of the heap is the last key in the order of the answer, which a better key replaces.
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

/// Adds a key to the best `number` keys if it is one of them.
fn consider(best: &mut BinaryHeap<KeyCount>, number: usize, key: &[u8], count: u64) {
    if best.len() < number {
        best.push(KeyCount::new(key.to_vec(), count));
    } else if let Some(mut worst) = best.peek_mut()
        && (count > worst.count || count == worst.count && key < worst.key.as_slice())
    {
        *worst = KeyCount::new(key.to_vec(), count);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::count::table::tests::{table_of, table_of_sums};
    use crate::count::table::{JoinedShard, SHARDS};
    use crate::key::hash::Hasher;

    /// All keys of all shards, without any selection.
    fn all(shards: &[JoinedShard<'_>]) -> Vec<KeyCount> {
        let keys = |shard: &JoinedShard<'_>| {
            let measures = shard.measures();
            let key = |entry: &Entry<'_>| KeyCount {
                values: measures.as_ref().map(|measures| measures.results(entry.group)).unwrap_or_default(),
                ..KeyCount::new(entry.key.to_vec(), entry.count)
            };
            shard.entries().map(key).collect::<Vec<_>>()
        };
        shards.iter().flat_map(keys).collect()
    }

    /// Sorts by the criterion from the front, as the options say it in words.
    fn sorted(mut keys: Vec<KeyCount>, order: Order) -> Vec<KeyCount> {
        keys.retain(|key| key.count >= order.min_count);
        keys.sort_by(|one, other| one.key.cmp(&other.key));
        let value = |key: &KeyCount| match key.values.first() {
            Some(Quantity::Number(number)) => number.to_string().parse::<i64>().expect("a whole number"),
            _ => panic!("a value"),
        };
        match (order.by, order.reverse) {
            (SortBy::Count, false) => keys.sort_by_key(|key| std::cmp::Reverse(key.count)),
            (SortBy::Count, true) => keys.sort_by_key(|key| key.count),
            (SortBy::Key, false) => {}
            (SortBy::Key, true) => keys.reverse(),
            (SortBy::Measure(_), false) => keys.sort_by_key(|key| std::cmp::Reverse(value(key))),
            (SortBy::Measure(_), true) => keys.sort_by_key(value),
        }
        keys.truncate(order.number);
        keys
    }

    proptest! {
        #[test]
        fn the_selected_keys_are_the_first_of_all_sorted_keys(
            records in prop::collection::vec((0..200_u64, 0..20_u64), 0..600),
            has_measures: bool,
            by in 0..3_usize,
            reverse: bool,
            number in prop::sample::select(vec![0, 1, 2, 10, 31, 32, 33, 150, usize::MAX]),
            min_count in 0..5_u64,
        ) {
            let by = [SortBy::Count, SortBy::Key, SortBy::Measure(0)][if has_measures { by } else { by % 2 }];
            let order = Order { by, reverse, number, min_count };
            let records: Vec<(Vec<u8>, u64)> =
                records.iter().map(|(key, value)| (format!("key {key}").into_bytes(), *value)).collect();
            let keys: Vec<Vec<u8>> = records.iter().map(|(key, _)| key.clone()).collect();
            let hasher = Hasher::random();
            let table = if has_measures { table_of_sums(hasher, &records) } else { table_of(hasher, &keys) };
            let tables = [&table];
            let shards: Vec<_> = (0..SHARDS).map(|shard| JoinedShard::new(&tables, shard)).collect();
            let mut found: Vec<KeyCount> = shards.iter().flat_map(|shard| shard.select(&order, shard.entries())).collect();
            order.arrange(&mut found);
            prop_assert_eq!(found, sorted(all(&shards), order));
        }
    }

    #[test]
    fn keys_without_a_value_come_last_in_either_direction() {
        let key =
            |key: &str, value| KeyCount { values: vec![value], ..KeyCount::new(key.as_bytes().to_vec(), 1) };
        let number = |units| Quantity::Number(crate::measure::number::Decimal::new(units, 0));
        let keys = [
            key("a", Quantity::None),
            key("b", number(-1)),
            key("c", number(2)),
            key("d", Quantity::None),
            key("e", number(2)),
        ];
        for (reverse, expected) in [(false, ["c", "e", "b", "a", "d"]), (true, ["b", "c", "e", "a", "d"])] {
            let order = Order { by: SortBy::Measure(0), reverse, number: 9, min_count: 1 };
            let mut keys = keys.to_vec();
            order.arrange(&mut keys);
            assert_eq!(
                keys.iter().map(|key| key.key.as_slice()).collect::<Vec<_>>(),
                expected.map(str::as_bytes)
            );
        }
    }

    #[test]
    fn the_most_frequent_keys_are_the_first_of_all_sorted_keys() {
        let mut all = Vec::new();
        let mut keys = Vec::new();
        for number in 0..500_u32 {
            let key = format!("key {}", number.wrapping_mul(2_654_435_761) % 100_000).into_bytes();
            let count = number as usize % 7 + 1;
            all.push(KeyCount::new(key.clone(), count as u64));
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

    /// The least count that a key needs is determined once per batch: while there are not enough keys, any count will
    /// do.
    #[test]
    fn an_answer_longer_than_a_batch_has_its_rarest_keys() {
        let mut entries: Vec<(Vec<u8>, u64)> =
            (0..3 * BATCH as u64).map(|number| (vec![number as u8], 1000 - number)).collect();
        for number in [BATCH + 1, 2 * BATCH, 2 * BATCH + 5, 3 * BATCH] {
            let found = entries
                .iter()
                .map(|(key, count)| Entry { hash: 0, group: 0, key, count: *count })
                .collect::<Vec<_>>();
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
