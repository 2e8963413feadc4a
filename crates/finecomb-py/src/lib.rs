//! The Python module `finecomb._finecomb`, which the package in `python/` exports.
//!
//! Options of `comb` are keyword arguments here. The names, values and messages of the flags apply, so both have one meaning.

mod answer;
mod arrow;
mod columns;
mod counts;
mod flags;
mod found;
mod index;
mod pipe;
mod results;
mod running;
mod sources;
mod symbols;
mod top;

use pyo3::create_exception;
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PySequence;

create_exception!(
    finecomb,
    Error,
    PyValueError,
    "A flag, a query, a pattern, stored counts or an index that is invalid."
);
create_exception!(
    finecomb,
    Warning,
    PyUserWarning,
    "An input that could not be read, or records that were left out."
);

/// Searches and counts logs and large texts on all cores.
#[pymodule]
mod _finecomb {
    #[pymodule_export]
    use super::{
        Error, Warning,
        answer::{Row, Top},
        columns::Columns,
        counts::Counts,
        flags::flag_name,
        found::{Match, Matches, grep, grep_files, grep_share, survey_part},
        index::{Index, Passage, Positions},
        symbols::{Symbol, Symbols, symbols},
        top::top,
    };

    /// Registers rows as sequences: `pandas.DataFrame` takes them for named tuples.
    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        super::PySequence::register::<Row>(module.py())
    }
}

/// An error with the words of the command.
fn error(reason: impl ToString) -> PyErr {
    Error::new_err(reason.to_string())
}

/// Warns of what the command reports on standard error.
fn warn(py: Python<'_>, messages: &[String]) -> PyResult<()> {
    let category = py.get_type::<Warning>();
    for message in messages {
        let message = std::ffi::CString::new(message.replace('\0', "\\0"))?;
        PyErr::warn(py, &category, &message, 1)?;
    }
    Ok(())
}
