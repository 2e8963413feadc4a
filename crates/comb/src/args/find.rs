//! The flags of `comb find`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::terminal::When;

const EXAMPLES: &str = "\
Examples:
  Where a date is in the digits of pi:
      comb find pi.comb 140379

  The first occurrence behind the millionth digit, and the last before it:
      comb find pi.comb 999999 --from 1000000
      comb find pi.comb 999999 --before 1000000

  How often, and where each time:
      comb find pi.comb 999999 --count
      comb find pi.comb 999999 --all

  In a log, for a program:
      comb find access.log.comb '\" 500 ' --all --json | jq .line

Exit status:
  0    the pattern was found
  1    it was not
  2    something went wrong";

/// Find a text in an index
///
/// Prints the first occurrence as POSITION:TEXT, with some of the text around it. Positions of digits are counted from 1: that
/// of the first digit after the point. In DNA they are counted from 0. In other texts the position is a byte offset,
/// counted from 0, and it is followed by the line and the column: OFFSET:LINE:COLUMN:TEXT. The pattern is text as it stands,
/// not a regular expression.
#[derive(Args)]
#[command(after_help = "Try 'comb find --help' for examples.", after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The index, made by 'comb index build'
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,

    /// What to look for
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pub(crate) pattern: OsString,

    /// Find the first occurrence that begins at this position or after it
    #[arg(long, value_name = "POS")]
    pub(crate) from: Option<u64>,

    /// Find the last occurrence that begins before this position
    #[arg(long, value_name = "POS", conflicts_with_all = ["from", "all", "count"])]
    pub(crate) before: Option<u64>,

    /// Print all occurrences, in the order of the text
    #[arg(short, long, conflicts_with = "count")]
    pub(crate) all: bool,

    /// Print no more than this many
    #[arg(short, long, value_name = "N", requires = "all")]
    pub(crate) limit: Option<u64>,

    /// Print how often it occurs; occurrences that overlap count each
    #[arg(short, long, conflicts_with = "from")]
    pub(crate) count: bool,

    /// How many symbols to show before and after it; in a text of lines, no further than its line
    #[arg(short = 'C', long, value_name = "N", default_value = "20")]
    pub(crate) context: u64,

    /// Print a JSON object for each answer: pattern, count, position, line, column, before, match, after
    #[arg(long)]
    pub(crate) json: bool,

    /// When to print in colour
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
}
