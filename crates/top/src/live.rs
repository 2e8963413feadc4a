//! The answer so far of a count that is still running.
//!
//! Whoever wants to see it asks; each worker notices between two blocks and lays down the most frequent of the keys that
//! it has counted. So nobody reads a table that is being written, and a count that nobody watches costs nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::answer::KeyCount;

/// Each worker lays down this many keys at least: a key that is frequent in all is so for each worker.
const FEWEST: usize = 500;

/// A worker spends no more than one part in so many of its time on this.
const SHARE: u32 = 25;

/// The answer so far.
#[derive(Debug)]
pub struct Live {
    number: usize,
    /// How often it has been asked for.
    asked: AtomicU64,
    workers: Mutex<Vec<Published>>,
}

#[derive(Debug, Default)]
struct Published {
    best: Vec<KeyCount>,
    records: u64,
}

impl Live {
    /// For an answer of so many keys.
    pub fn new(number: usize) -> Self {
        Self { number, asked: AtomicU64::new(0), workers: Mutex::default() }
    }

    /// Asks the workers for what they have, which comes with one of the next answers.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// The most frequent keys of what the workers have laid down, in the order of an answer, and of how many records they
    /// are. A count may be a little too low: a key that is rare for one worker is not among those that it lays down.
    pub fn answer(&self) -> (Vec<KeyCount>, u64) {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts: HashMap<&[u8], u64> = HashMap::new();
        for key in workers.iter().flat_map(|worker| &worker.best) {
            *counts.entry(&key.key).or_default() += key.count;
        }
        let mut top: Vec<_> =
            counts.into_iter().map(|(key, count)| KeyCount { key: key.to_vec(), count }).collect();
        top.sort_unstable();
        top.truncate(self.number);
        (top, workers.iter().map(|worker| worker.records).sum())
    }
}

/// A worker's side.
pub(crate) struct Publisher<'l> {
    live: &'l Live,
    /// Its place among the workers.
    place: usize,
    /// Up to which question it has answered.
    answered: u64,
    /// Before then it does not answer again.
    not_before: Instant,
}

impl<'l> Publisher<'l> {
    pub(crate) fn new(live: &'l Live) -> Self {
        let mut workers = live.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.push(Published::default());
        Self { live, place: workers.len() - 1, answered: 0, not_before: Instant::now() }
    }

    /// Whether the worker should lay down what it has.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.live.asked.load(Ordering::Relaxed) != self.answered && Instant::now() >= self.not_before
    }

    /// Lays down the most frequent keys, which `best` gives when told how many.
    pub(crate) fn publish(&mut self, records: u64, best: impl FnOnce(usize) -> Vec<KeyCount>) {
        let start = Instant::now();
        self.answered = self.live.asked.load(Ordering::Relaxed);
        let best = best(self.live.number.saturating_mul(4).max(FEWEST));
        let mut workers = self.live.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers[self.place] = Published { best, records };
        let took: Duration = start.elapsed();
        self.not_before = start + took * SHARE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str, count: u64) -> KeyCount {
        KeyCount { key: key.into(), count }
    }

    #[test]
    fn what_workers_lay_down_is_added_up() {
        let live = Live::new(2);
        let (mut one, mut other) = (Publisher::new(&live), Publisher::new(&live));
        assert!(!one.is_asked());
        live.ask();
        assert!(one.is_asked() && other.is_asked());
        one.publish(10, |_| vec![key("a", 5), key("b", 3), key("c", 2)]);
        assert!(!one.is_asked());
        assert_eq!(live.answer(), (vec![key("a", 5), key("b", 3)], 10));
        other.publish(7, |_| vec![key("c", 6), key("d", 1)]);
        assert_eq!(live.answer(), (vec![key("c", 8), key("a", 5)], 17));
    }
}
