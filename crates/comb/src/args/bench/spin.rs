//! The flags of `comb bench spin`.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::Args;
use finecomb_bench::slices::SlicesOptions;
use finecomb_bench::spin::SpinOptions;
use finecomb_sys::threads::cores;

use super::output::Drawn;
use super::values::{self, Counts, parse_seconds};

const EXAMPLES: &str = "\
Examples:
  What more threads than cores cost, with a picture:
      comb bench spin --plot spin.svg

  Who runs when, while eight threads want to:
      comb bench spin --slices --widths 8 --seconds 0.5 --plot slices.svg";

/// Let more threads than cores count, and compare with a straight line
///
/// N threads that do nothing but count begin together. If the system shares its cores fairly and changing
/// threads costs nothing, they take N / cores times as long as one alone.
///
/// With --slices, each thread looks at the clock instead, without pause: a gap between two readings shows
/// that it was off the processor. The picture shows who ran when.
#[derive(Args)]
#[command(after_help = "Try 'comb bench spin --help' for examples.", after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Numbers of threads, such as 1,2,4 or 1..64 (that is 1, 2, 3, 4, 6, 8, 12, … 64); with --slices, one
    /// number [default: 1..64; with --slices, four times the cores]
    #[arg(long, value_name = "LIST", value_parser = values::parse_counts)]
    widths: Option<Counts>,

    /// How far each thread counts [default: as far as one gets in about 0.2 s]
    #[arg(long, value_name = "N", conflicts_with = "slices")]
    iterations: Option<u64>,

    /// How often each number of threads is measured
    #[arg(long, value_name = "N", default_value = "3", conflicts_with = "slices", value_parser = values::parse_runs)]
    runs: NonZeroUsize,

    /// Show who runs when
    #[arg(long)]
    pub(crate) slices: bool,

    /// For how long the threads look at the clock
    #[arg(long, value_name = "SECONDS", default_value = "1", requires = "slices")]
    #[arg(value_parser = parse_seconds)]
    seconds: Duration,

    /// Microseconds between two readings from which on a thread was off the processor: more than an interrupt
    /// takes, and less than the shortest time that the system gives to another thread
    #[arg(long, value_name = "MICROSECONDS", default_value = "100", requires = "slices")]
    #[arg(value_parser = parse_gap)]
    gap: Duration,

    #[command(flatten)]
    pub(crate) drawn: Drawn,
}

fn parse_gap(text: &str) -> Result<Duration, String> {
    let microseconds = text.parse().ok().filter(|microseconds| (1..=1_000_000).contains(microseconds));
    microseconds
        .map(Duration::from_micros)
        .ok_or_else(|| "it is a number of microseconds from 1 to 1000000".to_owned())
}

impl Arguments {
    /// Options without --slices.
    pub(crate) fn options(&self) -> Result<SpinOptions, String> {
        let threads = self.widths.clone().map_or_else(|| values::parse_counts("1..64"), Ok)?.0;
        Ok(SpinOptions { threads, iterations: self.iterations, runs: self.runs })
    }

    /// Options with --slices.
    pub(crate) fn slices_options(&self) -> Result<SlicesOptions, String> {
        let cores = cores();
        let threads = match self.widths.as_ref().map(|Counts(counts)| &counts[..]) {
            None => cores.saturating_mul(const { NonZeroUsize::new(4).expect("not zero") }),
            Some(&[threads]) => threads,
            Some(_) => return Err("--slices shows one number of threads; give one to --widths".to_owned()),
        };
        Ok(SlicesOptions { threads, time: self.seconds, gap: self.gap })
    }
}
