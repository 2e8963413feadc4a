//! The flags of `comb bench spawn`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use finecomb_bench::spawn::SpawnOptions;

use super::output::Drawn;
use super::values::{self, Counts};

const EXAMPLES: &str = "\
Examples:
  A thread for each file of a source tree, with a picture:
      comb bench spawn spin_lock linux --plot spawn.svg

  The same with files that have to come from storage:
      sudo comb bench spawn spin_lock linux --cold";

/// Search a tree with one thread, with a thread for each file, and with pools
///
/// The search is bare: each file is read as a whole, and the lines are counted that the pattern matches.
/// Which files there are (those that comb grep would search) is found out before, and is not part of the
/// times. 'du -s', which goes through the tree without reading a file, is run in the same rounds, as a
/// yardstick.
#[derive(Args)]
#[command(after_help = "Try 'comb bench spawn --help' for examples.", after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The regular expression to search for
    #[arg(value_name = "PATTERN", required_unless_present = "from_json", conflicts_with = "from_json")]
    pattern: Option<String>,

    /// The tree to search, or a file
    #[arg(value_name = "PATH", required_unless_present = "from_json", conflicts_with = "from_json")]
    path: Option<PathBuf>,

    /// How many threads pools have
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8,16,32", value_parser = values::parse_counts)]
    widths: Counts,

    /// How often each way is measured
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::parse_runs)]
    runs: NonZeroUsize,

    /// Drop what the system holds of the files in memory before each run: as root through the kernel, else
    /// file by file
    ///
    /// It is then looked at whether that worked; if it did not, the runs are called warm.
    #[arg(long)]
    cold: bool,

    #[command(flatten)]
    pub(crate) drawn: Drawn,
}

impl Arguments {
    /// Options of the experiment.
    pub(crate) fn options(&self) -> SpawnOptions {
        SpawnOptions {
            pattern: self.pattern.clone().unwrap_or_default(),
            path: self.path.clone().unwrap_or_default(),
            widths: self.widths.0.clone(),
            runs: self.runs,
            cold: self.cold,
        }
    }
}
