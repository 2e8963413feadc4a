//! Searches that are divided among processes: the list of their files, and the search of a share of these.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use finecomb_command::faults::problem_messages;
use finecomb_command::grep::job::{GrepJob, Share};
use finecomb_sys::ReadBuffer;
use memchr::{memchr, memchr_iter};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::{Matches, Patterns};
use crate::sources::Sources;
use crate::{error, flags, warn};

/// Bytes that are read at a time.
const STEP: usize = 256 << 10;

/// The files that `grep` would search, each with its size and whether it is named itself, not found in a directory. Pipes and devices are
/// left out.
#[pyfunction]
#[pyo3(signature = (pattern, paths, **flags))]
pub(crate) fn grep_files(
    py: Python<'_>,
    pattern: Patterns,
    paths: &Bound<'_, PyAny>,
    flags: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<(OsString, u64, bool)>> {
    let sources = Sources::new(paths)?;
    let options = flags::named_options(flags)?;
    let job = GrepJob::named(&pattern.0, &options, &sources.paths).map_err(error)?;
    let (files, problems) = py.detach(|| job.files());
    warn(py, &sources.messages(problem_messages(&problems)))?;
    Ok(files.into_iter().map(|file| (file.path.into_os_string(), file.size, file.is_named)).collect())
}

/// Searches files that `grep_files` has listed, or bytes that messages call `name`. `named` says whether these are files that were named.
///
/// With `start` or `end`, only the lines that begin between these offsets are searched. Offsets are those of the whole file; line numbers
/// begin with 1.
#[pyfunction]
#[pyo3(signature = (pattern, input, *, named, start = None, end = None, name = "bytes", **flags))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn grep_share(
    py: Python<'_>,
    pattern: Patterns,
    input: &Bound<'_, PyAny>,
    named: bool,
    start: Option<u64>,
    end: Option<u64>,
    name: &str,
    flags: Option<&Bound<'_, PyDict>>,
) -> PyResult<Matches> {
    let sources =
        if input.is_instance_of::<PyList>() { Sources::new(input)? } else { Sources::of_bytes(input, name)? };
    let options = flags::named_options(flags)?;
    let is_part = start.is_some() || end.is_some();
    let part = is_part.then(|| start.unwrap_or(0)..end.unwrap_or(u64::MAX));
    let share = Share { files: sources.paths.clone(), are_named: named, part };
    let job = py.detach(|| GrepJob::of_share(&pattern.0, &options, share)).map_err(error)?;
    Ok(Matches::new(job, sources, None))
}

/// The number of lines that begin in a part of a file, and whether there is a NUL in it.
///
/// # Errors
/// If the file cannot be read.
#[pyfunction]
#[pyo3(signature = (path, start, end = None))]
pub(crate) fn survey_part(
    py: Python<'_>,
    path: PathBuf,
    start: u64,
    end: Option<u64>,
) -> PyResult<(u64, bool)> {
    let surveyed = py.detach(|| survey(&path, start..end.unwrap_or(u64::MAX)));
    Ok(surveyed.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?)
}

fn survey(path: &Path, part: Range<u64>) -> io::Result<(u64, bool)> {
    let file = File::open(path)?;
    let end = part.end.min(file.metadata()?.len());
    // The line feed before the part decides whether a line begins with it.
    let mut at = part.start.saturating_sub(1);
    let (mut lines, mut has_nul) = (u64::from(part.start == 0 && end > 0), false);
    let mut buffer = ReadBuffer::new();
    while at < end {
        let wanted = usize::try_from(end - at).map_or(STEP, |rest| rest.min(STEP));
        buffer.restart(at);
        let bytes = match buffer.read_at(&file, 0..wanted, at)? {
            // The file has become shorter.
            0 => break,
            got => &buffer[..got],
        };
        let next = at + bytes.len() as u64;
        // A line feed in the last byte begins no line of this part.
        let before_last = &bytes[..bytes.len() - usize::from(next == end)];
        lines += memchr_iter(b'\n', before_last).count() as u64;
        let inside = &bytes[usize::from(at < part.start)..];
        has_nul = has_nul || memchr(0, inside).is_some();
        at = next;
    }
    Ok((lines, has_nul))
}
