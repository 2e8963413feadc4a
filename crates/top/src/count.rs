//! Counts the keys of all records in parallel.

pub(crate) mod answer;
pub(crate) mod approximate;
pub(crate) mod arena;
pub(crate) mod bucket_pairs;
pub(crate) mod changes;
pub(crate) mod deferred;
pub(crate) mod live;
pub(crate) mod order;
pub(crate) mod pivot;
pub(crate) mod saved;
pub(crate) mod slot;
pub(crate) mod spill;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod timeline;

use std::ops::ControlFlow;
use std::sync::Arc;

use finecomb_scan::{
    Accumulate, Block, FoldOptions, Folded, Inputs, Meter, Narrow, Phase, Problem, ProblemKind, ScanOptions,
    Source, fold,
};

use crate::cells::{Span, bytes_of};
use crate::count::answer::{Answer, Outcome};
use crate::count::bucket_pairs::{OfWorker, PairCounts};
use crate::count::changes::Side;
use crate::count::deferred::{Deferred, HashSample, Resolved};
use crate::count::live::{CountedRecords, Live, WorkerCounts};
use crate::count::order::Selection;
use crate::count::spill::{Selected, Spill, Spiller};
use crate::count::table::{JoinedShard, SHARDS, Table};
use crate::count::tally::Tally;
use crate::key::editor::Editor;
use crate::key::hash::Hasher;
use crate::key::keys::Keys;
use crate::measure::Measures;
use crate::measure::values::Parsed;
use crate::query::compare::Compare;
use crate::query::{CountShape, Query};
use crate::records::plain::LineMaker;
use crate::records::rows::RowMaker;
use crate::records::sorted::Narrower;

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
    if let Some(memory) = query.approximate {
        let options = &query.scan(options);
        return approximate::count(inputs, options, query, memory);
    }
    let spill = query.memory.clone().map(|limit| Arc::new(Spill::new(limit)));
    let sample = Arc::default();
    let make = || Counter::of_job(query, live, spill.as_ref(), &sample);
    let Folded { mut joined, mut problems, bytes, report } = fold_for(query, inputs, options, make);
    add_changed(&mut problems, &mut joined);
    let partial = options.stop.as_ref().is_some_and(|stop| stop.is_raised());
    let (answer, memory) = answer_of(joined, query, partial);
    let spilled = spill.as_ref().map_or(0, |spill| spill.written());
    let failure = spill.and_then(|spill| spill.failure());
    Outcome { answer, problems, bytes, memory, spilled, failure, report }
}

/// Adds the files that have changed since keys of them were deferred.
fn add_changed(problems: &mut Vec<Problem>, joined: &mut [Joined]) {
    let mut changed: Vec<Source> =
        joined.iter_mut().flat_map(|shard| std::mem::take(&mut shard.changed)).collect();
    changed.sort_unstable();
    changed.dedup();
    if !changed.is_empty() {
        problems.extend(changed.into_iter().map(|source| Problem {
            source,
            kind: ProblemKind::Changed,
            more: 0,
        }));
        problems.sort_by(|one, other| one.source.cmp(&other.source));
    }
}

/// Processes all records with the options and the additions of a query. Problems include files that contradict the promised order.
pub(crate) fn fold_for<A: Accumulate>(
    query: &Query,
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    make: impl Fn() -> A + Sync,
) -> Folded<A::Joined> {
    let (options, narrower) = with_query_options(options, query);
    let mut folded = fold(inputs, &options, make);
    if let Some(narrower) = narrower {
        folded.problems.extend(narrower.contradictions());
        folded.problems.sort_by(|one, other| one.source.cmp(&other.source));
    }
    folded
}

/// Options of a scan with the additions of a query, and with the restriction of the parts of files that are read.
pub(crate) fn with_query_options<'o>(
    options: &ScanOptions<'o>,
    query: &Query,
) -> (FoldOptions<'o>, Option<Arc<Narrower>>) {
    let narrower = Narrower::of(query);
    let narrow = narrower.clone().map(|narrower| narrower as Arc<dyn Narrow>);
    let scan = query.scan(options);
    (FoldOptions::from(scan).narrow(narrow), narrower)
}

/// The answer from tables, whose keys begin with their buckets if there are any.
pub(crate) fn answer_of_tables(tables: &[&Table], mut tally: Tally, query: &Query) -> Answer {
    let selection = Selection::of(query);
    let joined =
        (0..SHARDS).map(|shard| Joined::of(tables, &[], shard, selection, std::mem::take(&mut tally)));
    answer_of(joined, query, false).0
}

/// The answer from the merged shards, and the bytes of memory of all tables.
pub(crate) fn answer_of(
    joined: impl IntoIterator<Item = Joined>,
    query: &Query,
    partial: bool,
) -> (Answer, u64) {
    let mut answer = Answer { partial, ..Answer::default() };
    let (mut tally, mut counts, mut pairs) = (Tally::default(), Vec::new(), Vec::new());
    for shard in joined {
        pairs.extend(shard.pairs);
        answer.top.extend(shard.selected.best);
        counts.extend(shard.selected.counts);
        answer.distinct += shard.selected.distinct;
        tally = tally.merge(shard.tally);
    }
    let memory = tally.memory;
    tally.complete(&mut answer, query);
    let shape = query.shape();
    // Those of pairs are in no order until only those of the first keys are left.
    if !matches!(shape, CountShape::Series(_) | CountShape::Pivot(_) | CountShape::Changes)
        || !pairs.is_empty()
    {
        query.order.arrange(&mut answer.top);
    }
    match (shape, Selection::of(query)) {
        (CountShape::Series(buckets), _) if !pairs.is_empty() => {
            timeline::arrange_pairs(&mut answer, query, buckets, &pairs);
        }
        (CountShape::Buckets(buckets), Selection::Buckets) => {
            timeline::arrange_counts(&mut answer, query, buckets, counts);
        }
        _ => timeline::arrange(&mut answer, query),
    }
    (answer, memory)
}

/// State of a worker.
pub(crate) struct Counter<'q> {
    query: &'q Query,
    counts: Arc<WorkerCounts>,
    tally: Tally,
    maker: Maker<'q>,
    editor: Editor<'q>,
    keys: Keys,
    /// Group of each key of a block.
    groups: Vec<u32>,
    /// Values of a block that are measured but are no numbers, each by row and column.
    not_numbers: Vec<(u32, usize)>,
    /// Findings about each measured column of a block.
    parsed: Vec<(usize, Parsed)>,
    live: Option<&'q Live>,
    /// Writes tables to files if memory is bounded.
    spiller: Option<Spiller>,
    /// Counts keys by bucket of time, unless keys begin with their buckets.
    pairs: Option<PairCounts>,
    /// Keys that are in no table, if the order of the answer allows that.
    deferred: Option<Deferred>,
}

/// Makes the keys of the records of a block.
enum Maker<'q> {
    /// Keys of lines, by the positions of fields.
    Lines(Box<LineMaker<'q>>),
    /// Keys of records with a format, a condition or measures.
    Rows(Box<RowMaker<'q>>),
}

/// A shard of a worker's table. The first shard has the worker's tally.
pub(crate) struct TableShard {
    shard: usize,
    table: Arc<Table>,
    tally: Tally,
    selection: Selection,
    spill: Option<Arc<Spill>>,
    /// The worker's counts by bucket of time, with the first shard.
    pairs: Option<OfWorker>,
    deferred: Option<Arc<Deferred>>,
}

/// A shard with the merged keys of all workers.
pub(crate) struct Joined {
    selected: Selected,
    tally: Tally,
    /// The counts of workers by bucket of time, with the first shard.
    pairs: Vec<OfWorker>,
    /// Files that have changed since keys of them were deferred.
    changed: Vec<Source>,
}

impl Joined {
    /// A shard of tables and deferred keys.
    pub(crate) fn of(
        tables: &[&Table],
        deferred: &[&Deferred],
        shard: usize,
        selection: Selection,
        tally: Tally,
    ) -> Self {
        let Resolved { single, others, changed } = Resolved::of(deferred, tables, shard);
        let joined = JoinedShard::with_others(tables, shard, &others);
        let mut selected = Selected { distinct: single, ..Selected::default() };
        selected
            .add(joined.len(), joined.entries(), selection, |order, entries| joined.select(order, entries));
        Self { selected, tally, pairs: Vec::new(), changed }
    }
}

impl<'q> Counter<'q> {
    pub(crate) fn new(query: &'q Query, live: Option<&'q Live>, spill: Option<&Arc<Spill>>) -> Self {
        Self::with_table(query, Self::empty_table(query), live, spill)
    }

    /// A table for the keys of a query.
    pub(crate) fn empty_table(query: &Query) -> Table {
        match query.rows.as_deref().filter(|rows| !rows.measures.is_empty()) {
            Some(rows) => {
                let measures = Measures::reading(&rows.measures, |column| rows.number_reader(column));
                Table::with_groups(query.hasher, measures)
            }
            None => Table::new(query.hasher),
        }
    }

    /// A counter of a job whose counts are read only at its end, unless they are live or spilled.
    fn of_job(
        query: &'q Query,
        live: Option<&'q Live>,
        spill: Option<&Arc<Spill>>,
        sample: &Arc<HashSample>,
    ) -> Self {
        if live.is_some() || spill.is_some() {
            return Self::new(query, live, spill);
        }
        match query.shape() {
            CountShape::Series(_) if query.measure_names.is_empty() => {
                let table = Table::with_groups(query.hasher, Measures::new(&[]));
                Self { pairs: Some(PairCounts::default()), ..Self::with_table(query, table, None, None) }
            }
            CountShape::Keys(_) if query.measure_names.is_empty() => {
                let deferred = Deferred::for_order(&query.order, query.hasher, query.defer_from, sample);
                Self { deferred, ..Self::new(query, None, None) }
            }
            _ => Self::new(query, None, None),
        }
    }

    pub(crate) fn with_table(
        query: &'q Query,
        table: Table,
        live: Option<&'q Live>,
        spill: Option<&Arc<Spill>>,
    ) -> Self {
        Self {
            query,
            counts: WorkerCounts::new(table, live),
            tally: Tally::default(),
            maker: match &query.rows {
                Some(rows) => Maker::Rows(Box::new(RowMaker::new(query, rows))),
                None => Maker::Lines(Box::new(LineMaker::new(query))),
            },
            editor: Editor::new(query),
            keys: Keys::default(),
            groups: Vec::new(),
            not_numbers: Vec::new(),
            parsed: Vec::new(),
            live,
            spiller: spill.map(Spiller::new),
            pairs: None,
            deferred: None,
        }
    }

    /// Makes the keys of a block, before any edit.
    fn make_keys(&mut self, block: &Block<'_>, meter: &mut Meter) {
        match &mut self.maker {
            Maker::Lines(lines) => {
                lines.make(block.bytes, meter, &mut self.keys);
                meter.add_records(lines.records.len() as u64);
                self.tally.add_examined(lines.records.len() as u64);
                self.tally.add_skipped(block, &lines.records, &self.keys.missing);
            }
            Maker::Rows(rows) => {
                rows.make(block, meter, &mut self.keys);
                meter.add_records(rows.records.len() as u64);
                self.tally.add_examined(rows.examined);
                self.tally.add_left_out(block, rows);
                self.tally.add_without_key(block, rows, &self.keys.missing);
                self.tally.add_malformed(block, rows);
            }
        }
    }

    /// The hash function of all workers.
    pub(crate) fn hasher(&self) -> &'q Hasher {
        &self.query.hasher
    }

    /// Makes the keys of a block. Returns their text, and their spans in it.
    pub(crate) fn keys<'a>(&'a mut self, block: &'a Block<'_>, meter: &mut Meter) -> (&'a [u8], &'a [Span]) {
        self.make_keys(block, meter);
        if !self.editor.is_idle() {
            meter.enter(Phase::Edit);
            self.editor.change_all(block.bytes, &mut self.keys);
        }
        meter.enter(Phase::Count);
        (self.keys.text(block.bytes), &self.keys.spans)
    }

    /// Counts that are not by key.
    pub(crate) fn tally(&self) -> Tally {
        let mut tally = self.tally.clone();
        tally.records = self.counts.records();
        if let Maker::Rows(rows) = &self.maker {
            tally.presence = [rows.condition_presence.clone(), rows.value_presence.clone()];
            tally.window = rows.times.window;
        }
        tally
    }

    /// The table, without slices of time and without the numbers that are not counted by key.
    pub(crate) fn into_table(self) -> (Table, Tally) {
        (self.take_table(), self.tally())
    }

    /// Returns the table with its query, and continues with an empty one.
    pub(crate) fn swap_table(&self) -> (&'q Query, Table) {
        let table = self.take_table();
        self.counts.put_back(Self::empty_table(self.query));
        (self.query, table)
    }

    fn take_table(&self) -> Table {
        let table = self.counts.take().unwrap_or_else(|| Self::empty_table(self.query));
        match self.query.shape() {
            CountShape::Keys(Some(_)) => timeline::without_prefixes(&[&table]),
            _ => table,
        }
    }

    /// Bytes of memory of the table.
    pub(crate) fn memory(&self) -> u64 {
        self.counts.memory_with(0) as u64
    }

    /// The table and the number of records.
    pub(crate) fn counts(&self) -> &WorkerCounts {
        &self.counts
    }

    /// Puts the sides of the keys before them, if two parts of the records are compared.
    fn add_side(&mut self, block: &Block<'_>) {
        match (self.query.compare, &mut self.maker) {
            (Some(Compare::Inputs), _) => {
                let side = if block.source.argument() == 0 { Side::Before } else { Side::After };
                self.keys.replace(block.bytes, |key, out| {
                    side.append(out);
                    out.extend_from_slice(key);
                });
            }
            (Some(Compare::Earlier(_)), Maker::Rows(rows)) => rows.add_sides(block.bytes, &mut self.keys),
            (Some(Compare::Earlier(_)), Maker::Lines(_)) | (None, _) => {}
        }
    }

    /// Keeps records of a block for displays.
    fn keep_records(&self, block: &Block<'_>, live: &Live, is_asked: bool) {
        let (text, keys) = (self.keys.text(block.bytes), &self.keys.spans);
        let (all, records) = match &self.maker {
            Maker::Lines(lines) => (&*block.bytes, &lines.records),
            Maker::Rows(rows) => (rows.text(block), &rows.records),
        };
        let row = |key: usize| match &self.maker {
            Maker::Lines(_) => self.keys.record_of(key),
            Maker::Rows(rows) => rows.row_of_key(key),
        };
        let counted = CountedRecords {
            source: block.source,
            keys: keys.len(),
            key: |key: usize| bytes_of(text, keys[key]),
            record: |key| bytes_of(all, records[row(key)]),
        };
        self.counts.keep(&counted, live, is_asked);
    }

    fn count(&mut self, block: &Block<'_>) {
        let (text, keys) = (self.keys.text(block.bytes), &self.keys.spans);
        if keys.is_empty() {
            // A file that was not recognised has no cells to measure either.
            return;
        }
        match &mut self.maker {
            Maker::Rows(rows) if !self.query.measure_names.is_empty() => {
                self.not_numbers.clear();
                self.parsed.clear();
                self.counts.count_with(keys.len(), |table| {
                    let (numbers, bad) = (&mut self.groups, &mut self.not_numbers);
                    let Some(groups) = table.group(text, keys, numbers) else { return };
                    let count = groups.len();
                    let text = rows.text(block);
                    groups.measures.add(numbers, count, rows.rows_of_keys(), text, &rows.cells, bad);
                    self.parsed.extend(groups.measures.parsed());
                    // The first value of a record is that of the first column, as among those that are no numbers.
                    self.parsed.sort_unstable_by_key(|(column, _)| *column);
                });
                self.tally.add_not_numbers(block, rows, &self.not_numbers);
                self.tally.add_numbers(block, rows, &self.parsed);
            }
            Maker::Rows(rows)
                if let (Some(pairs), Some(buckets)) = (&mut self.pairs, self.query.buckets()) =>
            {
                self.counts.count_with(keys.len(), |table| {
                    if table.group(text, keys, &mut self.groups).is_some() {
                        pairs.count(&self.groups, rows.starts_of_keys(buckets));
                    }
                });
            }
            _ => {
                let deferred = self.deferred.as_mut().filter(|_| self.keys.are_in_block());
                let deferred = deferred.and_then(|deferred| deferred.begin(block));
                self.counts.count_with(keys.len(), |table| match deferred {
                    Some(deferred) => deferred.count(table, text, keys),
                    None => table.count(text, keys),
                });
            }
        }
    }
}

impl Accumulate for Counter<'_> {
    type Part = TableShard;
    type Joined = Joined;

    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()> {
        self.keys(block, meter);
        let prefixes = self.query.prefixes().filter(|_| self.pairs.is_none());
        if let (Maker::Rows(rows), Some(buckets)) = (&mut self.maker, prefixes) {
            rows.add_buckets(buckets, block.bytes, &mut self.keys);
        }
        self.add_side(block);
        if let (Maker::Rows(rows), Some(column)) = (&mut self.maker, self.query.pivot_column()) {
            rows.add_values(column, block, &mut self.keys);
        }
        if let Some(spiller) = &mut self.spiller {
            if spiller.is_full(&self.counts, self.keys.spans.len()) {
                meter.enter(Phase::Spill);
                spiller.write(&self.counts);
                meter.enter(Phase::Count);
            }
            if spiller.has_failed() {
                return ControlFlow::Break(());
            }
        }
        self.count(block);
        if let Some(live) = self.live {
            let is_asked = self.counts.should_publish(live);
            self.keep_records(block, live, is_asked);
            if is_asked {
                meter.enter(Phase::Merge);
                self.counts.publish(live);
            }
        }
        ControlFlow::Continue(())
    }

    fn into_parts(mut self) -> Vec<TableShard> {
        let query = self.query;
        if let Some(spiller) = &mut self.spiller {
            spiller.end(&self.counts);
        }
        let selection = match self.pairs {
            Some(_) => Selection::Keys(query.order),
            None => Selection::of(query),
        };
        let deferred = self.deferred.take().map(Arc::new);
        let (pairs, spill) = (self.pairs.take(), self.spiller.take().map(|spiller| spiller.shared));
        let (table, mut tally) = self.into_table();
        let table = Arc::new(table);
        tally.memory = (table.memory() + deferred.as_ref().map_or(0, |deferred| deferred.memory())) as u64;
        let mut pairs = pairs.map(|mut pairs| {
            pairs.finish();
            tally.memory += pairs.memory() as u64;
            OfWorker { keys: Arc::clone(&table), pairs }
        });
        (0..SHARDS)
            .map(|shard| TableShard {
                shard,
                table: Arc::clone(&table),
                tally: std::mem::take(&mut tally),
                selection,
                spill: spill.clone(),
                pairs: pairs.take(),
                deferred: deferred.clone(),
            })
            .collect()
    }

    fn join(mut parts: Vec<TableShard>) -> Joined {
        let tallies = parts.iter_mut().map(|part| std::mem::take(&mut part.tally));
        let tally = tallies.fold(Tally::default(), Tally::merge);
        let pairs = parts.iter_mut().filter_map(|part| part.pairs.take()).collect();
        let Some(TableShard { shard, selection, spill, .. }) = parts.first() else {
            return Joined { selected: Selected::default(), tally, pairs, changed: Vec::new() };
        };
        let tables: Vec<&Table> = parts.iter().map(|part| &*part.table).collect();
        let deferred: Vec<&Deferred> = parts.iter().filter_map(|part| part.deferred.as_deref()).collect();
        match spill.as_ref().and_then(|spill| spill.select(&tables, *shard, *selection)) {
            Some(selected) => Joined { selected, tally, pairs, changed: Vec::new() },
            None => Joined { pairs, ..Joined::of(&tables, &deferred, *shard, *selection, tally) },
        }
    }
}
