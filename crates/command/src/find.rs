//! `comb find`: searches a text index.

pub(crate) mod args;
pub(crate) mod run;
