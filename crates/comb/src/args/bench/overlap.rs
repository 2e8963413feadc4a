//! The flags of `comb bench overlap`.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use finecomb_bench::experiment::{Experiment, experiment_in};
use finecomb_bench::overlap::{CommandOverlap, CommandOverlapOptions, OverlapOptions};

use super::output::Drawn;
use super::this_program;
use super::values::{self, Counts};

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
#[command(long_about = LONG_ABOUT)]
pub(crate) struct Arguments {
    /// Directory or file to read
    #[arg(value_name = "PATH", required_unless_present_any = ["from_json", "job"], conflicts_with = "from_json")]
    path: Option<PathBuf>,

    /// Arguments of comb, after --
    #[arg(
        value_name = "JOB",
        last = true,
        conflicts_with_all = ["from_json", "path", "cold", "warm", "work"],
        value_hint = ValueHint::CommandWithArguments
    )]
    job: Vec<OsString>,

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
    /// Returns `true` if a command is measured, or was measured in the saved result.
    pub(crate) fn is_of_command(&self) -> bool {
        let saved = self.drawn.output.from_json.as_deref().and_then(experiment_in);
        !self.job.is_empty() || saved.as_deref() == Some(CommandOverlap::NAME)
    }

    /// Options of the experiment with a command.
    ///
    /// # Errors
    ///
    /// If the path of this program is unknown.
    pub(crate) fn command_options(&self) -> Result<CommandOverlapOptions, String> {
        Ok(CommandOverlapOptions {
            program: this_program()?,
            command: self.job.clone(),
            widths: self.widths.0.clone(),
            runs: self.runs,
            reads: match self.job.first() {
                #[cfg(feature = "symbols")]
                Some(command) if command == "symbols" => finecomb_symbols::Language::knows,
                _ => |_| true,
            },
        })
    }

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
