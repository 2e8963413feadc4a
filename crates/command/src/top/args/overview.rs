//! The flag of an overview.

use clap::Args;

const OVERVIEW: &str = "\
Show what is in the records: formats, times with gaps, and for each field its distinct, most frequent and extreme values

One pass reads the records that --where, -g, -v and the flags of times select. Up to 16384 distinct values of a field, and 1 MiB of them, are \
counted exactly. Beyond, their number is an estimate with a standard error of 0.8 %, and the shares of the most frequent ones are those in a sample of \
4096 values, as ≈ shows. Fields are those of the format, or the union over all records of JSON and logfmt. At most 200 are shown. \
--format json and markdown print the overview for programs and reports.";

/// An overview in place of counts.
#[derive(Args, Clone)]
#[command(next_help_heading = "Output")]
pub(crate) struct OverviewFlag {
    /// Show what is in the records: formats, times with gaps, and for each field its distinct, most frequent and extreme values
    #[arg(long, long_help = OVERVIEW, conflicts_with_all = OF_COUNTS)]
    pub(crate) overview: bool,
}

/// Flags of keys, their counts and their output.
const OF_COUNTS: [&str; 41] = [
    "fields",
    "extract",
    "each",
    "columns",
    "missing",
    "normalize",
    "sed",
    "every",
    "sum",
    "mean",
    "min",
    "max",
    "p50",
    "p95",
    "p99",
    "distinct",
    "percentile",
    "share",
    "number",
    "sort",
    "diff",
    "reverse",
    "min_count",
    "approx",
    "recount",
    "memory",
    "temporary_directory",
    "tail",
    "plot",
    "percent",
    "cumulative",
    "totals",
    "bars",
    "series",
    "sample",
    "save_counts",
    "merge",
    "live",
    "listen",
    "allowed_hosts",
    "unwrap",
];
