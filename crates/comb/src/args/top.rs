//! The flags of `comb top`: those of topfew 2.0, and more.

pub(crate) mod hints;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_scan::{Encoding, Inputs, MAX_BLOCK_SIZE, MAX_LINE_LIMIT, RuleFiles, ScanOptions, WalkOptions};
use finecomb_top::{FieldList, QueryOptions, Separator};
use ignore::types::TypesBuilder;

use super::format::{FormatFlags, Formats};
use super::profile::Profile;
use super::selection::{self, Globs, UsageError};
use super::size;
use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  The ten addresses that ask most often:
      comb top -f 1 access.log

  The pages that robots fetch, but for Google's:
      comb top -f 7 -g bot -v Googlebot access.log

  Requests and their status, from a log with quoted fields:
      comb top -q -f 6,7 access.log

  The hours of the day, from [17/May/2015:10:05:03:
      comb top -f 4 -s '\\[[^:]*:' '' -s ':.*$' '' -n 24 access.log

  What the patterns do, shown on the first records:
      comb top -f 4 -s '\\[[^:]*:' '' --sample=3 access.log

  A directory of logs, compressed or not; selected files; a pipe:
      comb top -f 1 /var/log/nginx
      comb top -f 1 --glob 'access.log*' /var/log/nginx
      journalctl -o cat | comb top -n 20

  What a long job has counted so far; where its time went, as a page:
      comb top -f 1 --live /var/log/nginx
      comb top -f 1 --profile=html /var/log/nginx";

const EXIT_CODES: &str = "\
Exit status:
  0    at least one record was counted
  1    none was
  2    something went wrong, also when the rest was counted and printed
  130  interrupted
  143  terminated, with --partial or --live";

/// Count keys and print the most frequent ones
///
/// A record is a line, without its end (\n or \r\n). Its key is the fields that -f names, joined with a space, or
/// without -f the whole record. Keys are printed as COUNT KEY, the highest count first, equal counts by the bytes of the
/// key, so that the same input always gives the same output.
///
/// Regular expressions have Go's syntax and meaning: \d, \s, \w and \b are ASCII, or those of Unicode after (?u). Input
/// that is not valid UTF-8 is counted like any other: a byte that belongs to no character is one, which . matches.
///
/// Of a flag that is given more than once the last one counts, but for -g, -v, -s, --glob and --type.
#[derive(Args)]
#[command(
    args_override_self = true,
    after_help = "Try 'comb top --help' for examples.",
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
)]
pub(crate) struct Arguments {
    /// Files, directories (all files below), or - for standard input, which is also read if none is given
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// How many keys to print; all prints every key, 0 none
    #[arg(short, long, value_name = "COUNT", default_value = "10", value_parser = parse_number, allow_hyphen_values = true)]
    number: usize,

    /// The fields that make up the key: 7, or 1,3, or 2-4, or -1 for the last; all of the record if not given
    ///
    /// Fields are numbered from 1, or from the end with -1 for the last. Lists and ranges can be combined: 2-4,1 or
    /// 2--1 for all but the first. The key has them in the given order, joined with one space. A record that lacks one of
    /// them is skipped, and a line on standard error says how many were.
    #[arg(short, long, value_name = "LIST", allow_hyphen_values = true)]
    fields: Option<FieldList>,

    /// What separates fields [default: runs of spaces and tabs, leading ones skipped]
    #[arg(
        short = 'p',
        long = "fieldseparator",
        value_name = "REGEX",
        conflicts_with = "quotedfields",
        allow_hyphen_values = true
    )]
    fieldseparator: Option<String>,

    /// Let fields in double quotes hold spaces, and remove the quotes; a backslash in front of a quote escapes it
    ///
    /// Of a record with a quote that is never closed, the fields in front of it count. If others are asked for, or fields from
    /// the end, it is skipped.
    #[arg(short, long)]
    quotedfields: bool,

    /// Count only records that match; if given more than once, all must match
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true)]
    grep: Vec<String>,

    /// Skip records that match; if given more than once, none may match
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true)]
    vgrep: Vec<String>,

    /// Replace all matches in the key; may be given more than once, for one edit after another
    ///
    /// In the replacement $1 or ${name} stands for what a group of the expression matched, and $$ for a dollar sign. A name
    /// is as long as it can be: $1x is the group named 1x, ${1}x the first group and an x.
    #[arg(short, long, num_args = 2, value_names = ["REGEX", "REPLACEMENT"], allow_hyphen_values = true)]
    sed: Vec<String>,

    /// Below directories, read only files that match; with ! before the glob, skip those that do
    ///
    /// A glob is written as in a .gitignore file. If given more than once, the last one that matches counts.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, help_heading = "Input")]
    glob: Vec<String>,

    /// Below directories, read only files of this type; 'comb grep --type-list' shows them all
    #[arg(long = "type", id = "type", value_name = "TYPE", help_heading = "Input")]
    types: Vec<String>,

    /// Below directories, respect .gitignore, .ignore and the like
    #[arg(long, help_heading = "Input")]
    ignore: bool,

    /// Below directories, skip files and directories whose names begin with a dot
    #[arg(long, help_heading = "Input")]
    no_hidden: bool,

    /// Read compressed files as they are
    ///
    /// Otherwise gzip, zstd, bzip2, xz, lzma and lz4 are recognised by their first bytes, also on standard input.
    #[arg(long, help_heading = "Input")]
    no_decompress: bool,

    /// Encoding of the input: auto recognises UTF-16 by its byte order mark
    #[arg(long, value_name = "ENCODING", default_value = "auto", value_parser = selection::encoding, help_heading = "Input")]
    encoding: Encoding,

    #[command(flatten)]
    threads: Threads,

    /// Count nothing; show what is done with the first records, and why
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "10", value_parser = parse_count)]
    pub(crate) sample: Option<usize>,

    #[command(flatten)]
    pub(crate) format: FormatFlags<Format>,

    /// When interrupted (Ctrl-C) or terminated, print the counts so far, marked as partial
    #[arg(long)]
    pub(crate) partial: bool,

    #[command(flatten)]
    pub(crate) profile: Profile,

    /// Show the counts so far and what each thread does while the job runs; q stops it and prints
    #[arg(long, conflicts_with = "sample")]
    pub(crate) live: bool,

    /// Skip lines longer than this, and report them
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = |text: &str| size::parse(text, 1, MAX_LINE_LIMIT))]
    max_line: usize,

    /// How much a thread reads at a time
    #[arg(long, value_name = "SIZE", default_value = "128K", value_parser = |text: &str| size::parse(text, 1, MAX_BLOCK_SIZE))]
    block_size: usize,
}

/// How an answer is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// COUNT KEY, a line each
    Text,
    /// One object; the exact bytes of keys that are not UTF-8 are in key_base64
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
        count => count.parse().map_err(|_| "it must be all or a number".to_owned()),
    }
}

fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "it must be a number of at least 1".to_owned())
}

impl Arguments {
    /// What to count.
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

    /// Whether fields may be in quotes.
    pub(crate) fn has_quoted_fields(&self) -> bool {
        self.quotedfields
    }

    /// The inputs, and how they are read.
    pub(crate) fn inputs(&self) -> Result<Inputs, UsageError> {
        let mut types = TypesBuilder::new();
        if !self.types.is_empty() {
            types.add_defaults();
            for name in &self.types {
                types.select(name);
            }
        }
        let walk = WalkOptions {
            skip_hidden: self.no_hidden,
            rules: if self.ignore { RuleFiles::ALL } else { RuleFiles::NONE },
            globs: selection::globs(&[Globs { flag: "--glob", globs: &self.glob, ignore_case: false }])?,
            types: selection::types(&types)?,
            ..WalkOptions::default()
        };
        let (encoding, decompress) = (self.encoding, !self.no_decompress);
        Ok(Inputs { walk, encoding, decompress, ..Inputs::new(&self.files) })
    }

    /// How to scan, but for what watches and stops it.
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
