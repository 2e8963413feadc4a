//! The flags of `comb bench`.

pub mod output;
pub mod overlap;
pub mod scale;
pub mod serve;
pub mod spawn;
pub mod spin;
pub mod values;

use crate::shell::facts;
use clap::{Args, Subcommand};

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
#[command(long_about = LONG_ABOUT, add = facts::BENCH)]
pub struct BenchArguments {
    #[command(subcommand)]
    pub experiment: Experiment,
}

#[derive(Subcommand)]
pub enum Experiment {
    Scale(scale::ScaleArguments),
    Spin(spin::SpinArguments),
    Spawn(spawn::SpawnArguments),
    Overlap(overlap::OverlapArguments),
    Serve(serve::BenchServeArguments),
}
