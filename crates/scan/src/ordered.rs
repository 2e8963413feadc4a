//! A job whose output is in the order of its inputs, at any number of workers.
//!
//! A [`Visit`] says what is done with a file. A file is one block or many. What can be found out about a block without
//! knowing what is before it in the file ([`Visit::search`]) is done in parallel. What passes from block to block, such as
//! the number of lines so far, goes through [`Visit::pass`], block after block, and should be little. What is printed
//! of the block then follows from both ([`Visit::print`]), in parallel again.

mod ahead;
mod chain;
mod job;
mod open;
mod output;
mod plan;
mod visiting;
mod worker;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use finecomb_meter::{Report, Stopwatch, ThreadTimes};

use crate::crew;
use crate::decode::Encoding;
use crate::error::{Problem, Problems};
use crate::options::ScanOptions;
use crate::walk::directory::Walk;
use crate::walk::{SortKey, WalkOptions};
use crate::watch::Over;

use job::{Collected, Job};
pub use output::Output;
use plan::Plan;
use worker::{Context, Worker};

/// What is done with files. Each worker has a visitor of its own.
pub trait Visit: Send {
    /// What was found in a block.
    type Found: Send;
    /// What passes from one block of a file to the next.
    type Carry: Clone + Send;
    /// What is counted while the blocks of a file are printed, in any order.
    type Tally: Default + Send;

    /// What of a file is wanted.
    fn wants(&self) -> Wants;

    /// Takes in a file of which only the name is wanted.
    fn name(&mut self, file: FileName<'_>, out: &mut Output<'_>);

    /// What passes to the first block of a file. Of a file that is not whole in its first block, `start` is the
    /// beginning, as far as it is known: [`START`] bytes of it unless it is a stream.
    fn begin(&mut self, file: FileName<'_>, start: &[u8]) -> Self::Carry;

    /// Searches a block, knowing nothing of what is before it. The bytes may be changed: what is printed of the block
    /// is what is left there.
    fn search(&mut self, file: FileName<'_>, block: Text<'_>) -> Self::Found;

    /// Whether there is nothing in a block for sure, and nothing to be passed on but how much was read: then it may be
    /// left out as long as it is so for all blocks of the file. The bytes must not be changed.
    fn has_nothing(&mut self, _file: FileName<'_>, _block: Text<'_>) -> bool {
        false
    }

    /// Passes on what the blocks up to this one amount to. [`ControlFlow::Break`] says that nothing more of the file is
    /// wanted.
    fn pass(
        &mut self,
        file: FileName<'_>,
        block: Text<'_>,
        found: &Self::Found,
        carry: &mut Self::Carry,
    ) -> ControlFlow<()>;

    /// Passes over a line that is too long, of so many bytes at least.
    fn skip_line(&mut self, carry: &mut Self::Carry, bytes: u64);

    /// Prints what was found in a block, given what was passed to it.
    fn print(
        &mut self,
        file: FileName<'_>,
        block: Text<'_>,
        found: Self::Found,
        carry: &Self::Carry,
        tally: &mut Self::Tally,
        out: &mut Output<'_>,
    );

    /// Adds up what was counted for two blocks.
    fn add(tally: &mut Self::Tally, other: Self::Tally);

    /// Ends a file, given what its last block passed on and the sum of what was counted. [`ControlFlow::Break`]
    /// ends the job.
    fn end(
        &mut self,
        file: FileName<'_>,
        carry: Self::Carry,
        tally: Self::Tally,
        out: &mut Output<'_>,
    ) -> ControlFlow<()>;
}

/// How many bytes of a large file are looked at before its first block.
pub const START: usize = 64 << 10;

/// What of a file is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Its name: it is not even opened.
    Name,
    /// All of it at once.
    Whole,
    /// Blocks of whole lines; all of it at once if it is small.
    Blocks,
}

/// A file, by its name.
#[derive(Clone, Copy, Debug)]
pub struct FileName<'a> {
    /// Its path as it is printed; none for standard input.
    pub path: Option<&'a Path>,
    /// Whether it was named, not found below a directory.
    pub named: bool,
}

/// A block of a file.
#[derive(Debug)]
pub struct Text<'a> {
    /// Whole lines. Only the last one of the file may lack its end.
    pub bytes: &'a mut [u8],
    /// Bytes of the file before the block.
    pub offset: u64,
    /// Whether this is all of the file.
    pub is_whole: bool,
}

/// What a job reads, and how.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What was named, in order: files, directories, and `-` for standard input.
    pub named: Vec<PathBuf>,
    /// Print paths below the named directory `.` without it.
    pub strip_dot: bool,
    /// Which files below directories are read.
    pub walk: WalkOptions,
    /// How bytes become text.
    pub encoding: Encoding,
    /// Read the contents of compressed files.
    pub decompress: bool,
}

/// What came of a job.
#[derive(Debug)]
pub struct Done<V> {
    /// The workers' visitors.
    pub visitors: Vec<V>,
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
            visitors: Vec::new(),
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
/// Output is written as soon as nothing before it is missing. What has to wait is bounded: see [`plan`].
pub fn in_order<V: Visit>(
    reading: &Reading,
    options: &ScanOptions<'_>,
    separator: Option<Vec<u8>>,
    out: &mut (dyn Write + Send),
    make: impl Fn() -> V + Sync,
) -> Done<V> {
    let stopwatch = Stopwatch::start(options.profile, false);
    let mut notes = Vec::new();
    let wants = make().wants();
    let walk = Walk::new(&reading.walk, wants != Wants::Name, &mut notes);
    let context = Context { reading, bounds: options.bounds(), walk: &walk };
    let mut problems = Problems::default();
    problems.add_rules(notes);
    let collected = match reading.walk.sort.by {
        SortKey::Path if !reading.walk.sort.reverse => None,
        _ => Some(collect(context, options, &stopwatch, &make, &mut problems)),
    };
    let jobs: Vec<Job<V>> = match &collected {
        None => (0..reading.named.len()).map(Job::Named).collect(),
        Some(files) => Job::listed(files),
    };
    let plan = Plan::new(jobs, separator.clone(), out);
    let worker = |number| {
        let mut worker = Worker::new(context, number, &plan, make(), separator.clone(), stopwatch.meter());
        worker.files = collected.as_deref().unwrap_or_default();
        worker
    };
    let mut visitors = Vec::new();
    let mut times = Vec::new();
    let mut files = 0;
    for (worker, spent) in run(options, &plan, worker) {
        problems.merge(worker.problems);
        files += worker.visited;
        visitors.push(worker.visitor);
        times.push(spent);
    }
    Done {
        visitors,
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
    let sort = context.reading.walk.sort;
    let mut sink = io::sink();
    let jobs: Vec<Job<V>> = (0..context.reading.named.len()).map(Job::Named).collect();
    let plan = Plan::new(jobs, None, &mut sink);
    let worker = |number| {
        let mut worker = Worker::new(context, number, &plan, make(), None, stopwatch.meter());
        worker.collect = Some(sort.by);
        worker
    };
    let mut files = Vec::new();
    for (worker, _) in run(options, &plan, worker) {
        problems.merge(worker.problems);
        files.extend(worker.collected);
    }
    files.sort_by(|one, other| {
        // Where the key cannot be had, it is as if it were larger than all others.
        let by_key = match (one.key, other.key) {
            (Some(one), Some(other)) => one.cmp(&other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        };
        let (one, other) = ((one.argument, &one.path), (other.argument, &other.path));
        match (sort.by, sort.reverse) {
            (SortKey::Path, _) => one.1.cmp(other.1).reverse(),
            (_, false) => by_key.then_with(|| one.cmp(&other)),
            (_, true) => by_key.reverse().then_with(|| one.cmp(&other)),
        }
    });
    files
}

/// Lets workers do all that is planned, and gives them back with what they took.
fn run<'w, V: Visit + 'w>(
    options: &ScanOptions<'_>,
    plan: &Plan<'_, Job<V>>,
    worker: impl Fn(usize) -> Worker<'w, V> + Sync,
) -> Vec<(Worker<'w, V>, ThreadTimes)> {
    let mut first = worker(0);
    // What is done with the first step or two is not worth a thread.
    while first.step() && !plan.has_tasks() {}
    if !plan.has_tasks() {
        return vec![first.run()];
    }
    crew::run(options.width, plan, &Over::default(), || first.run(), |number| worker(number).run())
}
