//! The flags of `comb bench`.

pub(crate) mod output;
pub(crate) mod overlap;
pub(crate) mod scale;
pub(crate) mod serve;
pub(crate) mod spawn;
pub(crate) mod spin;
mod values;

use std::env;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use finecomb_sys::io_reason;

const LONG_ABOUT: &str = "\
Measure scaling, threads, reading and serving

Examples:
  Scaling of a count over a log, with a plot:
      comb bench scale --plot scale.svg -- top -f 7 access.log
  Reading and working at the same time, with a cold and a warm page cache:
      comb bench overlap linux
  Throughput and latency of a server:
      comb bench serve pi.comb

Each experiment prints a table and its interpretation. A result that was saved with --save can be printed and plotted again \
with --from-json, without running anything.";

/// Measure scaling, threads, reading and serving
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) experiment: Experiment,
}

#[derive(Subcommand)]
pub(crate) enum Experiment {
    Scale(scale::Arguments),
    Spin(spin::Arguments),
    Spawn(spawn::Arguments),
    Overlap(overlap::Arguments),
    Serve(serve::Arguments),
}

/// The path of this program.
///
/// # Errors
///
/// If the system does not provide it.
fn this_program() -> Result<PathBuf, String> {
    env::current_exe().map_err(|error| format!("cannot find this program: {}", io_reason(&error)))
}
