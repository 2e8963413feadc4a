//! Rows of an answer as columns of Arrow with types that do not depend on the rows.

use std::collections::BTreeMap;

use finecomb_arrow::FixedBatch;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow;

/// The columns key, text, count and the measures: a stream of Arrow.
#[pyclass(frozen, module = "finecomb")]
pub(crate) struct Columns(pub(crate) FixedBatch);

#[pymethods]
impl Columns {
    /// Numbers of values that have too many digits for their column, by measure. They are null.
    #[getter]
    fn unfit(&self) -> BTreeMap<String, u64> {
        self.0.unfit.clone()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts to other types itself.
        drop(requested_schema);
        arrow::capsule(py, self.0.batch.clone())
    }
}
