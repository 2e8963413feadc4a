//! Answers: the rows of a count.

use finecomb_arrow::{answer_batch, column_names, fixed_batch, is_quotient, zone_name};
use finecomb_top::{Answer, KeyCount, Quantity, Zone};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyInt, PyIterator, PyTuple};

use crate::columns::Columns;
use crate::{arrow, error};

/// A key and its count, and a sequence of the values of the columns of the table, which also have names.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Row {
    top: Py<Top>,
    index: usize,
}

impl Row {
    fn answer(&self) -> &Answer {
        &self.top.get().answer
    }

    fn row(&self) -> &KeyCount {
        &self.answer().top[self.index]
    }

    /// Names of the columns of the table.
    fn names(&self) -> &[String] {
        &self.top.get().names
    }

    /// The value of a column by its index, as in [`answer_batch`].
    fn value<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let (answer, row) = (self.answer(), self.row());
        let limits = 2 * usize::from(answer.approximation.is_some());
        match index.checked_sub(answer.key_names.len()) {
            None => match &answer.bucket_zone {
                Some(zone) if index == 0 => self.bucket(py, zone),
                _ => row.columns().nth(index).map(String::from_utf8_lossy).into_bound_py_any(py),
            },
            Some(0) => Ok(self.key(py).into_any()),
            Some(1) => row.count.into_bound_py_any(py),
            Some(2) if limits > 0 => row.error.into_bound_py_any(py),
            Some(3) if limits > 0 => self.certain().into_bound_py_any(py),
            Some(index) => {
                let measure = index - 2 - limits;
                match is_quotient(&answer.measure_names[measure]) {
                    true => row.values[measure].to_f64().into_bound_py_any(py),
                    false => number(py, &row.values[measure])?.into_bound_py_any(py),
                }
            }
        }
    }

    /// The time at which the bucket of the row begins, in the zone of the buckets.
    fn bucket<'py>(&self, py: Python<'py>, zone: &Zone) -> PyResult<Bound<'py, PyAny>> {
        let start = self.top.get().starts[self.index];
        py.import("finecomb._tables")?.call_method1("time", (start, zone_name(zone)))
    }
}

#[pymethods]
impl Row {
    /// The key, exactly.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.row().key)
    }

    /// The key as text; U+FFFD is in the place of bytes that are not UTF-8.
    #[getter]
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.row().key).into_owned()
    }

    /// Number of records.
    #[getter]
    fn count(&self) -> u64 {
        self.row().count
    }

    /// The columns of the key by name, as text.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (name, value) in self.answer().key_names.iter().zip(self.row().columns()) {
            fields.set_item(name, String::from_utf8_lossy(value))?;
        }
        Ok(fields)
    }

    /// The measures by name: an int or a Decimal, a float for a share, or None without a value.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        for (name, value) in self.answer().measure_names.iter().zip(&self.row().values) {
            values.set_item(name, number(py, value)?)?;
        }
        Ok(values)
    }

    /// Maximum number of records beyond the count: 0 unless counts are approximate.
    #[getter]
    fn error(&self) -> u64 {
        self.row().error
    }

    /// Whether no other key may be more frequent: always, unless counts are approximate.
    #[getter]
    fn certain(&self) -> bool {
        !self.row().is_uncertain
    }

    /// Names of the columns of the table.
    fn keys(&self) -> Vec<String> {
        self.names().to_vec()
    }

    /// The same, as a named tuple has them.
    #[getter]
    fn _fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.names())
    }

    fn __len__(&self) -> usize {
        self.names().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let values = (0..self.names().len()).map(|index| self.value(py, index));
        PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?.try_iter()
    }

    /// The value of a column, by its name or its index.
    fn __getitem__<'py>(&self, py: Python<'py>, column: Column) -> PyResult<Bound<'py, PyAny>> {
        let names = self.names();
        match column {
            Column::Index(index) => {
                let index = position(index, names.len());
                self.value(py, index.ok_or_else(|| PyIndexError::new_err("column out of range"))?)
            }
            Column::Name(name) => {
                let index = names.iter().position(|known| *known == name);
                self.value(py, index.ok_or_else(|| PyKeyError::new_err(name))?)
            }
        }
    }

    fn __repr__(&self) -> String {
        format!("Row(count={}, text={:?})", self.row().count, self.text())
    }
}

/// A column of a row.
#[derive(FromPyObject)]
enum Column {
    Index(isize),
    Name(String),
}

/// The position of an index, which counts from the end if it is negative.
fn position(index: isize, length: usize) -> Option<usize> {
    let index = if index < 0 { index + length as isize } else { index };
    usize::try_from(index).ok().filter(|&index| index < length)
}

fn number<'py>(py: Python<'py>, value: &Quantity) -> PyResult<Option<Bound<'py, PyAny>>> {
    let decimal = |text: &str| py.import("decimal")?.getattr("Decimal")?.call1((text,));
    Ok(match value {
        Quantity::None => None,
        Quantity::Share { .. } => Some(value.to_f64().into_bound_py_any(py)?),
        Quantity::Number(_) | Quantity::Estimate(_) | Quantity::Wide(_) => {
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
    answer: Answer,
    messages: Vec<String>,
    /// Names of the columns of the table.
    names: Vec<String>,
    /// Start of the bucket of each row, if there are buckets.
    starts: Vec<i64>,
}

impl Top {
    pub(crate) fn new(answer: Answer, messages: Vec<String>) -> Self {
        let (names, starts) = (column_names(&answer), answer.row_starts());
        Self { answer, messages, names, starts }
    }
}

#[pymethods]
impl Top {
    fn __len__(&self) -> usize {
        self.answer.top.len()
    }

    fn __getitem__(slf: &Bound<'_, Self>, index: isize) -> PyResult<Row> {
        let index = position(index, slf.get().answer.top.len());
        let index = index.ok_or_else(|| PyIndexError::new_err("row out of range"))?;
        Ok(Row { top: slf.clone().unbind(), index })
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let builtins = slf.py().import("builtins")?;
        let indexes = builtins.call_method1("range", (slf.get().answer.top.len(),))?;
        builtins.call_method1("map", (slf.getattr("__getitem__")?, indexes))
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

    /// The rows as a stream of Arrow: the columns of the key, its bytes, the count, and the measures.
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
