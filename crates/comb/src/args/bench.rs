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

const EXAMPLES: &str = "\
Examples:
  How a count over a log scales, with a picture:
      comb bench scale --plot scale.svg -- top -f 7 access.log

  The same from storage, and with the width that comb finds for itself:
      comb bench scale --cold --widths 1,2,4,8,16,32,auto -- top -f 7 access.log";

/// Measure where the time goes: scaling, threads, reading, serving
///
/// Each experiment prints a table and what it means. Its result can be saved (--save), and be shown and drawn
/// again from there (--from-json) without running anything.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
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
/// A message if the system does not say it.
fn this_program() -> Result<PathBuf, String> {
    env::current_exe().map_err(|error| format!("cannot find this program: {}", io_reason(&error)))
}
