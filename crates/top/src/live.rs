//! The answer so far of a count that is still running.
//!
//! The screen asks for it; each worker notices between two blocks and publishes the most frequent of the keys that it has
//! counted. For a worker that waits for input, the screen's thread does it. A count without a screen pays for one lock per
//! block, which no other thread takes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::answer::KeyCount;
use crate::table::Table;

/// Smallest number of keys that a worker publishes: a key that is frequent in all is so for each worker.
const FEWEST: usize = 500;

/// A worker spends at most one part in this many of its time on publishing,
const SHARE: u32 = 25;

/// unless its keys would be older than this:
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// then at most one part in this many.
const LARGEST_SHARE: u32 = 8;

/// The answer so far.
#[derive(Debug)]
pub struct Live {
    number: usize,
    /// Number of times it was asked for.
    asked: AtomicU64,
    workers: Mutex<Vec<Arc<Counted>>>,
}

/// The counts of one worker.
#[derive(Debug)]
pub(crate) struct Counted {
    /// None once the worker is done.
    table: Mutex<Option<Table>>,
    records: AtomicU64,
    published: Mutex<Published>,
}

#[derive(Debug)]
struct Published {
    best: Vec<KeyCount>,
    records: u64,
    /// Up to which question it has been answered.
    answered: u64,
    /// Before then it is not answered again.
    not_before: Instant,
}

impl Live {
    /// For an answer of so many keys.
    pub fn new(number: usize) -> Self {
        Self { number, asked: AtomicU64::new(0), workers: Mutex::default() }
    }

    /// Asks the workers for what they have, which comes with one of the next answers.
    pub fn ask(&self) {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        for worker in &*lock(&self.workers) {
            // A worker that has not answered the question before this one is waiting for input.
            let is_late = lock(&worker.published).answered + 1 < asked;
            if is_late && let Ok(table) = worker.table.try_lock() {
                self.publish(worker, table.as_ref());
            }
        }
    }

    /// The most frequent keys of those that the workers have published, in the order of an answer, and the number of records
    /// counted by now. A count may be a little too low: it was published a while ago, and a key that is rare for one worker is not
    /// among those that it publishes.
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
        let mut top: Vec<_> = counts.into_iter().map(|(key, count)| KeyCount { key, count }).collect();
        top.sort_unstable();
        top.truncate(self.number);
        (top, workers.iter().map(|worker| worker.records.load(Ordering::Relaxed)).sum())
    }

    /// Publishes the most frequent keys of a worker, whose table is locked, unless there are no new ones or it was done a short
    /// while ago.
    fn publish(&self, worker: &Counted, table: Option<&Table>) {
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
        let best = table.best(self.number.saturating_mul(4).max(FEWEST));
        let took = start.elapsed();
        let mut published = lock(&worker.published);
        published.best = best;
        published.records = records;
        published.not_before = start + (took * SHARE).min(LONGEST_PAUSE).max(took * LARGEST_SHARE);
    }
}

impl Counted {
    pub(crate) fn new(table: Table, live: Option<&Live>) -> Arc<Self> {
        let published = Published { best: Vec::new(), records: 0, answered: 0, not_before: Instant::now() };
        let counted = Arc::new(Self {
            table: Mutex::new(Some(table)),
            records: AtomicU64::new(0),
            published: Mutex::new(published),
        });
        if let Some(live) = live {
            lock(&live.workers).push(Arc::clone(&counted));
        }
        counted
    }

    /// Counts keys, each of which is that of a record.
    pub(crate) fn count(&self, text: &[u8], keys: &[crate::Span]) {
        if let Some(table) = &mut *lock(&self.table) {
            table.count(text, keys);
        }
        self.records.fetch_add(keys.len() as u64, Ordering::Relaxed);
    }

    pub(crate) fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// Whether the worker should publish its keys.
    #[inline]
    pub(crate) fn is_asked(&self, live: &Live) -> bool {
        let published = lock(&self.published);
        live.asked.load(Ordering::Relaxed) != published.answered && Instant::now() >= published.not_before
    }

    pub(crate) fn publish(&self, live: &Live) {
        live.publish(self, lock(&self.table).as_ref());
    }

    /// Ends the counting.
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

    fn count(worker: &Counted, keys: &str) {
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
        let worker = || Counted::new(Table::new(Hasher::random()), Some(&live));
        let (one, other) = (worker(), worker());
        assert!(!one.is_asked(&live));
        count(&one, "aaaaabbbcc");
        live.ask();
        assert!(one.is_asked(&live) && other.is_asked(&live));
        one.publish(&live);
        assert!(!one.is_asked(&live));
        assert_eq!(shown(&live), "a5 b3 10");
        count(&other, "ccccccd");
        assert_eq!(shown(&live), "a5 b3 17");
        other.publish(&live);
        assert_eq!(shown(&live), "c8 a5 17");
    }

    #[test]
    fn what_an_idle_worker_has_counted_is_seen() {
        let live = Live::new(2);
        let worker = Counted::new(Table::new(Hasher::random()), Some(&live));
        count(&worker, "aab");
        // It is given the time to answer by itself.
        live.ask();
        assert_eq!(shown(&live), "3");
        live.ask();
        assert_eq!(shown(&live), "a2 b1 3");
        assert!(worker.take().is_some());
        live.ask();
        assert_eq!(shown(&live), "a2 b1 3");
    }
}
