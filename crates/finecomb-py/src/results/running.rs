//! Jobs on threads of their own, which are read while they run.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Write;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use finecomb_arrow::Batches;
use finecomb_command::faults::Faults;
use finecomb_scan::{Stop, Watch};
use finecomb_sys::threads::spawn_free;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::Messages;
use crate::pipe::{PipeReader, Taken, pipe};
use crate::running::{Reports, refused};
use crate::sources::Sources;
use crate::{error, warn};

/// Time after which a reader that waits looks at signals.
const PERIOD: Duration = Duration::from_millis(50);

/// Size of a batch of Arrow, in bytes of records.
const BATCH: usize = 1 << 20;

/// Time after which a batch may be smaller.
const PATIENCE: Duration = Duration::from_millis(100);

/// A job that writes records, whole ones at a time.
pub(crate) trait RecordJob: Send + Sync + 'static {
    /// Object of Python for a record.
    type Item;
    /// Converts records to batches of Arrow.
    type Batches: Batches + Send + 'static;

    /// Runs the job until it has ended, writing fails, or `stop` is raised.
    ///
    /// # Errors
    /// If it cannot begin.
    fn run(
        &self,
        stop: &Arc<Stop>,
        watch: Option<Watch<'_>>,
        out: &mut (dyn Write + Send),
    ) -> Result<Faults, String>;

    /// The first of the records, and its length. `path` is the path of its file.
    fn read<'b>(
        py: Python<'_>,
        records: &'b [u8],
        path: impl FnOnce() -> Py<PyAny>,
    ) -> Option<(Read<'b, Self::Item>, usize)>;
}

/// A record.
pub(crate) enum Read<'b, I> {
    /// The path of the file of the records that follow.
    Path(&'b [u8]),
    /// An object.
    Item(I),
    /// A notice on the file.
    Notice(String),
}

/// A job that has not begun.
pub(super) struct WaitingJob<J> {
    pub(super) job: Arc<J>,
    pub(super) sources: Arc<Sources>,
}

// The job itself is shared.
impl<J> Clone for WaitingJob<J> {
    fn clone(&self) -> Self {
        Self { job: Arc::clone(&self.job), sources: Arc::clone(&self.sources) }
    }
}

/// A job that is read while it runs. Dropping it ends the job.
pub(super) struct RunningJob<J> {
    reader: PipeReader,
    stop: Arc<Stop>,
    /// `None` once it has ended.
    thread: Option<JoinHandle<Result<Faults, String>>>,
    sources: Arc<Sources>,
    /// Names of data in memory, by its path.
    names: HashMap<Vec<u8>, String>,
    job: PhantomData<J>,
}

impl<J: RecordJob> WaitingJob<J> {
    /// Begins the job.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub(super) fn start(&self, reports: &Arc<Reports>) -> PyResult<RunningJob<J>> {
        let stop = Arc::new(Stop::new()?);
        let (mut writer, reader) = pipe();
        let (raised, Self { job, sources }) = (Arc::clone(&stop), self.clone());
        let names = sources.names();
        // Data in memory is there as long as the sources are.
        let held = Arc::clone(&sources);
        let reports = Arc::clone(reports);
        let run = move || {
            let faults = reports.collect(|watch| job.run(&raised, watch, &mut writer));
            drop(held);
            faults
        };
        let thread = spawn_free(run).ok_or_else(refused)?;
        Ok(RunningJob { reader, stop, thread: Some(thread), sources, names, job: PhantomData })
    }
}

impl<J> RunningJob<J> {
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

    /// The messages of the job, which has ended, with notices on files.
    pub(super) fn finish(mut self, notices: Vec<String>) -> PyResult<Vec<String>> {
        let Some(thread) = self.thread.take() else { return Ok(Vec::new()) };
        let faults = thread.join().map_err(|_| PyRuntimeError::new_err("a thread panicked"))?;
        let mut messages = notices;
        messages.extend(faults.map_err(error)?.messages());
        Ok(self.sources.messages(messages))
    }
}

impl<J> Drop for RunningJob<J> {
    fn drop(&mut self) {
        self.stop.raise();
    }
}

/// The batches of a job, which begins when the first is asked for. A consumer does that from any thread.
pub(super) struct BatchReader<J: RecordJob> {
    state: JobState<J>,
    batches: J::Batches,
    messages: Messages,
    reports: Arc<Reports>,
    /// Thread that has asked for the stream.
    consumer: ThreadId,
}

enum JobState<J> {
    Waiting(WaitingJob<J>),
    Running(RunningJob<J>),
    Ended,
}

impl<J: RecordJob> BatchReader<J> {
    pub(super) fn new(task: WaitingJob<J>, messages: Messages, reports: Reports) -> Self {
        let batches = J::Batches::new(task.sources.names());
        let consumer = thread::current().id();
        Self { state: JobState::Waiting(task), batches, messages, reports: Arc::new(reports), consumer }
    }

    /// The next batch that is not empty.
    fn read(&mut self) -> PyResult<Option<Result<RecordBatch, ArrowError>>> {
        loop {
            let running = match std::mem::replace(&mut self.state, JobState::Ended) {
                JobState::Waiting(task) => task.start(&self.reports)?,
                JobState::Running(running) => running,
                JobState::Ended => return Ok(None),
            };
            match self.wait(&running)? {
                Taken::End => {
                    self.finish(running)?;
                    return Ok(None);
                }
                Taken::Nothing => self.state = JobState::Running(running),
                Taken::Bytes(records) => {
                    let batch = self.batches.batch(records);
                    self.state = JobState::Running(running);
                    if batch.as_ref().is_ok_and(|batch| batch.num_rows() == 0) {
                        continue;
                    }
                    return Ok(Some(batch));
                }
            }
        }
    }

    /// Waits for records. In the thread of the consumer of Python, signals end the wait.
    fn wait(&self, running: &RunningJob<J>) -> PyResult<Taken> {
        let take = || running.reader.take(BATCH, PATIENCE);
        // In another thread, the consumer may wait for it with the lock of the interpreter.
        if thread::current().id() == self.consumer {
            return Python::attach(|py| {
                let taken = py.detach(take);
                py.check_signals()?;
                self.reports.call(py)?;
                Ok(taken)
            });
        }
        let taken = take();
        if self.reports.is_new() {
            Python::attach(|py| self.reports.call(py))?;
        }
        Ok(taken)
    }

    /// The messages are warnings, also if nothing else holds the iterator any more.
    fn finish(&mut self, running: RunningJob<J>) -> PyResult<()> {
        let messages = running.finish(self.batches.take_notices())?;
        self.messages.set(messages.clone());
        if messages.is_empty() { Ok(()) } else { Python::attach(|py| warn(py, &messages)) }
    }
}

impl<J: RecordJob> Iterator for BatchReader<J> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Ok(batch) => batch,
            Err(error) => Some(Err(ArrowError::ExternalError(Box::new(error)))),
        }
    }
}
