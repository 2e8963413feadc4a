//! Fallbacks for the modules of `linux` on other systems, by calls that all systems have; and on Linux with the feature
//! `portable`, which the tests use.
//!
//! They do nothing, report that nothing is known, or use POSIX calls. So a command that needs Linux is there everywhere, and its message
//! names what it needs. On Linux, functions are inlined: it pays nothing for this.

pub mod advice;
pub mod directory;
pub mod file_system;
pub mod lease;
pub mod machine;
pub(crate) mod memory;
pub mod mounts;
pub(crate) mod notify;
pub mod process;
pub mod socket;
pub mod temporary;
pub(crate) mod usage;

use std::io;

/// Returns the error of a function that needs calls which not all systems have.
fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}
