//! The state of a file, advanced from block to block while several workers have blocks of it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

/// The blocks of a file, by number from 0, each of which advances the state in its turn.
pub(crate) struct Chain<S, T> {
    state: Mutex<Status<S, T>>,
    /// For whoever waits for the end of the file.
    moved: Condvar,
}

pub(crate) struct Status<S, T> {
    /// The number of the block whose turn it is.
    turn: u64,
    /// Who waits for which turn. Only the next one is woken: waking all would cost more than the work, with many of
    /// them.
    waiting: Vec<(u64, Thread)>,
    pub(crate) file: S,
    pub(crate) tally: T,
    printed: u64,
    /// Whether nothing more of the file is wanted.
    pub(crate) over: bool,
    /// Whether somebody waits for the end of the file.
    ending: bool,
}

impl<S: Clone, T: Default> Chain<S, T> {
    /// A chain whose first block is given this state of the file.
    pub(crate) fn new(file: S) -> Self {
        let state = Status {
            turn: 0,
            waiting: Vec::new(),
            file,
            tally: T::default(),
            printed: 0,
            over: false,
            ending: false,
        };
        Self { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// The state before the first block, if none has had its turn.
    pub(crate) fn begin(&self) -> S {
        self.lock().file.clone()
    }

    /// Whether nothing more of the file is wanted.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Waits for a block's turn. Those before it are being worked on, and none of their workers waits for anybody behind.
    pub(crate) fn await_turn(&self, block: u64) -> Turn<'_, S, T> {
        let mut state = self.lock();
        if state.turn != block {
            state.waiting.push((block, thread::current()));
            while state.turn != block {
                drop(state);
                thread::park();
                state = self.lock();
            }
            state.waiting.retain(|&(waiting, _)| waiting != block);
        }
        Turn { chain: self, state }
    }

    /// Says that a block has been printed.
    pub(crate) fn printed(&self, add: impl FnOnce(&mut T)) {
        let mut state = self.lock();
        add(&mut state.tally);
        state.printed += 1;
        if state.ending {
            self.moved.notify_all();
        }
    }

    /// Waits until so many blocks have been printed, and gives what they amount to.
    pub(crate) fn await_all(&self, blocks: u64) -> (S, T) {
        let mut state = self.lock();
        state.ending = true;
        let state = self.moved.wait_while(state, |state| state.turn != blocks || state.printed != blocks);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        (state.file.clone(), std::mem::take(&mut state.tally))
    }

    fn lock(&self) -> MutexGuard<'_, Status<S, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A block's turn. When it ends, it is the next one's.
pub(crate) struct Turn<'a, S, T> {
    chain: &'a Chain<S, T>,
    pub(crate) state: MutexGuard<'a, Status<S, T>>,
}

impl<S, T> Drop for Turn<'_, S, T> {
    fn drop(&mut self) {
        let state = &mut *self.state;
        state.turn += 1;
        if let Some((_, next)) = state.waiting.iter().find(|&&(block, _)| block == state.turn) {
            next.unpark();
        }
        if state.ending {
            self.chain.moved.notify_all();
        }
    }
}
