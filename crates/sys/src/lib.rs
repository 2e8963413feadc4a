//! The operating system and the processor, behind safe functions: SIMD, memory, resource usage, threads, standard streams,
//! child processes, the wording of system errors, and the style of numbers for people.
//!
//! Every other crate may use this one; it uses none of them.

pub mod children;
mod error;
pub mod memory;
pub mod out_of_memory;
pub mod simd;
pub mod stdio;
pub mod threads;
pub mod units;
mod usage;

pub use error::io_reason;
pub use usage::{Usage, bytes_from_storage};
