//! The flags of `comb bench overlap`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use finecomb_bench::overlap::OverlapOptions;

use super::output::Drawn;
use super::values::{self, Counts};

const EXAMPLES: &str = "\
Examples:
  A source tree, in memory and from storage, with a picture:
      sudo comb bench overlap linux --plot overlap.svg

  A large file from storage, with work that takes longer:
      sudo comb bench overlap access.log --cold --work 4";

/// Find out whether reading ahead pays, while what was read is worked on
///
/// The work is what a lexer does first: cutting the bytes into words and hashing each. Reading alone and
/// working alone are measured, and both at the same time: as they come, and with the system told what will be
/// wanted next (posix_fadvise). What comes of it is compared with the longer of reading and working.
#[derive(Args)]
#[command(after_help = "Try 'comb bench overlap --help' for examples.", after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The tree to read, or a file
    #[arg(value_name = "PATH", required_unless_present = "from_json", conflicts_with = "from_json")]
    path: Option<PathBuf>,

    /// How many threads read and work
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8", value_parser = values::parse_counts)]
    widths: Counts,

    /// How often each way is measured
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::parse_runs)]
    runs: NonZeroUsize,

    /// Measure only with what the system holds of the files in memory dropped before each run
    ///
    /// As root this is done through the kernel, else file by file. It is then looked at whether that worked;
    /// if it did not, the runs are called warm.
    #[arg(long)]
    cold: bool,

    /// Measure only with files that are in memory
    #[arg(long)]
    warm: bool,

    /// How often the work is done on every byte
    #[arg(long, value_name = "N", default_value = "1")]
    work: NonZeroU32,

    #[command(flatten)]
    pub(crate) drawn: Drawn,
}

impl Arguments {
    /// Options, with an amount of memory to hold files in.
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
