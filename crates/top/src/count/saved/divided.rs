//! Counts by groups of keys, so that each group can be merged on another machine, and the first keys of counts.

use std::collections::HashSet;

use twox_hash::XxHash3_64;

use super::Counts;
use crate::count::order::Entry;
use crate::count::pivot;
use crate::count::table::Counted;
use crate::count::tally::Tally;
use crate::count::timeline;
use crate::query::{CountShape, Query};
use crate::time::bucket;

impl Counts {
    /// The counts as they are [stored](Counts::store), but in `parts` parts, at least one, each with a share of the keys. The bytes
    /// of a key and the number of parts determine its part. A part has all time buckets of its keys, and the first part has
    /// the buckets without keys: the empty ones between them are known only if all buckets are together. Numbers that are not counted by key,
    /// such as the number of records, are in the first part.
    ///
    /// To merge counts of a part, add those parts of all counts, also the ones without keys: they have the decimal places of the measures.
    pub fn store_divided(&self, definition: &[u8], parts: usize) -> Vec<Vec<u8>> {
        let parts = parts.max(1);
        let mut entries: Vec<Vec<Entry<'_>>> = vec![Vec::new(); parts];
        for entry in self.table.entries() {
            entries[self.part_of(&entry, parts)].push(entry);
        }
        let (mut tally, other) = (&self.tally, Tally::default());
        let mut store =
            |entries| self.store_entries(entries, std::mem::replace(&mut tally, &other), definition);
        entries.into_iter().map(&mut store).collect()
    }

    /// The counts of only the first keys that a query selects in its order, with all their buckets of time. The numbers of counted
    /// and omitted records still include all keys.
    #[must_use]
    pub fn first(&self, query: &Query) -> Self {
        let entries = self.table.entries();
        let mut added = Counted::default();
        let mut add = |entry: &Entry<'_>| added.push(entry.key, entry.count, entry.group);
        if let CountShape::Series(_) | CountShape::Pivot(_) = query.shape() {
            let counts = entries.iter().map(|entry| (self.key_of(entry), entry.count));
            let (_, first) = timeline::first_keys(counts, &query.order);
            let first: HashSet<&[u8]> = first.iter().map(|key| key.key.as_slice()).collect();
            entries.iter().filter(|entry| first.contains(self.key_of(entry))).for_each(add);
        } else {
            query.order.first(entries.iter(), self.table.measures()).into_iter().for_each(&mut add);
        }
        let mut table = self.table.without_keys();
        table.add(&added, self.table.measures());
        Self { query: self.query.clone(), table, tally: self.tally.clone() }
    }

    /// The part of an entry.
    fn part_of(&self, entry: &Entry<'_>, parts: usize) -> usize {
        match self.query.shape() {
            CountShape::Buckets(_) => 0,
            CountShape::Keys(_) | CountShape::Series(_) | CountShape::Pivot(_) | CountShape::Changes => {
                (XxHash3_64::oneshot(self.key_of(entry)) % parts as u64) as usize
            }
        }
    }

    /// The key of an entry, without its bucket of time, unless buckets are all that is counted.
    fn key_of<'t>(&self, entry: &Entry<'t>) -> &'t [u8] {
        match self.query.shape() {
            CountShape::Series(_) => bucket::split(entry.key).1,
            CountShape::Pivot(_) => pivot::split(entry.key).1,
            CountShape::Keys(_) | CountShape::Buckets(_) | CountShape::Changes => entry.key,
        }
    }
}
