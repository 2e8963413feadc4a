//! Access to a value by several threads in a fixed order.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard};
use std::thread::{self, Thread};

use finecomb_sys::locks::lock;

/// A value that is accessed in turns, numbered from 0.
pub(crate) struct Turns<T>(Mutex<TurnState<T>>);

struct TurnState<T> {
    turn: u64,
    /// Waiting threads, with their turns. Only the next one is woken: with many threads, waking all of them costs more
    /// than the work.
    waiting: Vec<(u64, Thread)>,
    value: T,
}

impl<T> Turns<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(TurnState { turn: 0, waiting: Vec::new(), value }))
    }

    /// Waits for the turn with this number, which ends when the guard is dropped. Threads with earlier turns must end
    /// them without waiting for a later one.
    pub(crate) fn await_turn(&self, number: u64) -> Turn<'_, T> {
        let mut state = self.lock();
        if state.turn != number {
            state.waiting.push((number, thread::current()));
            while state.turn != number {
                drop(state);
                thread::park();
                state = self.lock();
            }
            state.waiting.retain(|&(waiting, _)| waiting != number);
        }
        Turn(state)
    }

    /// Accesses the value outside of the turns.
    pub(crate) fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.lock().value)
    }

    fn lock(&self) -> MutexGuard<'_, TurnState<T>> {
        lock(&self.0)
    }
}

/// The value, for the duration of a turn.
pub(crate) struct Turn<'a, T>(MutexGuard<'a, TurnState<T>>);

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.value
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let state = &mut *self.0;
        state.turn += 1;
        if let Some((_, next)) = state.waiting.iter().find(|&&(number, _)| number == state.turn) {
            next.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn turns_are_in_order_with_any_timing() {
        let (turns, next) = (Turns::new(Vec::new()), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= 1000 {
                            break;
                        }
                        turns.await_turn(number).push(number);
                    }
                });
            }
        });
        assert!(turns.with(|seen| seen.iter().copied().eq(0..1000)));
    }
}
