//! The counts of the first keys by bucket of time, as workers publish them and as they are shown.

use std::collections::{BTreeMap, HashMap};

use crate::count::answer::{KeyCount, Series, SeriesCount};
use crate::count::live::view::View;
use crate::count::table::Table;
use crate::count::timeline;
use crate::query::{Order, Query};
use crate::time::{Buckets, bucket};

/// Maximum number of keys that are shown.
pub(super) const MAX_KEYS: usize = 100;

/// Number of latest buckets that are shown, with the empty ones: more than two days of minutes.
const MAX_BUCKETS: usize = 3000;

/// A key, its count, and the counts in its latest buckets, each by its start.
#[derive(Debug)]
pub(super) struct BucketedKey {
    key: KeyCount,
    buckets: Vec<(i64, u64)>,
}

/// Returns the first keys of a table that a view shows in an order, each with its counts by bucket.
pub(super) fn first_keys(table: &Table, order: &Order, view: &View) -> Vec<BucketedKey> {
    let mut entries = table.entries();
    entries.retain(|entry| view.shows(bucket::split(entry.key).1));
    let counts = entries.iter().map(|entry| (bucket::split(entry.key).1, entry.count));
    let first = timeline::first_keys(counts, order).1.into_iter();
    let mut first: Vec<BucketedKey> = first.map(|key| BucketedKey { key, buckets: Vec::new() }).collect();
    let places: HashMap<Vec<u8>, usize> =
        first.iter().enumerate().map(|(place, key)| (key.key.key.clone(), place)).collect();
    for entry in &entries {
        let (start, key) = bucket::split(entry.key);
        if let Some(&place) = places.get(key) {
            first[place].buckets.push((start, entry.count));
        }
    }
    for key in &mut first {
        keep_latest(&mut key.buckets);
    }
    first
}

/// Keeps the latest buckets only.
fn keep_latest(buckets: &mut Vec<(i64, u64)>) {
    if let Some(earlier) = buckets.len().checked_sub(MAX_BUCKETS).filter(|&earlier| earlier > 0) {
        buckets.select_nth_unstable_by_key(earlier, |&(start, _)| start);
        buckets.drain(..earlier);
    }
}

/// The first keys of all workers and their counts by bucket, and the starts of the buckets.
pub(super) fn merged<'p>(
    published: impl Iterator<Item = &'p BucketedKey>,
    (query, order, buckets): (&Query, &Order, &Buckets),
) -> (Series, Vec<i64>) {
    let mut parts: HashMap<&[u8], Vec<&BucketedKey>> = HashMap::new();
    published.for_each(|part| parts.entry(&part.key.key).or_default().push(part));
    let counts = parts.values().flatten().map(|part| (&part.key.key[..], part.key.count));
    let (_, mut keys) = timeline::first_keys(counts, order);
    let of_key = |key: &KeyCount| {
        parts.get(&key.key[..]).into_iter().flatten().flat_map(|part| part.buckets.iter().copied())
    };
    let mut known: Vec<i64> = keys.iter().flat_map(of_key).map(|(start, _)| start).collect();
    known.sort_unstable();
    known.dedup();
    let first = buckets.latest(&known, MAX_BUCKETS);
    let (starts, _) = buckets.all_starts(&known[first..]);
    let counts = keys.iter().enumerate().flat_map(|(index, key)| {
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for (start, count) in of_key(key) {
            if let Ok(bucket) = starts.binary_search(&start) {
                *counts.entry(bucket).or_default() += count;
            }
        }
        counts.into_iter().map(move |(bucket, count)| SeriesCount { bucket, key: index, count })
    });
    let counts = counts.collect();
    keys.iter_mut().for_each(|key| key.split(query.joint));
    (Series::new(buckets, &starts, keys, counts), starts)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use super::*;
    use crate::count::answer::Answer;
    use crate::count::live::{Live, LiveRows, WorkerCounts};
    use crate::key::hash::Hasher;
    use crate::query::field::Field;
    use crate::query::options::{QueryOptions, SortBy};

    const MINUTE: i64 = 60;

    /// Counts pairs of a minute since 1970 and a key, in as many workers as there are lists, and publishes them.
    fn published(options: &QueryOptions, number: usize, workers: &[&[(i64, &str)]]) -> Live {
        let every = Some("1m".parse().expect("a width"));
        let query = Query::new(&QueryOptions { every, ..options.clone() }).expect("a query");
        let live = Live::new(&query, number);
        let workers = workers.iter().map(|pairs| {
            let worker = WorkerCounts::new(Table::new(Hasher::random()), Some(&live));
            for (minute, key) in *pairs {
                let key = [&bucket::prefix(minute * MINUTE)[..], key.as_bytes()].concat();
                worker.count_with(1, |table| table.count(&key, &[(0, key.len())]));
            }
            worker
        });
        let workers: Vec<Arc<WorkerCounts>> = workers.collect();
        live.ask();
        workers.iter().for_each(|worker| worker.publish(&live));
        live
    }

    fn keys() -> QueryOptions {
        QueryOptions { names: Field::parse_list("k").expect("a name"), ..QueryOptions::default() }
    }

    fn buckets() -> QueryOptions {
        QueryOptions { number: usize::MAX, sort_by: SortBy::Key, ..QueryOptions::default() }
    }

    fn series(live: &Live) -> Series {
        live.answer().series.expect("a series")
    }

    /// Minutes and counts of the rows.
    fn rows(live: &Live) -> String {
        let Answer { top, .. } = live.answer();
        top.iter().fold(String::new(), |mut shown, row| {
            let _ = write!(shown, "{}:{} ", String::from_utf8_lossy(&row.key[14..16]), row.count);
            shown
        })
    }

    #[test]
    fn keys_have_their_totals_and_their_counts_by_bucket_over_all_workers() {
        let one = [(1, "a"), (1, "b"), (4, "a"), (1, "b")];
        let other = [(4, "a"), (3, "c"), (1, "a"), (4, "b")];
        let found = series(&published(&QueryOptions { number: 2, ..keys() }, 10, &[&one, &other]));
        let keys: Vec<_> = found.keys.iter().map(|key| (key.key.as_slice(), key.count)).collect();
        assert_eq!(keys, [(&b"a"[..], 4), (b"b", 3)]);
        let minutes = [1, 2, 3, 4].map(|minute| format!("1970-01-01T00:0{minute}Z"));
        assert_eq!(found.buckets, minutes);
        assert_eq!(found.counts_of_first(10), [[2, 0, 0, 2], [2, 0, 0, 1]]);
    }

    #[test]
    fn only_the_latest_buckets_of_a_series_are_shown() {
        let all: Vec<(i64, &str)> = (0..4000).map(|minute| (minute, "a")).chain([(9000, "b")]).collect();
        let found = series(&published(&keys(), 10, &[&all]));
        assert_eq!(found.keys[0].count, 4000, "the total is of all buckets");
        // A gap of more than the maximum is left out, and counts as one bucket.
        assert_eq!(found.counts_of_first(1)[0].iter().sum::<u64>(), MAX_BUCKETS as u64 - 1);
        assert_eq!((found.buckets.len(), found.buckets[1].as_str()), (MAX_BUCKETS, "1970-01-01T16:42Z"));
    }

    #[test]
    fn buckets_without_a_key_are_the_latest_in_the_order_of_time() {
        let (one, other) = ([(1, ""), (3, ""), (3, "")], [(3, ""), (7, ""), (9, "")]);
        let live = published(&buckets(), 4, &[&one, &other]);
        assert_eq!(rows(&live), "07:1 08:0 09:1 ");
        assert_eq!(live.rows(), LiveRows::LatestBuckets);
        let live = published(&QueryOptions { reverse: true, ..buckets() }, 7, &[&one, &other]);
        assert_eq!(rows(&live), "09:1 08:0 07:1 06:0 05:0 04:0 03:3 ");
        assert_eq!(live.rows(), LiveRows::Buckets);
        // The query wants the first ones.
        let live = published(&QueryOptions { number: 2, ..buckets() }, 4, &[&one, &other]);
        assert_eq!(rows(&live), "01:1 02:0 03:3 ");
        assert_eq!(live.rows(), LiveRows::Buckets);
    }

    #[test]
    fn buckets_sorted_by_count_are_the_busiest() {
        let options = QueryOptions { sort_by: SortBy::Count, ..buckets() };
        let live = published(&options, 2, &[&[(1, ""), (3, ""), (3, "")], &[(3, ""), (7, ""), (7, "")]]);
        assert_eq!(rows(&live), "03:3 07:2 ");
        assert_eq!(live.rows(), LiveRows::Buckets);
    }

    #[test]
    fn without_a_record_there_is_an_empty_answer() {
        assert_eq!(series(&published(&keys(), 10, &[])), Series::default());
        assert_eq!(rows(&published(&buckets(), 10, &[])), "");
    }
}
