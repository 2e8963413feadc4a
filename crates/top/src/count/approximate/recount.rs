//! A second count of the same inputs, exact, of the keys that may be among the most frequent ones.

use std::ops::ControlFlow;

use finecomb_scan::{Accumulate, Block, Inputs, Meter, ScanOptions, fold};

use super::rank::{BoundedKey, Ranking};
use super::summary::{self, Summary};
use crate::count::Counter;
use crate::key::hash::Hasher;
use crate::query::Query;

/// Part of the memory of the summary for keys that are counted again: one in this many words.
const CANDIDATES: usize = 8;

/// Result of the second pass.
pub(super) struct Recounted {
    pub(super) ranking: Ranking,
    /// Whether the inputs changed meanwhile.
    pub(super) has_changed: bool,
}

/// Counts the keys of a summary that may be in the answer again, as many as fit in memory.
pub(super) fn recount(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    query: &Query,
    summary: Summary,
) -> Recounted {
    let number = query.order.number;
    let all = Ranking::of(summary.iter(), number);
    let least = all.least();
    let mut places: Vec<(u64, usize, usize)> = (0..)
        .zip(summary.iter())
        .filter(|(_, entry)| entry.most() >= least)
        .map(|(place, entry)| (entry.most(), place, entry.words()))
        .collect();
    places.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut room = summary.memory() / size_of::<u64>() / CANDIDATES;
    let fit = places.iter().take_while(|(.., words)| {
        let fits = *words <= room;
        room = room.saturating_sub(*words);
        fits
    });
    let mut chosen: Vec<usize> = fit.map(|&(_, place, _)| place).collect();
    chosen.sort_unstable();
    let is_chosen = |place: &usize| chosen.binary_search(place).is_ok();
    let entries = || (0..).zip(summary.iter());
    let mut rows: Vec<BoundedKey> =
        entries().filter(|(place, _)| is_chosen(place)).map(|(_, entry)| entry.to_bounded_key()).collect();
    let others = entries().filter(|(place, _)| !is_chosen(place)).map(|(_, entry)| entry);
    let mut ranking = Ranking::of(others, number);
    let total = summary.total();
    drop(summary);
    let candidates = CandidateTable::new(&query.hasher, &rows);
    let folded = fold(inputs, &options.clone().into(), || Recounter {
        counter: Counter::new(query, None, None),
        candidates: &candidates,
        counts: CandidateCounts { keys: vec![0; rows.len()], total: 0 },
        buffer: Vec::new(),
    });
    if options.stop.as_ref().is_some_and(|stop| stop.is_raised()) {
        return Recounted { ranking: all, has_changed: false };
    }
    let counts = folded.joined.into_iter().fold(CandidateCounts::default(), CandidateCounts::plus);
    let mut has_changed = counts.total != total;
    for (row, &count) in rows.iter_mut().zip(&counts.keys) {
        has_changed |= !(row.count..=row.count + row.error).contains(&count);
        (row.count, row.error) = (count, 0);
    }
    ranking.add(&rows);
    Recounted { ranking, has_changed }
}

/// The keys that are counted again.
struct CandidateTable(Summary);

impl CandidateTable {
    fn new(hasher: &Hasher, rows: &[BoundedKey]) -> Self {
        let mut table = Summary::for_keys(rows.iter().map(|row| row.key.len()));
        let mut key = Vec::new();
        for row in rows {
            key.clear();
            summary::write(hasher, &row.key, &[(0, row.key.len())], &mut key);
            table.add(&key);
        }
        table.number();
        Self(table)
    }
}

/// Counts of the candidates, and of all keys.
#[derive(Default)]
struct CandidateCounts {
    keys: Vec<u64>,
    total: u64,
}

impl CandidateCounts {
    fn plus(mut self, other: Self) -> Self {
        if self.keys.is_empty() {
            self.keys = other.keys;
        } else {
            self.keys.iter_mut().zip(other.keys).for_each(|(sum, count)| *sum += count);
        }
        self.total += other.total;
        self
    }
}

/// State of a worker.
struct Recounter<'q> {
    counter: Counter<'q>,
    candidates: &'q CandidateTable,
    counts: CandidateCounts,
    buffer: Vec<u8>,
}

impl Accumulate for Recounter<'_> {
    type Part = CandidateCounts;
    type Joined = CandidateCounts;

    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()> {
        let hasher = self.counter.hasher();
        let (text, keys) = self.counter.keys(block, meter);
        self.counts.total += keys.len() as u64;
        for keys in keys.chunks(super::BATCH) {
            self.buffer.clear();
            summary::write(hasher, text, keys, &mut self.buffer);
            let counts = &mut self.counts.keys;
            self.candidates.0.look_up(&self.buffer, |number| {
                if let Some(count) = counts.get_mut(number as usize) {
                    *count += 1;
                }
            });
        }
        ControlFlow::Continue(())
    }

    fn into_parts(self) -> Vec<CandidateCounts> {
        vec![self.counts]
    }

    fn join(parts: Vec<CandidateCounts>) -> CandidateCounts {
        parts.into_iter().fold(CandidateCounts::default(), CandidateCounts::plus)
    }
}
