//! Streams of Arrow, by the PyCapsule interface.

use std::iter;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Batches as a capsule. A consumer asks for them from any thread.
pub(crate) fn stream(
    py: Python<'_>,
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, schema)));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// A batch as a capsule.
pub(crate) fn capsule(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    stream(py, batch.schema(), iter::once(Ok(batch)))
}
