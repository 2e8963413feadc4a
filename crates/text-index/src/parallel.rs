//! Work on several threads.

use std::panic::resume_unwind;
use std::thread;

/// Does the work of each part on a thread of its own, that of the first on the caller's, and returns what came of them in their
/// order. All are waited for; a panic in one is a panic here.
pub(crate) fn map<P: Send, T: Send>(
    parts: impl IntoIterator<Item = P>,
    work: impl Fn(P) -> T + Sync,
) -> Vec<T> {
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return Vec::new() };
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        let mut results = vec![work(first)];
        results.extend(
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))),
        );
        results
    })
}
