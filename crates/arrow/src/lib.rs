//! Results of `top`, `grep` and `symbols` as record batches of Apache Arrow, for the Python module and for output in formats of Arrow.

mod answer;
mod batches;
mod found;
#[cfg(feature = "ipc")]
mod output;
#[cfg(feature = "symbols")]
mod symbols;
mod text;
#[cfg(test)]
mod writes;

pub use answer::{FixedBatch, answer_batch, column_names, fixed_batch, is_quotient, zone_name};
pub use batches::Batches;
pub use found::FoundBatches;
#[cfg(feature = "ipc")]
pub use output::{BatchWriter, FileFormat, RecordWriter};
#[cfg(feature = "symbols")]
pub use symbols::SymbolBatches;
