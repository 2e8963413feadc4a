//! Conversion of the records of a job while it runs.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

/// Converts the records that a job writes to batches.
pub trait Batches {
    /// The columns.
    fn schema() -> SchemaRef;

    /// No records so far. `names` are shown in the place of some paths.
    fn new(names: HashMap<Vec<u8>, String>) -> Self;

    /// The rows in the records after those of the previous call. Their text is not copied.
    ///
    /// # Errors
    /// If a record is longer than the 2 GiB that Arrow allows.
    fn batch(&mut self, records: Vec<u8>) -> Result<RecordBatch, ArrowError>;

    /// Takes the notices on files that the records so far hold.
    fn take_notices(&mut self) -> Vec<String>;
}
