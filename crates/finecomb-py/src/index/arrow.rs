//! Positions as a stream of Arrow, by the PyCapsule interface. Batches are found when a consumer asks for them.

use std::iter;
use std::sync::Arc;

use arrow_array::{RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::positions::Listing;
use crate::arrow;

/// Maximum number of positions in a batch: half a MiB.
const BATCH: usize = 1 << 16;

/// The positions of a listing as a capsule of one column.
pub(super) fn stream(py: Python<'_>, mut listing: Listing) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = Arc::new(Schema::new(vec![Field::new("position", DataType::UInt64, false)]));
    let batch_schema = Arc::clone(&schema);
    let batches = iter::from_fn(move || {
        let positions = match listing.next_positions(BATCH) {
            Ok(positions) if positions.is_empty() => return None,
            Ok(positions) => UInt64Array::from(positions),
            Err(error) => return Some(Err(ArrowError::ExternalError(Box::new(error)))),
        };
        Some(RecordBatch::try_new(Arc::clone(&batch_schema), vec![Arc::new(positions)]))
    });
    arrow::stream(py, schema, batches)
}
