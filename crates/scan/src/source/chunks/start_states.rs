//! State of the quoting at the beginning of each chunk.

use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Thread};

use finecomb_meter::{Meter, Phase};
use finecomb_sys::locks::lock;

use crate::records::quoting::{QuoteState, Transition};

/// Passes the state of the quoting from chunk to chunk, while workers read the chunks in parallel.
pub(crate) struct StartStates(Mutex<Known>);

struct Known {
    /// The first chunk whose transition is not known.
    next: u64,
    /// The state at its beginning.
    state: QuoteState,
    /// Chunks after it whose transitions are known, and chunks whose workers have not taken their start states yet. No
    /// more than there are workers.
    chunks: Vec<Chunk>,
}

struct Chunk {
    number: u64,
    transition: Transition,
    /// The state at its beginning, once it is known.
    start: Option<QuoteState>,
    /// Waits for that.
    worker: Thread,
}

impl Default for StartStates {
    fn default() -> Self {
        Self(Mutex::new(Known { next: 0, state: QuoteState::Start, chunks: Vec::new() }))
    }
}

impl StartStates {
    /// Publishes the transition of a chunk, and returns the state at its beginning. Waits for the transitions of earlier chunks.
    /// Their workers must publish them without waiting for a later chunk.
    pub(crate) fn exchange(&self, number: u64, transition: Transition, meter: &mut Meter) -> QuoteState {
        let mut known = self.lock();
        if known.next == number {
            let start = known.state;
            known.advance(transition);
            return start;
        }
        known.chunks.push(Chunk { number, transition, start: None, worker: thread::current() });
        drop(known);
        meter.enter(Phase::Wait);
        let start = loop {
            if let Some(start) = self.lock().take_start(number) {
                break start;
            }
            thread::park();
        };
        meter.enter(Phase::Read);
        start
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        lock(&self.0)
    }
}

impl Known {
    /// Advances past the next chunk, and past all others whose transitions are known.
    fn advance(&mut self, transition: Transition) {
        self.state = transition.of(self.state).state;
        self.next += 1;
        while let Some(chunk) = self.chunks.iter_mut().find(|chunk| chunk.number == self.next) {
            chunk.start = Some(self.state);
            chunk.worker.unpark();
            self.state = chunk.transition.of(self.state).state;
            self.next += 1;
        }
    }

    /// Removes a chunk whose start state is known, and returns the state.
    fn take_start(&mut self, number: u64) -> Option<QuoteState> {
        let index = self.chunks.iter().position(|chunk| chunk.number == number)?;
        let start = self.chunks[index].start?;
        self.chunks.swap_remove(index);
        Some(start)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::records::quoting::Quoting;

    #[test]
    fn every_chunk_begins_in_the_state_after_those_before_it() {
        let quoting = Quoting::new(b',', b'\n');
        let text =
            |number: u64| [&b"a,"[..], b"\"", b"b\"c\n", b",\"", b""][(number * number % 7 % 5) as usize];
        let mut state = QuoteState::Start;
        let mut expected = Vec::new();
        for number in 0..1000 {
            expected.push(state);
            state = quoting.pass(text(number), state).state;
        }
        let (states, next) = (StartStates::default(), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&expected) = expected.get(number as usize) else { break };
                        let transition = quoting.transition(text(number));
                        assert_eq!(states.exchange(number, transition, &mut Meter::off()), expected);
                    }
                });
            }
        });
        assert!(states.lock().chunks.is_empty());
    }
}
