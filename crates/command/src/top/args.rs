//! The flags of `comb top`: the flags of topfew 2.0, and more.

mod approx;
mod definition;
pub(crate) mod hints;
mod key_fields;
mod listen;
pub(crate) mod measures;
mod memory;
mod order;
mod plot;
mod saved;
mod tail;
mod times;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_scan::{Encoding, Inputs, MAX_BLOCK_SIZE, MAX_LINE_LIMIT, RuleFiles, ScanOptions, WalkOptions};
use finecomb_top::print::Layout;
use finecomb_top::{Bound, FieldList, InputFormat, Last, Normalizer, Query, QueryOptions, Separator, SortBy};

use crate::args::format::{FormatFlags, Formats};
use crate::args::profile::Profile;
use crate::args::selection;
use crate::args::selection::{Globs, UsageError};
use crate::args::size;
use crate::args::threads::Threads;
use crate::tables::Table;
use approx::Approx;
use key_fields::KeyFields;
use listen::Listen;
use measures::Measures;
use memory::Memory;
use plot::Plot;
use saved::Saved;
use tail::Tail;
use times::Times;

const LONG_ABOUT: &str = "\
Count keys and print the most frequent ones

Examples:
  Ten most frequent client addresses of an access log:
      comb top -f 1 access.log
  Pages that were not found:
      comb top --where 'status == 404' -f path access.log
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

const FORMATS: &str = "\
Format of the records [default: lines if fields are numbers, auto if they have names]

lines: fields are numbers. auto: decided for each file by its first records; --sample shows the decision. clf, combined: access \
logs, with the fields remote_addr, user, time, request, method, path, query, url, protocol, status, bytes, and with combined \
referer, user_agent; vhost_combined: the same behind host and port. nginx:LOG_FORMAT: the log_format of nginx, with its variables. csv: RFC 4180 with a header; -p sets another \
delimiter. tsv: tab-separated values with a header. json: an object per line, with fields such as .a.b or .list[0]. logfmt: \
key=value. syslog: RFC 3164 and 5424, with the fields time, host, program, pid, message, facility, severity. regex:PATTERN: \
the named groups are the fields.";

const WHERE: &str = "\
Count only records for which a condition on fields holds

Comparisons are == != < <= > >=, and ~ !~ for regular expressions; they are combined by && || ! and parentheses. Fields are \
names, or numbers as in $7; names with other characters are in backquotes. Values are numbers, also with a unit as in 1.5s or \
10MB (m is minutes, M a million), or strings in quotes. A comparison with a field that the record lacks is false; a field alone holds if the record has it.";

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
    after_help = "Try 'comb top --help' for examples.",
    after_long_help = EXIT_STATUS,
)]
pub(crate) struct Arguments {
    /// Files, directories (read recursively), or - for standard input [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Format of the records [default: lines if fields are numbers, auto if they have names]
    #[arg(long, value_name = "FORMAT", long_help = FORMATS, help_heading = "Input")]
    input: Option<InputFormat>,

    /// CSV and TSV files have no header; fields are numbers
    #[arg(long, help_heading = "Input")]
    no_header: bool,

    /// Regular expression that separates fields, or delimiter of CSV [default: runs of spaces and tabs, ignoring leading ones]
    #[arg(
        short = 'p',
        long = "fieldseparator",
        value_name = "REGEX",
        conflicts_with = "quotedfields",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    fieldseparator: Option<String>,

    /// Treat text in double quotes as one field and remove the quotes; a backslash escapes a quote
    ///
    /// If a quote is never closed, the record has only the fields before it. The record is skipped if -f selects others, or
    /// counts fields from the end.
    #[arg(short, long, help_heading = "Input")]
    quotedfields: bool,

    /// Fields that make up the key: numbers such as 7 or 1,3 or 2-4, or -1 for the last, or names [default: the whole record]
    ///
    /// Fields are numbered from 1, or from the end, with -1 for the last. Lists and ranges can be combined, as in 2-4,1;
    /// 2--1 selects all but the first. The key has the fields in the given order, joined by a space.
    ///
    /// Names come from the format, such as status or path,status, or .request.headers.host in JSON. A name with dots, commas or
    /// blanks can be written in double quotes.
    ///
    /// Records that lack one of the fields are skipped; a message on standard error gives their number.
    #[arg(short, long, value_name = "LIST", allow_hyphen_values = true, value_parser = KeyFields::parse, help_heading = "Key")]
    fields: Option<KeyFields>,

    /// Key is what REGEX matches, or its groups; repeatable, any may match
    ///
    /// The key is the match, or the first group if there are groups; several groups are several fields. Named groups are
    /// also fields for -f, --where and the measures. Records without a match are not counted; a message on standard error
    /// gives their number.
    #[arg(short = 'e', long, value_name = "REGEX", allow_hyphen_values = true, help_heading = "Key")]
    extract: Vec<String>,

    /// With -e, count all matches of a record, not only the first
    #[arg(long, requires = "extract", help_heading = "Key")]
    each: bool,

    /// Count records without a field of the key, with TEXT in place of the field
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Key")]
    missing: Option<String>,

    /// Ignore case: in regular expressions, in strings of --where, and in keys, which are printed in lower case
    #[arg(short, long, help_heading = "Key")]
    ignore_case: bool,

    /// Replace parts of the key that vary by placeholders: num, hex, uuid, ip, path, or all
    #[arg(long, value_name = "NAME,...", value_parser = Normalizer::new, help_heading = "Key")]
    normalize: Option<Normalizer>,

    /// Replace all matches in the key; repeatable, applied in the given order
    ///
    /// In the replacement, $1 or ${name} inserts the text of a capture group, and $$ a dollar sign. A name is as long as
    /// possible: $1x is the group named 1x; ${1}x is the first group followed by x.
    #[arg(short, long, num_args = 2, value_names = ["REGEX", "REPLACEMENT"], allow_hyphen_values = true, help_heading = "Key")]
    sed: Vec<String>,

    /// Count only records that match; repeatable, all must match
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true, help_heading = "Filter")]
    grep: Vec<String>,

    /// Skip records that match; repeatable, none may match
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true, help_heading = "Filter")]
    vgrep: Vec<String>,

    /// Count only records for which a condition on fields holds, such as 'status >= 500 && path ~ "^/api"'
    #[arg(long = "where", id = "where", value_name = "CONDITION", long_help = WHERE, allow_hyphen_values = true, help_heading = "Filter")]
    condition: Option<String>,

    #[command(flatten)]
    times: Times,

    #[command(flatten)]
    pub(crate) tail: Tail,

    #[command(flatten)]
    pub(crate) plot: Plot,

    #[command(flatten)]
    measures: Measures,

    /// Number of keys to print; all prints every key, 0 none [default: 10]
    #[arg(short, long, value_name = "COUNT", value_parser = parse_number, allow_hyphen_values = true, help_heading = "Output")]
    number: Option<usize>,

    /// Order of the keys: count, key, or a measure such as sum(bytes) [default: count; of buckets without a key, time]
    #[arg(long, value_name = "ORDER", help_heading = "Output")]
    sort: Option<String>,

    /// Reverse the order: with the default order, the rarest keys come first
    #[arg(long, help_heading = "Output")]
    reverse: bool,

    /// Print only keys with at least this count
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "1",
        hide_default_value = true,
        help_heading = "Output"
    )]
    min_count: u64,

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

    #[command(flatten, next_help_heading = "Output")]
    pub(crate) format: FormatFlags<Format>,

    /// Show how the first COUNT records are processed, and why; count nothing
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "10", value_parser = parse_count, help_heading = "Output")]
    pub(crate) sample: Option<usize>,

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

    /// Read the members of archives, as ARCHIVE!PATH: zip, and tar, also compressed
    ///
    /// Archives are recognised by their first bytes, and only one level deep. Globs and types apply to members as to files below a directory.
    #[arg(long, conflicts_with = "tail", help_heading = "Input")]
    archives: bool,

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
    pub(crate) approx: Approx,

    #[command(flatten)]
    memory: Memory,

    #[command(flatten)]
    pub(crate) saved: Saved,

    #[command(flatten, next_help_heading = "Machine")]
    threads: Threads,

    /// On interrupt (Ctrl-C) or termination, print the counts so far, marked as partial
    #[arg(long, help_heading = "Machine")]
    pub(crate) partial: bool,

    #[command(flatten, next_help_heading = "Machine")]
    pub(crate) profile: Profile,

    /// Show counts, measures, buckets and thread activity while the job runs; q stops it and prints the counts
    #[arg(long, conflicts_with = "sample", help_heading = "Machine")]
    pub(crate) live: bool,

    #[command(flatten)]
    pub(crate) listen: Listen,

    /// Skip and report lines longer than SIZE
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = |text: &str| size::parse(text, 1, MAX_LINE_LIMIT), help_heading = "Machine")]
    max_line: usize,

    /// Amount that each thread reads at a time
    #[arg(long, value_name = "SIZE", default_value = "128K", value_parser = |text: &str| size::parse(text, 1, MAX_BLOCK_SIZE), help_heading = "Machine")]
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
    /// A table in Markdown
    Markdown,
    /// Stream in Arrow's IPC format, in builds with the feature 'arrow'
    Arrow,
    /// Parquet file, in builds with the feature 'parquet'
    Parquet,
}

impl Format {
    /// The format of a table, if it is one.
    pub(crate) fn table(self) -> Option<Table> {
        match self {
            Self::Arrow => Some(Table::Arrow),
            Self::Parquet => Some(Table::Parquet),
            Self::Text | Self::Json | Self::Csv | Self::Tsv | Self::Markdown => None,
        }
    }
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
    /// Records, keys, measures and their order, selected by the flags.
    pub(crate) fn query(&self) -> Result<QueryOptions, UsageError> {
        let (pairs, _) = self.sed.as_chunks::<2>();
        let [since, until] = self.window()?;
        let (fields, names) = match &self.fields {
            None => (FieldList::default(), Vec::new()),
            Some(KeyFields::Positions(fields)) => (fields.clone(), Vec::new()),
            Some(KeyFields::Names(names)) => (FieldList::default(), names.clone()),
        };
        let options = QueryOptions::default()
            .number(self.number.unwrap_or(if self.has_only_buckets() { usize::MAX } else { 10 }))
            .fields(fields)
            .names(names)
            .separator(self.separator())
            .delimiter(self.delimiter()?)
            .input(self.input.clone())
            .has_header(!self.no_header)
            .extract(self.extract.clone())
            .each(self.each)
            .missing(self.missing.clone())
            .ignore_case(self.ignore_case)
            .normalize(self.normalize)
            .grep(self.grep.clone())
            .vgrep(self.vgrep.clone())
            .sed(pairs.iter().cloned().map(|[regex, replacement]| (regex, replacement)).collect())
            .condition(self.condition.clone())
            .time(self.times.field())
            .time_form(self.times.form())
            .zone(self.times.zone())
            .since(since)
            .until(until)
            .sorted(self.times.sorted())
            .every(self.times.every)
            .last(self.tail.last.filter(|_| self.tail.tail))
            .measures(self.measures.distinct()?)
            .sort_by(self.sort_by()?)
            .reverse(self.reverse)
            .min_count(self.min_count);
        Ok(self.memory.apply(self.approx.apply(options)?))
    }

    /// The ends of the window of time.
    fn window(&self) -> Result<[Option<Bound>; 2], UsageError> {
        let [since, until] = self.times.window()?;
        let last = self.tail.last.filter(|_| !self.tail.tail);
        Ok([last.map(Last::since).or(since), until])
    }

    fn separator(&self) -> Separator {
        match &self.fieldseparator {
            Some(_) if self.has_delimiter() => Separator::Blanks,
            Some(regex) => Separator::Regex(regex.clone()),
            None if self.quotedfields => Separator::Quotes,
            None => Separator::Blanks,
        }
    }

    /// Whether `-p` is a delimiter rather than a regular expression.
    fn has_delimiter(&self) -> bool {
        matches!(self.input, Some(InputFormat::Csv))
    }

    /// Checks that a format uses the flags that are given for fields and headers.
    pub(crate) fn check_format(&self, query: &Query) -> Result<(), UsageError> {
        let format = query.input();
        let is_unused = *format == InputFormat::Lines && !query.has_positions();
        let is_default = if self.input.is_none() { ", the default here," } else { "" };
        let chosen = format!("--input {}{is_default}", format.name());
        let no_separator = match format {
            InputFormat::Lines | InputFormat::Csv => None,
            InputFormat::Auto => Some("finds delimiters itself; --input csv takes one"),
            InputFormat::Tsv => Some("is separated by tabs; --input csv takes another delimiter"),
            _ => Some("has no separator of fields; omit -p"),
        };
        let has_headers = matches!(format, InputFormat::Csv | InputFormat::Tsv | InputFormat::Auto);
        match (&self.fieldseparator, no_separator) {
            (Some(separator), Some(reason)) => {
                Err(UsageError(format!("-p '{separator}': {chosen} {reason}")))
            }
            (Some(separator), _) if is_unused => Err(UsageError(format!(
                "-p '{separator}': no field is selected by its number; add -f NUMBER or omit -p"
            ))),
            _ if self.quotedfields && is_unused => {
                Err(UsageError("-q: no field is selected by its number; add -f NUMBER or omit -q".to_owned()))
            }
            _ if self.quotedfields && *format != InputFormat::Lines => {
                Err(UsageError(format!("-q: {chosen} has its own rules for quotes; omit -q")))
            }
            _ if self.no_header && !has_headers => {
                Err(UsageError(format!("--no-header: {chosen} has no header; --input csv and tsv have one")))
            }
            _ => Ok(()),
        }
    }

    fn delimiter(&self) -> Result<u8, UsageError> {
        let Some(text) = self.fieldseparator.as_deref().filter(|_| self.has_delimiter()) else {
            return Ok(b',');
        };
        delimiter(text).ok_or_else(|| {
            UsageError(format!(
                "-p '{text}': the delimiter of CSV is a single ASCII character other than a quote"
            ))
        })
    }

    fn sort_by(&self) -> Result<SortBy, UsageError> {
        let Some(name) = &self.sort else {
            return Ok(if self.has_only_buckets() { SortBy::Key } else { SortBy::Count });
        };
        let error = |expected: String| UsageError(format!("--sort '{name}': {expected}"));
        match order::find(name, &self.measures.0).map_err(error)? {
            SortBy::Measure(_) if self.times.every.is_some() && !self.has_only_buckets() => {
                Err(error("with --every, expected one of count, key".to_owned()))
            }
            order => Ok(order),
        }
    }

    /// Whether rows are printed for buckets of time as these end.
    pub(crate) fn prints_buckets(&self) -> bool {
        self.tail.tail && self.times.every.is_some() && !self.live
    }

    /// Whether records are counted by buckets of time and nothing else.
    pub(crate) fn has_only_buckets(&self) -> bool {
        self.times.every.is_some() && self.fields.is_none() && self.extract.is_empty()
    }

    /// Width and zone of the buckets of time, for people.
    pub(crate) fn buckets(&self) -> Option<String> {
        Some(format!("{}, {}", self.times.every?, self.times.zone()))
    }

    /// Whether the order of the rows is reversed.
    pub(crate) fn is_reversed(&self) -> bool {
        self.reverse
    }

    /// Columns of the output beside the measures.
    pub(crate) fn layout(&self) -> Layout {
        Layout { percent: self.percent, cumulative: self.cumulative, totals: self.totals, no_header: false }
    }

    /// Whether bars are drawn on a terminal.
    pub(crate) fn has_bars(&self) -> bool {
        self.bars || self.has_only_buckets()
    }

    /// Whether fields may be quoted.
    pub(crate) fn has_quoted_fields(&self) -> bool {
        self.quotedfields
    }

    /// Whether some records are rejected before the condition.
    pub(crate) fn selects_records(&self) -> bool {
        !(self.grep.is_empty() && self.vgrep.is_empty() && self.extract.is_empty())
    }

    /// Whether some records are rejected before the key.
    pub(crate) fn selects_rows(&self) -> bool {
        self.selects_records() || self.condition.is_some() || self.times.selects() || self.tail.last.is_some()
    }

    /// Whether parts of files are left out.
    pub(crate) fn reads_only_window(&self) -> bool {
        self.times.sorted().is_some()
    }

    /// Whether the key is what `-e` matches, or its groups.
    pub(crate) fn has_group_as_key(&self) -> bool {
        self.fields.is_none() && !self.extract.is_empty()
    }

    /// Whether each record with a match of `-e` is counted once, or left out of the count with a message.
    pub(crate) fn counts_all_matched(&self) -> bool {
        !self.each && self.condition.is_none()
    }

    /// Inputs and the options for reading them.
    pub(crate) fn inputs(&self) -> Result<Inputs, UsageError> {
        let walk = WalkOptions::default()
            .skip_hidden(self.no_hidden)
            .rules(if self.ignore { RuleFiles::ALL } else { RuleFiles::NONE })
            .globs(selection::globs(&[Globs { flag: "--glob", globs: &self.glob, ignore_case: false }])?)
            .types(selection::named_types(&self.types)?)
            .archives(self.archives);
        let (encoding, decompress) = (self.encoding, !self.no_decompress);
        Ok(Inputs { walk, encoding, decompress, ..Inputs::new(&self.files) })
    }

    /// Scan options, without progress display and stop signal.
    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        ScanOptions::default()
            .width(self.threads.width())
            .block_size(self.block_size)
            .max_line(self.max_line)
            .profile(self.profile.detail())
    }
}

/// Parses the delimiter of CSV: an ASCII character other than a quote, or `\t` for a tab.
pub(crate) fn delimiter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        b"\\t" => Some(b'\t'),
        &[byte] if !matches!(byte, b'"' | b'\r' | b'\n') => Some(byte),
        _ => None,
    }
}
