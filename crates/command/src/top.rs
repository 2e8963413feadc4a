//! `comb top`: counts keys and prints the most frequent ones.

pub(crate) mod args;
mod follow;
pub mod job;
pub mod listen;
mod live;
mod plot;
pub(crate) mod run;
mod saved;
