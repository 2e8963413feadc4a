//! A scanning command as a fold of a commutative monoid over blocks of lines.

mod line_number;
mod worker;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use finecomb_meter::{Meter, Phase, Report, Stopwatch, ThreadTimes};
use finecomb_sys::threads::spawn;

use crate::block::Block;
use crate::inputs::Inputs;
use crate::options::ScanOptions;
use crate::problem::{Problem, Problems};
use crate::progress::{self, Over};
use crate::schedule::queue::Queue;
use crate::schedule::threads;
use crate::source::reader::{Context, Reader};
use crate::walk::directory::Walk;

use worker::Gatherer;

/// What a worker gathers from its blocks.
///
/// In the end each worker's gathering falls into parts, as many for every worker, and the workers join the parts of
/// one number, each number by itself, in parallel: so the serial part of a job stays small. For the answer to be the
/// same at any number of workers, it must not matter in which order blocks are taken in, which worker takes them,
/// and in which order [`Accumulate::join`] is given its parts.
pub trait Accumulate: Send {
    /// One of the independent parts.
    type Part: Send;
    /// All workers' parts of one number, joined.
    type Joined: Send;

    /// Takes in a block. [`ControlFlow::Break`] ends the job: workers leave off after the blocks they are at.
    fn take(&mut self, block: &Block<'_>, meter: &mut Meter) -> ControlFlow<()>;

    /// Ends the gathering.
    fn into_parts(self) -> Vec<Self::Part>;

    /// Joins the parts of one number, one of each worker. Associative and commutative.
    fn join(parts: Vec<Self::Part>) -> Self::Joined;
}

/// What came of a job.
#[derive(Debug)]
pub struct Folded<J> {
    /// The joined parts, in the order of [`Accumulate::into_parts`].
    pub joined: Vec<J>,
    /// What went wrong, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// How many bytes of lines were taken in.
    pub bytes: u64,
    /// Where the time of each worker went, if it was measured.
    pub report: Option<Report>,
}

/// Takes in all lines of `inputs` with as many workers as `options` say, each of which starts with what `make` gives.
/// The calling thread is one of them.
///
/// Nothing that goes wrong with an input ends the job: it is found in [`Folded::problems`].
pub fn fold<A: Accumulate>(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    make: impl Fn() -> A + Sync,
) -> Folded<A::Joined> {
    let is_watched = options.watch.is_some_and(|watch| watch.threads);
    let stopwatch = Stopwatch::start(options.profile, is_watched);
    let queue = Queue::new(inputs.named.len(), options.stop.clone());
    let mut notes = Vec::new();
    let walk = Walk::new(&inputs.walk, true, &mut notes);
    let context = Context { inputs, bounds: options.bounds(), walk: &walk };
    let ending = Ending::new();
    lock(&ending.problems).add_rules(notes);
    let over = Over::default();
    let work = |number| {
        let meter = ending.enter().then(|| stopwatch.meter())?;
        let mut gatherer = Gatherer::new(&queue, number, make(), Reader::new(context, meter), is_watched);
        gatherer.run();
        Some(ending.join(gatherer))
    };
    let threads: Vec<_> = thread::scope(|scope| {
        if let Some(watch) = options.watch {
            let (queue, over, stopwatch) = (&queue, &over, &stopwatch);
            // Without it the job is done all the same.
            let _ = spawn(scope, move || progress::show(watch, inputs, queue, over, stopwatch));
        }
        threads::run(options.width, &queue, &over, || work(0), work).into_iter().flatten().collect()
    });
    let mut joined = into_inner(ending.joined);
    joined.sort_by_key(|&(number, _)| number);
    Folded {
        joined: joined.into_iter().map(|(_, joined)| joined).collect(),
        problems: into_inner(ending.problems).into_sorted().collect(),
        bytes: threads.iter().map(|thread| thread.bytes).sum(),
        report: stopwatch.report(threads),
    }
}

/// Where workers meet when nothing is left to read.
struct Ending<A: Accumulate> {
    arrivals: Mutex<Arrivals>,
    all_here: Condvar,
    /// By number, the parts that are still to be joined.
    parts: Mutex<Vec<Vec<A::Part>>>,
    next: AtomicUsize,
    joined: Mutex<Vec<(usize, A::Joined)>>,
    problems: Mutex<Problems>,
}

#[derive(Default)]
struct Arrivals {
    /// Workers that have begun.
    begun: usize,
    arrived: usize,
    /// Whether all are here that there will be.
    closed: bool,
}

impl<A: Accumulate> Ending<A> {
    fn new() -> Self {
        Self {
            arrivals: Mutex::default(),
            all_here: Condvar::new(),
            parts: Mutex::default(),
            next: AtomicUsize::new(0),
            joined: Mutex::default(),
            problems: Mutex::default(),
        }
    }

    /// Counts a worker in. False if it comes too late, when all that have begun are done.
    fn enter(&self) -> bool {
        let mut arrivals = lock(&self.arrivals);
        arrivals.begun += usize::from(!arrivals.closed);
        !arrivals.closed
    }

    /// Waits until all workers that have begun are here. There is nothing left to do for others then.
    fn meet(&self) {
        let mut arrivals = lock(&self.arrivals);
        arrivals.arrived += 1;
        if arrivals.arrived == arrivals.begun {
            arrivals.closed = true;
            self.all_here.notify_all();
        }
        drop(self.all_here.wait_while(arrivals, |arrivals| !arrivals.closed));
    }

    /// Lays down what a worker gathered and, once all have, joins parts until there are none.
    fn join(&self, gatherer: Gatherer<'_, A>) -> ThreadTimes {
        let Gatherer { accumulator, reader, .. } = gatherer;
        let Reader { mut meter, problems, .. } = reader;
        meter.enter(Phase::Merge);
        lock(&self.problems).merge(problems);
        self.lay_down(accumulator.into_parts());
        meter.enter(Phase::Wait);
        self.meet();
        meter.enter(Phase::Merge);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(parts) = lock(&self.parts).get_mut(number).map(std::mem::take) else { break };
            let joined = A::join(parts);
            lock(&self.joined).push((number, joined));
        }
        meter.finish()
    }

    fn lay_down(&self, parts: Vec<A::Part>) {
        let mut all = lock(&self.parts);
        all.resize_with(parts.len(), Vec::new);
        for (number, part) in parts.into_iter().enumerate() {
            all[number].push(part);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
