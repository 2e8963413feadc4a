//! Per-file state that advances from block to block while several workers hold blocks of the file.

use std::sync::{Condvar, Mutex, MutexGuard};

use finecomb_sys::locks::{lock, unpoisoned};

use crate::schedule::turns::{Turn, Turns};

/// The blocks of a file, numbered from 0. Each advances the state in its turn.
pub(crate) struct Chain<S, T> {
    turns: Turns<ChainState<S>>,
    printed: Mutex<Printed<T>>,
    /// Notified when another block has been printed.
    all_printed: Condvar,
}

pub(crate) struct ChainState<S> {
    pub(crate) file: S,
    /// Set once nothing more of the file is wanted.
    pub(crate) over: bool,
}

struct Printed<T> {
    blocks: u64,
    tally: T,
}

impl<S: Clone, T: Default> Chain<S, T> {
    /// Creates a chain with the state before the first block; `over` is set if nothing of the file is wanted.
    pub(crate) fn new(file: S, over: bool) -> Self {
        let printed = Printed { blocks: 0, tally: T::default() };
        let turns = Turns::new(ChainState { file, over });
        Self { turns, printed: Mutex::new(printed), all_printed: Condvar::new() }
    }

    /// Returns the state after the blocks that have had their turn.
    pub(crate) fn state(&self) -> S {
        self.turns.with(|status| status.file.clone())
    }

    /// Returns `true` if nothing more of the file is wanted.
    pub(crate) fn is_over(&self) -> bool {
        self.turns.with(|status| status.over)
    }

    /// Waits for the turn of a block. The blocks before it are in progress, and their workers do not wait for later
    /// ones.
    pub(crate) fn await_turn(&self, block: u64) -> Turn<'_, ChainState<S>> {
        self.turns.await_turn(block)
    }

    /// Records that a block has been printed, which comes after its turn.
    pub(crate) fn printed(&self, add: impl FnOnce(&mut T)) {
        let mut printed = self.lock();
        add(&mut printed.tally);
        printed.blocks += 1;
        self.all_printed.notify_all();
    }

    /// Waits until this number of blocks has been printed, and returns the final state and the totals.
    pub(crate) fn await_all(&self, blocks: u64) -> (S, T) {
        let printed = self.all_printed.wait_while(self.lock(), |printed| printed.blocks != blocks);
        let tally = std::mem::take(&mut unpoisoned(printed).tally);
        (self.state(), tally)
    }

    fn lock(&self) -> MutexGuard<'_, Printed<T>> {
        lock(&self.printed)
    }
}
