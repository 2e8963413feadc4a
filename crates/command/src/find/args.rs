//! The flags of `comb find`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Command, Error, ValueEnum};

use crate::args::format::{FormatFlags, Formats};
use crate::args::tips::{unknown_flag, with_tip};
use crate::shell::candidates;
use crate::shell::facts;
use crate::shell::line::completer;

const LONG_ABOUT: &str = "\
Search an index for a literal string

Examples:
  Search the digits of pi for a date:
      comb find pi.comb 140379
  Find the first occurrence from the millionth digit on, and the last before it:
      comb find pi.comb 999999 --from 1000000
      comb find pi.comb 999999 --before 1000000
  Count all occurrences, and list them:
      comb find pi.comb 999999 --count
      comb find pi.comb 999999 --all
  Search a log, with output for a program:
      comb find access.log.comb '\" 500 ' --all --json | jq .line

Prints the first occurrence and its context as POSITION:TEXT. Digits are counted from 1, the first after the decimal point. \
DNA is counted from 0. In other texts the position is a byte offset, counted from 0, and is followed by the line and the \
column: OFFSET:LINE:COLUMN:TEXT.";

const EXIT_STATUS: &str = "\
Exit status:
  0    pattern found
  1    pattern not found
  2    error";

/// Search an index for a literal string
#[derive(Args)]
#[command(
    long_about = LONG_ABOUT,
    add = facts::FIND,
    after_help = "Try 'comb find --help' for examples.",
    after_long_help = EXIT_STATUS,
)]
pub(crate) struct FindArguments {
    /// Index built by 'comb index build'
    #[arg(value_name = "INDEX", add = completer(candidates::index_files))]
    pub(crate) index: PathBuf,

    /// Literal string to search for
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pub(crate) pattern: OsString,

    /// Find the first occurrence that begins at or after POS
    #[arg(long, value_name = "POS")]
    pub(crate) from: Option<u64>,

    /// Find the last occurrence that begins before POS
    #[arg(long, value_name = "POS", conflicts_with_all = ["from", "all", "count"])]
    pub(crate) before: Option<u64>,

    /// Print all occurrences in ascending order of position
    #[arg(short, long, conflicts_with = "count")]
    pub(crate) all: bool,

    /// Print at most N occurrences
    #[arg(short, long, value_name = "N", requires = "all")]
    pub(crate) limit: Option<u64>,

    /// Print the number of occurrences, including overlapping ones
    #[arg(short, long, conflicts_with = "from")]
    pub(crate) count: bool,

    /// Print N symbols of context before and after each occurrence; in a text of bytes, within its line
    #[arg(short = 'C', long, value_name = "N", default_value = "20")]
    pub(crate) context: u64,

    #[command(flatten)]
    pub(crate) format: FormatFlags<FindFormat>,
}

/// Output formats.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindFormat {
    /// One line per occurrence: position, line and column, and the text with its context
    Text,
    /// One object per occurrence: pattern, count, position, line, column, before, match, after
    Json,
}

/// Adds a suggestion to the error of a word after the pattern. A flag that the command does not know is the pattern, as any text may be searched for.
pub(crate) fn add_hint(error: Error, words: &[OsString]) -> Error {
    let known = FindArguments::augment_args(Command::new("find"));
    let is_known = |word: &str| {
        let mut flags = known.get_arguments();
        flags.any(|flag| match word.strip_prefix("--") {
            Some(long) => flag.get_long() == long.split('=').next(),
            None => flag.get_short() == word.chars().nth(1),
        })
    };
    let is_word = unknown_flag(&error).is_some_and(|word| !word.starts_with('-'));
    let mut unknown =
        words.iter().filter_map(|word| word.to_str()).filter(|word| word.starts_with('-') && !is_known(word));
    let hint = unknown.next().filter(|_| is_word).map(|flag| match flag {
        "-i" | "--ignore-case" => {
            format!("'{flag}' was read as the pattern: an index has texts as they are written; 'comb grep -i' ignores case")
        }
        flag => format!("'{flag}' was read as the pattern, as 'comb find' has no such flag"),
    });
    with_tip(error, hint)
}

impl Formats for FindFormat {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}
