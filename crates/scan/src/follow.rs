//! Following inputs that grow: existing input is read, then all that is added, until the job is asked to end.
//!
//! The work is done in rounds. A round reads all inputs up to where they end when it begins. Between rounds all workers rest, so
//! that intermediate results are exact, and a job without work takes no CPU time.

mod changes;
mod descriptors;
mod files;
mod generations;
mod input;
mod occasion;
mod rounds;

#[cfg(test)]
mod tests;

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use finecomb_meter::{Phase, Stopwatch};
use finecomb_sys::threads::spawn;

use self::files::FollowedInputs;
use self::rounds::Rounds;
use crate::collect::merged::{Accumulate, FoldWorker, Folded, Joining};
use crate::inputs::{Inputs, is_standard_input};
use crate::options::{FoldOptions, MAX_WIDTH, ScanOptions, Width};
use crate::problem::{Problem, Problems};
use crate::progress::{self, JobEnd};
use crate::schedule::governed::Governed;
use crate::schedule::queue::Queue;
use crate::source::reader::{Context, InputReader, NamedInput};
use crate::walk::directory::WalkContext;

/// Bytes of a round for which the other workers are woken.
const SHARED: u64 = 1 << 20;

/// Minimum time between the beginnings of two rounds, so that many small writes cost few rounds.
const ROUND: Duration = Duration::from_millis(10);

/// State of a job between two rounds.
pub struct Pause<'a, A> {
    /// The results of the workers so far.
    pub accumulators: &'a mut [A],
    /// Problems since the last pause.
    pub problems: Vec<Problem>,
    /// Whether anything was read since the last pause.
    pub has_new: bool,
    /// Number of files and pipes that are followed.
    pub inputs: usize,
    /// Whether the job ends with this pause, also if the command wants to wait.
    pub is_last: bool,
}

/// How a job continues after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Waits until there is more to be read, but at most for this long.
    Wait(Option<Duration>),
    /// Ends once the existing input has been read.
    End,
}

/// Result of a job that followed its inputs.
#[derive(Debug)]
pub struct Followed<J> {
    /// The result of all that was read, with the problems since the last pause.
    pub folded: Folded<J>,
    /// Whether all was read that was there when the job was asked to end.
    pub is_complete: bool,
}

/// Processes all lines or records of `inputs`, and all that are added to them, until the job is asked to end by
/// [`ScanOptions::stop`], or all inputs are pipes that have ended. Then the remaining input is processed; a request during the
/// first round ends the job at once.
///
/// Files are known by device and inode, and followed under any name once they were found. A last record without a line end is not
/// processed until it has one. Compressed files and files in other encodings are read once, if they exist at the beginning.
///
/// `pause` is called between the rounds, and once after the last one. The number of workers does not change: [`Width::Auto`] is one
/// for each core.
pub fn follow<A: Accumulate>(
    inputs: &Inputs,
    options: &FoldOptions<'_>,
    make: impl Fn() -> A + Sync,
    pause: impl FnMut(Pause<'_, A>) -> Next,
) -> Followed<A::Joined> {
    let FoldOptions { scan: options, narrow } = options;
    let is_watched = options.watch.is_some_and(|watch| watch.threads);
    let stopwatch = Stopwatch::start(options.profile, is_watched);
    let queue = Queue::new(0, options.stop.clone());
    let mut notes = Vec::new();
    let walk = WalkContext::new(&inputs.walk, true, &mut notes);
    let (recognize, narrow) = (options.recognize.as_deref(), narrow.as_deref());
    let bounds = &options.bounds();
    let context = Context { inputs, bounds, walk: &walk, recognize, part: None, narrow };
    let width = match options.width {
        Width::Fixed(workers) => workers.min(MAX_WIDTH),
        _ => Width::processors(),
    };
    let (rounds, joining, over) = (Rounds::new(width), Joining::new(), JobEnd::default());
    rounds.problems().add_rules(notes);
    let new_reader = || joining.register().then(|| InputReader::new(context, stopwatch.meter()));
    let finish = |number, reader| {
        let accumulator = rounds.take(number).unwrap_or_else(&make);
        joining.join(FoldWorker::new(&queue, number, accumulator, reader, false))
    };
    let done = || queue.pool.work();
    let (threads, is_complete) = thread::scope(|scope| {
        if let Some(watch) = options.watch {
            progress::start(scope, watch, None, (&done, &queue.extent), &over, &stopwatch);
        }
        let (rounds, queue, new_reader, finish, make) = (&rounds, &queue, &new_reader, &finish, &make);
        let own = new_reader();
        let spawn_worker = |number| {
            let work = move || {
                let reader = new_reader()?;
                Some(finish(number, rounds.work(number, queue, reader, make)))
            };
            spawn(scope, work)
        };
        // If the system refuses more threads, the existing ones do the work.
        let others: Vec<_> = (1..width).map_while(spawn_worker).collect();
        let leader = Leader { options, context, queue, rounds, workers: 1 + others.len() };
        let led = own.map(|reader| leader.lead(reader, make, pause));
        rounds.end();
        let (is_complete, own) = match led {
            Some((is_complete, reader)) => (is_complete, Some(finish(0, reader))),
            None => (false, None),
        };
        over.signal();
        let others = others.into_iter().filter_map(|thread| thread.join().ok().flatten());
        (own.into_iter().chain(others).collect::<Vec<_>>(), is_complete)
    });
    let problems = mem::take(&mut *rounds.problems());
    Followed { folded: joining.into_folded(problems, threads, &stopwatch), is_complete }
}

/// The thread that looks at the inputs and leads the rounds.
struct Leader<'l, 'q, A> {
    options: &'l ScanOptions<'l>,
    context: Context<'q>,
    queue: &'q Queue,
    rounds: &'l Rounds<A>,
    workers: usize,
}

impl<'q, A: Accumulate> Leader<'_, 'q, A> {
    /// Leads rounds until the job ends. Returns whether all was read.
    fn lead(
        &self,
        mut reader: InputReader<'q>,
        make: impl Fn() -> A,
        mut pause: impl FnMut(Pause<'_, A>) -> Next,
    ) -> (bool, InputReader<'q>) {
        let stop = self.options.stop.as_deref();
        let is_asked_to_end = || stop.is_some_and(|stop| stop.is_raised());
        let mut inputs = FollowedInputs::new(self.context);
        self.open_standard_input(&mut inputs, &mut reader);
        let (mut is_first, mut is_ending) = (true, false);
        loop {
            let (begun, is_final) = (Instant::now(), is_ending || !is_first && is_asked_to_end());
            let mut problems = mem::take(&mut reader.problems);
            let work = inputs.look(is_final, &mut problems);
            self.rounds.problems().merge(problems);
            let has_new = !work.is_empty();
            if has_new {
                let workers = if work.bytes >= SHARED || !work.once.is_empty() { self.workers } else { 1 };
                self.queue.add_open(work.into_open());
                reader = self.rounds.lead(workers, self.queue, reader, &make);
                inputs.put_back(self.queue.take_paused());
            }
            if is_first && is_asked_to_end() {
                return (false, reader);
            }
            self.queue.pool.outlast_stop();
            let is_last = is_final || inputs.have_ended();
            if is_last {
                inputs.report_unfinished(&mut self.rounds.problems());
            }
            let next = self.pause((has_new, inputs.len(), is_last), &mut pause);
            if is_last {
                return (true, reader);
            }
            is_first = false;
            reader.meter.enter(Phase::Wait);
            match next {
                Next::End => is_ending = true,
                Next::Wait(time) => inputs.wait(stop, time),
            }
            if !is_ending && !is_asked_to_end() {
                thread::sleep(ROUND.saturating_sub(begun.elapsed()));
            }
        }
    }

    fn pause(
        &self,
        (has_new, inputs, is_last): (bool, usize, bool),
        pause: &mut impl FnMut(Pause<'_, A>) -> Next,
    ) -> Next {
        let problems: Problems = mem::take(&mut *self.rounds.problems());
        let problems = problems.into_sorted().collect();
        self.rounds.with_accumulators(|accumulators| {
            pause(Pause { accumulators, problems, has_new, inputs, is_last })
        })
    }

    fn open_standard_input(&self, inputs: &mut FollowedInputs<'q>, reader: &mut InputReader<'q>) {
        let named = &self.context.inputs.named;
        let Some(number) = named.iter().position(|path| is_standard_input(path)) else { return };
        match reader.open_named(number) {
            Some(NamedInput::File(source, file, start)) => inputs.add_file_from(source, file, start),
            Some(NamedInput::Stream(source, pipe)) => inputs.add_pipe(&source, pipe),
            Some(NamedInput::Directory(_)) | None => {}
        }
    }
}
