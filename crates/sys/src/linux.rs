//! Linux-only calls and files. `portable` has a module of the same name for each of these, with the same functions.

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
