//! The flags of `comb bench scale`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use finecomb_bench::scale::{ScaleOptions, Width};
use finecomb_scan::Width as ScanWidth;

use super::output::Drawn;
use super::{this_program, values};
use crate::args::threads;

const EXAMPLES: &str = "\
Examples:
  How a count over a log scales, with a picture:
      comb bench scale --plot scale.svg -- top -f 7 access.log

  Where the files have to come from storage, more threads than cores may pay:
      comb bench scale --cold --widths 1,2,4,8,16,32,auto -- grep -c unsafe linux

  A stream:
      comb bench scale --pipe access.log -- top -f 7

  Kept, and drawn again:
      comb bench scale --runs 20 --save scale.json -- top -f 7 access.log
      comb bench scale --from-json scale.json --plot scale.svg";

/// Run a job at many widths, and find the laws that it scales by
///
/// The job is a command line of comb without the word comb and without a width: top or grep with all its arguments. It runs
/// in turns, each round at all widths, so that a machine that gets slower meanwhile does so for all. Before that it runs
/// once at each width to see whether it always writes the same, and to bring the files into memory.
///
/// Printed are wall time, processor time, speed-up and efficiency with their spread, and in which part of the work threads
/// hinder each other, by Amdahl's law and by the Universal Scalability Law, with 95 % confidence intervals and the speed-up
/// that they predict for two and four times as many cores.
#[derive(Args)]
#[command(after_help = "Try 'comb bench scale --help' for examples.", after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The job, behind --
    #[arg(value_name = "JOB", required_unless_present = "from_json", conflicts_with = "from_json", last = true, value_hint = ValueHint::CommandWithArguments)]
    job: Vec<OsString>,

    /// The widths: numbers of threads, or auto [default: 1, 2, 4, … up to four times the cores]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_width, allow_hyphen_values = true)]
    widths: Vec<Width>,

    /// How often the job runs at each width
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::parse_runs)]
    runs: NonZeroUsize,

    /// Drop what the system holds of the files in memory before each run: as root through the kernel, else file by file
    ///
    /// It is then looked at whether that worked; if it did not, the runs are called warm. The files are those that the
    /// job's arguments name, or the current directory.
    #[arg(long)]
    cold: bool,

    /// Let cat write this file into the job's standard input
    #[arg(long, value_name = "FILE")]
    pipe: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) drawn: Drawn,
}

fn parse_width(text: &str) -> Result<Width, String> {
    let at_least_one = |number| NonZeroUsize::new(number).map(Width::Fixed);
    match threads::parse(text)? {
        ScanWidth::Auto => Ok(Width::Auto),
        ScanWidth::Fixed(number) => at_least_one(number).ok_or_else(|| "it must be at least 1".to_owned()),
    }
}

impl Arguments {
    /// Options, with this program.
    ///
    /// # Errors
    ///
    /// If the system does not say which program this is.
    pub(crate) fn options(&self) -> Result<ScaleOptions, String> {
        Ok(ScaleOptions {
            program: this_program()?,
            job: self.job.clone(),
            widths: self.widths.clone(),
            runs: self.runs,
            cold: self.cold,
            pipe: self.pipe.clone(),
        })
    }
}
