//! The flags of `comb mcp`.

mod install;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use finecomb_scan::Width;

pub use self::install::McpClient;
use crate::args::size;
use crate::args::threads::Threads;
use crate::args::tree_index::{IndexHome, IndexUse, WhenIndexed};
use crate::serve::parse_seconds;
use crate::shell::facts;

const LONG_ABOUT: &str = "\
Serve searches to a coding agent, by the Model Context Protocol

Examples:
  Server for the current directory, as a client starts it:
      comb mcp
  Server for two directories, with a time-out of ten seconds:
      comb mcp ~/src/app ~/src/lib --request-timeout 10
  Entry for the configuration of a client:
      comb mcp --install cursor > .cursor/mcp.json
  Faster searches, from an index:
      comb index build .
      comb mcp .

Reads requests from standard input and writes answers to standard output, one JSON-RPC message per line. The tools are search, \
files, symbols, find and top: they answer as 'comb grep', 'comb grep --files', 'comb symbols', 'comb find' and 'comb top' do, in fewer \
bytes and page by page; and read, for lines and definitions. They read only files below the roots. The server builds an index of these \
in the background once calls take long, and writes nothing else.";

const EXIT_STATUS: &str = "\
Exit status:
  0    the client closed the connection
  2    an error occurred";

/// Serve searches to a coding agent, by the Model Context Protocol
#[derive(Args)]
#[command(
    long_about = LONG_ABOUT,
    add = facts::MCP,
    after_help = "Try 'comb mcp --help' for examples.",
    after_long_help = EXIT_STATUS,
)]
pub struct McpArguments {
    /// Directories that may be read [default: the current directory]
    ///
    /// Relative paths in requests are below the first one.
    #[arg(value_name = "ROOT")]
    pub roots: Vec<PathBuf>,

    /// Print the entry of a client's configuration for this server, and exit
    #[arg(long, value_enum, value_name = "CLIENT")]
    pub install: Option<McpClient>,

    /// Answer as structured JSON as well, with a schema for each tool
    ///
    /// Some clients then show the model only the JSON, in which the lines of files are escaped.
    #[arg(long)]
    pub structured: bool,

    /// Whether searches use the index of a root, which the server builds and watches [default: $COMB_INDEX, or auto]
    #[arg(long, value_enum, value_name = "WHEN")]
    index: Option<WhenIndexed>,

    #[command(flatten)]
    home: IndexHome,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten, next_help_heading = "Limits")]
    limits: McpLimits,
}

/// Limits on requests and answers.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct McpLimits {
    /// Time-out of a call; the answer has the results up to then
    #[arg(long, alias = "timeout", value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub request_timeout: Duration,

    /// Maximum number of calls that run at a time
    #[arg(long, value_name = "N", default_value = "4", value_parser = parse_calls)]
    pub max_in_flight: usize,

    /// Maximum number of calls that wait for others to end; further calls are refused
    #[arg(long, value_name = "N", default_value = "32")]
    pub max_waiting: usize,

    /// Maximum size of a request
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = |text: &str| size::parse(text, 256, 1 << 30))]
    pub max_request: usize,

    /// Maximum size of an answer
    #[arg(long, value_name = "SIZE", default_value = "32K", value_parser = |text: &str| size::parse(text, 1 << 10, 1 << 30))]
    pub max_output: usize,

    /// Maximum length of a line in an answer, in bytes; longer lines are cut around the match
    #[arg(long, value_name = "N", default_value = "300", value_parser = |text: &str| size::parse(text, 20, 1 << 20))]
    pub max_columns: usize,
}

impl McpArguments {
    /// The directories that may be read, as they were given.
    pub fn roots(&self) -> Vec<PathBuf> {
        if self.roots.is_empty() { vec![PathBuf::from(".")] } else { self.roots.clone() }
    }

    /// When searches use an index, if a flag says it.
    pub fn index(&self) -> Option<WhenIndexed> {
        self.index
    }

    /// The directory of all indexes, from the root directory of the system on; `None` if there is no home directory.
    pub fn index_home(&self) -> Option<PathBuf> {
        let home = self.home.path()?;
        Some(std::path::absolute(&home).unwrap_or(home))
    }

    /// Whether searches use indexes, which the server keeps then.
    pub fn uses_indexes(&self) -> bool {
        let home = IndexHome { index_dir: self.home.index_dir.clone() };
        IndexUse { index: self.index, home }.when().is_ok_and(|when| when != WhenIndexed::Never)
    }

    /// Number of threads of a call.
    pub fn width(&self) -> Width {
        self.threads.width()
    }

    /// The same, as a number.
    pub fn threads(&self) -> usize {
        self.threads.count().get()
    }

    /// Limits on requests and answers.
    pub fn limits(&self) -> &McpLimits {
        &self.limits
    }
}

fn parse_calls(text: &str) -> Result<usize, String> {
    let calls = text.parse().ok().filter(|calls| (1..=1000).contains(calls));
    calls.ok_or_else(|| "expected a number from 1 to 1000".to_owned())
}
