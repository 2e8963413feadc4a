//! Counts the keys of all records in parallel.

use std::ops::ControlFlow;
use std::sync::Arc;

use finecomb_scan::{Accumulate, Block, Folded, Inputs, LineEnds, Meter, Phase, ScanOptions, fold};

use crate::answer::{Answer, KeyCount, Outcome, Skipped, most_frequent};
use crate::filter::{FilterCache, split_records};
use crate::key::{KeyMaker, Keys};
use crate::live::{Live, WorkerCounts};
use crate::query::Query;
use crate::table::{JoinedShard, SHARDS, Table};
use crate::{Span, bytes_of};

/// Counts the keys of all records of `inputs` and returns the most frequent ones.
///
/// The answer does not depend on the number of workers or the size of blocks. Problems with an input are reported in
/// [`Outcome::problems`]; the other inputs are still counted.
pub fn top(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query) -> Outcome {
    count(inputs, options, query, None)
}

/// Like [`top`], with intermediate answers through `live`.
pub fn top_live(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query, live: &Live) -> Outcome {
    count(inputs, options, query, Some(live))
}

fn count(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query, live: Option<&Live>) -> Outcome {
    let Folded { joined, problems, bytes, report } = fold(inputs, options, || Counter::new(query, live));
    let partial = options.stop.as_ref().is_some_and(|stop| stop.is_raised());
    let mut answer = Answer { partial, ..Answer::default() };
    let mut tally = Tally::default();
    for shard in joined {
        answer.top.extend(shard.best);
        answer.distinct += shard.distinct;
        tally = tally.merge(shard.tally);
    }
    let Tally { records, skipped, memory } = tally;
    answer.records = records;
    answer.skipped = skipped;
    answer.top.sort_unstable();
    answer.top.truncate(query.number);
    Outcome { answer, problems, bytes, memory, report }
}

/// State of a worker.
struct Counter<'q> {
    query: &'q Query,
    counts: Arc<WorkerCounts>,
    tally: Tally,
    maker: KeyMaker<'q>,
    filter: FilterCache,
    ends: LineEnds,
    records: Vec<Span>,
    keys: Keys,
    edited: Vec<u8>,
    live: Option<&'q Live>,
}

/// Counts that are not by key.
#[derive(Debug, Default)]
struct Tally {
    records: u64,
    skipped: Option<Skipped>,
    /// Bytes of memory of the table at the end.
    memory: u64,
}

impl Tally {
    fn merge(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            skipped: Skipped::merge(self.skipped, other.skipped),
            memory: self.memory + other.memory,
        }
    }
}

/// A shard of a worker's table. The first shard has the worker's tally.
struct Part {
    shard: usize,
    table: Arc<Table>,
    tally: Tally,
    /// Number of keys in the answer.
    number: usize,
}

/// A shard with the merged keys of all workers.
struct Joined {
    best: Vec<KeyCount>,
    distinct: u64,
    tally: Tally,
}

impl<'q> Counter<'q> {
    fn new(query: &'q Query, live: Option<&'q Live>) -> Self {
        Self {
            query,
            counts: WorkerCounts::new(Table::new(query.hasher), live),
            tally: Tally::default(),
            maker: KeyMaker::new(query),
            filter: query.filter.cache(),
            ends: LineEnds::default(),
            records: Vec::new(),
            keys: Keys::default(),
            edited: Vec::new(),
            live,
        }
    }

    fn select_records(&mut self, text: &[u8], meter: &mut Meter) {
        let filter = &self.query.filter;
        if filter.accepts_all() {
            meter.enter(Phase::Split);
            split_records(text, &mut self.ends, &mut self.records);
        } else {
            meter.enter(Phase::Filter);
            filter.select(&mut self.filter, text, &mut self.ends, &mut self.records);
        }
    }

    /// Counts the records without a key.
    fn count_missing(&mut self, block: &Block<'_>) {
        let Some(&first) = self.keys.missing.first() else { return };
        let record = self.records[first as usize];
        let skipped = bytes_of(block.bytes, record);
        let skipped = Skipped {
            count: self.keys.missing.len() as u64,
            first: block.place(record.0),
            record: skipped[..skipped.len().min(Skipped::MAX_RECORD)].to_vec(),
        };
        self.tally.skipped = Skipped::merge(self.tally.skipped.take(), Some(skipped));
    }
}

impl Accumulate for Counter<'_> {
    type Part = Part;
    type Joined = Joined;

    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()> {
        self.select_records(block.bytes, meter);
        meter.add_records(self.records.len() as u64);
        meter.enter(Phase::Extract);
        self.maker.extract(block.bytes, &self.records, &mut self.keys);
        self.count_missing(block);
        if !self.query.edits.is_empty() {
            meter.enter(Phase::Edit);
            self.maker.edit(block.bytes, &mut self.keys, &mut self.edited);
        }
        meter.enter(Phase::Count);
        self.counts.count(self.keys.text(block.bytes), &self.keys.spans);
        if let Some(live) = self.live.filter(|live| self.counts.should_publish(live)) {
            meter.enter(Phase::Merge);
            self.counts.publish(live);
        }
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Part> {
        let Self { query, counts, mut tally, .. } = self;
        tally.records = counts.records();
        let table = Arc::new(counts.take().unwrap_or_else(|| Table::new(query.hasher)));
        tally.memory = table.memory() as u64;
        (0..SHARDS)
            .map(|shard| Part {
                shard,
                table: Arc::clone(&table),
                tally: std::mem::take(&mut tally),
                number: query.number,
            })
            .collect()
    }

    fn join(mut parts: Vec<Part>) -> Joined {
        let tallies = parts.iter_mut().map(|part| std::mem::take(&mut part.tally));
        let tally = tallies.fold(Tally::default(), Tally::merge);
        let (shard, number) = parts.first().map_or((0, 0), |part| (part.shard, part.number));
        let tables: Vec<&Table> = parts.iter().map(|part| &*part.table).collect();
        let joined = JoinedShard::new(&tables, shard);
        Joined { best: most_frequent(joined.entries(), number), distinct: joined.len() as u64, tally }
    }
}
