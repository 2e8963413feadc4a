//! Counts by buckets of time: the rows of an answer in the order of time.
//!
//! During the count, a key begins with the start of its bucket, so that the table counts the pairs. Here they are separated again.

use std::collections::HashMap;
use std::iter;

use crate::count::answer::{Answer, BucketRows, KeyCount, Series, SeriesCount};
use crate::count::bucket_pairs::{self, OfWorker};
use crate::count::changes;
use crate::count::order::Entry;
use crate::count::pivot;
use crate::count::table::Table;
use crate::measure::quantity::Quantity;
use crate::query::options::SortBy;
use crate::query::{CountShape, Order, Query};
use crate::time::axis::TimeAxis;
use crate::time::{Buckets, Labels, bucket};

/// Name of the column of buckets.
const TIME: &str = "time";

impl TimeAxis {
    /// The axis of an answer with these starts of buckets, in any order. `None` if the query does not count by buckets.
    pub fn new(query: &Query, starts: &[i64]) -> Option<Self> {
        Some(Self::of_buckets(query.buckets()?, starts))
    }
}

/// The counts of tables by key alone. There must be at least one table.
pub(crate) fn without_prefixes(tables: &[&Table]) -> Table {
    let mut merged = tables[0].without_keys();
    tables.iter().for_each(|table| merged.add_all(table, |key| Some(bucket::split(key).1)));
    merged
}

/// Names of the columns of a bucket and a key.
pub(crate) fn key_names(query: &Query) -> Vec<String> {
    iter::once(TIME.to_owned()).chain(query.key_names.iter().cloned()).collect()
}

/// Makes keys, or the pairs of buckets and keys, readable, and adds the empty buckets. Rows by bucket are in the order of time,
/// and only those of the keys that are most frequent in all buckets are left, unless buckets are ranked.
pub(crate) fn arrange(answer: &mut Answer, query: &Query) {
    match query.shape() {
        CountShape::Keys(_) => answer.top.iter_mut().for_each(|key| key.split(query.joint)),
        CountShape::Buckets(buckets) => arrange_buckets(answer, query.order, buckets),
        CountShape::Series(buckets) => by_key(answer, query, buckets),
        CountShape::Pivot(field) => pivot::arrange(answer, query, field),
        CountShape::Changes => changes::arrange(answer, query),
    }
}

/// The same for buckets without keys.
fn arrange_buckets(answer: &mut Answer, order: Order, buckets: &Buckets) {
    // In another order than that of time, the buckets are ranked.
    if order.by == SortBy::Key {
        add_empty_buckets(answer, buckets, order.reverse);
    }
    name_buckets(answer, buckets);
}

/// Makes the keys of rows by bucket readable.
pub(crate) fn name_buckets(answer: &mut Answer, buckets: &Buckets) {
    answer.key_names = vec![TIME.to_owned()];
    answer.starts = answer.top.iter().map(|row| bucket::split(&row.key).0).collect();
    let mut labels = Labels::new(buckets);
    for (row, &start) in answer.top.iter_mut().zip(&answer.starts) {
        row.key.clear();
        row.key.extend_from_slice(labels.label(start));
    }
}

/// The same for buckets without keys and measures, each a start and a count, in the order of time or in the reverse one.
/// There may be many, so that rows are made in the order in which they are written.
pub(crate) fn arrange_counts(
    answer: &mut Answer,
    query: &Query,
    buckets: &Buckets,
    mut counts: Vec<(i64, u64)>,
) {
    let Order { reverse, number, min_count, .. } = query.order;
    answer.key_names = vec![TIME.to_owned()];
    counts.retain(|&(_, count)| count >= min_count);
    counts.sort_unstable();
    let left_out = counts.len().saturating_sub(number);
    if reverse {
        counts.drain(..left_out);
    } else {
        counts.truncate(number);
    }
    let known: Vec<i64> = counts.iter().map(|&(start, _)| start).collect();
    (answer.starts, answer.long_gaps) = buckets.all_starts(&known);
    let mut counts = counts.into_iter().peekable();
    let mut labels = Labels::new(buckets);
    let row = |&start: &i64| {
        let count = counts.next_if(|&(known, _)| known == start).map_or(0, |(_, count)| count);
        KeyCount::new(labels.label(start).to_vec(), count)
    };
    answer.top = answer.starts.iter().map(row).collect();
    if reverse {
        answer.top.reverse();
        answer.starts.reverse();
    }
}

/// Adds the buckets between those of the answer, which are in the order of time or in the reverse one.
fn add_empty_buckets(answer: &mut Answer, buckets: &Buckets, is_reversed: bool) {
    let mut rows = std::mem::take(&mut answer.top);
    if is_reversed {
        rows.reverse();
    }
    let known: Vec<i64> = rows.iter().map(|row| bucket::split(&row.key).0).collect();
    let (starts, gaps) = buckets.all_starts(&known);
    let measures = answer.measure_names.len();
    let mut rows = rows.into_iter().peekable();
    let row = |start: i64| {
        let known = rows.next_if(|row| row.key == bucket::prefix(start));
        known.unwrap_or_else(|| empty_row(start, measures))
    };
    answer.top = starts.into_iter().map(row).collect();
    if is_reversed {
        answer.top.reverse();
    }
    answer.long_gaps = gaps;
}

/// The row of a bucket without records.
pub(crate) fn empty_row(start: i64, measures: usize) -> KeyCount {
    let values = vec![Quantity::None; measures];
    KeyCount { values, ..KeyCount::new(bucket::prefix(start).to_vec(), 0) }
}

/// Leaves only the rows of the first keys, in the order of time and of the keys, and makes the counts of these by bucket.
fn by_key(answer: &mut Answer, query: &Query, buckets: &Buckets) {
    answer.key_names = key_names(query);
    let rows = std::mem::take(&mut answer.top);
    let counts = rows.iter().map(|row| (bucket::split(&row.key).1, row.count));
    let (distinct, keys) = first_keys(counts, &query.order);
    answer.distinct = distinct as u64;
    let records = records_of(rows.iter().map(|row| (bucket::split(&row.key).0, row.count)));
    let ranked = ranked(rows, &keys);
    show(answer, query, (buckets, &records), keys, ranked);
}

/// The same for keys without measures, whose counts by bucket are with the workers: the rows are the keys.
pub(crate) fn arrange_pairs(answer: &mut Answer, query: &Query, buckets: &Buckets, workers: &[OfWorker]) {
    answer.key_names = key_names(query);
    let keys = std::mem::take(&mut answer.top);
    let ranked = bucket_pairs::ranked(workers, &keys).into_iter();
    let ranked = ranked.map(|((start, rank), count)| (start, rank, KeyCount::new(Vec::new(), count)));
    let records = records_of(workers.iter().flat_map(|worker| worker.pairs.counts_by_bucket()));
    show(answer, query, (buckets, &records), keys, ranked.collect());
}

/// Numbers of records by the starts of their buckets, from those of some of them.
fn records_of(counts: impl Iterator<Item = (i64, u64)>) -> HashMap<i64, u64> {
    let mut records = HashMap::new();
    counts.for_each(|(start, count)| *records.entry(start).or_default() += count);
    records
}

/// Makes the rows and the series of these keys. Each row comes with the start of its bucket and the place of its key, and the buckets
/// with the numbers of their records.
fn show(
    answer: &mut Answer,
    query: &Query,
    (buckets, records): (&Buckets, &HashMap<i64, u64>),
    mut keys: Vec<KeyCount>,
    ranked: Vec<(i64, usize, KeyCount)>,
) {
    let mut known: Vec<i64> = ranked.iter().map(|&(start, ..)| start).collect();
    known.dedup();
    let (starts, gaps) = buckets.all_starts(&known);
    let of_buckets = ranked.chunk_by(|one, other| one.0 == other.0);
    let of_buckets = of_buckets.map(|rows| BucketRows { rows: rows.len(), records: records[&rows[0].0] });
    answer.bucket_rows = of_buckets.collect();
    let mut counts = Vec::with_capacity(ranked.len());
    keys.iter_mut().for_each(|key| key.split(query.joint));
    let mut labels = Labels::new(buckets);
    for (start, rank, mut row) in ranked {
        if let Ok(bucket) = starts.binary_search(&start) {
            counts.push(SeriesCount { bucket, key: rank, count: row.count });
        }
        let label = labels.label(start).to_vec();
        let key = &keys[rank];
        let of_key = if key.fields.is_empty() { std::slice::from_ref(&key.key) } else { &key.fields };
        row.fields = std::iter::once(&label).chain(of_key).cloned().collect();
        row.key = row.fields.join(&b' ');
        answer.top.push(row);
    }
    answer.long_gaps = gaps;
    answer.series = Some(Series::new(buckets, &starts, keys, counts));
    answer.starts = starts;
}

/// Number of distinct keys, and the first ones by their counts in all buckets. `counts` are of keys in one bucket each.
pub(crate) fn first_keys<'k>(
    counts: impl Iterator<Item = (&'k [u8], u64)>,
    order: &Order,
) -> (usize, Vec<KeyCount>) {
    let mut totals: HashMap<&[u8], u64> = HashMap::new();
    for (key, count) in counts {
        *totals.entry(key).or_default() += count;
    }
    let totals = totals.into_iter().map(|(key, count)| Entry { key, count, hash: 0, group: 0 });
    let totals: Vec<Entry<'_>> = totals.collect();
    let mut first = order.select_from(totals.iter(), None);
    order.arrange(&mut first);
    (totals.len(), first)
}

/// The rows of these keys in the order of time and of the keys, each with the start of its bucket and the place of its key.
fn ranked(rows: Vec<KeyCount>, keys: &[KeyCount]) -> Vec<(i64, usize, KeyCount)> {
    let ranks: HashMap<&[u8], usize> =
        keys.iter().enumerate().map(|(rank, key)| (key.key.as_slice(), rank)).collect();
    let ranked = rows.into_iter().filter_map(|row| {
        let (start, key) = bucket::split(&row.key);
        Some((start, *ranks.get(key)?, row))
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_unstable_by_key(|&(start, rank, _)| (start, rank));
    ranked
}
