//! The flags of `comb top`: the flags of topfew 2.0, and more.

pub(crate) mod hints;
mod listen;
mod overview;
mod plot;
pub(crate) mod saved;
mod tail;

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use clap_complete::ArgValueCandidates;
use finecomb_scan::{Inputs, ScanOptions};
use finecomb_top::QueryOptions;
use finecomb_top::print::Layout;

use crate::args::format::{FormatFlags, Formats};
use crate::args::profile::Profile;
use crate::args::selection::UsageError;
use crate::shell::{candidates, facts};
use crate::tables::TableKind;
use crate::top::options::CountOptions;
use listen::Listen;
use overview::OverviewFlag;
use plot::Plot;
use saved::CountFiles;
use tail::TailFlags;

const LONG_ABOUT: &str = "\
Count keys and print the most frequent ones

Examples:
  Overview of a log in any format: its fields, times and most frequent values:
      comb top --overview access.log
  Ten most frequent client addresses of an access log:
      comb top -f 1 access.log
  Pages that were not found:
      comb top --where 'status == 404' -f path access.log
  Statuses of each method, as columns:
      comb top -f method --columns status access.log
  What changed most between two logs, and since the same hour 24 hours ago:
      comb top --diff -f path old.log new.log
      comb top --diff=1d --last 1h -f path access.log
  Bytes and slow requests by client:
      comb top -f remote_addr --sum bytes --p99 request_time --sort 'sum(bytes)' access.log
  Users and addresses of failed logins, also in rotated logs:
      comb top -e 'Failed password for (?:invalid user )?(\\S+) from (\\S+)' --glob 'auth.log*' /var/log
  Nested fields of JSON Lines:
      comb top -f .request.headers.host --where '.status >= 500' service.json
  A column of a CSV file with semicolons, with shares and totals:
      comb top -p ';' --input csv -f country --percent --totals customers.csv
  Messages of one kind, with placeholders for numbers, addresses and paths:
      comb top --input syslog -f program,message --normalize all syslog
  Pages fetched by bots other than Googlebot:
      comb top -f 7 -g bot -v Googlebot access.log
  Requests per hour of the day, from [17/May/2015:10:05:03:
      comb top -f 4 -s '\\[[^:]*:' '' -s ':.*$' '' -n 24 --sort key access.log
  TODO comments of a source tree by name:
      comb top --ignore -e 'TODO\\((\\w+)\\)' --each src
  Pages of the last five minutes, as the log grows:
      comb top --tail --live --last 5m -f path access.log
  Effect of a query on the first three records:
      comb top -f path --where 'bytes > 1MB' --sample=3 access.log

A record is a line without its line ending (\\n or \\r\\n); a record of CSV may have line feeds in quotes. Its key is the fields \
selected by -f, or what -e matches, or else the whole record. Keys are printed as COUNT KEY by descending count; equal counts \
are ordered by the bytes of the key, so the same input always gives the same output.

Regular expressions are those of comb grep. Input need not be valid UTF-8: . and [^x] match an invalid byte too.

If a flag is repeated, the last value is used, except for -e, -g, -v, -s, --glob, --type, --allow-host and the measures, which \
accumulate.";

const EXIT_STATUS: &str = "\
Exit status:
  0    at least one record was counted
  1    no record was counted
  2    an error occurred, even if the rest of the input was counted and printed
  130  interrupted
  143  terminated, with --partial or --live";

/// Count keys and print the most frequent ones
#[derive(Args, Clone)]
#[command(
    args_override_self = true,
    long_about = LONG_ABOUT,
    add = facts::TOP,
    after_help = "Try 'comb top --help' for examples.",
    after_long_help = EXIT_STATUS,
)]
pub(crate) struct TopArguments {
    /// Files, directories (read recursively), or - for standard input [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) options: CountOptions,

    #[command(flatten)]
    pub(crate) tail: TailFlags,

    #[command(flatten)]
    pub(crate) plot: Plot,

    #[command(flatten)]
    pub(crate) overview: OverviewFlag,

    /// Print the share of each key in percent
    #[arg(long, help_heading = "Output")]
    percent: bool,

    /// Print the sum of the counts up to each key
    #[arg(long, help_heading = "Output")]
    cumulative: bool,

    /// Print the number of records and of distinct keys after the keys
    #[arg(long, help_heading = "Output")]
    totals: bool,

    /// Draw a bar for each number of the column that --sort names, or else for each count, if the output is a terminal
    #[arg(long, help_heading = "Output")]
    bars: bool,

    /// Write to FILE instead of standard output; an existing file is kept, unless it is empty or --force is given
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["tail", "formats"], help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// Replace an existing file
    #[arg(long, requires = "output", help_heading = "Output")]
    pub(crate) force: bool,

    /// Show the counts of keys by bucket of --every in text as numbers or sparklines [default: sparklines on a terminal, else numbers]
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Output")]
    series: Option<SeriesForm>,

    #[command(flatten, next_help_heading = "Output")]
    pub(crate) format: FormatFlags<TopFormat>,

    /// Show all fields of the first COUNT records, and how they are processed and why; count nothing
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "10", value_parser = parse_count, help_heading = "Output")]
    pub(crate) sample: Option<usize>,

    /// List the formats of --input with their fields, or describe one; count nothing
    #[arg(long, value_name = "NAME", num_args = 0..=1, add = ArgValueCandidates::new(candidates::inputs), help_heading = "Input")]
    pub(crate) formats: Option<Option<String>>,

    #[command(flatten)]
    pub(crate) saved: CountFiles,

    /// On interrupt (Ctrl-C) or termination, print the counts so far, marked as partial
    #[arg(long, help_heading = "Machine")]
    pub(crate) partial: bool,

    #[command(flatten, next_help_heading = "Machine")]
    pub(crate) profile: Profile,

    /// Show rates, counts, shares, measures and buckets while the job runs; q stops it and prints the counts, ? lists the keys
    #[arg(long, conflicts_with = "sample", help_heading = "Machine")]
    pub(crate) live: bool,

    #[command(flatten)]
    pub(crate) listen: Listen,
}

/// Forms of the counts of keys by bucket of time, as text.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SeriesForm {
    /// A row for each bucket, and a column for each key
    Numbers,
    /// A row for each key, with its highest count and the time of that
    Sparklines,
}

/// Output formats.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopFormat {
    /// Lines of COUNT KEY
    Text,
    /// One object; key_base64 holds the exact bytes of keys that are not UTF-8
    Json,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header; tabs and backslashes in keys are escaped
    Tsv,
    /// A table in Markdown
    Markdown,
    /// Stream in Arrow's IPC format
    #[value(hide = cfg!(not(feature = "arrow")))]
    Arrow,
    /// Parquet file
    #[value(hide = cfg!(not(feature = "parquet")))]
    Parquet,
}

impl TopFormat {
    /// The format of a table, if it is one.
    pub(crate) fn table(self) -> Option<TableKind> {
        match self {
            Self::Arrow => Some(TableKind::Arrow),
            Self::Parquet => Some(TableKind::Parquet),
            Self::Text | Self::Json | Self::Csv | Self::Tsv | Self::Markdown => None,
        }
    }
}

impl Formats for TopFormat {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}

fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "expected a number of at least 1".to_owned())
}

impl TopArguments {
    /// Records, keys, measures and their order.
    pub(crate) fn query(&self) -> Result<QueryOptions, UsageError> {
        let options = self.options.query(self.tail.tail)?;
        Ok(options.overview(self.overview.overview).explain(self.sample.is_some()))
    }

    /// Inputs and the options for reading them.
    pub(crate) fn inputs(&self) -> Result<Inputs, UsageError> {
        self.options.inputs(self.files.clone())
    }

    /// Scan options, without progress display and stop signal.
    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        self.options.scan().profile(self.profile.detail())
    }

    /// Whether rows are printed for buckets of time as these end.
    pub(crate) fn prints_buckets(&self) -> bool {
        self.tail.tail && self.options.definition.times.every.is_some() && !self.live
    }

    /// Whether the order of the rows is reversed.
    pub(crate) fn is_reversed(&self) -> bool {
        self.options.reverse
    }

    /// Columns of the output beside the measures.
    pub(crate) fn layout(&self) -> Layout {
        Layout { percent: self.percent, cumulative: self.cumulative, totals: self.totals, no_header: false }
    }

    /// Whether keys that are counted by buckets have sparklines.
    pub(crate) fn has_sparklines(&self, is_terminal: bool) -> bool {
        self.series.map_or(is_terminal, |form| form == SeriesForm::Sparklines)
    }

    /// Checks that there are counts by bucket, if a form of them was chosen.
    pub(crate) fn check_series(&self) -> Result<(), &'static str> {
        let CountOptions { definition, .. } = &self.options;
        let has_series = definition.times.every.is_some() && !definition.has_only_buckets();
        let is_shown = self.format.choice() == TopFormat::Text && !self.prints_buckets();
        if self.series.is_none() || has_series && is_shown && definition.measures.0.is_empty() {
            return Ok(());
        }
        Err(
            "--series: expected --every and a key, such as --every 1h -f 1, in text without measures and --tail",
        )
    }

    /// Whether bars are drawn on a terminal.
    pub(crate) fn has_bars(&self) -> bool {
        self.bars || self.options.definition.has_only_buckets()
    }
}
