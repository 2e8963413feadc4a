//! Counting inputs that grow: exact answers during the count, buckets of time as they end, and a sliding window.

mod finished;
mod history;

use std::mem;
use std::time::Duration;

use finecomb_scan::{Followed, Inputs, Next, Pause, Problem, ScanOptions, follow};

use self::finished::EndedBuckets;
pub use self::finished::FinishedBucket;
use self::history::History;
use crate::count::answer::{Answer, Outcome};
use crate::count::live::{Live, View};
use crate::count::table::Table;
use crate::count::tally::Tally;
use crate::count::{Counter, answer_of, answer_of_tables, timeline, with_query_options};
use crate::query::{CountShape, Query};
use crate::time::{BucketCache, bucket};

/// State of a count that follows its inputs, between two rounds of work.
pub struct Following<'p, 'q> {
    counters: &'p mut [Counter<'q>],
    query: &'q Query,
    live: Option<&'q Live>,
    ends: &'p mut EndedBuckets,
    /// Buckets that are not counted any more, for displays.
    history: &'p mut History,
    /// Number of the slice of time up to which records are forgotten.
    forgotten: &'p mut i64,
    /// Problems since the last pause.
    pub problems: Vec<Problem>,
    /// Whether anything was read since the last pause.
    pub has_new: bool,
    /// Number of files and pipes that are followed.
    pub inputs: usize,
    /// Whether the count ends with this pause.
    pub is_last: bool,
}

/// Counts the keys of all records of `inputs`, and of all that are added to them: see [`follow`]. `pause` is called between the
/// rounds of work. The answer is partial if the count was asked to end before all initial input was counted.
pub fn top_follow(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    query: &Query,
    live: Option<&Live>,
    mut pause: impl FnMut(&mut Following<'_, '_>) -> Next,
) -> Outcome {
    let (mut ends, mut history, mut forgotten) = (EndedBuckets::default(), History::default(), i64::MIN);
    let (options, narrower) = with_query_options(options, query);
    let make = || Counter::new(query, live, None);
    let Followed { folded, is_complete } = follow(inputs, &options, make, |state: Pause<'_, Counter<'_>>| {
        let Pause { accumulators: counters, problems, has_new, inputs, is_last } = state;
        ends.record(has_new);
        let mut following = Following {
            counters,
            query,
            live,
            ends: &mut ends,
            history: &mut history,
            forgotten: &mut forgotten,
            problems,
            has_new,
            inputs,
            is_last,
        };
        following.forget_older();
        pause(&mut following)
    });
    let mut problems = folded.problems;
    problems.extend(narrower.iter().flat_map(|narrower| narrower.contradictions()));
    let (answer, memory) = answer_of(folded.joined, query, !is_complete);
    let (bytes, report) = (folded.bytes, folded.report);
    Outcome { answer, problems, bytes, memory, spilled: 0, failure: None, report }
}

impl Following<'_, '_> {
    /// The exact answer so far.
    pub fn answer(&mut self) -> Answer {
        self.answer_to(self.query, None)
    }

    /// Lets the displays of the count show the exact answer so far, with the buckets that have ended.
    pub fn publish(&mut self) {
        if let Some(live) = self.live {
            let view = live.view();
            let answer = self.answer_to(&live.query_of(&view), Some(&view));
            self.with_tables(|tables| live.set_exact(answer, &view, &self.with_history(tables)));
        }
    }

    /// Whether the displays show other keys now than those of the answer that was last published.
    pub fn is_outdated(&self) -> bool {
        self.live.is_some_and(Live::is_outdated)
    }

    /// The exact answer so far to the query, perhaps in another order, and from the keys of a view if there is one.
    fn answer_to(&self, query: &Query, view: Option<&View>) -> Answer {
        let mut tally = self.counters.iter().map(Counter::tally).reduce(Tally::merge).unwrap_or_default();
        if let Some(history) = self.history.table().filter(|_| view.is_some()) {
            tally.records += history.entries().iter().map(|entry| entry.count).sum::<u64>();
        }
        self.with_tables(|tables| {
            let tables: &[&Table] = &if view.is_some() { self.with_history(tables) } else { tables.to_vec() };
            let has_slices = matches!(query.shape(), CountShape::Keys(Some(_)));
            let joined = (has_slices && !tables.is_empty()).then(|| timeline::without_prefixes(tables));
            let tables = joined.as_ref().map_or(tables.to_vec(), |joined| vec![joined]);
            let shown = view.and_then(|view| view.restricted(&tables, query));
            answer_of_tables(&shown.as_ref().map_or(tables, |shown| vec![shown]), tally, query)
        })
    }

    /// Time after which records that have been counted are to be forgotten, if there is a window.
    pub fn forgets_after(&self) -> Option<Duration> {
        let width = self.query.prefixes().filter(|_| self.query.last.is_some())?.width();
        Some(Duration::from_secs(width.clamp(1, 60).unsigned_abs()))
    }

    /// The buckets of time that have ended since the last call, in order. They are not counted any more: records of theirs that
    /// come later are in another bucket with the same start.
    pub fn finished_buckets(&mut self) -> Vec<FinishedBucket> {
        let Some(buckets) = self.query.buckets() else { return Vec::new() };
        let starts = self.with_tables(finished::starts);
        let over = self.ends.over(&starts, buckets, self.is_last);
        if over.is_empty() {
            return Vec::new();
        }
        let query = self.query;
        let rows = self.with_tables(|tables| finished::rows(tables, query, &over));
        if self.live.is_some() {
            let mut history = mem::take(self.history);
            self.with_tables(|tables| history.add(tables, &over));
            *self.history = history;
        }
        self.forget(|start| !over.contains(&start));
        self.ends.arrange(rows, query, buckets)
    }

    /// Time after which more buckets may have ended, if any are counted.
    pub fn next_end(&self) -> Option<Duration> {
        self.ends.next()
    }

    /// Forgets the records that are older than the window.
    fn forget_older(&mut self) {
        let (Some(last), Some(slices)) = (self.query.last, self.query.prefixes()) else { return };
        let slice = slices.start(&mut BucketCache::default(), last.since().nanoseconds);
        if slice == *self.forgotten && !self.is_last {
            return;
        }
        *self.forgotten = slice;
        let is_old = |start: i64| start < slice;
        if self.with_tables(finished::starts).into_iter().any(is_old) {
            self.forget(|start| !is_old(start));
        }
    }

    /// Forgets all records outside of the buckets with these starts.
    fn forget(&mut self, is_kept: impl Fn(i64) -> bool) {
        for counter in self.counters.iter() {
            let counts = counter.counts();
            let Some(table) = counts.take() else { continue };
            let mut kept = table.without_keys();
            kept.add_all(&table, |key| is_kept(bucket::split(key).0).then_some(key));
            let records = |table: &Table| table.entries().iter().map(|entry| entry.count).sum::<u64>();
            counts.forget(records(&table) - records(&kept));
            counts.put_back(kept);
        }
    }

    /// These tables and that of the buckets that have ended.
    fn with_history<'t>(&'t self, tables: &[&'t Table]) -> Vec<&'t Table> {
        tables.iter().copied().chain(self.history.table()).collect()
    }

    fn with_tables<T>(&self, visit: impl FnOnce(&[&Table]) -> T) -> T {
        let all = self.counters.iter().filter_map(|counter| Some((counter, counter.counts().take()?)));
        let all: Vec<(&Counter<'_>, Table)> = all.collect();
        let tables: Vec<&Table> = all.iter().map(|(_, table)| table).collect();
        let result = visit(&tables);
        all.into_iter().for_each(|(counter, table)| counter.counts().put_back(table));
        result
    }
}
