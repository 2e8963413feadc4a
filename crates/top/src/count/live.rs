//! Intermediate answers of a running count.
//!
//! The display requests an update; each worker checks for requests between blocks and publishes its first keys in the order
//! of the query. For a worker that waits for input, the thread of the display publishes them. Without a display, a count takes one
//! uncontended lock per block.

mod buckets;
mod keys;
mod opened;
mod records;
mod series;
mod view;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use finecomb_sys::locks::lock;

use self::keys::{Merged, PublishedKeys};
pub use self::opened::OpenedRow;
pub(crate) use self::records::CountedRecords;
pub use self::records::LiveRecord;
use self::records::RecentRecords;
pub(crate) use self::view::View;
use crate::count::answer::Answer;
use crate::count::table::Table;
use crate::count::timeline;
use crate::query::{CountShape, Order, Query};
use crate::time::{Buckets, bucket};

/// Minimum number of keys that a worker publishes. A key that is frequent in total is usually frequent for each worker.
const MIN_PUBLISHED: usize = 500;

/// The same with measures, whose states may be large, and with the counts by bucket of each key.
const MIN_PUBLISHED_MEASURES: usize = 50;

/// Maximum number of buckets with measures.
const MAX_BUCKETS_MEASURES: usize = 200;

/// Pause after publishing, in multiples of the time that it took, as long as that is less than [`MAX_PAUSE`].
const PAUSE: u32 = 25;

/// Maximum pause after publishing, unless [`MIN_PAUSE`] requires a longer one.
const MAX_PAUSE: Duration = Duration::from_millis(200);

/// Minimum pause after publishing, in multiples of the time that it took.
const MIN_PAUSE: u32 = 8;

/// Intermediate answer of a count.
#[derive(Debug)]
pub struct Live {
    query: Query,
    /// Maximum number of shown keys.
    number: usize,
    /// Which keys are shown, and in which order.
    view: Mutex<View>,
    /// Number of requests for an update.
    asked: AtomicU64,
    workers: Mutex<Vec<Arc<WorkerCounts>>>,
    /// The exact answer of a job that follows its inputs. It takes precedence over what workers publish.
    exact: Mutex<Option<ExactAnswer>>,
}

#[derive(Debug)]
struct ExactAnswer {
    answer: Answer,
    /// The buckets of the opened row.
    times: Option<Answer>,
    /// Number of the view.
    view: u64,
}

/// Kind of the rows of an intermediate answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveRows {
    /// Keys in the order of the query.
    Keys,
    /// Buckets of time. The first ones matter most.
    Buckets,
    /// Buckets in the order of time. The last ones matter most.
    LatestBuckets,
    /// None, but a series for each key.
    Series,
}

/// Counts of a worker.
#[derive(Debug)]
pub(crate) struct WorkerCounts {
    /// `None` once the worker has finished.
    table: Mutex<Option<Table>>,
    records: AtomicU64,
    /// Number of records that were counted and are no longer.
    forgotten: AtomicU64,
    published: Mutex<Published>,
    /// Records for the display.
    recent: Mutex<RecentRecords>,
}

#[derive(Debug)]
struct Published {
    keys: Arc<PublishedKeys>,
    records: u64,
    /// Number of the view of these keys.
    view: u64,
    /// Number of the last request that was answered.
    answered: u64,
    /// Time before which no request is answered.
    not_before: Instant,
}

impl Live {
    /// Makes an intermediate answer to a query, with up to `number` keys.
    pub fn new(query: &Query, number: usize) -> Self {
        let shape = query.shape();
        let number = match shape {
            CountShape::Series(_) => number.min(series::MAX_KEYS),
            CountShape::Buckets(_) if !query.measure_names.is_empty() => number.min(MAX_BUCKETS_MEASURES),
            CountShape::Keys(_) | CountShape::Buckets(_) | CountShape::Pivot(_) | CountShape::Changes => {
                number
            }
        };
        let view = View::new(query.order.by);
        Self {
            query: query.clone(),
            number,
            view: Mutex::new(view),
            asked: AtomicU64::new(0),
            workers: Mutex::default(),
            exact: Mutex::default(),
        }
    }

    /// Sets the exact answer in the order of a view, which is returned from now on. `tables` are those of all workers.
    pub(crate) fn set_exact(&self, mut answer: Answer, view: &View, tables: &[&Table]) {
        let (query, order, mut times) = (self.query_of(view), self.order(view), None);
        if let (CountShape::Series(buckets), Some(first)) = (query.shape(), tables.first()) {
            let mut joined = first.without_keys();
            tables.iter().for_each(|table| joined.add_all(table, Some));
            let keys = PublishedKeys::of(&joined, &query, &order, view);
            times = opened::merged_times([&*keys].into_iter(), &query);
            series::arrange(&mut answer, &[keys], (&query, &order, buckets));
        }
        *lock(&self.exact) = Some(ExactAnswer { answer, times, view: view.number });
    }

    /// Whether the view has changed since the exact answer was set.
    pub(crate) fn is_outdated(&self) -> bool {
        lock(&self.exact).as_ref().is_some_and(|exact| exact.view != self.view().number)
    }

    /// Whether inputs are followed, and all that was there at the beginning is counted.
    pub fn is_following(&self) -> bool {
        lock(&self.exact).is_some()
    }

    /// Number of records counted since the beginning, with those that were forgotten.
    pub fn counted(&self) -> u64 {
        let of_worker = |worker: &Arc<WorkerCounts>| {
            worker.forgotten.load(Ordering::Relaxed) + worker.records.load(Ordering::Relaxed)
        };
        lock(&self.workers).iter().map(of_worker).sum()
    }

    /// The kind of the rows of an answer.
    pub fn rows(&self) -> LiveRows {
        match self.query.shape() {
            CountShape::Series(_) => LiveRows::Series,
            CountShape::Buckets(_) if self.shows_latest(&self.view()) && !self.query.order.reverse => {
                LiveRows::LatestBuckets
            }
            CountShape::Buckets(_) => LiveRows::Buckets,
            CountShape::Keys(_) | CountShape::Pivot(_) | CountShape::Changes => LiveRows::Keys,
        }
    }

    /// Requests an update from the workers. It appears in one of the next answers.
    pub fn ask(&self) {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        for worker in &*lock(&self.workers) {
            // A worker that has not answered the previous request is waiting for input.
            let is_late = lock(&worker.published).answered + 1 < asked;
            if is_late && let Ok(table) = worker.table.try_lock() {
                self.publish(worker, table.as_ref());
            }
        }
    }

    /// Returns the first of the published keys, and the number of records counted so far. Counts may be slightly low, and
    /// measures of fewer records: they were published a while ago, and without the keys that are late in the order of a
    /// worker.
    ///
    /// Buckets without a key are the latest ones in the order of time, unless the query limits or ranks them. For keys by bucket,
    /// there are no rows, but the series of the first keys in the latest buckets.
    pub fn answer(&self) -> Answer {
        if let Some(exact) = &*lock(&self.exact) {
            return exact.answer.clone();
        }
        let view = self.view();
        let (query, order) = (&self.query_of(&view), self.order(&view));
        let mut answer = Answer {
            records: lock(&self.workers).iter().map(|worker| worker.records()).sum(),
            key_names: query.key_names.clone(),
            measure_names: query.measure_names.clone(),
            sort_by: order.by,
            ..Answer::default()
        };
        let published = self.published();
        if let CountShape::Series(buckets) = query.shape() {
            series::arrange(&mut answer, &published, (query, &order, buckets));
            return answer;
        }
        answer.top = Merged::of(published.iter().map(|keys| &keys.first)).first(&order);
        if let Some(buckets) = query.buckets().filter(|_| self.shows_latest(&view)) {
            keep_latest(&mut answer, buckets, &order, query.order.reverse);
        }
        timeline::arrange(&mut answer, query);
        answer
    }

    /// The published keys of the workers, which do not wait for a lock while these are merged.
    fn published(&self) -> Vec<Arc<PublishedKeys>> {
        lock(&self.workers).iter().map(|worker| Arc::clone(&lock(&worker.published).keys)).collect()
    }

    /// Number of keys that a worker publishes, and their order.
    fn published_order(&self, view: &View) -> Order {
        let order = self.order(view);
        let number = match self.query.shape() {
            CountShape::Keys(_) | CountShape::Buckets(_) | CountShape::Pivot(_) | CountShape::Changes
                if self.query.measure_names.is_empty() =>
            {
                order.number.saturating_mul(4).max(MIN_PUBLISHED)
            }
            _ => order.number.saturating_mul(2).max(MIN_PUBLISHED_MEASURES),
        };
        Order { number, min_count: 1, ..order }
    }

    /// Publishes the first keys of a worker, whose table is locked. Does nothing if there are no new records for the same view, or
    /// during the pause after the last time.
    fn publish(&self, worker: &WorkerCounts, table: Option<&Table>) {
        let start = Instant::now();
        let records = worker.records.load(Ordering::Relaxed);
        let view = self.view();
        {
            let mut published = lock(&worker.published);
            if start < published.not_before {
                return;
            }
            published.answered = self.asked.load(Ordering::Relaxed);
            if (records, view.number) == (published.records, published.view) {
                return;
            }
        }
        let Some(table) = table else { return };
        let order = self.published_order(&view);
        let keys = PublishedKeys::of(table, &self.query, &order, &view);
        let took = start.elapsed();
        let mut published = lock(&worker.published);
        published.keys = keys;
        published.records = records;
        published.view = view.number;
        published.not_before = start + (took * PAUSE).min(MAX_PAUSE).max(took * MIN_PAUSE);
    }
}

/// Keeps the latest buckets, in the order of the query.
fn keep_latest(answer: &mut Answer, buckets: &Buckets, order: &Order, is_reversed: bool) {
    answer.top.reverse();
    let known: Vec<i64> = answer.top.iter().map(|row| bucket::split(&row.key).0).collect();
    answer.top.drain(..buckets.latest(&known, order.number));
    if is_reversed {
        answer.top.reverse();
    }
}

impl WorkerCounts {
    pub(crate) fn new(table: Table, live: Option<&Live>) -> Arc<Self> {
        let published =
            Published { keys: Arc::default(), records: 0, view: 0, answered: 0, not_before: Instant::now() };
        let counts = Arc::new(Self {
            table: Mutex::new(Some(table)),
            records: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            published: Mutex::new(published),
            recent: Mutex::default(),
        });
        if let Some(live) = live {
            let mut workers = lock(&live.workers);
            lock(&counts.recent).open(live.view().opened());
            workers.push(Arc::clone(&counts));
        }
        counts
    }

    /// Counts keys by a function, unless the worker has finished.
    pub(crate) fn count_with(&self, keys: usize, count: impl FnOnce(&mut Table)) {
        lock(&self.table).as_mut().map(count);
        self.records.fetch_add(keys as u64, Ordering::Relaxed);
    }

    pub(crate) fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// Whether the worker should publish its keys now.
    #[inline]
    pub(crate) fn should_publish(&self, live: &Live) -> bool {
        let published = lock(&self.published);
        live.asked.load(Ordering::Relaxed) != published.answered && Instant::now() >= published.not_before
    }

    /// Keeps records of a block for displays. `is_asked` is whether one has asked for an update.
    pub(crate) fn keep<'b>(
        &self,
        counted: &CountedRecords<'b, impl Fn(usize) -> &'b [u8], impl Fn(usize) -> &'b [u8]>,
        live: &Live,
        is_asked: bool,
    ) {
        lock(&self.recent).add(counted, live.query.shape(), is_asked);
    }

    pub(crate) fn publish(&self, live: &Live) {
        live.publish(self, lock(&self.table).as_ref());
    }

    /// Returns the table, and ends the count unless it is put back.
    pub(crate) fn take(&self) -> Option<Table> {
        lock(&self.table).take()
    }

    /// Bytes of memory of the table once this many more keys are added.
    pub(crate) fn memory_with(&self, keys: usize) -> usize {
        lock(&self.table).as_ref().map_or(0, |table| table.memory_with(keys))
    }

    /// Continues with a table.
    pub(crate) fn put_back(&self, table: Table) {
        *lock(&self.table) = Some(table);
    }

    /// Records that this many records are no longer counted.
    pub(crate) fn forget(&self, records: u64) {
        self.forgotten.fetch_add(records, Ordering::Relaxed);
        self.records.fetch_sub(records, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::table::tests::table_of_sums;
    use crate::key::between_fields::Joint;
    use crate::key::hash::Hasher;
    use crate::measure::Measures;
    use crate::measure::column::MeasureKind;
    use crate::query::field::Field;
    use crate::query::options::{Measure, QueryOptions, SortBy};

    fn live(options: &QueryOptions) -> Live {
        Live::new(&Query::new(options).expect("a query"), 2)
    }

    fn count(worker: &WorkerCounts, keys: &str) {
        let spans: Vec<_> = (0..keys.len()).map(|at| (at, at + 1)).collect();
        worker.count_with(spans.len(), |table| table.count(keys.as_bytes(), &spans));
    }

    fn shown(live: &Live) -> String {
        let Answer { top, records, .. } = live.answer();
        let keys = top.iter().map(|key| format!("{}{} ", String::from_utf8_lossy(&key.key), key.count));
        keys.collect::<String>() + &records.to_string()
    }

    #[test]
    fn published_keys_of_all_workers_are_added_up() {
        let live = live(&QueryOptions::default());
        let worker = || WorkerCounts::new(Table::new(Hasher::random()), Some(&live));
        let (one, other) = (worker(), worker());
        assert!(!one.should_publish(&live));
        count(&one, "aaaaabbbcc");
        live.ask();
        assert!(one.should_publish(&live) && other.should_publish(&live));
        one.publish(&live);
        assert!(!one.should_publish(&live));
        assert_eq!(shown(&live), "a5 b3 10");
        count(&other, "ccccccd");
        assert_eq!(shown(&live), "a5 b3 17");
        other.publish(&live);
        assert_eq!(shown(&live), "c8 a5 17");
    }

    #[test]
    fn another_order_or_text_is_published_without_new_records() {
        let live = live(&QueryOptions::default());
        let worker = WorkerCounts::new(Table::new(Hasher::random()), Some(&live));
        count(&worker, "bbbaaac");
        let publish = || {
            // The pause after the last time is over.
            lock(&worker.published).not_before = Instant::now();
            live.ask();
            worker.publish(&live);
            shown(&live)
        };
        assert_eq!(publish(), "a3 b3 7");
        assert_eq!(live.sort_criteria(), [SortBy::Count, SortBy::Key]);
        live.sort_by(SortBy::Key);
        live.show_containing("C");
        assert_eq!((publish().as_str(), live.sorted_by()), ("c1 7", SortBy::Key));
        live.show_containing("");
        assert_eq!(publish(), "a3 b3 7");
        worker.forget(4);
        assert_eq!((shown(&live).as_str(), live.counted()), ("a3 b3 3", 7));
    }

    #[test]
    fn buckets_can_be_ranked_by_their_count() {
        let every = Some("1m".parse().expect("a width"));
        let options =
            QueryOptions { every, number: usize::MAX, sort_by: SortBy::Key, ..QueryOptions::default() };
        let live = live(&options);
        assert_eq!((live.rows(), live.has_keys()), (LiveRows::LatestBuckets, false));
        live.sort_by(SortBy::Count);
        assert_eq!(live.rows(), LiveRows::Buckets);
    }

    #[test]
    fn keys_of_a_table_with_groups_are_published_with_their_counts() {
        let live = live(&QueryOptions::default());
        let measures = Measures::new(&[]);
        let worker = WorkerCounts::new(Table::with_groups(Hasher::random(), measures), Some(&live));
        let spans: Vec<_> = (0..9).map(|at| (at, at + 1)).collect();
        worker.count_with(spans.len(), |table| _ = table.group(b"abbcccbcb", &spans, &mut Vec::new()));
        live.ask();
        worker.publish(&live);
        assert_eq!(shown(&live), "b4 c4 9");
    }

    #[test]
    fn a_key_of_several_fields_is_published_with_its_fields() {
        let names = Field::parse_list("x,y").expect("names");
        let live = live(&QueryOptions { names, ..QueryOptions::default() });
        let worker = WorkerCounts::new(Table::new(Hasher::random()), Some(&live));
        let mut key = Vec::new();
        Joint::Separator.append(0, b"a b", &mut key);
        Joint::Separator.append(1, b"c", &mut key);
        worker.count_with(1, |table| table.count(&key, &[(0, key.len())]));
        live.ask();
        worker.publish(&live);
        let top = live.answer().top;
        assert_eq!(top[0].key, b"a b c");
        assert_eq!(top[0].fields, [b"a b".to_vec(), b"c".to_vec()]);
    }

    #[test]
    fn keys_are_in_the_order_of_the_query_and_have_their_measures() {
        let measures = vec![Measure::Field { kind: MeasureKind::Sum, field: Field::Position(2) }];
        let options = QueryOptions { measures, sort_by: SortBy::Measure(0), ..QueryOptions::default() };
        let live = live(&options);
        for records in [&[("a", 1), ("a", 1), ("b", 9), ("c", 5)][..], &[("c", 6), ("a", 3), ("d", 7)]] {
            let records: Vec<_> =
                records.iter().map(|(key, value)| (key.as_bytes().to_vec(), *value)).collect();
            let worker = WorkerCounts::new(table_of_sums(Hasher::random(), &records), Some(&live));
            worker.records.store(records.len() as u64, Ordering::Relaxed);
            live.ask();
            worker.publish(&live);
        }
        let answer = live.answer();
        let keys = answer.top.iter().map(|key| (&key.key[..], key.count, key.values[0].to_string()));
        let expected = [(&b"c"[..], 2, "11".to_owned()), (b"b", 1, "9".to_owned())];
        assert_eq!(keys.collect::<Vec<_>>(), expected);
        assert_eq!((answer.records, answer.measure_names), (7, vec!["sum(2)".to_owned()]));
    }

    #[test]
    fn keys_of_an_idle_worker_are_published() {
        let live = live(&QueryOptions::default());
        let worker = WorkerCounts::new(Table::new(Hasher::random()), Some(&live));
        count(&worker, "aab");
        // The worker has until the next request to publish by itself.
        live.ask();
        assert_eq!(shown(&live), "3");
        live.ask();
        assert_eq!(shown(&live), "a2 b1 3");
        assert!(worker.take().is_some());
        live.ask();
        assert_eq!(shown(&live), "a2 b1 3");
    }
}
