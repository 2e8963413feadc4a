//! The state of a file, advanced from block to block while several workers have blocks of it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::schedule::turns::{Turn, Turns};

/// The blocks of a file, by number from 0, each of which advances the state in its turn.
pub(crate) struct Chain<S, T> {
    turns: Turns<Status<S>>,
    printed: Mutex<Printed<T>>,
    /// For whoever waits for the end of the file.
    all_printed: Condvar,
}

pub(crate) struct Status<S> {
    pub(crate) file: S,
    /// Whether nothing more of the file is wanted.
    pub(crate) over: bool,
}

struct Printed<T> {
    blocks: u64,
    tally: T,
}

impl<S: Clone, T: Default> Chain<S, T> {
    /// A chain whose first block is given this state of the file; `over` is whether it is not wanted at all.
    pub(crate) fn new(file: S, over: bool) -> Self {
        let printed = Printed { blocks: 0, tally: T::default() };
        let turns = Turns::new(Status { file, over });
        Self { turns, printed: Mutex::new(printed), all_printed: Condvar::new() }
    }

    /// The state of the file behind the blocks that have had their turn.
    pub(crate) fn state(&self) -> S {
        self.turns.with(|status| status.file.clone())
    }

    /// Whether nothing more of the file is wanted.
    pub(crate) fn is_over(&self) -> bool {
        self.turns.with(|status| status.over)
    }

    /// Waits for a block's turn. Those before it are being worked on, and none of their workers waits for anybody behind.
    pub(crate) fn await_turn(&self, block: u64) -> Turn<'_, Status<S>> {
        self.turns.await_turn(block)
    }

    /// Says that a block has been printed, which comes after its turn.
    pub(crate) fn printed(&self, add: impl FnOnce(&mut T)) {
        let mut printed = self.lock();
        add(&mut printed.tally);
        printed.blocks += 1;
        self.all_printed.notify_all();
    }

    /// Waits until so many blocks have been printed, and gives the final state and what was counted.
    pub(crate) fn await_all(&self, blocks: u64) -> (S, T) {
        let printed = self.all_printed.wait_while(self.lock(), |printed| printed.blocks != blocks);
        let tally = std::mem::take(&mut printed.unwrap_or_else(PoisonError::into_inner).tally);
        (self.state(), tally)
    }

    fn lock(&self) -> MutexGuard<'_, Printed<T>> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
