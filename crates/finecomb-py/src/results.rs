//! Results of a job: an iterator of objects, and a stream of Arrow.

mod running;

use std::sync::{Arc, Mutex};

use finecomb_arrow::Batches;
use finecomb_sys::locks::{lock, unpoisoned};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyCapsule;

use self::running::{BatchReader, RunningJob, WaitingJob};
use crate::pipe::Taken;
use crate::running::Reports;
use crate::sources::Sources;
use crate::{arrow, warn};

pub(crate) use self::running::{Read, RecordJob};

/// Methods of a class of Python that holds the results of a job, and yields objects of this class.
macro_rules! methods_of_results {
    ($class:ident, $item:ty) => {
        #[pyo3::pymethods]
        impl $class {
            fn __iter__(slf: pyo3::Bound<'_, Self>) -> pyo3::Bound<'_, Self> {
                slf
            }

            fn __next__(&self, py: pyo3::Python<'_>) -> pyo3::PyResult<Option<$item>> {
                self.0.next(py)
            }

            /// Messages that the command would print on standard error, once an iteration or a stream was read to its end.
            #[getter]
            fn messages(&self) -> Vec<String> {
                self.0.messages()
            }

            /// The results as a stream of Arrow.
            #[pyo3(signature = (requested_schema = None))]
            fn __arrow_c_stream__<'py>(
                &self,
                py: pyo3::Python<'py>,
                requested_schema: Option<pyo3::Bound<'py, pyo3::PyAny>>,
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::types::PyCapsule>> {
                // A consumer casts to other types itself.
                drop(requested_schema);
                self.0.stream(py)
            }
        }
    };
}
pub(crate) use methods_of_results;

/// Results of a job. Iteration is one run of it, and so is each stream of Arrow.
pub(crate) struct Results<J: RecordJob> {
    task: WaitingJob<J>,
    state: Mutex<ResultsState<J>>,
    messages: Messages,
    /// Reports of the iteration.
    reports: Arc<Reports>,
}

/// State of the iteration.
enum ResultsState<J: RecordJob> {
    Unread,
    Items(Items<J>),
    Ended,
}

/// Messages of a job, which are there at its end.
#[derive(Clone, Default)]
struct Messages(Arc<Mutex<Vec<String>>>);

impl Messages {
    fn set(&self, messages: Vec<String>) {
        *lock(&self.0) = messages;
    }

    fn get(&self) -> Vec<String> {
        lock(&self.0).clone()
    }
}

/// An iteration over the objects of a job.
struct Items<J: RecordJob> {
    running: RunningJob<J>,
    records: Vec<u8>,
    /// Bytes of the records that were read.
    at: usize,
    /// Path of the last record, as Python has it and in messages.
    path: Option<(Py<PyAny>, String)>,
    /// Notices on files, each with its path.
    notices: Vec<String>,
}

impl<J: RecordJob> Items<J> {
    fn new(running: RunningJob<J>) -> Self {
        Self { running, records: Vec::new(), at: 0, path: None, notices: Vec::new() }
    }

    /// The next object in the records at hand.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<J::Item>> {
        let path = |path: &Option<(Py<PyAny>, String)>| {
            path.as_ref().map_or_else(|| py.None(), |(path, _)| path.clone_ref(py))
        };
        while let Some((read, length)) = J::read(py, &self.records[self.at..], || path(&self.path)) {
            self.at += length;
            match read {
                Read::Path(path) => {
                    let shown = String::from_utf8_lossy(path).into_owned();
                    self.path = Some((self.running.path(py, path)?, shown));
                }
                Read::Item(item) => return Ok(Some(item)),
                Read::Notice(notice) => {
                    let path = self.path.as_ref().map_or("", |(_, shown)| shown);
                    self.notices.push(format!("{path}: {notice}"));
                }
            }
        }
        Ok(None)
    }
}

/// Result of a short wait for an object.
enum WaitStep<I> {
    Found(I),
    Wait,
    End,
}

impl<J: RecordJob> Results<J> {
    /// Results of a job that reads these inputs. It has not begun.
    pub(crate) fn new(job: J, sources: Sources, progress: Option<Py<PyAny>>) -> Self {
        let task = WaitingJob { job: Arc::new(job), sources: Arc::new(sources) };
        let reports = Arc::new(Reports::new(progress));
        Self { task, state: Mutex::new(ResultsState::Unread), messages: Messages::default(), reports }
    }

    /// The next object, or `None` at the end.
    pub(crate) fn next(&self, py: Python<'_>) -> PyResult<Option<J::Item>> {
        loop {
            // A handler may use this iterator, so nothing is locked here.
            py.check_signals()?;
            self.report(py)?;
            match self.step(py)? {
                WaitStep::Found(found) => return Ok(Some(found)),
                WaitStep::Wait => {}
                WaitStep::End => return Ok(None),
            }
        }
    }

    /// Messages that the command would print on standard error, once all results of an iteration or a stream were read.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.messages.get()
    }

    /// The results of a run of its own.
    pub(crate) fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches =
            BatchReader::new(self.task.clone(), self.messages.clone(), self.reports.of_another_run(py));
        arrow::stream(py, J::Batches::schema(), batches)
    }

    /// Reports the progress. An exception of the function ends the iteration.
    fn report(&self, py: Python<'_>) -> PyResult<()> {
        self.reports.call(py).inspect_err(|_| {
            *unpoisoned(self.state.lock_py_attached(py)) = ResultsState::Ended;
        })
    }

    /// Waits for the next object, for a short time.
    fn step(&self, py: Python<'_>) -> PyResult<WaitStep<J::Item>> {
        let mut state = unpoisoned(self.state.lock_py_attached(py));
        let mut items = match std::mem::replace(&mut *state, ResultsState::Ended) {
            ResultsState::Unread => Items::new(self.task.start(&self.reports)?),
            ResultsState::Items(items) => items,
            ResultsState::Ended => return Ok(WaitStep::End),
        };
        if let Some(found) = items.next(py)? {
            *state = ResultsState::Items(items);
            return Ok(WaitStep::Found(found));
        }
        match py.detach(|| items.running.take()) {
            Taken::Bytes(records) => (items.records, items.at) = (records, 0),
            Taken::Nothing => {}
            Taken::End => {
                let messages = py.detach(|| items.running.finish(items.notices))?;
                self.messages.set(messages.clone());
                drop(state);
                warn(py, &messages)?;
                return Ok(WaitStep::End);
            }
        }
        *state = ResultsState::Items(items);
        Ok(WaitStep::Wait)
    }
}
