//! Answers: the rows of a count.

use finecomb_arrow::{answer_batch, fixed_batch};
use finecomb_top::{Answer, KeyCount, Quantity};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyInt};

use crate::columns::Columns;
use crate::{arrow, error};

/// A key and its count.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Row {
    row: KeyCount,
    key_names: Vec<String>,
    measure_names: Vec<String>,
}

#[pymethods]
impl Row {
    /// The key, exactly.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.row.key)
    }

    /// The key as text; U+FFFD is in the place of bytes that are not UTF-8.
    #[getter]
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.row.key).into_owned()
    }

    /// Number of records.
    #[getter]
    fn count(&self) -> u64 {
        self.row.count
    }

    /// The columns of the key by name.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (name, value) in self.key_names.iter().zip(self.row.columns()) {
            fields.set_item(name, String::from_utf8_lossy(value))?;
        }
        Ok(fields)
    }

    /// The measures by name: an int, a Decimal, or None without a value.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for (name, value) in self.measure_names.iter().zip(&self.row.values) {
            values.set_item(name, number(py, value)?)?;
        }
        Ok(values)
    }

    /// Maximum number of records beyond the count: 0 unless counts are approximate.
    #[getter]
    fn error(&self) -> u64 {
        self.row.error
    }

    /// Whether no other key may be more frequent: always, unless counts are approximate.
    #[getter]
    fn certain(&self) -> bool {
        !self.row.is_uncertain
    }

    fn __repr__(&self) -> String {
        format!("Row(count={}, text={:?})", self.row.count, self.text())
    }
}

fn number<'py>(py: Python<'py>, value: &Quantity) -> PyResult<Option<Bound<'py, PyAny>>> {
    let decimal = |text: &str| py.import("decimal")?.getattr("Decimal")?.call1((text,));
    Ok(match value {
        Quantity::None => None,
        Quantity::Number(_) | Quantity::Estimate(_) | Quantity::Wide(_) | Quantity::Share { .. } => {
            let text = value.to_string();
            match text.parse::<i128>() {
                Ok(whole) => Some(whole.into_pyobject(py)?.into_any()),
                Err(_) if !text.contains('.') => Some(py.get_type::<PyInt>().call1((text,))?),
                Err(_) => Some(decimal(&text)?),
            }
        }
    })
}

/// The most frequent keys: a sequence of rows, and a stream of Arrow.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Top {
    pub(crate) answer: Answer,
    pub(crate) messages: Vec<String>,
}

#[pymethods]
impl Top {
    fn __len__(&self) -> usize {
        self.answer.top.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Row> {
        let rows = &self.answer.top;
        let index = if index < 0 { index + rows.len() as isize } else { index };
        let row = usize::try_from(index).ok().and_then(|index| rows.get(index));
        let row = row.ok_or_else(|| PyIndexError::new_err("row out of range"))?;
        let Answer { key_names, measure_names, .. } = &self.answer;
        Ok(Row { row: row.clone(), key_names: key_names.clone(), measure_names: measure_names.clone() })
    }

    /// Number of records counted.
    #[getter]
    fn records(&self) -> u64 {
        self.answer.records
    }

    /// Number of distinct keys.
    #[getter]
    fn distinct(&self) -> u64 {
        self.answer.distinct
    }

    /// Messages that the command would print on standard error.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    /// The rows as a stream of Arrow: the columns of the key as text, key, count, and the measures.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts to other types itself.
        drop(requested_schema);
        arrow::capsule(py, answer_batch(&self.answer).map_err(error)?)
    }

    /// The columns key, text, count and the measures as Arrow. The types do not depend on the rows: measures are decimals of 38
    /// digits, with `places` digits after the point.
    #[pyo3(signature = (places = 18))]
    fn columns(&self, places: u8) -> PyResult<Columns> {
        fixed_batch(&self.answer, places).map(Columns).map_err(error)
    }

    fn __repr__(&self) -> String {
        let rows =
            self.answer.top.iter().map(|row| format!("{} {}", row.count, String::from_utf8_lossy(&row.key)));
        rows.collect::<Vec<_>>().join("\n")
    }
}
