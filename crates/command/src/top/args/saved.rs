//! Flags of counts in files.

use std::path::PathBuf;

use clap::Args;

const SAVE: &str = "\
Write the counts of all keys to FILE, which --merge reads; - is standard output, instead of the table

So logs can be counted where they are: on each machine, comb top -n 0 --save-counts FILE; then comb top --merge FILE... anywhere. The \
result is exactly that of all logs in one place. The flags that select records, keys, times and measures are kept in FILE. A relative time \
such as --since 2h is another on each machine: name an absolute one.";

const MERGE: &str = "\
Add up the counts in files that --save-counts has written, and print them

The files must have been counted with the same flags for records, keys, times and measures, which are not repeated here. With \
--save-counts, the sum is written to a file as well.";

/// Counts in files.
#[derive(Args, Clone)]
#[command(next_help_heading = "Output")]
pub(crate) struct CountFiles {
    /// Write the counts of all keys to FILE, which --merge reads; - is standard output, instead of the table
    #[arg(
        long,
        value_name = "FILE",
        long_help = SAVE,
        conflicts_with_all = ["approx", "memory", "tail", "live", "listen", "sample", "partial"],
    )]
    pub(crate) save_counts: Option<PathBuf>,

    /// Add up the counts in files that --save-counts has written, and print them
    #[arg(long, long_help = MERGE, group = "buckets", conflicts_with_all = NOT_MERGED, help_heading = "Input")]
    pub(crate) merge: bool,
}

/// Flags of counting, which was done when the files were written.
pub(crate) const NOT_MERGED: [&str; 51] = [
    "input",
    "record",
    "records",
    "unwrap",
    "no_header",
    "fieldseparator",
    "quotedfields",
    "fields",
    "extract",
    "each",
    "columns",
    "missing",
    "ignore_case",
    "normalize",
    "sed",
    "grep",
    "vgrep",
    "where",
    "time",
    "time_format",
    "tz",
    "since",
    "until",
    "sorted",
    "last",
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
    "unit",
    "number_format",
    "tail",
    "approx",
    "memory",
    "live",
    "listen",
    "sample",
    "partial",
    "glob",
    "type",
    "ignore",
    "no_hidden",
    "archives",
    "no_decompress",
    "profile",
];
