//! `finecomb.Counts`: counts of all keys, which can be merged and stored.

use finecomb::top_job::{Definition, TopJob};
use finecomb_top::{AllCounted, Query, StoredCounts, count_all};
use pyo3::prelude::*;
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
    definition: Definition,
    query: Query,
    counts: finecomb_top::Counts,
}

#[pymethods]
impl Counts {
    #[new]
    #[pyo3(signature = (**flags))]
    fn new(flags: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut job = TopJob::of_counts(flags::words(flags)?).map_err(error)?;
        job.fix_definition().map_err(error)?;
        Self::of(job)
    }

    /// Adds the records of a path, bytes, a binary file object, or a list of these.
    #[pyo3(signature = (paths, *, progress = None))]
    fn add(
        &mut self,
        py: Python<'_>,
        paths: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let sources = Sources::new(paths)?;
        let inputs = self.job.inputs(&sources.paths).map_err(error)?;
        let (job, query) = (&self.job, &self.query);
        let AllCounted { counts, problems, .. } =
            running::run(py, progress, job.scan(), |options| count_all(&inputs, &options, query))?;
        let messages = sources.messages(&problems, job.notes(&counts.summary()));
        py.detach(|| self.counts.merge(&counts));
        warn(py, &messages)
    }

    /// Adds the counts of others with the same flags.
    fn merge(&mut self, py: Python<'_>, other: &Self) -> PyResult<()> {
        self.check(&other.definition)?;
        py.detach(|| self.counts.merge(&other.counts));
        Ok(())
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
        let keywords = PyDict::new(py);
        keywords.set_item("n", n)?;
        flags.into_iter().try_for_each(|flags| keywords.update(flags.as_mapping()))?;
        let mut job = TopJob::new(flags::words(Some(&keywords))?).map_err(error)?;
        job.define(&self.definition).map_err(error)?;
        let query = job.query().map_err(error)?;
        let answer = py.detach(|| self.counts.answer_of(&query));
        let messages = job.notes(&answer);
        Ok(Top { answer, messages })
    }

    /// Number of records counted.
    #[getter]
    fn records(&self) -> u64 {
        self.counts.records()
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

    /// Counts from `to_bytes` or `comb top --save-counts`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let stored = StoredCounts::new(data).map_err(error)?;
        let mut job = TopJob::new(Vec::new()).map_err(error)?;
        job.define(&Definition::from_bytes(stored.definition())).map_err(error)?;
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

impl Counts {
    /// No counts, of a job with absolute times.
    fn of(job: TopJob) -> PyResult<Self> {
        let query = job.query().map_err(error)?;
        let definition = job.definition().map_err(error)?;
        let counts = finecomb_top::Counts::new(&query);
        Ok(Self { job, definition, query, counts })
    }

    /// Checks that counts have this definition.
    fn check(&self, definition: &Definition) -> PyResult<()> {
        if self.definition == *definition {
            return Ok(());
        }
        Err(error(format!("counts of {definition} cannot be added to those of {}", self.definition)))
    }
}
