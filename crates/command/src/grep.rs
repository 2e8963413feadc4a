//! `comb grep`: searches files for lines that match patterns.

pub(crate) mod args;
pub mod job;
pub(crate) mod run;
pub(crate) mod scopes;
