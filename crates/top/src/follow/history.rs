//! Buckets of time that have ended, as displays still show them.

use std::collections::BTreeSet;

use crate::count::table::Table;
use crate::time::bucket;

/// Maximum number of buckets that are kept: more than two days of minutes.
const MAX_BUCKETS: usize = 3000;

/// The counts and measures of the latest buckets that have ended. Late records are added to theirs.
#[derive(Debug, Default)]
pub(super) struct History {
    table: Option<Table>,
    starts: BTreeSet<i64>,
}

impl History {
    pub(super) fn table(&self) -> Option<&Table> {
        self.table.as_ref()
    }

    /// Adds the keys of tables in the buckets with these starts, and forgets the earliest buckets if there are too many.
    pub(super) fn add(&mut self, tables: &[&Table], starts: &BTreeSet<i64>) {
        let Some(first) = tables.first() else { return };
        let own = self.table.get_or_insert_with(|| first.without_keys());
        for table in tables {
            own.add_all(table, |key| starts.contains(&bucket::split(key).0).then_some(key));
        }
        self.starts.extend(starts);
        let excess = self.starts.len().saturating_sub(MAX_BUCKETS);
        if let Some(&least) = self.starts.iter().nth(excess).filter(|_| excess > 0) {
            let mut kept = own.without_keys();
            kept.add_all(own, |key| (bucket::split(key).0 >= least).then_some(key));
            *own = kept;
            self.starts = self.starts.split_off(&least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::hash::Hasher;

    #[test]
    fn the_latest_buckets_are_kept_and_late_records_added() {
        let (mut history, hasher) = (History::default(), Hasher::random());
        for start in (0..4000).chain([3999, 5]) {
            let mut table = Table::new(hasher);
            for start in [start, 9999] {
                let key = bucket::prefix(start);
                table.count(&key, &[(0, key.len())]);
            }
            history.add(&[&table], &BTreeSet::from([start]));
        }
        let table = history.table().expect("a table");
        let counts: Vec<(i64, u64)> =
            table.entries().iter().map(|entry| (bucket::split(entry.key).0, entry.count)).collect();
        let sum = counts.iter().map(|&(_, count)| count).sum::<u64>();
        assert_eq!((counts.len(), sum), (MAX_BUCKETS, MAX_BUCKETS as u64 + 1));
        assert_eq!(counts.iter().map(|&(start, _)| start).min(), Some(1000));
    }
}
