//! Results of `top` and `grep` as record batches of Apache Arrow, for the Python module and for output in formats of Arrow.

#![forbid(unsafe_code)]

mod answer;
mod found;
#[cfg(feature = "ipc")]
mod output;

pub use answer::{FixedBatch, answer_batch, fixed_batch};
pub use found::{FoundBatches, found_schema};
#[cfg(feature = "ipc")]
pub use output::{BatchWriter, FileFormat, FoundWriter};
