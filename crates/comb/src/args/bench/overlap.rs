//! The flags of `comb bench overlap`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use finecomb_bench::overlap::OverlapOptions;

use super::output::Drawn;
use super::values::{self, Counts};

const LONG_ABOUT: &str = "\
Measure whether prefetching pays while earlier data is processed

Examples:
  A source tree with a warm and a cold page cache, with a plot:
      sudo comb bench overlap linux --plot overlap.svg
  A large file with a cold page cache, with four times the work:
      sudo comb bench overlap access.log --cold --work 4

The work is the first step of a lexer: split the bytes into words, and hash each word. Measures reading alone, working alone, \
and both combined, without and with prefetching (posix_fadvise). The combined times are compared with the longer of \
reading and working.";

/// Measure whether prefetching pays while earlier data is processed
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(crate) struct Arguments {
    /// Directory or file to read
    #[arg(value_name = "PATH", required_unless_present = "from_json", conflicts_with = "from_json")]
    path: Option<PathBuf>,

    /// Numbers of threads, such as 1,2,4 or 1..64
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8", value_parser = values::parse_counts)]
    widths: Counts,

    /// Number of runs of each variant
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::parse_runs)]
    runs: NonZeroUsize,

    /// Measure with a cold page cache only: drop the files from it before each run
    ///
    /// Root drops all of the page cache, other users the cached pages of each file. The result is checked: runs with a page
    /// cache that is not cold are labelled warm.
    #[arg(long)]
    cold: bool,

    /// Measure with a warm page cache only
    #[arg(long)]
    warm: bool,

    /// Number of times the work is done on each byte
    #[arg(long, value_name = "N", default_value = "1")]
    work: NonZeroU32,

    #[command(flatten)]
    pub(crate) drawn: Drawn,
}

impl Arguments {
    /// Options of the experiment, with the number of bytes of memory to hold files in.
    pub(crate) fn options(&self, memory: u64) -> OverlapOptions {
        OverlapOptions {
            path: self.path.clone().unwrap_or_default(),
            widths: self.widths.0.clone(),
            runs: self.runs,
            warm: self.warm || !self.cold,
            cold: self.cold || !self.warm,
            work: self.work,
            memory,
        }
    }
}
