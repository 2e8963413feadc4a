//! The latest buckets of keys that are counted by bucket of time.

use std::collections::HashMap;

use crate::count::answer::KeyCount;
use crate::count::table::Table;
use crate::query::Order;
use crate::query::options::SortBy;
use crate::time::bucket;

/// Number of latest buckets that are shown, with the empty ones: more than two days of minutes.
pub(super) const MAX_BUCKETS: usize = 3000;

/// Maximum number of buckets of the opened row.
const MAX_OF_ROW: usize = 200;

/// The order of these: the latest ones first.
pub(super) const LATEST_FIRST: Order =
    Order { by: SortBy::Key, reverse: true, number: MAX_OF_ROW, min_count: 1 };

/// The latest buckets of a key, each by its start, with the counts.
pub(super) type LatestBuckets = Vec<(i64, u64)>;

/// Returns the latest buckets of each of these keys of a table.
pub(super) fn of_keys(table: &Table, keys: &[KeyCount]) -> Vec<LatestBuckets> {
    let places: HashMap<&[u8], usize> = keys.iter().map(|key| &key.key[..]).zip(0..).collect();
    let mut buckets = vec![LatestBuckets::new(); keys.len()];
    for entry in table.entries() {
        let (start, key) = bucket::split(entry.key);
        if let Some(&place) = places.get(key) {
            buckets[place].push((start, entry.count));
        }
    }
    buckets.iter_mut().for_each(keep_latest);
    buckets
}

/// Keeps the latest buckets only.
fn keep_latest(buckets: &mut LatestBuckets) {
    if let Some(earlier) = buckets.len().checked_sub(MAX_BUCKETS).filter(|&earlier| earlier > 0) {
        buckets.select_nth_unstable_by_key(earlier, |&(start, _)| start);
        buckets.drain(..earlier);
    }
}

/// The buckets of a row of a table.
pub(super) fn of_row(table: &Table, row: &[u8]) -> Table {
    let mut of_row = table.without_keys();
    of_row.add_all(table, |key| (bucket::split(key).1 == row).then(|| &key[..key.len() - row.len()]));
    of_row
}
