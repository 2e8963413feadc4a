//! Flags for approximate counts.

use std::fs;

use clap::Args;
use finecomb_scan::Inputs;
use finecomb_top::{QueryOptions, SortBy};
use serde::{Deserialize, Deserializer};

use crate::args::selection::UsageError;
use crate::args::{size, value};

/// Minimum and maximum memory, in bytes.
const MEMORY: [usize; 2] = [4 << 10, 32 << 30];

/// Value of `--approx` alone.
const DEFAULT: &str = "16M";

const APPROX: &str = "\
Count the most frequent keys approximately, in SIZE of memory [default: 16M]

A count is exact if the key has been in memory since its first record, as that of a frequent key usually has. Otherwise the maximum of \
the records that were missed follows it: 1200+5 is 1200 to 1205. A key is marked with ? if others may be more frequent. The output is \
the same at any number of threads. There are no measures, and keys are in the order of their counts.";

/// Approximate counts.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[group(skip)]
#[allow(missing_docs, reason = "a comment would be a help text")]
#[command(next_help_heading = "Machine")]
pub struct Approx {
    /// Count the most frequent keys approximately, in SIZE of memory [default: 16M]
    #[arg(
        long,
        value_name = "SIZE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = DEFAULT,
        value_parser = parse_memory,
        long_help = APPROX,
        conflicts_with_all = ["live", "listen", "every", "reverse", "sorted"],
    )]
    #[serde(deserialize_with = "read_approx")]
    pub approx: Option<usize>,

    /// With --approx, read all files a second time and count the keys exactly that may be the most frequent ones
    #[arg(long, requires = "approx")]
    pub recount: bool,
}

fn parse_memory(text: &str) -> Result<usize, String> {
    size::parse(text, MEMORY[0], MEMORY[1])
}

fn read_approx<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    value::by_or(deserializer, DEFAULT, parse_memory).map(Some)
}

impl Approx {
    /// Makes a count approximate, if that is asked for.
    pub(super) fn apply(&self, options: QueryOptions) -> Result<QueryOptions, UsageError> {
        let Some(memory) = self.approx else { return Ok(options) };
        if let Some(measure) = options.measures.first() {
            return Err(UsageError(format!("--approx: there are only counts; omit {measure}")));
        }
        if options.sort_by != SortBy::Count {
            return Err(UsageError(
                "--approx: keys are in the order of their counts; omit --sort".to_owned(),
            ));
        }
        Ok(options.approximate(Some(memory)).recount(self.recount))
    }

    /// Checks that inputs can be read twice if they have to.
    pub(crate) fn check_inputs(&self, inputs: &Inputs) -> Result<(), UsageError> {
        if !self.recount {
            return Ok(());
        }
        if inputs.has_standard_input() {
            return Err(UsageError("--recount: standard input cannot be read twice; name files".to_owned()));
        }
        let is_stream = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
        match inputs.named.iter().find(|path| fs::metadata(path).is_ok_and(is_stream)) {
            Some(path) => {
                Err(UsageError(format!("--recount: {} cannot be read twice; name files", path.display())))
            }
            None => Ok(()),
        }
    }
}
