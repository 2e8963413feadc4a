//! State between records at the beginning of each chunk.

use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Thread};

use finecomb_meter::{Meter, Phase};
use finecomb_sys::locks::lock;

use crate::records::rules::{RecordEffect, RecordState, RecordTransition};

/// Passes the state between records from chunk to chunk, while workers read the chunks in parallel.
pub(crate) struct StartStates(Mutex<Known>);

struct Known {
    /// The first chunk whose transition is not known.
    next: u64,
    /// The state at its beginning.
    state: RecordState,
    /// Chunks after it whose transitions are known, and chunks whose workers have not taken their start states yet. No
    /// more than there are workers.
    chunks: Vec<Chunk>,
}

struct Chunk {
    number: u64,
    transition: RecordTransition,
    /// The state at its beginning, once it is known.
    start: Option<RecordState>,
    /// Waits for that.
    worker: Thread,
}

impl Default for StartStates {
    fn default() -> Self {
        Self(Mutex::new(Known { next: 0, state: RecordState::Start, chunks: Vec::new() }))
    }
}

impl StartStates {
    /// Publishes the transition of a chunk, made of `text`. Returns the state at its beginning, and the effect of the chunk on it.
    /// Waits for the transitions of earlier chunks. Their workers must publish them without waiting for a later chunk.
    pub(crate) fn exchange(
        &self,
        number: u64,
        transition: RecordTransition,
        text: &[u8],
        meter: &mut Meter,
    ) -> (RecordState, RecordEffect) {
        let mut known = self.lock();
        if known.next == number {
            let start = known.state;
            drop(known);
            return (start, self.advance(number, start, transition, text));
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
        (start, self.advance(number, start, transition, text))
    }

    /// Returns the effect of a chunk on its start state. If the next chunks wait for that, advances past them.
    fn advance(
        &self,
        number: u64,
        start: RecordState,
        transition: RecordTransition,
        text: &[u8],
    ) -> RecordEffect {
        let effect = transition.of(text, start);
        let mut known = self.lock();
        if known.next == number {
            known.advance(effect.state);
        }
        effect
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        lock(&self.0)
    }
}

impl Known {
    /// Advances past the next chunk, which leads to a state, and past others as long as their effects are known.
    fn advance(&mut self, state: RecordState) {
        self.state = state;
        self.next += 1;
        while let Some(chunk) = self.chunks.iter_mut().find(|chunk| chunk.number == self.next) {
            chunk.start = Some(self.state);
            chunk.worker.unpark();
            let Some(effect) = chunk.transition.known(self.state) else { return };
            self.state = effect.state;
            self.next += 1;
        }
    }

    /// Removes a chunk whose start state is known, and returns the state.
    fn take_start(&mut self, number: u64) -> Option<RecordState> {
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
    use crate::records::Records;
    use crate::records::rules::RecordRules;

    #[test]
    fn every_chunk_begins_in_the_state_after_those_before_it() {
        let records = Records::Quoted { delimiter: b',' };
        let rules = RecordRules::new(&records, b'\n').expect("records span lines");
        let text =
            |number: u64| [&b"a,"[..], b"\"", b"b\"c\n", b",\"", b""][(number * number % 7 % 5) as usize];
        let mut state = RecordState::Start;
        let mut expected = Vec::new();
        for number in 0..1000 {
            expected.push(state);
            state = rules.pass(text(number), state).state;
        }
        let (states, next) = (StartStates::default(), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&expected) = expected.get(number as usize) else { break };
                        let transition = rules.transition(text(number));
                        let (start, effect) =
                            states.exchange(number, transition, text(number), &mut Meter::off());
                        assert_eq!((start, effect), (expected, rules.pass(text(number), start)));
                    }
                });
            }
        });
        assert!(states.lock().chunks.is_empty());
    }
}
