//! `comb symbols`: definitions in source files.

pub(crate) mod args;
pub mod job;
pub(crate) mod notes;
pub mod options;
pub(crate) mod parsed_files;
pub(crate) mod run;
