//! The flags of `comb bench spin`.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;

use crate::bench::output::Drawn;
use crate::bench::values;
use crate::bench::values::{ThreadCounts, parse_seconds};
use crate::shell::facts;

const LONG_ABOUT: &str = "\
Measure oversubscription against ideal time slicing

Examples:
  Cost of more threads than cores, with a plot:
      comb bench spin --plot spin.svg
  Time slices of eight threads:
      comb bench spin --slices --widths 8 --seconds 0.5 --plot slices.svg

N threads start together and count. With fair scheduling and free context switches, they take N / cores times as long as one \
thread.

With --slices, each thread reads the clock in a loop instead: a gap between two readings shows that the thread was not \
running. The plot shows which thread ran when.";

/// Measure oversubscription against ideal time slicing
#[derive(Args)]
#[command(long_about = LONG_ABOUT, add = facts::BENCH_SPIN)]
pub struct SpinArguments {
    /// Numbers of threads, such as 1,2,4 or 1..64 [default: 1..64; with --slices, four times the cores]
    ///
    /// The range 1..64 stands for 1, 2, 3, 4, 6, 8, 12, … 64. With --slices, LIST is a single number.
    #[arg(long, value_name = "LIST", value_parser = values::parse_counts)]
    pub widths: Option<ThreadCounts>,

    /// Count up to N in each thread [default: the number that one thread reaches in about 0.2 s]
    #[arg(long, value_name = "N", conflicts_with = "slices")]
    pub iterations: Option<u64>,

    /// Number of runs with each number of threads
    #[arg(long, value_name = "N", default_value = "3", conflicts_with = "slices", value_parser = values::parse_runs)]
    pub runs: NonZeroUsize,

    /// Measure the time slices of each thread
    #[arg(long)]
    pub slices: bool,

    /// Duration of the measurement with --slices
    #[arg(long, value_name = "SECONDS", default_value = "1", requires = "slices")]
    #[arg(value_parser = parse_seconds)]
    pub seconds: Duration,

    /// Minimum gap between two readings of the clock that counts as not running
    ///
    /// Longer than an interrupt, and shorter than the shortest time slice of another thread.
    #[arg(long, value_name = "MICROSECONDS", default_value = "100", requires = "slices")]
    #[arg(value_parser = parse_gap)]
    pub gap: Duration,

    #[command(flatten)]
    pub drawn: Drawn,
}

fn parse_gap(text: &str) -> Result<Duration, String> {
    let microseconds = text.parse().ok().filter(|microseconds| (1..=1_000_000).contains(microseconds));
    microseconds
        .map(Duration::from_micros)
        .ok_or_else(|| "expected a number of microseconds from 1 to 1000000".to_owned())
}
