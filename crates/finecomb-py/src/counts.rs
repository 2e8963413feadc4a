//! `finecomb.Counts`: counts of all keys, which can be merged and stored.

use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

use finecomb_command::top::job::{TopJob, problem_messages};
use finecomb_command::top::options::definition::StoredDefinition;
use finecomb_scan::list_files;
use finecomb_sys::locks::{lock, unpoisoned};
use finecomb_top::{AllCounted, Query, StoredCounts, TableLimit, count_all};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::answer::Top;
use crate::sources::Sources;
use crate::{error, flags, running, warn};

/// The counts of all keys of some records.
///
/// `Counts(fields=[7])` counts nothing yet; the arguments are those flags of `comb top` that select records, keys, times and measures,
/// and how inputs are read. Counts with the same flags can be merged.
#[pyclass(module = "finecomb")]
pub(crate) struct Counts {
    job: TopJob,
    definition: StoredDefinition,
    query: Query,
    counts: finecomb_top::Counts,
}

/// Counts that are added to others.
#[derive(FromPyObject)]
enum Other<'py> {
    Counts(PyRef<'py, Counts>),
    Stored(PyBackedBytes),
}

#[pymethods]
impl Counts {
    #[new]
    #[pyo3(signature = (**flags))]
    fn new(flags: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut job = TopJob::of_counts(flags::named_options(flags)?).map_err(error)?;
        job.fix_definition().map_err(error)?;
        Self::of(job)
    }

    /// Adds the records of a path, bytes, a binary file object, or a list of these. If none can be opened, that is an OSError.
    #[pyo3(signature = (paths, *, progress = None))]
    fn add(
        &mut self,
        py: Python<'_>,
        paths: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.count(py, &Sources::new(paths)?, None, progress)
    }

    /// Adds the records of a file that begin at offsets from `start` up to `end`, or all from `start` on. So a file can be divided among
    /// several counts. A file that cannot be read from an arbitrary offset is counted as a whole if `start` is 0, and otherwise skipped:
    /// one that is compressed or not in UTF-8, an archive, a pipe, or CSV.
    #[pyo3(signature = (path, start = 0, end = None, *, progress = None))]
    fn add_file(
        &mut self,
        py: Python<'_>,
        path: PathBuf,
        start: u64,
        end: Option<u64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.count(py, &Sources::of_file(path), Some(start..end.unwrap_or(u64::MAX)), progress)
    }

    /// Adds the records of bytes or another buffer. Messages call it `name`.
    #[pyo3(signature = (data, *, name = "bytes", progress = None))]
    fn add_bytes(
        &mut self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        name: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.count(py, &Sources::of_bytes(data, name)?, None, progress)
    }

    /// Adds the records of a part of a file, or of bytes that messages call `name`, to counts that are merged elsewhere. Offsets are those
    /// of `add_file`. When the keys take more than `memory` bytes, they are emitted: returned as `parts` parts, as `split` stores them, each
    /// time. Records that were left out have no message: `top` of all counts has it. After an exception the counts are incomplete.
    #[pyo3(signature = (input, start = 0, end = None, *, memory, parts, name = "bytes"))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn add_part<'py>(
        &mut self,
        py: Python<'py>,
        input: &Bound<'py, PyAny>,
        start: u64,
        end: Option<u64>,
        memory: u64,
        parts: usize,
        name: &str,
    ) -> PyResult<Vec<Vec<Bound<'py, PyBytes>>>> {
        check_parts(parts)?;
        let sources = match input.extract() {
            Ok(path) => Sources::of_file(path),
            Err(_) => Sources::of_bytes(input, name)?,
        };
        let inputs = self.job.inputs(&sources.paths).map_err(error)?;
        let options = self.job.scan().part(Some(start..end.unwrap_or(u64::MAX)));
        let (counts, definition) = (&mut self.counts, self.definition.to_bytes());
        let emitted = Mutex::new(Vec::new());
        let emit = |counts: finecomb_top::Counts| {
            let stored = counts.store_divided(&definition, parts);
            lock(&emitted).push(stored);
        };
        let limit = TableLimit { memory, emit: &emit };
        let problems =
            running::run(py, None, options, |options| counts.add_limited(&inputs, &options, limit))?;
        warn(py, &sources.messages(problem_messages(&problems)))?;
        let emitted = unpoisoned(emitted.into_inner());
        Ok(emitted.iter().map(|parts| bytes_of(py, parts)).collect())
    }

    /// The files that `add` would read of a path or a list of paths, each with its size. Pipes and devices are left out.
    fn files(&self, py: Python<'_>, paths: &Bound<'_, PyAny>) -> PyResult<Vec<(OsString, u64)>> {
        let sources = Sources::new(paths)?;
        let inputs = self.job.inputs(&sources.paths).map_err(error)?;
        let (files, problems) = py.detach(|| list_files(&inputs));
        warn(py, &sources.messages(problem_messages(&problems)))?;
        Ok(files.into_iter().map(|file| (file.path.into_os_string(), file.size)).collect())
    }

    /// Adds counts with the same flags, or those that `to_bytes` or `split` has stored. If an error says that the contents of these are
    /// invalid, in spite of their checksum, some may have been added.
    fn merge(&mut self, py: Python<'_>, other: Other<'_>) -> PyResult<()> {
        match other {
            Other::Counts(other) => {
                let other: &Self = &other;
                self.check(&other.definition)?;
                py.detach(|| self.counts.merge(&other.counts));
            }
            Other::Stored(bytes) => {
                let stored = StoredCounts::new(&bytes).map_err(error)?;
                self.check(&StoredDefinition::from_bytes(stored.definition()).map_err(error)?)?;
                py.detach(|| stored.add_to(&mut self.counts)).map_err(error)?;
            }
        }
        Ok(())
    }

    /// The counts as `to_bytes` stores them, but in `parts` parts with a share of the keys each. The part of a key is the same in all
    /// counts that are split in as many parts, in any process. The number of records, and of those that were left out, is in the first
    /// part. Add each part of all counts, also those without keys.
    fn split<'py>(&self, py: Python<'py>, parts: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        check_parts(parts)?;
        let stored = py.detach(|| self.counts.store_divided(&self.definition.to_bytes(), parts));
        Ok(bytes_of(py, &stored))
    }

    /// The counts of only the first keys: `n`, `sort`, `reverse` and `min_count` are the flags of `comb top`. With `every`, all buckets of
    /// these keys.
    #[pyo3(signature = (n = None, **flags))]
    fn first(
        &self,
        py: Python<'_>,
        n: Option<Bound<'_, PyAny>>,
        flags: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let query = self.ordered(py, n, flags)?.query().map_err(error)?;
        let mut first = Self::of(self.job.clone())?;
        first.counts = py.detach(|| self.counts.first(&query));
        Ok(first)
    }

    fn __add__(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.check(&other.definition)?;
        let mut sum = Self::of(self.job.clone())?;
        py.detach(|| [self, other].into_iter().for_each(|counts| sum.counts.merge(&counts.counts)));
        Ok(sum)
    }

    /// The first keys: `n`, `sort`, `reverse` and `min_count` are the flags of `comb top`.
    #[pyo3(signature = (n = None, **flags))]
    fn top(
        &self,
        py: Python<'_>,
        n: Option<Bound<'_, PyAny>>,
        flags: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Top> {
        let job = self.ordered(py, n, flags)?;
        let query = job.query().map_err(error)?;
        let answer = py.detach(|| self.counts.answer_of(&query));
        let messages = job.messages(&[], &answer);
        Ok(Top::new(answer, messages))
    }

    /// Number of records counted.
    #[getter]
    fn records(&self) -> u64 {
        self.counts.records()
    }

    /// Bytes of memory of the keys and measures.
    #[getter]
    fn memory(&self) -> u64 {
        self.counts.memory()
    }

    /// The format of the records, as `input` names it: given or chosen by the fields.
    #[getter]
    fn input(&self) -> &str {
        self.query.input().name()
    }

    /// The flags that define the counts, as the command has them.
    #[getter]
    fn definition(&self) -> String {
        self.definition.to_string()
    }

    /// The counts as bytes, which `comb top --merge` reads as well. Equal counts are equal bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.counts.store(&self.definition.to_bytes()));
        PyBytes::new(py, &bytes)
    }

    /// Counts from `to_bytes` or `comb top --save-counts`. Flags say how further inputs are read; those that select records, keys, times and
    /// measures are replaced by those of the stored counts.
    #[staticmethod]
    #[pyo3(signature = (data, **flags))]
    fn from_bytes(py: Python<'_>, data: &[u8], flags: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let stored = StoredCounts::new(data).map_err(error)?;
        let mut job = TopJob::of_counts(flags::named_options(flags)?).map_err(error)?;
        job.define(&StoredDefinition::from_bytes(stored.definition()).map_err(error)?).map_err(error)?;
        let mut counts = Self::of(job)?;
        py.detach(|| stored.add_to(&mut counts.counts)).map_err(error)?;
        Ok(counts)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    fn __repr__(&self) -> String {
        format!("<Counts of {}: {} records>", self.definition, self.counts.records())
    }
}

/// Checks a number of parts.
fn check_parts(parts: usize) -> PyResult<()> {
    if parts == 0 {
        return Err(error("counts are split into at least one part"));
    }
    Ok(())
}

fn bytes_of<'py>(py: Python<'py>, parts: &[Vec<u8>]) -> Vec<Bound<'py, PyBytes>> {
    parts.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
}

impl Counts {
    /// No counts, of a job with absolute times.
    fn of(job: TopJob) -> PyResult<Self> {
        let query = job.query().map_err(error)?;
        let definition = job.definition();
        let counts = finecomb_top::Counts::new(&query);
        Ok(Self { job, definition, query, counts })
    }

    /// Adds the records of inputs, of the part at these offsets if there is one.
    fn count(
        &mut self,
        py: Python<'_>,
        sources: &Sources,
        part: Option<Range<u64>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let inputs = self.job.inputs(&sources.paths).map_err(error)?;
        sources.check()?;
        let (job, query) = (&self.job, &self.query);
        let options = job.scan().part(part);
        let AllCounted { counts, problems, .. } =
            running::run(py, progress, options, |options| count_all(&inputs, &options, query))?;
        let messages = sources.messages(job.messages(&problems, &counts.summary()));
        py.detach(|| self.counts.merge(&counts));
        warn(py, &messages)
    }

    /// A job with the definition of these counts, and flags of the number and the order of keys.
    fn ordered(
        &self,
        py: Python<'_>,
        n: Option<Bound<'_, PyAny>>,
        flags: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<TopJob> {
        let keywords = PyDict::new(py);
        keywords.set_item("n", n)?;
        flags.into_iter().try_for_each(|flags| keywords.update(flags.as_mapping()))?;
        let mut job = TopJob::new(flags::named_options(Some(&keywords))?).map_err(error)?;
        job.define(&self.definition).map_err(error)?;
        Ok(job)
    }

    /// Checks that counts have this definition.
    fn check(&self, definition: &StoredDefinition) -> PyResult<()> {
        if self.definition == *definition {
            return Ok(());
        }
        Err(error(format!("counts of {definition} cannot be added to those of {}", self.definition)))
    }
}
