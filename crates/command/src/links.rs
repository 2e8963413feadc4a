//! `comb links`: links under the names of other programs, and what they are.

pub(crate) mod args;
pub(crate) mod run;
