//! Locks after a panic. The panic ends the job, and is not hidden by others of the threads that wait for the lock.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a panic in a thread that held it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// The result of an operation on a lock, also after a panic in a thread that held it.
pub fn unpoisoned<T>(locked: LockResult<T>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_panic_of_another_thread_is_ignored() {
        let mutex = Mutex::new(5);
        let panicked = catch_unwind(|| {
            let _locked = lock(&mutex);
            panic!("with the lock");
        });
        assert!(panicked.is_err() && mutex.is_poisoned());
        assert_eq!(*lock(&mutex), 5);
        assert_eq!(unpoisoned(mutex.into_inner()), 5);
    }
}
