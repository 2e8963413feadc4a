//! `finecomb.grep`: `comb grep` as an iterator of lines, and as a stream of Arrow.

mod search;
mod shares;

use std::sync::{Arc, Mutex, PoisonError};

use finecomb::grep_job::GrepJob;
use finecomb_arrow::found_schema;
use finecomb_grep::records::{FoundText, Record, Records, binary_notice};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use self::search::{BatchReader, Search, Task};
pub(crate) use self::shares::{grep_files, grep_share, survey_part};
use crate::pipe::Taken;
use crate::sources::Sources;
use crate::{arrow, error, flags, warn};

/// Searches `paths` for lines that match `pattern`, a regular expression or a list of them.
///
/// `paths` is a path, bytes, a binary file object, or a list of these. The other arguments are those flags of `comb grep` that decide
/// what is found. The lines come in the order of the command while the search goes on; what it reports on standard error is a
/// `finecomb.Warning` at the end.
#[pyfunction]
#[pyo3(signature = (pattern, paths, **flags))]
pub(crate) fn grep(
    py: Python<'_>,
    pattern: Patterns,
    paths: &Bound<'_, PyAny>,
    flags: Option<&Bound<'_, PyDict>>,
) -> PyResult<Matches> {
    let sources = Sources::new(paths)?;
    let words = flags::words(flags)?;
    let job = py.detach(|| GrepJob::new(&pattern.0, words, &sources.paths)).map_err(error)?;
    Ok(Matches::new(job, sources))
}

/// Regular expressions: one, a list, or none if a flag names a file of them.
pub(crate) struct Patterns(Vec<String>);

impl<'py> FromPyObject<'_, 'py> for Patterns {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self(Vec::new()));
        }
        value.extract::<String>().map(|pattern| vec![pattern]).or_else(|_| value.extract()).map(Self)
    }
}

/// Lines that are found: an iterator, and a stream of Arrow. Each stream is a search of its own.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Matches {
    task: Task,
    state: Mutex<State>,
    messages: Messages,
}

/// State of the iteration.
enum State {
    Unread,
    Lines(Lines),
    Ended,
}

/// Messages of a search, which are there at its end.
#[derive(Clone, Default)]
struct Messages(Arc<Mutex<Vec<String>>>);

impl Messages {
    fn set(&self, messages: Vec<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = messages;
    }

    fn get(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An iteration over lines.
struct Lines {
    search: Search,
    records: Vec<u8>,
    /// Bytes of the records that were read.
    at: usize,
    /// Path of the last record, as Python has it and in messages.
    path: Option<(Py<PyAny>, String)>,
    /// Notices on binary files.
    notices: Vec<String>,
}

impl Lines {
    fn new(search: Search) -> Self {
        Self { search, records: Vec::new(), at: 0, path: None, notices: Vec::new() }
    }

    /// The next line in the records at hand.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Match>> {
        let mut records = Records::new(&self.records[self.at..]);
        let mut found = None;
        while found.is_none()
            && let Some(record) = records.next()
        {
            match record {
                Record::Path(path) => {
                    let shown = String::from_utf8_lossy(path).into_owned();
                    self.path = Some((self.search.path(py, path)?, shown));
                }
                Record::Line(line) => {
                    let path = self.path.as_ref().map_or_else(|| py.None(), |(path, _)| path.clone_ref(py));
                    found = Some(Match::new(py, path, &line));
                }
                Record::Binary { offset, is_end } => {
                    let path = self.path.as_ref().map_or("", |(_, shown)| shown);
                    self.notices.push(format!("{path}: {}", binary_notice(offset, is_end)));
                }
            }
        }
        self.at += records.position();
        Ok(found)
    }
}

impl Matches {
    fn new(job: GrepJob, sources: Sources) -> Self {
        let task = Task { job: Arc::new(job), sources: Arc::new(sources) };
        Self { task, state: Mutex::new(State::Unread), messages: Messages::default() }
    }

    /// Waits for the next line, for a short time.
    fn step(&self, py: Python<'_>) -> PyResult<Step> {
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let mut lines = match std::mem::replace(&mut *state, State::Ended) {
            State::Unread => Lines::new(self.task.start()?),
            State::Lines(lines) => lines,
            State::Ended => return Ok(Step::End),
        };
        if let Some(found) = lines.next(py)? {
            *state = State::Lines(lines);
            return Ok(Step::Found(found));
        }
        match py.detach(|| lines.search.take()) {
            Taken::Bytes(records) => (lines.records, lines.at) = (records, 0),
            Taken::Nothing => {}
            Taken::End => {
                let messages = py.detach(|| lines.search.finish(lines.notices))?;
                self.messages.set(messages.clone());
                drop(state);
                warn(py, &messages)?;
                return Ok(Step::End);
            }
        }
        *state = State::Lines(lines);
        Ok(Step::Wait)
    }
}

/// Result of a short wait for a line.
enum Step {
    Found(Match),
    Wait,
    End,
}

#[pymethods]
impl Matches {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Match>> {
        loop {
            // A handler may use this iterator, so nothing is locked here.
            py.check_signals()?;
            match self.step(py)? {
                Step::Found(found) => return Ok(Some(found)),
                Step::Wait => {}
                Step::End => return Ok(None),
            }
        }
    }

    /// Messages that the command would print on standard error, once all lines of an iteration or a stream were read.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.messages.get()
    }

    /// The lines as a stream of Arrow.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts to other types itself.
        drop(requested_schema);
        arrow::stream(py, found_schema(), BatchReader::new(self.task.clone(), self.messages.clone()))
    }
}

/// A line that was found, or the lines of one match.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Match {
    path: Py<PyAny>,
    line: Py<PyBytes>,
    line_number: Option<u64>,
    offset: u64,
    spans: Option<Vec<(u32, u32)>>,
}

impl Match {
    fn new(py: Python<'_>, path: Py<PyAny>, line: &FoundText<'_>) -> Self {
        Self {
            path,
            line: PyBytes::new(py, line.text).unbind(),
            line_number: line.number,
            offset: line.offset,
            spans: line.spans.clone().map(|spans| spans.map(|span| (span.start, span.end)).collect()),
        }
    }
}

#[pymethods]
impl Match {
    /// Path of the file, as the command prints it.
    #[getter]
    fn path(&self, py: Python<'_>) -> Py<PyAny> {
        self.path.clone_ref(py)
    }

    /// Number of the line, counted from 1; None without numbers.
    #[getter]
    fn line_number(&self) -> Option<u64> {
        self.line_number
    }

    /// Offset of the line in the text of the file.
    #[getter]
    fn offset(&self) -> u64 {
        self.offset
    }

    /// The line, exactly, without its end.
    #[getter]
    fn line(&self, py: Python<'_>) -> Py<PyBytes> {
        self.line.clone_ref(py)
    }

    /// The line as text; U+FFFD is in the place of bytes that are not UTF-8.
    #[getter]
    fn text(&self, py: Python<'_>) -> String {
        String::from_utf8_lossy(self.line.as_bytes(py)).into_owned()
    }

    /// Start and end of each match in the bytes of the line.
    #[getter]
    fn spans(&self) -> Vec<(u32, u32)> {
        self.spans.clone().unwrap_or_default()
    }

    /// Whether the line is not found itself, but near one that is.
    #[getter]
    fn is_context(&self) -> bool {
        self.spans.is_none()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.bind(py).str()?;
        let place = match self.line_number {
            Some(number) => format!("{}:{number}", path.to_string_lossy()),
            None => path.to_string_lossy().into_owned(),
        };
        Ok(format!("<Match {place}: {:?}>", self.text(py)))
    }
}
