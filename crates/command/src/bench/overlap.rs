//! The flags of `comb bench overlap`.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::bench::output::Drawn;
use crate::bench::values;
use crate::bench::values::ThreadCounts;
use crate::shell::facts;

const LONG_ABOUT: &str = "\
Measure whether prefetching pays while earlier data is processed

Examples:
  A source tree with a warm and a cold page cache, with a plot:
      sudo comb bench overlap linux --plot overlap.svg
  A large file with a cold page cache, with four times the work:
      sudo comb bench overlap access.log --cold --work 4
  A parser, with a cold page cache:
      sudo comb bench overlap -- symbols linux/fs

The work is the first step of a lexer: split the bytes into words, and hash each word. Measures reading alone, working alone, \
and both combined, without and with prefetching (posix_fadvise). The combined times are compared with the longer of \
reading and working.

With a command line of 'comb top', 'comb grep' or 'comb symbols' instead of PATH, its time with a cold page cache is compared with \
the longer of reading its files alone and its time with a warm page cache.";

/// Measure whether prefetching pays while earlier data is processed
#[derive(Args)]
#[command(long_about = LONG_ABOUT, add = facts::BENCH)]
pub struct OverlapArguments {
    /// Directory or file to read
    #[arg(value_name = "PATH", required_unless_present_any = ["from_json", "job"], conflicts_with = "from_json")]
    pub path: Option<PathBuf>,

    /// Arguments of comb, after --
    #[arg(
        value_name = "JOB",
        last = true,
        conflicts_with_all = ["from_json", "path", "cold", "warm", "work"],
        value_hint = ValueHint::CommandWithArguments
    )]
    pub job: Vec<OsString>,

    /// Numbers of threads, such as 1,2,4 or 1..64
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8", value_parser = values::parse_counts)]
    pub widths: ThreadCounts,

    /// Number of runs of each variant
    #[arg(long, value_name = "N", default_value = "5", value_parser = values::parse_runs)]
    pub runs: NonZeroUsize,

    /// Measure with a cold page cache only: drop the files from it before each run
    ///
    /// Root drops all of the page cache, other users the cached pages of each file. The result is checked: runs with a page
    /// cache that is not cold are labelled warm.
    #[arg(long)]
    pub cold: bool,

    /// Measure with a warm page cache only
    #[arg(long)]
    pub warm: bool,

    /// Number of times the work is done on each byte
    #[arg(long, value_name = "N", default_value = "1")]
    pub work: NonZeroU32,

    #[command(flatten)]
    pub drawn: Drawn,
}
