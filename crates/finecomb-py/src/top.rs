//! `finecomb.top`: `comb top` as a function.

use finecomb_command::top::job::TopJob;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::Top;
use crate::sources::Sources;
use crate::{error, flags, running, warn};

/// Counts the keys of all records of `paths`, and returns the most frequent ones.
///
/// `paths` is a path, bytes, a binary file object, or a list of these. The other arguments are the flags of `comb top`: a flag that
/// takes no value is True, and one that may be repeated takes a list. `n` is `number`. What the command reports on standard error is a
/// `finecomb.Warning`, and in `messages` of the result. If no input can be opened, that is an OSError.
#[pyfunction]
#[pyo3(signature = (paths, *, progress = None, **flags))]
pub(crate) fn top(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
    flags: Option<&Bound<'_, PyDict>>,
) -> PyResult<Top> {
    let sources = Sources::new(paths)?;
    let job = TopJob::new(flags::named_options(flags)?).map_err(error)?;
    let (query, inputs) = (job.query().map_err(error)?, job.inputs(&sources.paths).map_err(error)?);
    sources.check()?;
    let outcome =
        running::run(py, progress, job.scan(), |options| finecomb_top::top(&inputs, &options, &query))?;
    if let Some(reason) = outcome.failure {
        return Err(error(reason));
    }
    let mut messages = job.messages(&outcome.problems, &outcome.answer);
    messages.extend(job.reason_of_nothing(&outcome.problems, &outcome.answer));
    let messages = sources.messages(messages);
    warn(py, &messages)?;
    Ok(Top::new(outcome.answer, messages))
}
