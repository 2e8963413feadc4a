//! Jobs with output in the order of their inputs, at any number of workers.
//!
//! Three traits define how a file is processed: what is wanted of it ([`Select`]), the work on its blocks ([`Search`]), and their
//! output ([`Print`]). A file is one block or many. Everything that can be determined without
//! knowing the preceding part of the file ([`Search::search`]) runs in parallel. Per-file state, such as the number of
//! lines so far, advances from block to block in order ([`Search::advance`]); this should be little work. The output of
//! a block follows from both ([`Print::print`]), again in parallel.

mod ahead;
mod archive;
mod chain;
mod collected;
mod end;
mod job;
mod mapped;
mod output;
mod visit;
mod visiting;
mod worker;

use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::thread;

use finecomb_meter::{Meter, Phase, Report, Stopwatch, ThreadTimes};

use crate::inputs::Inputs;
use crate::options::{OrderedOptions, ScanOptions};
use crate::problem::{Problem, Problems};
use crate::progress::{self, JobEnd, OnDrop};
use crate::schedule::limit::{Limiter, Omitted};
use crate::schedule::sequencer::Sequencer;
use crate::schedule::threads;
use crate::snapshot::Checks;
use crate::source::reader::{Context, InputReader};
use crate::walk::SortKey;
use crate::walk::directory::WalkContext;

use ahead::Ahead;
use collected::Collected;
pub use end::End;
use job::VisitTask;
pub use output::Output;
pub use visit::{Print, Search, Select, Wants};
use worker::{Done, Visitor};

/// Result of a job.
#[derive(Debug, Default)]
pub struct Ordered<V> {
    /// The visitor of each worker.
    pub visits: Vec<V>,
    /// Problems, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Number of files visited, including files known to hold no match.
    pub files: u64,
    /// Files that snapshots spared and did not spare, if there were any.
    pub checks: Option<Checks>,
    /// Bytes printed.
    pub bytes: u64,
    /// Number of results printed, if there was a limit.
    pub printed: u64,
    /// Results that were not printed because of a limit that does not end the job.
    pub omitted: Omitted,
    /// Where a limit ended the job, if it did. Problems of later files are left out.
    pub end: Option<End>,
    /// The error that ended the output, if any.
    pub output_error: Option<io::Error>,
    /// Time profile of each worker, if requested.
    pub report: Option<Report>,
}

/// Visits all files and prints to `out`, with `separator` between groups of output. `make` creates the visitor of each
/// worker. The calling thread is one of the workers; others are started once there is work for them.
///
/// Output is written as soon as all output before it has been. Pending output is bounded: see `schedule/sequencer.rs`.
///
/// Blocks are runs of whole lines, or of whole records if [`ScanOptions::recognize`] says how a file is divided into them.
pub fn in_order<V: Print>(
    inputs: &Inputs,
    options: &OrderedOptions<'_>,
    separator: Option<Vec<u8>>,
    out: &mut (dyn Write + Send),
    make: impl Fn() -> V + Sync,
) -> Ordered<V> {
    let scan = &options.scan;
    let stopwatch = Stopwatch::start(scan.profile, false);
    let mut notes = Vec::new();
    let wants = make().wants();
    let mut meter = None;
    let walk = WalkContext::new(&inputs.walk, wants != Wants::Name, &mut notes);
    let snapshots = options.snapshots.as_deref().map_or_else(Vec::new, |snapshots| {
        let meter = meter.insert(stopwatch.meter());
        meter.enter(Phase::Lookup);
        let opened = snapshots.open(&inputs.named, &|directory| walk.selection_in(directory));
        meter.enter(Phase::Walk);
        opened
    });
    let has_snapshots = !snapshots.is_empty();
    let walk = walk.with_snapshots(snapshots);
    let (recognize, part) = (scan.recognize.as_deref(), scan.part.as_ref());
    let bounds = &scan.bounds();
    let context = Context { inputs, bounds, walk: &walk, recognize, part, narrow: None };
    let mut problems = Problems::default();
    problems.add_rules(notes);
    let done = Done::default();
    let mut meter = meter.unwrap_or_else(|| stopwatch.meter());
    let (mut files, mut checks, mut earlier) = (0, Checks::default(), Vec::new());
    let collected = match inputs.walk.sort.by {
        SortKey::Path if !inputs.walk.sort.reverse => None,
        _ => {
            let found = collect(context, options, (&stopwatch, meter), &make, &mut problems, &done);
            (files, checks, earlier) = (found.visited, found.checks, found.times);
            meter = stopwatch.meter();
            Some(found.files)
        }
    };
    let tasks: Vec<VisitTask<V>> = match &collected {
        None => VisitTask::named(inputs),
        Some(files) => VisitTask::collected(files.len(), wants),
    };
    let limits = (options.pending, options.limit);
    let sequencer = Sequencer::new(tasks, separator.clone(), out, limits, scan.stop.clone());
    let visitor = |number, meter| {
        let reader = InputReader::new(context, meter);
        let mut visitor = Visitor::new(reader, number, &sequencer, make(), separator.clone());
        visitor.files = collected.as_ref();
        visitor.done = scan.watch.map(|_| &done);
        if options.limit.is_some() {
            visitor.out.record_marks();
        }
        visitor
    };
    let mut visits = Vec::new();
    let mut times = Vec::new();
    for (visitor, spent) in run(inputs, scan, &sequencer, (&stopwatch, meter), visitor, &done) {
        problems.merge(visitor.reader.problems);
        files += visitor.visited;
        checks.add(visitor.checks);
        visits.push(visitor.visit);
        times.push(spent);
    }
    let (bytes, output_error, limiter) = sequencer.take_results();
    let printed = limiter.as_ref().map_or(0, Limiter::printed);
    let omitted = limiter.as_ref().map(|limiter| limiter.omitted).unwrap_or_default();
    let end = limiter.and_then(|limiter| limiter.end).map(|end| End::new(end, collected));
    let mut problems: Vec<Problem> = problems.into_sorted().collect();
    problems.retain(|problem| end.as_ref().is_none_or(|end| end.includes(&problem.source)));
    Ordered {
        visits,
        problems,
        files,
        checks: has_snapshots.then_some(checks),
        bytes,
        printed,
        omitted,
        end,
        output_error,
        report: stopwatch.report(ThreadTimes::joined(earlier, times)),
    }
}

/// Files that were found and sorted.
#[derive(Default)]
struct CollectResult {
    files: Collected,
    /// Number of other files, which were searched and hold no match.
    visited: u64,
    /// Numbers of files that snapshots spared and did not spare.
    checks: Checks,
    /// Times of each worker.
    times: Vec<ThreadTimes>,
}

/// Finds and sorts all files. `meter` is that of the calling thread.
fn collect<V: Print>(
    context: Context<'_>,
    options: &OrderedOptions<'_>,
    (stopwatch, meter): (&Stopwatch, Meter),
    make: &(impl Fn() -> V + Sync),
    problems: &mut Problems,
    done: &Done,
) -> CollectResult {
    let (inputs, scan) = (context.inputs, &options.scan);
    let sort = inputs.walk.sort;
    // A limit ends most searches early. Members of archives have places in the order, a preprocessor may be slow, and reading a
    // file changes the time of its last access.
    let is_searched_ahead = options.limit.is_none()
        && !inputs.walk.archives
        && inputs.preprocessor.is_none()
        && sort.by != SortKey::Accessed;
    let ahead = if is_searched_ahead { Ahead::from_now() } else { Ahead::default() };
    let mut sink = io::sink();
    let sequencer =
        Sequencer::new(VisitTask::named(inputs), None, &mut sink, (options.pending, None), scan.stop.clone());
    let visitor = |number, meter| {
        let reader = InputReader::new(context, meter);
        let mut visitor = Visitor::new(reader, number, &sequencer, make(), None);
        visitor.collect = Some(sort);
        visitor.done = scan.watch.map(|_| done);
        if visitor.wants == Wants::Blocks {
            visitor.ahead = ahead;
        }
        visitor
    };
    let visitors = run(inputs, scan, &sequencer, (stopwatch, meter), visitor, done);
    let mut found = CollectResult::default();
    for (visitor, spent) in visitors {
        problems.merge(visitor.reader.problems);
        found.visited += visitor.visited;
        found.checks.add(visitor.checks);
        found.times.push(spent);
        found.files.append(visitor.collected);
    }
    if found.times.len() > 1 {
        // The files of each worker are sorted, so this merges them.
        found.files.sort(sort);
    }
    found
}

/// Runs all tasks of the sequencer on all workers, and returns them with their times. `meter` belongs to the calling
/// thread. If progress is wanted, reports it from the counts in `done`.
fn run<'w, V: Print + 'w>(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    sequencer: &Sequencer<'_, VisitTask<V>>,
    (stopwatch, meter): (&Stopwatch, Meter),
    visitor: impl Fn(usize, Meter) -> Visitor<'w, V> + Sync,
    done: &Done,
) -> Vec<(Visitor<'w, V>, ThreadTimes)> {
    let over = JobEnd::default();
    let bytes = || done.bytes.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let _over = OnDrop(|| over.signal());
        if let Some(watch) = options.watch {
            progress::start(scope, watch, Some(inputs), (&bytes, &done.extent), &over, stopwatch);
        }
        let mut first = visitor(0, meter);
        // The first few steps are not worth a thread.
        while first.step() && !first.has_shared_work() {}
        if !first.has_shared_work() {
            return vec![first.run()];
        }
        let work = |number| visitor(number, stopwatch.meter()).run();
        threads::run(options.width, &sequencer.pool, &over, || first.run(), work)
    })
}
