//! Buckets of time that have ended.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::count::answer::{Answer, KeyCount};
use crate::count::table::{JoinedShard, SHARDS, Table};
use crate::count::timeline;
use crate::query::{CountShape, Query};
use crate::time::{BucketCache, Buckets, bucket};

/// Time from the first record of a later bucket until a bucket counts as ended: records may come a little late.
const GRACE: Duration = Duration::from_secs(1);

/// Time without any record after which a bucket counts as ended whose time is over by the clock.
const QUIET: Duration = Duration::from_secs(2);

/// A bucket of time that has ended.
#[derive(Clone, Debug)]
pub struct FinishedBucket {
    /// A row for the bucket, or for each of its first keys.
    pub answer: Answer,
    /// Whether these are records that came after the bucket had ended.
    pub is_late: bool,
}

/// Which buckets have ended.
#[derive(Debug, Default)]
pub(super) struct EndedBuckets {
    /// When the first record of a later bucket had come, by the starts of the buckets.
    overtaken: BTreeMap<i64, Instant>,
    /// Start of the latest bucket that has ended.
    last: Option<i64>,
    /// When the last records had come.
    grew: Option<Instant>,
    /// Set once the buckets of the initial input were examined.
    has_begun: bool,
    /// Whether buckets are still counted.
    has_open: bool,
}

/// The starts of the buckets that tables count.
pub(super) fn starts(tables: &[&Table]) -> BTreeSet<i64> {
    tables.iter().flat_map(|table| table.entries()).map(|entry| bucket::split(entry.key).0).collect()
}

/// The rows of buckets, joined over all tables, by the starts.
pub(super) fn rows(tables: &[&Table], query: &Query, starts: &BTreeSet<i64>) -> BTreeMap<i64, Vec<KeyCount>> {
    let mut rows: BTreeMap<i64, Vec<KeyCount>> = BTreeMap::new();
    let order = query.order_of_entries();
    for shard in 0..SHARDS {
        let joined = JoinedShard::new(tables, shard);
        let wanted = joined.entries().filter(|entry| starts.contains(&bucket::split(entry.key).0));
        for row in joined.select(&order, wanted) {
            rows.entry(bucket::split(&row.key).0).or_default().push(row);
        }
    }
    rows
}

impl EndedBuckets {
    /// Records whether anything was read since the last time.
    pub(super) fn record(&mut self, has_new: bool) {
        if has_new {
            self.grew = Some(Instant::now());
        }
    }

    /// Returns the counted buckets that have ended. All have if `is_last`, and so have all buckets before the latest one in the
    /// initial input.
    pub(super) fn over(&mut self, starts: &BTreeSet<i64>, buckets: &Buckets, is_last: bool) -> BTreeSet<i64> {
        let now = Instant::now();
        let is_first = !mem::replace(&mut self.has_begun, true);
        let latest = starts.last().copied().max(self.last);
        self.overtaken.retain(|start, _| starts.contains(start));
        let is_quiet = self.grew.is_some_and(|grew| now - grew >= QUIET);
        let mut cache = BucketCache::default();
        let mut is_over = |start: i64| {
            if latest.is_some_and(|latest| start < latest) {
                let overtaken = *self.overtaken.entry(start).or_insert(now);
                return is_first || now - overtaken >= GRACE;
            }
            is_quiet && has_passed(buckets.next(&mut cache, start))
        };
        let over: BTreeSet<i64> = starts.iter().copied().filter(|&start| is_last || is_over(start)).collect();
        self.has_open = over.len() < starts.len();
        over
    }

    /// Time after which more buckets may have ended.
    pub(super) fn next(&self) -> Option<Duration> {
        self.has_open.then_some(GRACE / 4)
    }

    /// The buckets with their rows and, without a key, the empty ones between.
    pub(super) fn arrange(
        &mut self,
        rows: BTreeMap<i64, Vec<KeyCount>>,
        query: &Query,
        buckets: &Buckets,
    ) -> Vec<FinishedBucket> {
        let mut finished = Vec::new();
        for (start, rows) in rows {
            let is_late = self.last.is_some_and(|last| start <= last);
            let mut long_gaps = 0;
            if !is_late && matches!(query.shape(), CountShape::Buckets(_)) {
                let known: Vec<i64> = self.last.into_iter().chain([start]).collect();
                let (starts, gaps) = buckets.all_starts(&known);
                long_gaps = gaps;
                let between = starts.iter().skip(1).take(starts.len().saturating_sub(2));
                finished.extend(between.map(|&empty| {
                    bucket(vec![timeline::empty_row(empty, query.measure_names.len())], query)
                }));
            }
            let mut own = bucket(rows, query);
            own.is_late = is_late;
            own.answer.long_gaps = long_gaps;
            finished.push(own);
            self.last = self.last.max(Some(start));
        }
        finished
    }
}

/// Whether an instant, in seconds since 1970, is over by the clock.
fn has_passed(instant: i64) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_secs()).is_ok_and(|now| now > instant)
}

/// The answer for a single bucket.
fn bucket(rows: Vec<KeyCount>, query: &Query) -> FinishedBucket {
    let mut answer = Answer {
        records: rows.iter().map(|row| row.count).sum(),
        distinct: rows.len() as u64,
        measure_names: query.measure_names.clone(),
        key_fields: query.key_fields.clone(),
        sort_by: query.order.by,
        top: rows,
        ..Answer::default()
    };
    timeline::arrange(&mut answer, query);
    // The rows are in the order of the keys of the bucket.
    answer.series = None;
    FinishedBucket { answer, is_late: false }
}
