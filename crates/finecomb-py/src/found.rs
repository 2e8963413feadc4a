//! `finecomb.grep`: `comb grep` as an iterator of lines, and as a stream of Arrow.

mod shares;

use std::io::Write;
use std::sync::Arc;

use finecomb_arrow::FoundBatches;
use finecomb_command::faults::Faults;
use finecomb_command::grep::job::GrepJob;
use finecomb_grep::records::{FoundText, Record, Records, binary_notice};
use finecomb_scan::{Stop, Watch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

pub(crate) use self::shares::{grep_files, grep_share, survey_part};
use crate::results::{Read, RecordJob, Results, methods_of_results};
use crate::sources::Sources;
use crate::{error, flags};

/// Searches `paths` for lines that match `pattern`, a regular expression or a list of them.
///
/// `paths` is a path, bytes, a binary file object, or a list of these. The other arguments are those flags of `comb grep` that decide
/// what is found. Lines arrive during the search, in the order of the command. `progress` is called with the number of bytes processed and
/// the total, or None. Messages of the command are warnings of the class `finecomb.Warning`, at the end. If no input can be opened, that is an
/// OSError.
#[pyfunction]
#[pyo3(signature = (pattern, paths, *, progress = None, **flags))]
pub(crate) fn grep(
    py: Python<'_>,
    pattern: Patterns,
    paths: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
    flags: Option<&Bound<'_, PyDict>>,
) -> PyResult<Matches> {
    let sources = Sources::new(paths)?;
    let options = flags::named_options(flags)?;
    let job = py.detach(|| GrepJob::named(&pattern.0, &options, &sources.paths)).map_err(error)?;
    sources.check()?;
    Ok(Matches::new(job, sources, progress))
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

impl RecordJob for GrepJob {
    type Item = Match;
    type Batches = FoundBatches;

    fn run(
        &self,
        stop: &Arc<Stop>,
        watch: Option<Watch<'_>>,
        out: &mut (dyn Write + Send),
    ) -> Result<Faults, String> {
        GrepJob::run(self, stop, watch, out).map(|searched| searched.faults)
    }

    fn read<'b>(
        py: Python<'_>,
        records: &'b [u8],
        path: impl FnOnce() -> Py<PyAny>,
    ) -> Option<(Read<'b, Match>, usize)> {
        let mut records = Records::new(records);
        let read = match records.next()? {
            Record::Path(path) => Read::Path(path),
            Record::Line(line) => Read::Item(Match::new(py, path(), &line)),
            Record::Binary { offset, is_end } => Read::Notice(binary_notice(offset, is_end)),
        };
        Some((read, records.position()))
    }
}

/// Lines that are found: an iterator, and a stream of Arrow. Each stream is a search of its own.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Matches(Results<GrepJob>);

impl Matches {
    fn new(job: GrepJob, sources: Sources, progress: Option<Py<PyAny>>) -> Self {
        Self(Results::new(job, sources, progress))
    }
}

methods_of_results!(Matches, Match);

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
