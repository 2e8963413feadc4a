//! Jobs on threads of their own, while Python continues.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use finecomb_scan::{Progress, ScanOptions, Stop, Watch};
use finecomb_sys::locks::lock;
use finecomb_sys::threads;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Time between two looks at signals, and between two reports of progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Runs a job with these options, but without the lock of the interpreter. Ctrl-C and an exception of `progress` stop it.
/// `progress` is called with the number of bytes processed, and the size of all inputs or `None`.
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
    let (reports, is_done) =
        (Reports::new(progress.map(|progress| progress.clone().unbind())), AtomicBool::new(false));
    let options = options.stop(Some(Arc::clone(&stop)));
    let caller = thread::current();
    thread::scope(|scope| {
        let work = || {
            let result = reports.collect(|watch| job(options.watch(watch)));
            is_done.store(true, Ordering::Release);
            caller.unpark();
            result
        };
        let worker = threads::spawn(scope, work).ok_or_else(refused)?;
        let mut state = Ok(());
        while !is_done.load(Ordering::Acquire) && !worker.is_finished() {
            py.detach(|| thread::park_timeout(PERIOD));
            if state.is_ok() {
                state = py.check_signals().and_then(|()| reports.call(py));
                if state.is_err() {
                    stop.raise();
                }
            }
        }
        let result = py.detach(|| worker.join()).map_err(|_| PyRuntimeError::new_err("a thread panicked"))?;
        state.map(|()| result)
    })
}

/// The error of a thread that the system refuses.
pub(crate) fn refused() -> PyErr {
    PyRuntimeError::new_err("the system refuses a thread")
}

/// Reports of the progress of a job to a function of Python, if there is one.
pub(crate) struct Reports {
    callback: Option<Py<PyAny>>,
    /// Progress that the function was not called with yet.
    latest: Mutex<Option<Progress>>,
}

impl Reports {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, latest: Mutex::new(None) }
    }

    /// Reports of another run to the same function.
    pub(crate) fn of_another_run(&self, py: Python<'_>) -> Self {
        Self::new(self.callback.as_ref().map(|callback| callback.clone_ref(py)))
    }

    /// Runs a job with the option that collects its progress.
    pub(crate) fn collect<T>(&self, job: impl FnOnce(Option<Watch<'_>>) -> T) -> T {
        let show = |progress| *self.latest() = Some(progress);
        let watch = Watch::new(PERIOD, &show);
        job(self.callback.as_ref().map(|_| watch))
    }

    /// Calls the function with the number of bytes processed, and the size of all inputs or `None`; never twice with the same
    /// report.
    ///
    /// # Errors
    /// If the function raises an exception.
    pub(crate) fn call(&self, py: Python<'_>) -> PyResult<()> {
        let Some(callback) = &self.callback else { return Ok(()) };
        // The next report may come while the function runs.
        let Some(Progress { done, total, .. }) = self.latest().take() else { return Ok(()) };
        callback.call1(py, (done, total)).map(drop)
    }

    /// Whether there is something to call the function with.
    pub(crate) fn is_new(&self) -> bool {
        self.callback.is_some() && self.latest().is_some()
    }

    fn latest(&self) -> MutexGuard<'_, Option<Progress>> {
        lock(&self.latest)
    }
}
