//! The first keys of a running count, as workers publish them and as they are merged.

use std::collections::HashMap;
use std::sync::Arc;

use crate::count::answer::KeyCount;
use crate::count::live::buckets::{self, LATEST_FIRST, LatestBuckets};
use crate::count::live::view::View;
use crate::count::order::Entry;
use crate::count::table::Table;
use crate::count::timeline;
use crate::measure::Measures;
use crate::query::{CountShape, Order, Query};

/// Keys with their counts, and their measures by their places.
#[derive(Debug, Default)]
pub(super) struct MeasuredKeys {
    pub(super) keys: Vec<KeyCount>,
    pub(super) measures: Option<Measures>,
}

impl MeasuredKeys {
    /// The first wanted keys of a table in an order, unsorted.
    pub(super) fn first(table: &Table, order: &Order, is_wanted: impl Fn(&[u8]) -> bool) -> Self {
        let (keys, measures) = table.best(order, is_wanted);
        Self { keys, measures }
    }
}

/// The published part of a table.
#[derive(Debug, Default)]
pub(super) struct PublishedKeys {
    pub(super) first: MeasuredKeys,
    /// The latest buckets of each of these keys, if they are counted by bucket.
    pub(super) buckets: Vec<LatestBuckets>,
    /// The latest buckets of the opened row, if keys are counted by bucket.
    pub(super) times: MeasuredKeys,
}

impl PublishedKeys {
    /// The first keys of a table that a view shows in an order.
    pub(super) fn of(table: &Table, query: &Query, order: &Order, view: &View) -> Arc<Self> {
        let published = match query.shape() {
            CountShape::Series(_) => {
                let joined = timeline::without_prefixes(&[table]);
                let first = MeasuredKeys::first(&joined, order, |key| view.shows(key));
                let buckets = buckets::of_keys(table, &first.keys);
                let of_row = view.opened().map(|row| buckets::of_row(table, row));
                let times = of_row.map(|table| MeasuredKeys::first(&table, &LATEST_FIRST, |_| true));
                Self { first, buckets, times: times.unwrap_or_default() }
            }
            CountShape::Keys(slices) => {
                // A slice of time is no part of what is shown.
                let joined = slices.map(|_| timeline::without_prefixes(&[table]));
                let table = joined.as_ref().unwrap_or(table);
                Self { first: MeasuredKeys::first(table, order, |key| view.shows(key)), ..Self::default() }
            }
            CountShape::Buckets(_) | CountShape::Pivot(_) | CountShape::Changes => {
                Self { first: MeasuredKeys::first(table, order, |_| true), ..Self::default() }
            }
        };
        Arc::new(published)
    }
}

/// The published keys of all workers.
#[derive(Default)]
pub(super) struct Merged<'p> {
    places: HashMap<&'p [u8], u32>,
    counts: Vec<u64>,
    measures: Option<Measures>,
}

impl<'p> Merged<'p> {
    /// Merges the keys of workers.
    pub(super) fn of(workers: impl Iterator<Item = &'p MeasuredKeys>) -> Self {
        let mut merged = Self::default();
        workers.for_each(|published| merged.add(published));
        merged
    }

    fn add(&mut self, published: &'p MeasuredKeys) {
        let mut pairs = Vec::with_capacity(published.keys.len());
        for (from, key) in (0..).zip(&published.keys) {
            let next = self.counts.len() as u32;
            let place = *self.places.entry(&key.key).or_insert(next);
            if place == next {
                self.counts.push(0);
            }
            self.counts[place as usize] += key.count;
            pairs.push((place, from));
        }
        if let Some(measures) = &published.measures {
            let own = self.measures.get_or_insert_with(|| measures.without_groups());
            own.merge(measures, &pairs, self.counts.len());
        }
    }

    /// Returns the first keys in an order, sorted.
    pub(super) fn first(&self, order: &Order) -> Vec<KeyCount> {
        let entries = self.places.iter().map(|(&key, &group)| Entry {
            key,
            count: self.counts[group as usize],
            hash: 0,
            group,
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        let mut first = order.select_from(entries.iter(), self.measures.as_ref());
        order.arrange(&mut first);
        first
    }
}
