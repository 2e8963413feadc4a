//! The flags of `comb bench serve`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::bench::output::ExperimentOutput;
use crate::bench::values::parse_seconds;
use crate::shell::candidates;
use crate::shell::facts;
use crate::shell::line::completer;

const LONG_ABOUT: &str = "\
Compare a server with one process per request

Examples:
  Build an index of digits of pi, and search it from 16 concurrent clients:
      comb pi 100M -o pi.txt
      comb index build pi.txt -o pi.comb
      comb bench serve pi.comb --connections 16
  Save a longer measurement:
      comb bench serve pi.comb --seconds 30 --save serve.json

Starts 'comb serve' on 127.0.0.1 and searches for pieces of the index's own text: over persistent connections, and over one \
connection per request. Then sends the same requests to 'comb cgi', one process per request. All answers must be equal.";

/// Compare a server with one process per request
#[derive(Args)]
#[command(long_about = LONG_ABOUT, add = facts::BENCH_SERVE)]
pub struct BenchServeArguments {
    /// Index built by 'comb index build'
    #[arg(value_name = "INDEX", add = completer(candidates::index_files), required_unless_present = "from_json", conflicts_with = "from_json")]
    pub index: Option<PathBuf>,

    /// Number of concurrent clients
    #[arg(long, value_name = "N", default_value = "8", value_parser = parse_connections)]
    pub connections: NonZeroUsize,

    /// Duration of the measurement of each variant
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = parse_seconds)]
    pub seconds: Duration,

    #[command(flatten)]
    pub output: ExperimentOutput,
}

/// Maximum number of concurrent clients.
pub const MAX_CONNECTIONS: usize = 100;

fn parse_connections(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse::<NonZeroUsize>().ok().filter(|count| count.get() <= MAX_CONNECTIONS);
    count.ok_or_else(|| format!("expected a number from 1 to {MAX_CONNECTIONS}"))
}
