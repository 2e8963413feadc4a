//! Experiments on the speed of comb: runs a job at many widths, fits scaling laws to its times, and draws plots.
//!
//! - Experiments: [`scale`](mod@scale), [`spin`](mod@spin), [`slices`](mod@slices), [`spawn`](mod@spawn),
//!   [`overlap`](mod@overlap), [`serve`](mod@serve). Each module has a function of its name that measures, and a type of
//!   its name for the result, an [`experiment::Experiment`]: a table, notes, a picture, and a JSON file.
//! - Measurement: [`run`], runs of a command; [`effort`], resource usage; [`rounds`], interleaved runs; [`cache`], cold
//!   runs; [`sample`], measured values; [`laws`], models fitted to them.
//! - Output: [`table`], [`chart`], [`picture`].

mod cache;
mod chart;
mod drawing;
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

pub use error::{Error, Result};
