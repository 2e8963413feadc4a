//! Flags of exact counts in bounded memory.

use std::env;
use std::path::PathBuf;

use clap::Args;
use finecomb_top::{MemoryLimit, QueryOptions};
use serde::{Deserialize, Deserializer};

use crate::args::{size, value};

/// Minimum and maximum bound, in bytes.
const MEMORY: [usize; 2] = [32 << 20, 1 << 44];

const HELP: &str = "\
Count exactly in tables of SIZE; write what does not fit to temporary files

Tables that are full are written to temporary files, which are added up in the end. The output is the same as without a bound. SIZE \
includes the memory for adding up, but not the keys that are printed: with -n all, a key and --every, --columns or --diff, these are in memory.";

/// Exact counts in bounded memory.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[group(skip)]
#[allow(missing_docs, reason = "a comment would be a help text")]
#[command(next_help_heading = "Machine")]
pub struct Memory {
    /// Count exactly in tables of SIZE; write what does not fit to temporary files
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_memory,
        long_help = HELP,
        conflicts_with_all = ["approx", "live", "listen", "tail", "sample"],
    )]
    #[serde(deserialize_with = "read_memory")]
    pub memory: Option<usize>,

    /// With --memory, directory of the temporary files [default: $TMPDIR, or /tmp]
    #[arg(long, value_name = "DIR", requires = "memory")]
    #[serde(deserialize_with = "value::maybe")]
    pub temporary_directory: Option<PathBuf>,
}

fn parse_memory(text: &str) -> Result<usize, String> {
    size::parse(text, MEMORY[0], MEMORY[1])
}

fn read_memory<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    value::by(deserializer, parse_memory).map(Some)
}

impl Memory {
    /// Bounds the memory of a count, if that is asked for.
    pub(super) fn apply(&self, options: QueryOptions) -> QueryOptions {
        let Some(bytes) = self.memory else { return options };
        let directory = self.temporary_directory.clone().unwrap_or_else(env::temp_dir);
        options.memory(Some(MemoryLimit { bytes, directory }))
    }
}
