//! Runs a job at many widths, fits the laws of scaling to what it took, and draws the plots.
//!
//! - Experiments: [`scale`](mod@scale), [`spin`](mod@spin), [`slices`](mod@slices), [`spawn`](mod@spawn),
//!   [`overlap`](mod@overlap), [`serve`](mod@serve). Each has a function of its name that measures, and a type of its
//!   name for the result, an [`experiment::Experiment`]: a table, notes, a picture, and a file in which it is kept.
//! - What they stand on: [`run`], a run of a command and what it takes; [`rounds`], runs in turns; [`cache`], cold runs;
//!   [`sample`], what was measured; [`laws`], what follows from it.
//! - What they are shown with: [`table`], [`chart`], [`picture`].

#![forbid(unsafe_code)]

pub mod cache;
pub mod chart;
mod cold;
mod effort;
mod error;
pub mod experiment;
mod files;
mod gate;
pub mod laws;
pub mod machine;
pub mod overlap;
pub mod picture;
mod pool;
pub mod rounds;
pub mod run;
pub mod sample;
pub mod scale;
pub mod serve;
pub mod slices;
pub mod spawn;
pub mod spin;
pub mod table;
mod units;

pub use error::{Error, Result};
