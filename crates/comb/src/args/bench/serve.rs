//! The flags of `comb bench serve`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use finecomb_bench::serve::{MAX_CONNECTIONS, ServeOptions};

use super::output::Output;
use super::this_program;
use super::values::parse_seconds;

const EXAMPLES: &str = "\
Example:
  The digits of pi, asked for by 16 at a time:
      comb pi 100M -o pi.txt
      comb index build pi.txt -o pi.comb
      comb bench serve pi.comb --connections 16";

/// Compare a server that stays with a process for each request
///
/// Starts 'comb serve' on 127.0.0.1 and asks it for pieces of the index's own text: over connections that are
/// kept, and over a new one for each request. Then the same is asked of 'comb cgi', a new process each time,
/// as web servers did in 1996. All answers must be the same.
#[derive(Args)]
#[command(after_help = "Try 'comb bench serve --help' for an example.", after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The index, made by 'comb index build'
    #[arg(value_name = "INDEX", required_unless_present = "from_json", conflicts_with = "from_json")]
    index: Option<PathBuf>,

    /// How many ask at the same time
    #[arg(long, value_name = "N", default_value = "8", value_parser = parse_connections)]
    connections: NonZeroUsize,

    /// For how long each way is asked
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = parse_seconds)]
    seconds: Duration,

    #[command(flatten)]
    pub(crate) output: Output,
}

fn parse_connections(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse::<NonZeroUsize>().ok().filter(|count| count.get() <= MAX_CONNECTIONS);
    count.ok_or_else(|| format!("it is a number from 1 to {MAX_CONNECTIONS}"))
}

impl Arguments {
    /// Options, with this program.
    ///
    /// # Errors
    ///
    /// If the system does not say which program this is.
    pub(crate) fn options(&self) -> Result<ServeOptions, String> {
        Ok(ServeOptions {
            comb: this_program()?,
            index: self.index.clone().unwrap_or_default(),
            connections: self.connections,
            time: self.seconds,
        })
    }
}
