//! The flags of `comb top`: those of topfew 2.0, and more.

pub(crate) mod hints;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_scan::{Encoding, Inputs, MAX_BLOCK_SIZE, MAX_LINE_LIMIT, RuleFiles, ScanOptions, WalkOptions};
use finecomb_top::{FieldList, QueryOptions, Separator};

use super::format::{FormatFlags, Formats};
use super::profile::Profile;
use super::selection::{self, Globs, UsageError};
use super::size;
use super::threads::Threads;

const LONG_ABOUT: &str = "\
Count keys and print the most frequent ones

Examples:
  Ten most frequent client addresses:
      comb top -f 1 access.log
  Pages fetched by bots other than Googlebot:
      comb top -f 7 -g bot -v Googlebot access.log
  Requests and their status, from a log with quoted fields:
      comb top -q -f 6,7 access.log
  Requests per hour of the day, from [17/May/2015:10:05:03:
      comb top -f 4 -s '\\[[^:]*:' '' -s ':.*$' '' -n 24 access.log
  Effect of an edit on the first three records:
      comb top -f 4 -s '\\[[^:]*:' '' --sample=3 access.log
  Plain and compressed logs in a directory, with the counts while they run:
      comb top -f 1 --glob 'access.log*' --live /var/log/nginx
  Output of another command:
      journalctl -o cat | comb top -n 20

A record is a line without its line ending (\\n or \\r\\n). Its key is the fields selected by -f, joined by a space, or the \
whole record without -f. Keys are printed as COUNT KEY by descending count; equal counts are ordered by the bytes of the \
key, so the same input always gives the same output.

Regular expressions have Go's syntax and semantics: \\d, \\s, \\w and \\b match ASCII only, or Unicode after (?u). Input need \
not be valid UTF-8: an invalid byte counts as one character, which . matches.

If a flag is repeated, the last value is used, except for -g, -v, -s, --glob and --type, which accumulate.";

const EXIT_STATUS: &str = "\
Exit status:
  0    at least one record was counted
  1    no record was counted
  2    an error occurred, even if the rest of the input was counted and printed
  130  interrupted
  143  terminated, with --partial or --live";

/// Count keys and print the most frequent ones
#[derive(Args)]
#[command(
    args_override_self = true,
    long_about = LONG_ABOUT,
    after_help = "Try 'comb top --help' for examples.",
    after_long_help = EXIT_STATUS,
)]
pub(crate) struct Arguments {
    /// Files, directories (read recursively), or - for standard input [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Number of keys to print; all prints every key, 0 none
    #[arg(short, long, value_name = "COUNT", default_value = "10", value_parser = parse_number, allow_hyphen_values = true)]
    number: usize,

    /// Fields that make up the key, such as 7 or 1,3 or 2-4, or -1 for the last [default: the whole record]
    ///
    /// Fields are numbered from 1, or from the end, with -1 for the last. Lists and ranges can be combined, as in 2-4,1;
    /// 2--1 selects all but the first. The key has the fields in the given order, joined by a space. Records that lack one of
    /// the fields are skipped; a message on standard error gives their number.
    #[arg(short, long, value_name = "LIST", allow_hyphen_values = true)]
    fields: Option<FieldList>,

    /// Regular expression that separates fields [default: runs of spaces and tabs; leading ones are ignored]
    #[arg(
        short = 'p',
        long = "fieldseparator",
        value_name = "REGEX",
        conflicts_with = "quotedfields",
        allow_hyphen_values = true
    )]
    fieldseparator: Option<String>,

    /// Treat text in double quotes as one field and remove the quotes; a backslash escapes a quote
    ///
    /// If a quote is never closed, the record has only the fields before it. The record is skipped if -f selects others, or
    /// counts fields from the end.
    #[arg(short, long)]
    quotedfields: bool,

    /// Count only records that match; repeatable, all must match
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true)]
    grep: Vec<String>,

    /// Skip records that match; repeatable, none may match
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true)]
    vgrep: Vec<String>,

    /// Replace all matches in the key; repeatable, applied in the given order
    ///
    /// In the replacement, $1 or ${name} inserts the text of a capture group, and $$ a dollar sign. A name is as long as
    /// possible: $1x is the group named 1x; ${1}x is the first group followed by x.
    #[arg(short, long, num_args = 2, value_names = ["REGEX", "REPLACEMENT"], allow_hyphen_values = true)]
    sed: Vec<String>,

    /// In directories, read only files that match GLOB, or skip them if GLOB begins with !; repeatable
    ///
    /// Globs have the syntax of .gitignore. If several match a file, the last one takes precedence.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, help_heading = "Input")]
    glob: Vec<String>,

    /// In directories, read only files of this type; 'comb grep --type-list' lists all types
    #[arg(long = "type", id = "type", value_name = "TYPE", help_heading = "Input")]
    types: Vec<String>,

    /// In directories, respect .gitignore, .ignore and similar files
    #[arg(long, help_heading = "Input")]
    ignore: bool,

    /// In directories, skip hidden files and directories
    #[arg(long, help_heading = "Input")]
    no_hidden: bool,

    /// Do not decompress compressed input
    ///
    /// By default, gzip, zstd, bzip2, xz, lzma and lz4 are recognised by their first bytes, also on standard input.
    #[arg(long, help_heading = "Input")]
    no_decompress: bool,

    /// Text encoding of the input: auto, none, or a label such as utf-16le or latin1
    ///
    /// auto recognises UTF-16 by its byte order mark.
    #[arg(long, value_name = "ENCODING", default_value = "auto", value_parser = selection::encoding, help_heading = "Input")]
    encoding: Encoding,

    #[command(flatten)]
    threads: Threads,

    /// Show how the first COUNT records are processed, and why; count nothing
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "10", value_parser = parse_count)]
    pub(crate) sample: Option<usize>,

    #[command(flatten)]
    pub(crate) format: FormatFlags<Format>,

    /// On interrupt (Ctrl-C) or termination, print the counts so far, marked as partial
    #[arg(long)]
    pub(crate) partial: bool,

    #[command(flatten)]
    pub(crate) profile: Profile,

    /// Show counts and thread activity while the job runs; q stops it and prints the counts
    #[arg(long, conflicts_with = "sample")]
    pub(crate) live: bool,

    /// Skip and report lines longer than SIZE
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = |text: &str| size::parse(text, 1, MAX_LINE_LIMIT))]
    max_line: usize,

    /// Amount that each thread reads at a time
    #[arg(long, value_name = "SIZE", default_value = "128K", value_parser = |text: &str| size::parse(text, 1, MAX_BLOCK_SIZE))]
    block_size: usize,
}

/// Output formats.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines of COUNT KEY
    Text,
    /// One object; key_base64 holds the exact bytes of keys that are not UTF-8
    Json,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header; tabs and backslashes in keys are escaped
    Tsv,
}

impl Formats for Format {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}

fn parse_number(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        count => count.parse().map_err(|_| "expected all or a number".to_owned()),
    }
}

fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "expected a number of at least 1".to_owned())
}

impl Arguments {
    /// Records, keys and edits selected by the flags.
    pub(crate) fn query(&self) -> QueryOptions {
        let separator = match &self.fieldseparator {
            Some(regex) => Separator::Regex(regex.clone()),
            None if self.quotedfields => Separator::Quotes,
            None => Separator::Blanks,
        };
        let (pairs, _) = self.sed.as_chunks::<2>();
        QueryOptions {
            number: self.number,
            fields: self.fields.clone().unwrap_or_default(),
            separator,
            grep: self.grep.clone(),
            vgrep: self.vgrep.clone(),
            sed: pairs.iter().cloned().map(|[regex, replacement]| (regex, replacement)).collect(),
        }
    }

    /// Whether fields may be quoted.
    pub(crate) fn has_quoted_fields(&self) -> bool {
        self.quotedfields
    }

    /// Inputs and the options for reading them.
    pub(crate) fn inputs(&self) -> Result<Inputs, UsageError> {
        let walk = WalkOptions {
            skip_hidden: self.no_hidden,
            rules: if self.ignore { RuleFiles::ALL } else { RuleFiles::NONE },
            globs: selection::globs(&[Globs { flag: "--glob", globs: &self.glob, ignore_case: false }])?,
            types: selection::named_types(&self.types)?,
            ..WalkOptions::default()
        };
        let (encoding, decompress) = (self.encoding, !self.no_decompress);
        Ok(Inputs { walk, encoding, decompress, ..Inputs::new(&self.files) })
    }

    /// Scan options, without progress display and stop signal.
    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        ScanOptions {
            width: self.threads.width(),
            block_size: self.block_size,
            max_line: self.max_line,
            profile: self.profile.detail(),
            ..ScanOptions::default()
        }
    }
}
