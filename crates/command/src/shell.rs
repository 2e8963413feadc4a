//! Completions, manual pages and the configuration file.

pub(crate) mod candidates;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod facts;
pub(crate) mod line;
pub(crate) mod man;
pub(crate) mod manual;
