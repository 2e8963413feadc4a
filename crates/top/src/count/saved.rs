//! Counts of all keys: partial results that can be merged and stored.
//!
//! Counts are a commutative monoid: merging is associative and commutative, and [`Counts::new`] is its neutral element. So logs can
//! be counted in parts, on several machines and in any order, and the merged counts equal the counts of all records at once.

mod divided;
mod stored;

use std::ops::ControlFlow;
use std::sync::Mutex;

use finecomb_scan::{Accumulate, Block, Folded, Inputs, Meter, Phase, Problem, Report, ScanOptions};
use finecomb_sys::locks::lock;

pub use self::stored::{StoredCounts, StoredError};
use crate::count::answer::Answer;
use crate::count::changes;
use crate::count::changes::Side;
use crate::count::table::Table;
use crate::count::tally::Tally;
use crate::count::{Counter, answer_of_tables, fold_for};
use crate::query::{CountShape, Query};

/// The counts of all keys of some records, and the other numbers of an answer.
///
/// Counts can be merged if their queries differ only in the number and order of shown keys: see [`StoredCounts::definition`].
#[derive(Debug)]
pub struct Counts {
    query: Query,
    table: Table,
    tally: Tally,
}

impl Counts {
    /// The counts of no records. The query's bounds of memory and its wish for approximate counts are ignored.
    pub fn new(query: &Query) -> Self {
        Self { query: query.clone(), table: Counter::empty_table(query), tally: Tally::default() }
    }

    /// Number of records counted. A record with several keys counts once for each.
    pub fn records(&self) -> u64 {
        self.tally.records
    }

    /// Bytes of memory of the table.
    pub fn memory(&self) -> u64 {
        self.table.memory() as u64
    }

    /// Adds the counts of other records.
    pub fn merge(&mut self, other: &Self) {
        self.table.add_all(&other.table, Some);
        self.tally = std::mem::take(&mut self.tally).merge(other.tally.clone());
    }

    /// The keys that the query selects, in its order.
    pub fn answer(&self) -> Answer {
        self.answer_of(&self.query)
    }

    /// The keys that another query selects, in its order. It may differ from that of the counts in number and order of the keys.
    pub fn answer_of(&self, query: &Query) -> Answer {
        answer_of_tables(&[&self.table], self.tally.clone(), query)
    }

    /// The changes since other counts of the same definition, with the keys that this query selects, in its order.
    pub fn changes_since(&self, before: &Self) -> Answer {
        let mut answer = Answer::default();
        before.tally.clone().merge(self.tally.clone()).complete(&mut answer, &self.query);
        let (before, after) = (before.table.entries(), self.table.entries());
        let before = before.iter().map(|entry| (Side::Before, entry.key, entry.count));
        let after = after.iter().map(|entry| (Side::After, entry.key, entry.count));
        changes::show(&mut answer, &self.query, before.chain(after));
        answer
    }

    /// An answer without keys: the number of records, and what was left out.
    pub fn summary(&self) -> Answer {
        let mut answer = Answer::default();
        self.tally.clone().complete(&mut answer, &self.query);
        answer
    }
}

/// The counts of all keys of some inputs, and the circumstances of the count.
#[derive(Debug)]
pub struct AllCounted {
    /// The counts.
    pub counts: Counts,
    /// Problems with inputs, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Number of input bytes.
    pub bytes: u64,
    /// Bytes of memory of the merged table.
    pub memory: u64,
    /// Profile, if it was requested.
    pub report: Option<Report>,
}

/// Counts all keys of all records of `inputs`.
///
/// As with [`top`](crate::top), the counts do not depend on the number of workers or the size of blocks. If the stop of the options
/// was raised, they are incomplete.
pub fn count_all(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query) -> AllCounted {
    let make = || Collector { counter: Counter::new(query, None, None), limit: None };
    let Folded { joined, problems, bytes, report } = fold_for(query, inputs, options, make);
    let counts = merged(joined, query);
    let memory = counts.memory();
    AllCounted { counts, problems, bytes, memory, report }
}

/// Bound of the memory of the table of each worker.
#[derive(Clone, Copy)]
pub struct TableLimit<'a> {
    /// Bytes of memory from which on a table is emitted.
    pub memory: u64,
    /// Receives the counts of a table, without the numbers that are not counted by key. The worker continues with an empty table.
    pub emit: &'a (dyn Fn(Counts) + Sync),
}

impl Counts {
    /// Adds the counts of all records of `inputs`, except those of tables that are emitted, and returns the problems with inputs. If the
    /// stop of the options was raised, the counts are incomplete.
    pub fn add_limited(
        &mut self,
        inputs: &Inputs,
        options: &ScanOptions<'_>,
        limit: TableLimit<'_>,
    ) -> Vec<Problem> {
        let query = self.query.clone();
        // One worker continues with the table: counting in another one and adding its keys would take longer.
        let has_slices = matches!(query.shape(), CountShape::Keys(Some(_)));
        let known = Mutex::new((!has_slices).then(|| self.take_table()));
        let make = || {
            let known = lock(&known).take();
            let table = known.unwrap_or_else(|| Counter::empty_table(&query));
            Collector { counter: Counter::with_table(&query, table, None, None), limit: Some(limit) }
        };
        let Folded { joined, problems, .. } = fold_for(&query, inputs, options, make);
        let counts = merged(joined, &query);
        self.merge_into_larger(counts);
        problems
    }

    /// Takes the table, and leaves an empty one.
    fn take_table(&mut self) -> Table {
        std::mem::replace(&mut self.table, Counter::empty_table(&self.query))
    }

    /// Adds counts to these, or these to the counts if their table is larger.
    fn merge_into_larger(&mut self, mut other: Self) {
        if other.memory() > self.memory() {
            std::mem::swap(self, &mut other);
        }
        self.merge(&other);
    }
}

/// The merged counts of workers.
fn merged(workers: Vec<Vec<(Table, Tally)>>, query: &Query) -> Counts {
    let of_worker = |(table, tally)| Counts { query: query.clone(), table, tally };
    let mut workers: Vec<Counts> = workers.into_iter().flatten().map(of_worker).collect();
    // The smaller tables are added to the largest one.
    workers.sort_by_key(|counts| counts.table.memory());
    let mut counts = workers.pop().unwrap_or_else(|| Counts::new(query));
    workers.iter().for_each(|other| counts.merge(other));
    counts
}

/// A worker whose table is kept as a whole, or emitted whenever it exceeds a limit.
struct Collector<'q> {
    counter: Counter<'q>,
    limit: Option<TableLimit<'q>>,
}

impl Accumulate for Collector<'_> {
    type Part = (Table, Tally);
    type Joined = Vec<(Table, Tally)>;

    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()> {
        let flow = self.counter.take(block, meter);
        if let Some(limit) = self.limit.filter(|limit| self.counter.memory() > limit.memory) {
            meter.enter(Phase::Spill);
            let (query, table) = self.counter.swap_table();
            (limit.emit)(Counts { query: query.clone(), table, tally: Tally::default() });
        }
        flow
    }

    fn into_parts(self) -> Vec<Self::Part> {
        vec![self.counter.into_table()]
    }

    fn join(parts: Vec<Self::Part>) -> Self::Joined {
        parts
    }
}
