//! Searches on threads of their own.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use finecomb::grep_job::{GrepJob, Searched};
use finecomb_arrow::FoundBatches;
use finecomb_scan::Stop;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::Messages;
use crate::pipe::{PipeReader, Taken, pipe};
use crate::sources::Sources;
use crate::{error, warn};

/// Time after which a reader that waits looks at signals.
const PERIOD: Duration = Duration::from_millis(50);

/// Size of a batch of Arrow, in bytes of records.
const BATCH: usize = 1 << 20;

/// Time after which a batch may be smaller.
const PATIENCE: Duration = Duration::from_millis(100);

/// A search that has not begun.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) job: Arc<GrepJob>,
    pub(super) sources: Arc<Sources>,
}

/// A search that goes on while it is read. To drop it ends it.
pub(super) struct Search {
    reader: PipeReader,
    stop: Arc<Stop>,
    /// `None` once it has ended.
    thread: Option<JoinHandle<Result<Searched, String>>>,
    sources: Arc<Sources>,
    /// Names of data in memory, by its path.
    names: HashMap<Vec<u8>, String>,
}

impl Task {
    /// Begins the search.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub(super) fn start(&self) -> PyResult<Search> {
        let stop = Arc::new(Stop::new()?);
        let (mut writer, reader) = pipe();
        let (raised, Self { job, sources }) = (Arc::clone(&stop), self.clone());
        let names = sources.names();
        // Data in memory is there as long as the sources are.
        let held = Arc::clone(&sources);
        let run = move || {
            let searched = job.run(&raised, &mut writer);
            drop(held);
            searched
        };
        let thread = Some(thread::Builder::new().spawn(run)?);
        Ok(Search { reader, stop, thread, sources, names })
    }
}

impl Search {
    /// The path of a file, or the name of data in memory.
    pub(super) fn path(&self, py: Python<'_>, path: &[u8]) -> PyResult<Py<PyAny>> {
        let path = match self.names.get(path) {
            Some(name) => OsStr::new(name),
            None => OsStr::from_bytes(path),
        };
        Ok(path.into_pyobject(py)?.into_any().unbind())
    }

    /// Waits for records, for a short time.
    pub(super) fn take(&self) -> Taken {
        self.reader.take(1, PERIOD)
    }

    /// The messages of the search, which has ended, with notices on binary files.
    pub(super) fn finish(mut self, notices: Vec<String>) -> PyResult<Vec<String>> {
        let Some(thread) = self.thread.take() else { return Ok(Vec::new()) };
        let searched = thread.join().map_err(|_| PyRuntimeError::new_err("a thread panicked"))?;
        let mut messages = notices;
        messages.extend(searched.map_err(error)?.messages());
        Ok(messages.iter().map(|message| self.sources.named(message)).collect())
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.stop.raise();
    }
}

/// The batches of a search, which begins when the first is asked for. A consumer does that from any thread.
pub(super) struct BatchReader {
    state: State,
    batches: FoundBatches,
    messages: Messages,
}

enum State {
    Waiting(Task),
    Searching(Search),
    Ended,
}

impl BatchReader {
    pub(super) fn new(task: Task, messages: Messages) -> Self {
        let batches = FoundBatches::new(task.sources.names());
        Self { state: State::Waiting(task), batches, messages }
    }

    /// The next batch that is not empty.
    fn read(&mut self) -> PyResult<Option<Result<RecordBatch, ArrowError>>> {
        loop {
            let search = match std::mem::replace(&mut self.state, State::Ended) {
                State::Waiting(task) => task.start()?,
                State::Searching(search) => search,
                State::Ended => return Ok(None),
            };
            match search.reader.take(BATCH, PATIENCE) {
                Taken::End => {
                    self.finish(search)?;
                    return Ok(None);
                }
                Taken::Nothing => self.state = State::Searching(search),
                Taken::Bytes(records) => {
                    let batch = self.batches.batch(records);
                    self.state = State::Searching(search);
                    if batch.as_ref().is_ok_and(|batch| batch.num_rows() == 0) {
                        continue;
                    }
                    return Ok(Some(batch));
                }
            }
        }
    }

    /// The messages are warnings, also if nothing else holds the iterator any more.
    fn finish(&mut self, search: Search) -> PyResult<()> {
        let messages = search.finish(self.batches.take_notices())?;
        self.messages.set(messages.clone());
        if messages.is_empty() { Ok(()) } else { Python::attach(|py| warn(py, &messages)) }
    }
}

impl Iterator for BatchReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Ok(batch) => batch,
            Err(error) => Some(Err(ArrowError::ExternalError(Box::new(error)))),
        }
    }
}
