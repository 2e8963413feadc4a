//! Jobs on threads of their own, while Python goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use finecomb_scan::{Progress, ScanOptions, Stop, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Time between two looks at signals, and between two reports of progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Runs a job with these options, but without the lock of the interpreter. Ctrl-C and an exception of `progress` stop it. `progress` is called with the bytes
/// that were processed, and with those of all inputs or `None`.
///
/// # Errors
/// If the job was stopped, or no thread can be started.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    options: ScanOptions<'static>,
    job: impl FnOnce(ScanOptions<'_>) -> T + Send,
) -> PyResult<T> {
    let stop = Arc::new(Stop::new()?);
    let (latest, is_done) = (Mutex::new(None), AtomicBool::new(false));
    let show = |progress: Progress| *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    let watch = progress.map(|_| Watch { after: PERIOD, every: PERIOD, threads: false, show: &show });
    let options = ScanOptions { stop: Some(Arc::clone(&stop)), watch, ..options };
    let caller = thread::current();
    thread::scope(|scope| {
        let work = || {
            let result = job(options);
            is_done.store(true, Ordering::Release);
            caller.unpark();
            result
        };
        let worker = thread::Builder::new().spawn_scoped(scope, work)?;
        let mut state = Ok(());
        while !is_done.load(Ordering::Acquire) && !worker.is_finished() {
            py.detach(|| thread::park_timeout(PERIOD));
            if state.is_ok() {
                state = py.check_signals().and_then(|()| report(progress, &latest));
                if state.is_err() {
                    stop.raise();
                }
            }
        }
        let result = py.detach(|| worker.join()).map_err(|_| PyRuntimeError::new_err("a thread panicked"))?;
        state.map(|()| result)
    })
}

fn report(callback: Option<&Bound<'_, PyAny>>, latest: &Mutex<Option<Progress>>) -> PyResult<()> {
    let progress = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((callback, progress)) = callback.zip(progress) {
        callback.call1((progress.done, progress.total))?;
    }
    Ok(())
}
