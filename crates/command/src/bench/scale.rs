//! The flags of `comb bench scale`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use finecomb_scan::Width;

use crate::args::threads;
use crate::bench::output::Drawn;
use crate::bench::values;
use crate::shell::facts;

const LONG_ABOUT: &str = "\
Measure a job with different numbers of threads, and fit scaling laws

Examples:
  Scaling of a count over a log, with a plot:
      comb bench scale --plot scale.svg -- top -f 7 access.log
  Oversubscription with a cold page cache:
      comb bench scale --cold --widths 1,2,4,8,16,auto -- grep -c unsafe src
  Input from a pipe:
      comb bench scale --pipe access.log -- top -f 7
  A parser with a cold page cache:
      comb bench scale --cold -- symbols src
  Save a result, and plot it later:
      comb bench scale --runs 20 --save scale.json -- top -f 7 access.log
      comb bench scale --from-json scale.json --plot scale.svg

The job is a command line of 'comb top', 'comb grep' or 'comb symbols' without the word comb and without --threads. First it runs once with \
each number of threads, to check that its output is always the same and to warm the page cache. Each round then runs all \
numbers of threads, so that a machine that becomes slower affects all of them equally.

Prints wall time, CPU time, speed-up and efficiency with their spread, and the fits of Amdahl's law and of the Universal \
Scalability Law with 95 % confidence intervals and the predicted speed-up for two and four times as many cores. --explain says \
what the columns mean and how well the laws fit; --format markdown and json have all of it.";

/// Measure a job with different numbers of threads, and fit scaling laws
#[derive(Args)]
#[command(long_about = LONG_ABOUT, add = facts::BENCH)]
pub struct ScaleArguments {
    /// Arguments of comb, after --
    #[arg(value_name = "JOB", required_unless_present = "from_json", conflicts_with = "from_json", last = true, value_hint = ValueHint::CommandWithArguments)]
    pub job: Vec<OsString>,

    /// Numbers of threads, or auto, such as 1,2,auto [default: 1, 2, 4, … up to four times the cores]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = threads::parse, allow_hyphen_values = true)]
    pub widths: Vec<Width>,

    /// Number of runs with each number of threads
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::parse_runs)]
    pub runs: NonZeroUsize,

    /// Drop the files from the page cache before each run
    ///
    /// Root drops all of the page cache, other users the cached pages of each file. The result is checked: runs with a page
    /// cache that is not cold are labelled warm. The files are those named by the arguments of the job, or the current
    /// directory.
    #[arg(long)]
    pub cold: bool,

    /// Pipe FILE to the standard input of the job with cat
    #[arg(long, value_name = "FILE")]
    pub pipe: Option<PathBuf>,

    /// Explain the columns, the runs and how well the laws fit
    #[arg(long)]
    pub explain: bool,

    #[command(flatten)]
    pub drawn: Drawn,
}
