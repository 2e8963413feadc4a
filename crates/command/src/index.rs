//! `comb index`: builds and maintains text indexes and tree indexes.

pub(crate) mod args;
pub(crate) mod run;
mod stages;
pub(crate) mod tree_index;
