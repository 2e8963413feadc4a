//! Runs a job at many widths, fits the laws of scaling to its times, and draws the plots.
//!
//! - Experiments: [`scale`](mod@scale), [`spin`](mod@spin), [`slices`](mod@slices), [`spawn`](mod@spawn),
//!   [`overlap`](mod@overlap), [`serve`](mod@serve). Each has a function of its name that measures, and a type of its
//!   name for the result, an [`experiment::Experiment`]: a table, notes, a picture, and a file in which it is kept.
//! - Measuring: [`run`], runs of a command; [`effort`], the resources of runs; [`rounds`], interleaved runs; [`cache`],
//!   cold runs; [`sample`], measured values; [`laws`], models fitted to them.
//! - Output: [`table`], [`chart`], [`picture`].

#![forbid(unsafe_code)]

mod cache;
mod chart;
mod effort;
mod error;
pub mod experiment;
mod files;
mod laws;
mod machine;
pub mod overlap;
pub mod picture;
pub mod rounds;
mod run;
mod sample;
pub mod scale;
pub mod serve;
pub mod slices;
pub mod spawn;
pub mod spin;
mod table;
mod threads;
mod units;
mod wrap;

pub use error::{Error, Result};
