//! The workers of a job that follows its inputs: they work in rounds, and rest between them.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard};

use finecomb_meter::Phase;
use finecomb_sys::locks::{lock, unpoisoned};

use crate::collect::merged::{Accumulate, FoldWorker};
use crate::problem::Problems;
use crate::schedule::queue::Queue;
use crate::source::reader::InputReader;

/// Rounds of work. The thread that leads them is worker 0.
pub(super) struct Rounds<A> {
    state: Mutex<RoundState>,
    /// Notified when a round begins and when there are no more.
    begun: Condvar,
    /// Notified when the last other worker ends a round.
    ended: Condvar,
    /// The accumulators of the workers that have begun, while these rest.
    accumulators: Vec<Mutex<Option<A>>>,
    problems: Mutex<Problems>,
}

#[derive(Default)]
struct RoundState {
    /// Number of the present round, counted from 1.
    round: u64,
    /// Workers that take part in it.
    workers: usize,
    /// Other workers than the leader that have not ended it.
    running: usize,
    is_over: bool,
}

impl<A: Accumulate> Rounds<A> {
    /// Rounds of up to this many workers.
    pub(super) fn new(width: usize) -> Self {
        Self {
            state: Mutex::default(),
            begun: Condvar::new(),
            ended: Condvar::new(),
            accumulators: (0..width).map(|_| Mutex::new(None)).collect(),
            problems: Mutex::default(),
        }
    }

    /// Works in every round that this worker is needed for, until there are no more.
    pub(super) fn work<'q>(
        &self,
        number: usize,
        queue: &'q Queue,
        mut reader: InputReader<'q>,
        make: impl Fn() -> A,
    ) -> InputReader<'q> {
        let mut last = 0;
        loop {
            reader.meter.enter(Phase::Wait);
            let state = self.begun.wait_while(lock(&self.state), |state| {
                !state.is_over && (state.round == last || number >= state.workers)
            });
            let state = unpoisoned(state);
            if state.is_over {
                return reader;
            }
            last = state.round;
            drop(state);
            reader = self.take_part(number, queue, reader, &make);
            let mut state = lock(&self.state);
            state.running -= 1;
            if state.running == 0 {
                self.ended.notify_all();
            }
        }
    }

    /// Leads a round of this many workers: does the work in the queue together with them.
    pub(super) fn lead<'q>(
        &self,
        workers: usize,
        queue: &'q Queue,
        reader: InputReader<'q>,
        make: impl Fn() -> A,
    ) -> InputReader<'q> {
        {
            let mut state = lock(&self.state);
            state.round += 1;
            state.workers = workers;
            state.running = workers - 1;
            if workers > 1 {
                self.begun.notify_all();
            }
        }
        let mut reader = self.take_part(0, queue, reader, &make);
        reader.meter.enter(Phase::Wait);
        drop(self.ended.wait_while(lock(&self.state), |state| state.running > 0));
        reader
    }

    /// Lets the other workers end.
    pub(super) fn end(&self) {
        lock(&self.state).is_over = true;
        self.begun.notify_all();
    }

    /// Works until the queue is empty.
    fn take_part<'q>(
        &self,
        number: usize,
        queue: &'q Queue,
        reader: InputReader<'q>,
        make: impl Fn() -> A,
    ) -> InputReader<'q> {
        let accumulator = lock(&self.accumulators[number]).take().unwrap_or_else(make);
        let mut worker = FoldWorker::new(queue, number, accumulator, reader, false);
        worker.run();
        let FoldWorker { accumulator, mut reader, .. } = worker;
        lock(&self.problems).merge(mem::take(&mut reader.problems));
        *lock(&self.accumulators[number]) = Some(accumulator);
        reader
    }

    /// Takes the accumulator of a worker.
    pub(super) fn take(&self, number: usize) -> Option<A> {
        lock(&self.accumulators[number]).take()
    }

    /// Calls `visit` with the accumulators of all workers that have begun. Call this between rounds.
    pub(super) fn with_accumulators<T>(&self, visit: impl FnOnce(&mut [A]) -> T) -> T {
        let mut all: Vec<A> = (0..self.accumulators.len()).map_while(|number| self.take(number)).collect();
        let result = visit(&mut all);
        for (accumulator, slot) in all.into_iter().zip(&self.accumulators) {
            *lock(slot) = Some(accumulator);
        }
        result
    }

    /// The problems that have not been reported yet.
    pub(super) fn problems(&self) -> MutexGuard<'_, Problems> {
        lock(&self.problems)
    }
}
