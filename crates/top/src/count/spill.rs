//! Exact counts in bounded memory: tables that are full are written to temporary files and added up in the end.
//!
//! A run holds the counts of a table by partition of the hashes: 64 in each shard. In the end, a worker adds up as many
//! partitions of a shard at a time as fit into its part of the memory, and keeps the first keys. So nothing is compared or
//! merged in order, and a run takes no memory but 48 KiB of offsets: this is the hash aggregation by partitions of Shatdal and
//! Naughton, "Adaptive Parallel Aggregation Algorithms", 1995.

mod run;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use finecomb_scan::SpillFile;
use finecomb_sys::io_reason;
use finecomb_sys::locks::lock;

use self::run::{PARTS, SpilledRun, part_of};
use crate::count::answer::KeyCount;
use crate::count::live::WorkerCounts;
use crate::count::order::{Entry, Selection};
use crate::count::table::{Counted, Table};
use crate::key::hash::Hasher;
use crate::measure::Measures;
use crate::measure::column::Scale;
use crate::query::Order;
use crate::query::options::MemoryLimit;
use crate::time::bucket;

/// Share of the bound for tables while records are counted, in percent. The rest is for blocks and keys, and for adding up.
const COUNTING: usize = 60;

/// Share of the bound for adding up.
const ADDING_UP: usize = 25;

/// Memory of a key while partitions are added up, at most, beside its bytes: a slot of a table that is at least a quarter
/// full, and its entry in two lists.
const PER_KEY: u64 = 400;

/// The same of the states of a measured field, beside their bytes.
const PER_STATE: u64 = 100;

/// Memory of a byte of the states of measures, at most. A value of a percentile may take a byte in a file.
const PER_BYTE_OF_STATES: u64 = 16;

/// State of a count in bounded memory, shared by its workers.
#[derive(Debug)]
pub(crate) struct Spill {
    limit: MemoryLimit,
    /// Hash function of the tables in which partitions are added up.
    hasher: Hasher,
    workers: AtomicUsize,
    runs: Mutex<Vec<Arc<SpilledRun>>>,
    has_failed: AtomicBool,
    failure: Mutex<Option<io::Error>>,
    written: AtomicU64,
}

/// The part of a shard that is needed for an answer.
#[derive(Default)]
pub(crate) struct Selected {
    pub(crate) best: Vec<KeyCount>,
    /// Starts and counts of buckets, if there is nothing else.
    pub(crate) counts: Vec<(i64, u64)>,
    pub(crate) distinct: u64,
}

impl Spill {
    pub(crate) fn new(limit: MemoryLimit) -> Self {
        Self {
            limit,
            hasher: Hasher::random(),
            workers: AtomicUsize::new(0),
            runs: Mutex::default(),
            has_failed: AtomicBool::new(false),
            failure: Mutex::default(),
            written: AtomicU64::new(0),
        }
    }

    /// Bytes of memory of a worker, of this share in percent of the bound.
    fn own(&self, percent: usize) -> usize {
        self.limit.bytes / 100 * percent / self.workers.load(Ordering::Relaxed).max(1)
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    fn fail(&self, error: io::Error) {
        self.has_failed.store(true, Ordering::Relaxed);
        lock(&self.failure).get_or_insert(error);
    }

    /// The reason why the count is not complete, if it is not.
    pub(crate) fn failure(&self) -> Option<String> {
        let failure = lock(&self.failure);
        let directory = self.limit.directory.display();
        let reason = io_reason(failure.as_ref()?);
        Some(format!("temporary file in {directory}: {reason}"))
    }

    /// Bytes written to temporary files.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Selects the needed entries of a shard of tables and files. `None` if nothing is in files.
    pub(crate) fn select(&self, tables: &[&Table], shard: usize, selection: Selection) -> Option<Selected> {
        let runs = lock(&self.runs).clone();
        if runs.is_empty() {
            return None;
        }
        let mut selected = Selected::default();
        let scales = scales(&runs, tables);
        let (mut records, mut start) = (Counted::default(), 0);
        while start < PARTS && !self.has_failed() {
            let end = self.group_end(&runs, scales.len() as u64, shard, start);
            // With other hashes than the shard: all keys of a shard would be in the same few slots.
            let mut group = tables.first()?.without_keys().hashed_by(self.hasher);
            group.raise_to(&scales);
            for table in tables {
                group.add_shard(table, shard, |entry| (start..end).contains(&part_of(entry.hash)));
            }
            let added =
                runs.iter().try_for_each(|run| run.add_to(&mut group, shard, start..end, &mut records));
            if let Err(error) = added {
                self.fail(error);
                break;
            }
            let entries = group.entries();
            let select = |order: &Order, entries| order.select_from(entries, group.measures());
            selected.add(entries.len(), entries.iter(), selection, select);
            start = end;
        }
        Some(selected)
    }

    /// The end of the partitions from `start` on that fit into the memory of a worker together, at least one. Keys have the
    /// states of this many measured fields.
    fn group_end(&self, runs: &[Arc<SpilledRun>], fields: u64, shard: usize, start: usize) -> usize {
        let limit = self.own(ADDING_UP) as u64;
        let per_key = PER_KEY + PER_STATE * fields;
        let per_byte = if fields > 0 { PER_BYTE_OF_STATES } else { 1 };
        let mut memory = 0;
        let fitting = (start..PARTS).take_while(|&part| {
            let sizes = runs.iter().map(|run| run.size(shard, part));
            memory += sizes.map(|(keys, bytes)| keys * per_key + bytes * per_byte).sum::<u64>();
            memory <= limit
        });
        start + fitting.count().max(1)
    }
}

/// The part of a worker in a count in bounded memory.
#[derive(Debug)]
pub(crate) struct Spiller {
    pub(crate) shared: Arc<Spill>,
    /// Its temporary file, once there is one.
    file: Option<Arc<SpillFile>>,
}

impl Spiller {
    /// Registers a worker, with which the others share the memory.
    pub(crate) fn new(shared: &Arc<Spill>) -> Self {
        shared.workers.fetch_add(1, Ordering::Relaxed);
        Self { shared: Arc::clone(shared), file: None }
    }

    /// Whether this many more keys might not fit into the memory of the worker.
    pub(crate) fn is_full(&self, counts: &WorkerCounts, keys: usize) -> bool {
        counts.memory_with(keys) > self.shared.own(COUNTING)
    }

    /// Whether a file could not be written, so that the count cannot continue.
    pub(crate) fn has_failed(&self) -> bool {
        self.shared.has_failed()
    }

    /// Writes the last table to a file if there are files: then most of the memory is needed for adding up.
    pub(crate) fn end(&mut self, counts: &WorkerCounts) {
        if !lock(&self.shared.runs).is_empty() {
            self.write(counts);
        }
    }

    /// Writes the table to a file.
    pub(crate) fn write(&mut self, counts: &WorkerCounts) {
        let Some(table) = counts.take() else { return };
        match self.write_run(&table) {
            Ok(run) => lock(&self.shared.runs).push(Arc::new(run)),
            Err(error) => self.shared.fail(error),
        }
        counts.put_back(table.without_keys());
    }

    fn write_run(&mut self, table: &Table) -> io::Result<SpilledRun> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => {
                let file = Arc::new(SpillFile::create(&self.shared.limit.directory)?);
                Arc::clone(self.file.insert(file))
            }
        };
        let before = file.len();
        let index = run::write(table, &file)?;
        self.shared.written.fetch_add(file.len() - before, Ordering::Relaxed);
        Ok(SpilledRun::new(file, index))
    }
}

impl Selected {
    /// Adds the needed ones of this many entries. No key has been added before. `select` returns the first of the entries in an
    /// order.
    pub(crate) fn add<'e, 't: 'e, E: Iterator<Item = &'e Entry<'t>>>(
        &mut self,
        count: usize,
        entries: E,
        selection: Selection,
        select: impl FnOnce(&Order, E) -> Vec<KeyCount>,
    ) {
        self.distinct += count as u64;
        match selection {
            Selection::Buckets => {
                self.counts.extend(entries.map(|entry| (bucket::split(entry.key).0, entry.count)));
            }
            Selection::Keys(order) => {
                self.best.extend(select(&order, entries));
                if self.best.len() > order.number {
                    order.arrange(&mut self.best);
                }
            }
        }
    }
}

/// The scales of the measured fields in all runs and tables. The places of a mean depend on the values of all groups.
fn scales(runs: &[Arc<SpilledRun>], tables: &[&Table]) -> Vec<Scale> {
    let of_tables = tables.iter().filter_map(|table| table.measures()).map(Measures::scales);
    let of_all = runs.iter().map(|run| run.scales().to_vec()).chain(of_tables);
    let joined = |one: Vec<Scale>, other: Vec<Scale>| {
        one.into_iter().zip(other).map(|(one, other)| one.join(other)).collect()
    };
    of_all.reduce(joined).unwrap_or_default()
}
