//! Intermediate answers of a running count.
//!
//! The display requests an update; each worker checks for requests between blocks and publishes its most frequent keys.
//! For a worker that waits for input, the thread of the display publishes them. Without a display, a count takes one
//! uncontended lock per block.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::answer::KeyCount;
use crate::joint::Joint;
use crate::table::{Groups, Table};

/// Minimum number of keys that a worker publishes. A key that is frequent in total is usually frequent for each worker.
const MIN_PUBLISHED: usize = 500;

/// Pause after publishing, in multiples of the time that it took, as long as that is less than [`MAX_PAUSE`].
const PAUSE: u32 = 25;

/// Maximum pause after publishing, unless [`MIN_PAUSE`] requires a longer one.
const MAX_PAUSE: Duration = Duration::from_millis(200);

/// Minimum pause after publishing, in multiples of the time that it took.
const MIN_PAUSE: u32 = 8;

/// Intermediate answer of a count.
#[derive(Debug)]
pub struct Live {
    number: usize,
    /// Number of requests for an update.
    asked: AtomicU64,
    workers: Mutex<Vec<Arc<WorkerCounts>>>,
    /// How the fields of a key are joined.
    joint: Mutex<Joint>,
}

/// Counts of a worker.
#[derive(Debug)]
pub(crate) struct WorkerCounts {
    /// `None` once the worker has finished.
    table: Mutex<Option<Table>>,
    records: AtomicU64,
    published: Mutex<Published>,
}

#[derive(Debug)]
struct Published {
    best: Vec<KeyCount>,
    records: u64,
    /// Number of the last request that was answered.
    answered: u64,
    /// Time before which no request is answered.
    not_before: Instant,
}

impl Live {
    /// Makes an intermediate answer of up to `number` keys.
    pub fn new(number: usize) -> Self {
        let (asked, joint) = (AtomicU64::new(0), Mutex::new(Joint::Space));
        Self { number, asked, workers: Mutex::default(), joint }
    }

    /// Sets how the fields of a key are joined.
    pub(crate) fn set_joint(&self, joint: Joint) {
        *lock(&self.joint) = joint;
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

    /// Returns the most frequent of the published keys, in the order of an answer, and the number of records counted so
    /// far. Counts may be slightly low: they were published a while ago, and without the keys that are rare for a
    /// worker.
    pub fn answer(&self) -> (Vec<KeyCount>, u64) {
        let workers = lock(&self.workers);
        let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
        for worker in &*workers {
            for key in &lock(&worker.published).best {
                match counts.get_mut(&key.key) {
                    Some(count) => *count += key.count,
                    None => drop(counts.insert(key.key.clone(), key.count)),
                }
            }
        }
        let mut top: Vec<_> = counts.into_iter().map(|(key, count)| KeyCount::new(key, count)).collect();
        top.sort_unstable();
        top.truncate(self.number);
        let joint = *lock(&self.joint);
        top.iter_mut().for_each(|key| joint.split(key));
        (top, workers.iter().map(|worker| worker.records.load(Ordering::Relaxed)).sum())
    }

    /// Publishes the most frequent keys of a worker, whose table is locked. Does nothing if there are no new records or
    /// during the pause after the last time.
    fn publish(&self, worker: &WorkerCounts, table: Option<&Table>) {
        let start = Instant::now();
        let records = worker.records.load(Ordering::Relaxed);
        {
            let mut published = lock(&worker.published);
            if start < published.not_before {
                return;
            }
            published.answered = self.asked.load(Ordering::Relaxed);
            if records == published.records {
                return;
            }
        }
        let Some(table) = table else { return };
        let best = table.best(self.number.saturating_mul(4).max(MIN_PUBLISHED));
        let took = start.elapsed();
        let mut published = lock(&worker.published);
        published.best = best;
        published.records = records;
        published.not_before = start + (took * PAUSE).min(MAX_PAUSE).max(took * MIN_PAUSE);
    }
}

impl WorkerCounts {
    pub(crate) fn new(table: Table, live: Option<&Live>) -> Arc<Self> {
        let published = Published { best: Vec::new(), records: 0, answered: 0, not_before: Instant::now() };
        let counts = Arc::new(Self {
            table: Mutex::new(Some(table)),
            records: AtomicU64::new(0),
            published: Mutex::new(published),
        });
        if let Some(live) = live {
            lock(&live.workers).push(Arc::clone(&counts));
        }
        counts
    }

    /// Counts keys, one per record.
    pub(crate) fn count(&self, text: &[u8], keys: &[crate::Span]) {
        if let Some(table) = &mut *lock(&self.table) {
            table.count(text, keys);
        }
        self.records.fetch_add(keys.len() as u64, Ordering::Relaxed);
    }

    /// Counts keys and passes their groups to `measure`, in a table with groups.
    pub(crate) fn group(
        &self,
        text: &[u8],
        keys: &[crate::Span],
        numbers: &mut Vec<u32>,
        measure: impl FnOnce(&mut Groups, &[u32]),
    ) {
        if let Some(table) = &mut *lock(&self.table)
            && let Some(groups) = table.group(text, keys, numbers)
        {
            measure(groups, numbers);
        }
        self.records.fetch_add(keys.len() as u64, Ordering::Relaxed);
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

    pub(crate) fn publish(&self, live: &Live) {
        live.publish(self, lock(&self.table).as_ref());
    }

    /// Ends the count and returns the table.
    pub(crate) fn take(&self) -> Option<Table> {
        lock(&self.table).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hasher;
    use crate::measure::Measures;

    fn count(worker: &WorkerCounts, keys: &str) {
        let spans: Vec<_> = (0..keys.len()).map(|at| (at, at + 1)).collect();
        worker.count(keys.as_bytes(), &spans);
    }

    fn shown(live: &Live) -> String {
        let (top, records) = live.answer();
        let keys = top.iter().map(|key| format!("{}{} ", String::from_utf8_lossy(&key.key), key.count));
        keys.collect::<String>() + &records.to_string()
    }

    #[test]
    fn published_keys_of_all_workers_are_added_up() {
        let live = Live::new(2);
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
    fn keys_of_a_table_with_groups_are_published_with_their_counts() {
        let live = Live::new(2);
        let measures = Measures::new(&[]);
        let worker = WorkerCounts::new(Table::with_groups(Hasher::random(), measures), Some(&live));
        let spans: Vec<_> = (0..9).map(|at| (at, at + 1)).collect();
        worker.group(b"abbcccbcb", &spans, &mut Vec::new(), |_, _| {});
        live.ask();
        worker.publish(&live);
        assert_eq!(shown(&live), "b4 c4 9");
    }

    #[test]
    fn a_key_of_several_fields_is_published_with_its_fields() {
        let live = Live::new(2);
        let worker = WorkerCounts::new(Table::new(Hasher::random()), Some(&live));
        live.set_joint(Joint::Separator);
        let mut key = Vec::new();
        Joint::Separator.append(0, b"a b", &mut key);
        Joint::Separator.append(1, b"c", &mut key);
        worker.count(&key, &[(0, key.len())]);
        live.ask();
        worker.publish(&live);
        let (top, _) = live.answer();
        assert_eq!(top[0].key, b"a b c");
        assert_eq!(top[0].fields, [b"a b".to_vec(), b"c".to_vec()]);
    }

    #[test]
    fn keys_of_an_idle_worker_are_published() {
        let live = Live::new(2);
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
