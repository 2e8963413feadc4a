//! Safe wrappers of the operating system and the processor: SIMD, memory, resource usage, threads, standard streams,
//! child processes, locales and texts of system errors; number formats for people and for files; setters of options.
//!
//! Every other crate may use this one; it uses none of them.

mod byte_reader;
pub mod children;
mod error;
mod locale;
pub mod memory;
pub mod out_of_memory;
mod setters;
pub mod simd;
pub mod stdio;
pub mod threads;
pub mod units;
mod usage;
pub mod varint;
mod writers;

pub use byte_reader::ByteReader;
pub use error::io_reason;
pub use locale::with_c_locale;
pub use usage::{Usage, blocks_from_storage_by_thread, bytes_from_storage, bytes_from_storage_by_thread};
#[cfg(target_os = "linux")]
pub use writers::Lease;
pub use writers::has_writer;
