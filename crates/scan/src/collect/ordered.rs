//! A job whose output is in the order of its inputs, at any number of workers.
//!
//! A [`Visit`] says what is done with a file. A file is one block or many. What can be found out about a block without
//! knowing what is before it in the file ([`Visit::search`]) is done in parallel. Per-file state, such as the number of lines
//! so far, advances from block to block in order ([`Visit::advance`]); that should be little work. The output of the block
//! follows from both ([`Visit::print`]), in parallel again.

mod chain;
mod job;
mod output;
mod visiting;
mod worker;

use std::io::{self, Write};
use std::ops::ControlFlow;

use finecomb_meter::{Report, Stopwatch, ThreadTimes};

use crate::block::{Block, Source};
use crate::inputs::Inputs;
use crate::options::ScanOptions;
use crate::problem::{Problem, Problems};
use crate::progress::Over;
use crate::schedule::plan::Plan;
use crate::schedule::threads;
use crate::source::NulEnds;
use crate::source::reader::{Context, Reader};
use crate::walk::SortKey;
use crate::walk::directory::Walk;

use job::{Collected, Job};
pub use output::Output;
use worker::Visitor;

/// How files are searched and printed. Each worker has a value of its own.
pub trait Visit: Send {
    /// What was found in a block.
    type Found: Send;
    /// Per-file state that advances from block to block.
    type State: Clone + Send;
    /// Counted while the blocks of a file are printed, in any order.
    type Tally: Default + Send;

    /// How much of a file is wanted. Default: blocks.
    fn wants(&self) -> Wants {
        Wants::Blocks
    }

    /// Takes in a file of which only the name is wanted.
    fn name(&mut self, _source: &Source, _out: &mut Output<'_>) {}

    /// The state before the first block of a file. Of a file that is not whole in its first block, `start` is its
    /// first [`START`](crate::START) bytes, or fewer if it is a pipe.
    fn begin(&mut self, source: &Source, start: &[u8]) -> Self::State;

    /// Which NULs end lines of a file. Default: none.
    fn nul_ends(&self, _source: &Source) -> NulEnds {
        NulEnds::Nowhere
    }

    /// Whether nothing more of a file is wanted, given the state before its first block. Default: no.
    fn is_over(&self, _state: &Self::State) -> bool {
        false
    }

    /// Searches a block, knowing nothing of what is before it. The bytes may be changed: the later steps are given what is
    /// left there.
    fn search(&mut self, block: &mut Block<'_>) -> Self::Found;

    /// Whether a block certainly has no match and changes the state by its length only. Such blocks are skipped until one block
    /// of the file is different. Default: no.
    fn has_nothing(&mut self, _block: &Block<'_>) -> bool {
        false
    }

    /// Advances the state of the file past a block. [`ControlFlow::Break`] says that nothing more of the file is wanted.
    fn advance(&mut self, block: &Block<'_>, found: &Self::Found, state: &mut Self::State)
    -> ControlFlow<()>;

    /// Advances the state past a line that is too long, of at least so many bytes.
    fn skip_line(&mut self, _state: &mut Self::State, _bytes: u64) {}

    /// Prints what was found in a block, given the state before it. Default: nothing.
    fn print(
        &mut self,
        _block: &Block<'_>,
        _found: Self::Found,
        _state: &Self::State,
        _tally: &mut Self::Tally,
        _out: &mut Output<'_>,
    ) {
    }

    /// Adds up what was counted for two blocks.
    fn add(_tally: &mut Self::Tally, _other: Self::Tally) {}

    /// Ends a file, given the state behind its last block and the sum of what was counted. [`ControlFlow::Break`] ends the
    /// job.
    fn end(
        &mut self,
        _source: &Source,
        _state: Self::State,
        _tally: Self::Tally,
        _out: &mut Output<'_>,
    ) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// How much of a file is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Its name: it is not even opened.
    Name,
    /// All of it at once.
    Whole,
    /// Blocks of whole lines; all of it at once if it is small.
    Blocks,
}

/// What came of a job.
#[derive(Debug)]
pub struct Done<V> {
    /// What each worker visited files with.
    pub visits: Vec<V>,
    /// What went wrong, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// How many files were visited.
    pub files: u64,
    /// How many bytes were printed.
    pub bytes: u64,
    /// Why standard output could not be written any more, if so.
    pub output_error: Option<io::Error>,
    /// Where the time of each worker went, if it was measured.
    pub report: Option<Report>,
}

impl<V> Default for Done<V> {
    /// Nothing came of it.
    fn default() -> Self {
        Self {
            visits: Vec::new(),
            problems: Vec::new(),
            files: 0,
            bytes: 0,
            output_error: None,
            report: None,
        }
    }
}

/// Visits all files and prints to `out`, with `separator` between the groups of output. `make` gives each worker
/// its visitor. The calling thread is one of the workers; others are started once there is something for them to do.
///
/// Output is written as soon as nothing before it is missing. What has to wait is bounded: see `schedule/plan.rs`.
pub fn in_order<V: Visit>(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    separator: Option<Vec<u8>>,
    out: &mut (dyn Write + Send),
    make: impl Fn() -> V + Sync,
) -> Done<V> {
    let stopwatch = Stopwatch::start(options.profile, false);
    let mut notes = Vec::new();
    let wants = make().wants();
    let walk = Walk::new(&inputs.walk, wants != Wants::Name, &mut notes);
    let context = Context { inputs, bounds: options.bounds(), walk: &walk };
    let mut problems = Problems::default();
    problems.add_rules(notes);
    let collected = match inputs.walk.sort.by {
        SortKey::Path if !inputs.walk.sort.reverse => None,
        _ => Some(collect(context, options, &stopwatch, &make, &mut problems)),
    };
    let jobs: Vec<Job<V>> = match &collected {
        None => Job::named(inputs),
        Some(files) => Job::listed(files),
    };
    let plan = Plan::new(jobs, separator.clone(), out);
    let visitor = |number| {
        let reader = Reader::new(context, stopwatch.meter());
        let mut visitor = Visitor::new(reader, number, &plan, make(), separator.clone());
        visitor.files = collected.as_deref().unwrap_or_default();
        visitor
    };
    let mut visits = Vec::new();
    let mut times = Vec::new();
    let mut files = 0;
    for (visitor, spent) in run(options, &plan, visitor) {
        problems.merge(visitor.reader.problems);
        files += visitor.visited;
        visits.push(visitor.visit);
        times.push(spent);
    }
    Done {
        visits,
        problems: problems.into_sorted().collect(),
        files,
        bytes: plan.written(),
        output_error: plan.take_error(),
        report: stopwatch.report(times),
    }
}

/// Finds all files, and sorts them.
fn collect<V: Visit>(
    context: Context<'_>,
    options: &ScanOptions<'_>,
    stopwatch: &Stopwatch,
    make: &(impl Fn() -> V + Sync),
    problems: &mut Problems,
) -> Vec<Collected> {
    let sort = context.inputs.walk.sort;
    let mut sink = io::sink();
    let plan = Plan::new(Job::named(context.inputs), None, &mut sink);
    let visitor = |number| {
        let reader = Reader::new(context, stopwatch.meter());
        let mut visitor = Visitor::new(reader, number, &plan, make(), None);
        visitor.collect = Some(sort.by);
        visitor
    };
    let mut files: Vec<Collected> = Vec::new();
    for (visitor, _) in run(options, &plan, visitor) {
        problems.merge(visitor.reader.problems);
        files.extend(visitor.collected);
    }
    files.sort_by(|one, other| {
        // Where the key cannot be had, it is as if it were larger than all others.
        let by_key = match (one.key, other.key) {
            (Some(one), Some(other)) => one.cmp(&other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        };
        let (one, other) = (&one.source, &other.source);
        match (sort.by, sort.reverse) {
            (SortKey::Path, _) => one.path().cmp(&other.path()).reverse(),
            (_, false) => by_key.then_with(|| one.cmp(other)),
            (_, true) => by_key.reverse().then_with(|| one.cmp(other)),
        }
    });
    files
}

/// Runs the plan on all workers, and returns them with their times.
fn run<'w, V: Visit + 'w>(
    options: &ScanOptions<'_>,
    plan: &Plan<'_, Job<V>>,
    visitor: impl Fn(usize) -> Visitor<'w, V> + Sync,
) -> Vec<(Visitor<'w, V>, ThreadTimes)> {
    let mut first = visitor(0);
    // The first step or two are not worth a thread.
    while first.step() && !first.has_shared_work() {}
    if !first.has_shared_work() {
        return vec![first.run()];
    }
    threads::run(options.width, plan, &Over::default(), || first.run(), |number| visitor(number).run())
}
