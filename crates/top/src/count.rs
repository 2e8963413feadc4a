//! Counting the keys of all records, in parallel.

use std::hash::{BuildHasher, Hasher};
use std::ops::ControlFlow;

use finecomb_scan::{Accumulate, Block, Folded, Inputs, LineEnds, Meter, Phase, ScanOptions, fold};

use crate::answer::{Answer, KeyCount, Outcome, Skipped, most_frequent};
use crate::filter::{FilterCache, split_records};
use crate::key::{KeyMaker, Keys};
use crate::query::Query;
use crate::table::Table;
use crate::{Span, bytes_of};

/// Counts the keys of all records of `inputs` and gives the most frequent ones.
///
/// The answer does not depend on the number of workers or the size of blocks. What goes wrong with an input is in
/// [`Outcome::problems`]; the others are counted all the same.
pub fn top(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query) -> Outcome {
    let Folded { joined, problems, bytes, report } = fold(inputs, options, || Counter::new(query));
    let partial = options.stop.as_ref().is_some_and(|stop| stop.is_raised());
    let mut answer = Answer { partial, ..Answer::default() };
    let mut memory = 0;
    for shard in joined {
        answer.top.extend(shard.best);
        answer.distinct += shard.distinct;
        answer.records += shard.tally.records;
        answer.skipped = Skipped::merge(answer.skipped, shard.tally.skipped);
        memory += shard.memory;
    }
    answer.top.sort_unstable();
    answer.top.truncate(query.number);
    Outcome { answer, problems, bytes, memory, report }
}

/// Keys are spread over this many tables by the highest bits of their hash. Workers join tables of one number each by
/// itself: with at least this many keys, up to this many workers have something to join. A table for each bit more
/// would cost the workers' caches more than it gains.
const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 6;

/// What one worker has counted.
struct Counter<'q> {
    query: &'q Query,
    tables: Vec<Table>,
    tally: Tally,
    maker: KeyMaker<'q>,
    filter: FilterCache,
    ends: LineEnds,
    records: Vec<Span>,
    keys: Keys,
    edited: Vec<u8>,
    hashes: Vec<u64>,
}

/// What is counted but not by key.
#[derive(Debug, Default)]
struct Tally {
    records: u64,
    skipped: Option<Skipped>,
}

impl Tally {
    fn merge(self, other: Self) -> Self {
        Self { records: self.records + other.records, skipped: Skipped::merge(self.skipped, other.skipped) }
    }
}

/// The keys of one shard, with the worker's tally in the first.
struct Shard {
    number: usize,
    table: Table,
    tally: Tally,
}

/// What is known of a shard when all workers' keys are joined.
struct JoinedShard {
    best: Vec<KeyCount>,
    distinct: u64,
    tally: Tally,
    memory: u64,
}

impl<'q> Counter<'q> {
    fn new(query: &'q Query) -> Self {
        Self {
            query,
            tables: std::iter::repeat_with(Table::default).take(SHARDS).collect(),
            tally: Tally::default(),
            maker: KeyMaker::new(query),
            filter: query.filter.cache(),
            ends: LineEnds::default(),
            records: Vec::new(),
            keys: Keys::default(),
            edited: Vec::new(),
            hashes: Vec::new(),
        }
    }

    fn choose_records(&mut self, text: &[u8], meter: &mut Meter) {
        let filter = &self.query.filter;
        if filter.is_open() {
            meter.enter(Phase::Split);
            split_records(text, &mut self.ends, &mut self.records);
        } else {
            meter.enter(Phase::Filter);
            filter.select(&mut self.filter, text, &mut self.ends, &mut self.records);
        }
    }

    /// Notes records that have too few fields.
    fn note_missing(&mut self, block: &Block<'_>) {
        let Some(&first) = self.keys.missing.first() else { return };
        let record = self.records[first as usize];
        let kept = bytes_of(block.bytes, record);
        let skipped = Skipped {
            count: self.keys.missing.len() as u64,
            first: block.place(record.0),
            record: kept[..kept.len().min(Skipped::KEPT)].to_vec(),
        };
        self.tally.skipped = Skipped::merge(self.tally.skipped.take(), Some(skipped));
    }

    /// Counts the keys of a block, a batch at a time, in three passes: hash the keys and ask for their slots, ask for the
    /// keys that the slots point to, count. So the memory for many keys is fetched at once.
    fn count_keys(&mut self, block: &[u8]) {
        let text = self.keys.text(block);
        for keys in self.keys.spans.chunks(BATCH) {
            self.hashes.clear();
            for &key in keys {
                let mut hasher = self.query.hasher.build_hasher();
                hasher.write(bytes_of(text, key));
                let hash = hasher.finish();
                self.tables[shard_of(hash)].prefetch_slot(hash as u32);
                self.hashes.push(hash);
            }
            for &hash in &self.hashes {
                self.tables[shard_of(hash)].prefetch_key(hash as u32);
            }
            for (&key, &hash) in keys.iter().zip(&self.hashes) {
                self.tables[shard_of(hash)].add(hash as u32, bytes_of(text, key), 1);
            }
        }
    }
}

/// How many keys are counted at a time: their slots and keys, a cache line or two each, stay in the first-level cache.
const BATCH: usize = 64;

/// The table that a key belongs to. Within the table, the low bits choose the slot.
#[inline(always)]
fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

impl Accumulate for Counter<'_> {
    type Part = Shard;
    type Joined = JoinedShard;

    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()> {
        self.choose_records(block.bytes, meter);
        meter.add_records(self.records.len() as u64);
        meter.enter(Phase::Extract);
        self.maker.extract(block.bytes, &self.records, &mut self.keys);
        self.note_missing(block);
        if !self.query.edits.is_empty() {
            meter.enter(Phase::Edit);
            self.maker.edit(block.bytes, &mut self.keys, &mut self.edited);
        }
        meter.enter(Phase::Count);
        self.tally.records += self.keys.spans.len() as u64;
        self.count_keys(block.bytes);
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<Shard> {
        let Self { query, tables, mut tally, .. } = self;
        let shards = tables.into_iter();
        shards.map(|table| Shard { number: query.number, table, tally: std::mem::take(&mut tally) }).collect()
    }

    fn join(mut shards: Vec<Shard>) -> JoinedShard {
        shards.sort_by_key(|shard| shard.table.len());
        let memory = shards.iter().map(|shard| shard.table.memory() as u64).sum();
        // The rest is added to the largest.
        let mut all =
            shards.pop().unwrap_or(Shard { number: 0, table: Table::default(), tally: Tally::default() });
        for Shard { table, tally, .. } in shards {
            all.table.absorb(table);
            all.tally = all.tally.merge(tally);
        }
        JoinedShard {
            best: most_frequent(&all.table, all.number),
            distinct: all.table.len() as u64,
            tally: all.tally,
            memory,
        }
    }
}
