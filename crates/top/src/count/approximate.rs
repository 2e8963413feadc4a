//! Approximate counts of the most frequent keys, in bounded memory.
//!
//! Workers make the keys of blocks in parallel, and hand them to a [`Summary`] in the order of the inputs: the keys are the output of
//! a job with ordered output, which bounds how many wait. A summary depends on the sequence of the keys alone, so that the
//! answer is the same at any width and block size.

mod rank;
mod recount;
mod summary;

use std::io::{self, Write};

use finecomb_scan::{
    Block, Inputs, Meter, Ordered, OrderedOptions, Output, Phase, Print, ScanOptions, Search, Select,
    in_order,
};

use crate::count::Counter;
use crate::count::answer::{Answer, Approximation, Outcome};
use crate::count::tally::Tally;
use crate::query::Query;
use rank::Ranking;
use summary::Summary;

/// Part of the memory for keys that wait for those before them: one in this many bytes.
const PENDING: usize = 4;

/// Minimum memory for keys that wait.
const MIN_PENDING: usize = 64 << 10;

/// Number of keys that a worker writes at a time.
const BATCH: usize = 1 << 10;

/// Counts the most frequent keys of all records in about this many bytes.
pub(crate) fn count(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query, memory: usize) -> Outcome {
    let inputs = &*inputs.without_repeated_streams();
    let pending = memory / PENDING;
    let ordered = OrderedOptions::from(options.clone()).pending(pending.max(MIN_PENDING));
    let mut sink = SummaryWriter(Summary::new(memory - pending));
    let Ordered { visits, problems, report, .. } = in_order(inputs, &ordered, None, &mut sink, || Feeder {
        counter: Counter::new(query, None, None),
        bytes: 0,
    });
    let SummaryWriter(summary) = sink;
    let is_stopped = || options.stop.as_ref().is_some_and(|stop| stop.is_raised());
    let bytes = visits.iter().map(|visit| visit.bytes).sum();
    let tallies = visits.into_iter().map(|visit| visit.counter.tally());
    let mut tally = tallies.fold(Tally::default(), Tally::merge);
    tally.records = summary.total();
    let memory = summary.memory() as u64;
    let approximation = Approximation { bound: summary.bound(), ..Approximation::default() };
    let mut answer = Answer {
        partial: is_stopped(),
        distinct: summary.distinct(),
        approximation: Some(approximation),
        ..Answer::default()
    };
    tally.complete(&mut answer, query);
    let ranking = if query.recount && approximation.bound > 0 && !answer.partial {
        let recounted = recount::recount(inputs, options, query, summary);
        answer.partial = is_stopped();
        answer.approximation = Some(Approximation { has_changed: recounted.has_changed, ..approximation });
        recounted.ranking
    } else {
        Ranking::of(summary.iter(), query.order.number)
    };
    answer.top = ranking.into_top(approximation.bound, query.order);
    let has_changed = answer.approximation.is_some_and(|approximation| approximation.has_changed);
    for key in &mut answer.top {
        key.is_uncertain |= has_changed;
        key.split(query.joint);
    }
    Outcome { answer, problems, bytes, memory, spilled: 0, failure: None, report }
}

/// Makes the keys of blocks.
struct Feeder<'q> {
    counter: Counter<'q>,
    /// Number of input bytes.
    bytes: u64,
}

impl Select for Feeder<'_> {
    fn divides_large_blocks(&self) -> bool {
        true
    }
}

impl Search for Feeder<'_> {
    type Found = ();
    type State = ();

    fn search(&mut self, _block: &mut Block<'_>) {}
}

impl Print for Feeder<'_> {
    type Tally = ();

    fn print(
        &mut self,
        block: &Block<'_>,
        (): (),
        (): &(),
        (): &mut (),
        out: &mut Output<'_>,
        meter: &mut Meter,
    ) {
        self.bytes += block.bytes.len() as u64;
        let hasher = self.counter.hasher();
        let (text, keys) = self.counter.keys(block, meter);
        for keys in keys.chunks(BATCH) {
            summary::write(hasher, text, keys, out.bytes());
            meter.enter(Phase::Print);
            out.flush_if_full();
            meter.enter(Phase::Count);
        }
    }
}

/// Receives the keys in order.
struct SummaryWriter(Summary);

impl Write for SummaryWriter {
    fn write(&mut self, keys: &[u8]) -> io::Result<usize> {
        self.0.add(keys);
        Ok(keys.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
