//! Scanning commands as folds of a commutative monoid over blocks of lines.

mod archive;
mod line_number;
mod worker;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

use finecomb_meter::{Meter, Phase, Report, Stopwatch, ThreadTimes};
use finecomb_sys::locks::{lock, unpoisoned};

use crate::block::Block;
use crate::inputs::Inputs;
use crate::options::FoldOptions;
use crate::problem::{Problem, Problems};
use crate::progress::{self, JobEnd, OnDrop};
use crate::schedule::governed::Governed;
use crate::schedule::queue::Queue;
use crate::schedule::threads;
use crate::source::reader::{Context, InputReader};
use crate::walk::directory::WalkContext;

pub(crate) use worker::FoldWorker;

/// The results that a worker accumulates from its blocks.
///
/// In the end the results of each worker are split into independent parts, the same number for every worker. The
/// workers join the parts with the same number in parallel, so the sequential part of a job stays small. For the result
/// to be the same at any number of workers, it must not depend on the order of the blocks, on the worker that takes
/// each of them, or on the order of the parts in [`Accumulate::join`]. A result such as the first skipped record is the minimum over
/// [`Place`](crate::Place)s, which are ordered by input, path and offset.
pub trait Accumulate: Send {
    /// One of the independent parts.
    type Part: Send;
    /// The joined parts of all workers with the same number.
    type Joined: Send;

    /// Processes a block. [`ControlFlow::Break`] ends the job: workers stop after their current blocks.
    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()>;

    /// Splits the results into parts.
    fn into_parts(self) -> Vec<Self::Part>;

    /// Joins the parts with the same number, one per worker. Must be associative and commutative.
    fn join(parts: Vec<Self::Part>) -> Self::Joined;
}

/// Result of a job.
#[derive(Debug)]
pub struct Folded<J> {
    /// The joined parts, in the order of [`Accumulate::into_parts`].
    pub joined: Vec<J>,
    /// Problems, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Bytes of lines or records processed.
    pub bytes: u64,
    /// Time profile of each worker, if requested.
    pub report: Option<Report>,
}

/// Processes all lines or records of `inputs` with the number of workers in `options`. Each worker starts with the value of
/// `make`. The calling thread is one of the workers.
///
/// Problems with an input do not end the job; they are returned in [`Folded::problems`].
pub fn fold<A: Accumulate>(
    inputs: &Inputs,
    options: &FoldOptions<'_>,
    make: impl Fn() -> A + Sync,
) -> Folded<A::Joined> {
    let FoldOptions { scan: options, narrow } = options;
    let is_watched = options.watch.is_some_and(|watch| watch.threads);
    let stopwatch = Stopwatch::start(options.profile, is_watched);
    let inputs = &*inputs.without_repeated_streams();
    let queue = Queue::new(inputs.named.len(), options.stop.clone());
    let mut notes = Vec::new();
    let walk = WalkContext::new(&inputs.walk, true, &mut notes);
    let recognize = options.recognize.as_deref();
    let narrow = narrow.as_deref();
    let part = options.part.as_ref();
    let bounds = &options.bounds();
    let context = Context { inputs, bounds, walk: &walk, recognize, part, narrow };
    let joining = Joining::new();
    lock(&joining.problems).add_rules(notes);
    let over = JobEnd::default();
    let work = |number| {
        let meter = joining.register().then(|| stopwatch.meter())?;
        // If it panics, the others stop, and do not wait for it.
        let _leaving = OnDrop(|| {
            if thread::panicking() {
                queue.pool.halt();
                drop(joining.arrive());
            }
        });
        let mut worker =
            FoldWorker::new(&queue, number, make(), InputReader::new(context, meter), is_watched);
        worker.run();
        Some(joining.join(worker))
    };
    let done = || queue.pool.work();
    let threads: Vec<_> = thread::scope(|scope| {
        if let Some(watch) = options.watch {
            progress::start(scope, watch, Some(inputs), (&done, &queue.extent), &over, &stopwatch);
        }
        threads::run(options.width, &queue.pool, &over, || work(0), work).into_iter().flatten().collect()
    });
    joining.into_folded(Problems::default(), threads, &stopwatch)
}

/// The final phase of a job, in which the workers join their results.
pub(crate) struct Joining<A: Accumulate> {
    arrivals: Mutex<Arrivals>,
    all_arrived: Condvar,
    /// Parts to be joined, by number.
    parts: Mutex<Vec<Vec<A::Part>>>,
    next: AtomicUsize,
    joined: Mutex<Vec<(usize, A::Joined)>>,
    problems: Mutex<Problems>,
}

#[derive(Default)]
struct Arrivals {
    /// Workers that have started.
    started: usize,
    arrived: usize,
    /// Set once all workers have arrived.
    closed: bool,
}

impl<A: Accumulate> Joining<A> {
    pub(crate) fn new() -> Self {
        Self {
            arrivals: Mutex::default(),
            all_arrived: Condvar::new(),
            parts: Mutex::default(),
            next: AtomicUsize::new(0),
            joined: Mutex::default(),
            problems: Mutex::default(),
        }
    }

    /// Registers a worker. Returns `false` if it is too late: all others are done.
    pub(crate) fn register(&self) -> bool {
        let mut arrivals = lock(&self.arrivals);
        arrivals.started += usize::from(!arrivals.closed);
        !arrivals.closed
    }

    /// Records that a worker has arrived, or never will.
    fn arrive(&self) -> MutexGuard<'_, Arrivals> {
        let mut arrivals = lock(&self.arrivals);
        arrivals.arrived += 1;
        if arrivals.arrived == arrivals.started {
            arrivals.closed = true;
            self.all_arrived.notify_all();
        }
        arrivals
    }

    /// Waits until all registered workers have arrived. Then there is no work left.
    fn wait_for_all(&self) {
        let arrivals = self.arrive();
        drop(self.all_arrived.wait_while(arrivals, |arrivals| !arrivals.closed));
    }

    /// Adds the results of a worker and, once all workers have done so, joins parts until none are left.
    pub(crate) fn join(&self, worker: FoldWorker<'_, A>) -> ThreadTimes {
        let FoldWorker { accumulator, reader, .. } = worker;
        let InputReader { mut meter, problems, .. } = reader;
        meter.enter(Phase::Merge);
        lock(&self.problems).merge(problems);
        self.add_parts(accumulator.into_parts());
        meter.enter(Phase::Wait);
        self.wait_for_all();
        meter.enter(Phase::Merge);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(parts) = lock(&self.parts).get_mut(number).map(std::mem::take) else { break };
            let joined = A::join(parts);
            lock(&self.joined).push((number, joined));
        }
        meter.finish()
    }

    /// The result of the job, with `problems` in place of the problems of the workers.
    pub(crate) fn into_folded(
        self,
        mut problems: Problems,
        threads: Vec<ThreadTimes>,
        stopwatch: &Stopwatch,
    ) -> Folded<A::Joined> {
        let mut joined = unpoisoned(self.joined.into_inner());
        joined.sort_by_key(|&(number, _)| number);
        problems.merge(unpoisoned(self.problems.into_inner()));
        Folded {
            joined: joined.into_iter().map(|(_, joined)| joined).collect(),
            problems: problems.into_sorted().collect(),
            bytes: threads.iter().map(|thread| thread.bytes).sum(),
            report: stopwatch.report(threads),
        }
    }

    fn add_parts(&self, parts: Vec<A::Part>) {
        let mut all = lock(&self.parts);
        all.resize_with(parts.len(), Vec::new);
        for (number, part) in parts.into_iter().enumerate() {
            all[number].push(part);
        }
    }
}
