//! Safe wrappers of the operating system and the processor: SIMD, memory, buffers for reads, maps of files, resource usage, threads, locks, standard streams,
//! child processes, locales and texts of system errors; number formats for people and for files; text within markup and on terminals; setters of options.
//!
//! The workspace denies `unsafe`. Modules that need it allow it for themselves, with the reason: `git grep 'allow(unsafe_code'` lists them.
//!
//! Every other crate may use this one; it uses none of them.
//!
//! Linux-only calls are in `system`, which is `linux`, or the fallbacks of `portable` on other systems and with the feature
//! `portable`. So no other crate asks which system it is on.

mod byte_reader;
pub mod children;
pub mod display;
mod error;
mod guarded_map;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod linux;
mod locale;
pub mod locks;
pub mod markup;
pub mod memory;
pub mod notify;
pub mod out_of_memory;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
mod portable;
mod read_buffer;
mod setters;
pub mod simd;
mod startup;
pub mod stdio;
pub mod threads;
pub mod units;
mod usage;
pub mod varint;
mod writers;

#[cfg(all(target_os = "linux", not(feature = "portable")))]
use linux as system;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
use portable as system;

pub use byte_reader::ByteReader;
pub use error::io_reason;
pub use guarded_map::{Access, GuardedMap};
pub use locale::with_c_locale;
pub use read_buffer::{BufferedInput, ReadBuffer};
pub use system::{advice, directory, file_system, lease, machine, mounts, process, socket, temporary};
pub use usage::{Usage, blocks_from_storage_by_thread, bytes_from_storage, bytes_from_storage_by_thread};
pub use writers::has_writer;

/// Whether Linux-only calls are used: on Linux, without the feature `portable`.
pub const IS_LINUX: bool = cfg!(all(target_os = "linux", not(feature = "portable")));
