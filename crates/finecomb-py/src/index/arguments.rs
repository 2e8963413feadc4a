//! Arguments of the methods of an index.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// A position or a number of symbols.
#[derive(Clone, Copy)]
pub(super) struct SymbolNumber(pub(super) u64);

impl<'py> FromPyObject<'_, 'py> for SymbolNumber {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract() {
            Ok(number) => Ok(Self(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
                Err(crate::error(format!("{} is not between 0 and {}", value.str()?, u64::MAX)))
            }
            Err(error) => Err(error),
        }
    }
}

/// The bytes of a pattern: those of a `bytes` or another buffer, or of a `str` in UTF-8.
pub(super) struct Pattern(pub(super) Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for Pattern {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Self(text.to_cow()?.into_owned().into_bytes()));
        }
        let buffer = PyBuffer::<u8>::get(&value).map_err(|_| {
            PyTypeError::new_err(match value.get_type().name() {
                Ok(name) => format!("expected str or bytes; found {name}"),
                Err(_) => "expected str or bytes".to_owned(),
            })
        })?;
        Ok(Self(buffer.to_vec(value.py())?))
    }
}
