//! `comb top`: counts keys and prints the most frequent ones.

pub(crate) mod args;
mod follow;
mod formats;
pub mod job;
pub mod listen;
mod live;
pub mod options;
mod output;
mod overview;
mod plot;
pub(crate) mod run;
mod saved;
