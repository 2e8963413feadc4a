//! The counts of the first keys by bucket of time, as workers publish them and as they are shown.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::count::answer::{Answer, Series, SeriesCount};
use crate::count::live::buckets::MAX_BUCKETS;
use crate::count::live::keys::{Merged, PublishedKeys};
use crate::count::timeline;
use crate::query::{Order, Query};
use crate::time::Buckets;

/// Maximum number of keys that are shown.
pub(super) const MAX_KEYS: usize = 100;

/// Makes the series of the first keys of all workers, with their counts by bucket and their measures over all buckets.
pub(super) fn arrange(
    answer: &mut Answer,
    published: &[Arc<PublishedKeys>],
    (query, order, buckets): (&Query, &Order, &Buckets),
) {
    let mut keys = Merged::of(published.iter().map(|published| &published.first)).first(order);
    let mut counts: HashMap<&[u8], BTreeMap<i64, u64>> =
        keys.iter().map(|key| (&key.key[..], BTreeMap::new())).collect();
    for published in published {
        for (key, buckets) in published.first.keys.iter().zip(&published.buckets) {
            let Some(counts) = counts.get_mut(&key.key[..]) else { continue };
            buckets.iter().for_each(|&(start, count)| *counts.entry(start).or_default() += count);
        }
    }
    let mut known: Vec<i64> = counts.values().flat_map(|counts| counts.keys().copied()).collect();
    known.sort_unstable();
    known.dedup();
    let first = buckets.latest(&known, MAX_BUCKETS);
    let (starts, _) = buckets.all_starts(&known[first..]);
    let mut series = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        let counts = counts.get(&key.key[..]).into_iter().flatten();
        series.extend(counts.filter_map(|(start, &count)| {
            Some(SeriesCount { bucket: starts.binary_search(start).ok()?, key: index, count })
        }));
    }
    keys.iter_mut().for_each(|key| key.split(query.joint));
    answer.key_names = timeline::key_names(query);
    answer.series = Some(Series::new(buckets, &starts, keys, series));
    answer.starts = starts;
    answer.sort_by = order.by;
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use super::*;
    use crate::count::answer::Answer;
    use crate::count::live::{Live, LiveRows, WorkerCounts};
    use crate::count::table::Table;
    use crate::key::hash::Hasher;
    use crate::query::field::Field;
    use crate::query::options::{QueryOptions, SortBy};
    use crate::time::bucket;

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
