//! The flags of `comb bench spawn`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::bench::output::Drawn;
use crate::bench::values;
use crate::bench::values::ThreadCounts;
use crate::shell::facts;

const LONG_ABOUT: &str = "\
Compare one thread, one thread per file, and thread pools

Examples:
  Search a source tree, with a plot:
      comb bench spawn spin_lock linux --plot spawn.svg
  Search with a cold page cache:
      sudo comb bench spawn spin_lock linux --cold

Each variant reads every file as a whole and counts the lines that match. The list of files (those that 'comb grep' would \
search) is made before, outside of the times. Each round also runs 'du -s', which walks the tree without reading files, as a \
baseline.";

/// Compare one thread, one thread per file, and thread pools
#[derive(Args)]
#[command(long_about = LONG_ABOUT, add = facts::BENCH)]
pub struct SpawnArguments {
    /// Regular expression to search for
    #[arg(value_name = "PATTERN", required_unless_present = "from_json", conflicts_with = "from_json")]
    pub pattern: Option<String>,

    /// Directory or file to search
    #[arg(value_name = "PATH", required_unless_present = "from_json", conflicts_with = "from_json")]
    pub path: Option<PathBuf>,

    /// Numbers of threads of the pools, such as 1,2,4 or 1..64
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8,16,32", value_parser = values::parse_counts)]
    pub widths: ThreadCounts,

    /// Number of runs of each variant
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::parse_runs)]
    pub runs: NonZeroUsize,

    /// Drop the files from the page cache before each run
    ///
    /// Root drops all of the page cache, other users the cached pages of each file. The result is checked: runs with a page
    /// cache that is not cold are labelled warm.
    #[arg(long)]
    pub cold: bool,

    #[command(flatten)]
    pub drawn: Drawn,
}
