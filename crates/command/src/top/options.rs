//! Options of a count. The flags, the keywords of Python and the calls of agents make them.

mod approx;
pub mod definition;
pub(crate) mod field_unit;
pub(crate) mod key_fields;
pub(crate) mod measures;
mod memory;
mod order;
pub(crate) mod percentile_flags;
pub(crate) mod time_fields;
pub(crate) mod times;

use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches};
use finecomb_scan::{Encoding, Inputs, MAX_BLOCK_SIZE, MAX_LINE_LIMIT, RuleFiles, ScanOptions, WalkOptions};
use finecomb_top::{Bound, Compare, FieldList, InputFormat, Last, Query, QueryOptions, Slack, SortBy};
use serde::{Deserialize, Deserializer};

use crate::args::named::Named;
use crate::args::selection::{self, Globs, UsageError, nanoseconds_now};
use crate::args::threads::Threads;
use crate::args::{named, size, value};
use crate::shell::candidates;
use crate::shell::line::completer;
use crate::top::args::TopArguments;
use approx::Approx;
use definition::CountDefinition;
use key_fields::KeyFields;
use memory::Memory;

/// Value of `--sorted` alone.
const SLACK: &str = "60s";

const SORTED: &str = "\
Read only the window of files that are in the order of time, give or take SLACK [default SLACK: 60s]

This promises that no record is earlier than one before it by more than SLACK, a duration such as 0s, 90s, 15m or 2h. Then the part \
of a file between --since and --until is found by binary search, and the rest is not read. The records that are read are checked: if \
they contradict the promise, one line on standard error names two of them, and the exit status is 2. Small files, compressed files, pipes and \
CSV are read whole.";

/// Definition of the counts, files to read, order of the keys, and use of the machine.
#[derive(Args, Clone, Debug, Deserialize)]
#[serde(default)]
#[group(skip)]
#[allow(missing_docs, reason = "a comment would be a help text")]
pub struct CountOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub definition: CountDefinition,

    /// Number of keys to print; all prints every key, 0 none [default: 10]
    #[arg(short, long, value_name = "COUNT", value_parser = parse_number, allow_hyphen_values = true, help_heading = "Output")]
    #[serde(deserialize_with = "read_number")]
    pub number: Option<usize>,

    /// Order of the keys: count, key, or a measure such as sum(bytes) [default: count; of buckets without a key, time]
    #[arg(long, value_name = "ORDER", add = completer(candidates::order), help_heading = "Output")]
    #[serde(deserialize_with = "value::maybe")]
    pub sort: Option<String>,

    /// Reverse the order: with the default order, the rarest keys come first
    #[arg(long, help_heading = "Output")]
    pub reverse: bool,

    /// Compare the counts of two inputs; with DURATION, of a window of time and of the same window that long before
    ///
    /// comb top --diff -f path old.log new.log; comb top --diff=1d --since 14:00 --until 15:00 -f path access.log. Each row has the count, the count
    /// before, the change and the change in percent. Rows are in the order of the size of the change. With --merge, two files of counts are
    /// compared.
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "inputs", conflicts_with_all = NOT_COMPARED, help_heading = "Output")]
    #[serde(deserialize_with = "read_compare")]
    pub diff: Option<Compare>,

    /// Print only keys with at least this count
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "1",
        hide_default_value = true,
        help_heading = "Output"
    )]
    #[serde(deserialize_with = "value::one")]
    pub min_count: u64,

    /// In directories, read only files that match GLOB, or skip them if GLOB begins with !; repeatable
    ///
    /// Globs have the syntax of .gitignore. If several match a file, the last one takes precedence.
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, help_heading = "Input")]
    #[serde(deserialize_with = "value::many")]
    pub glob: Vec<String>,

    /// In directories, read only files of this type; 'comb grep --type-list' lists all types
    #[arg(long = "type", id = "type", value_name = "TYPE", add = completer(candidates::types), help_heading = "Input")]
    #[serde(rename = "type", deserialize_with = "value::many")]
    pub types: Vec<String>,

    /// In directories, respect .gitignore, .ignore and similar files
    #[arg(long, help_heading = "Input")]
    pub ignore: bool,

    /// In directories, skip hidden files and directories
    #[arg(long, help_heading = "Input")]
    pub no_hidden: bool,

    /// Read the members of archives, as ARCHIVE!PATH: zip, and tar, also compressed
    ///
    /// Archives are recognised by their first bytes, and only one level deep. Globs and types apply to members as to files below a directory.
    #[arg(long, conflicts_with = "tail", help_heading = "Input")]
    pub archives: bool,

    /// Do not decompress compressed input
    ///
    /// By default, gzip, zstd, bzip2, xz, lzma, lz4 and .Z are recognised by their first bytes, also on standard input, and brotli by
    /// the name of the file.
    #[arg(long, help_heading = "Input")]
    pub no_decompress: bool,

    /// Text encoding of the input: auto, none, or a label such as utf-16le or latin1
    ///
    /// auto recognises UTF-16 by its byte order mark.
    #[arg(long, value_name = "ENCODING", default_value = "auto", value_parser = selection::encoding, help_heading = "Input")]
    #[serde(deserialize_with = "value::one")]
    pub encoding: Encoding,

    #[command(flatten)]
    #[serde(flatten)]
    pub approx: Approx,

    #[command(flatten)]
    #[serde(flatten)]
    pub memory: Memory,

    #[command(flatten, next_help_heading = "Machine")]
    #[serde(flatten)]
    pub threads: Threads,

    /// Skip and report lines longer than SIZE
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_max_line, help_heading = "Machine")]
    #[serde(deserialize_with = "read_max_line")]
    pub max_line: usize,

    /// Amount that each thread reads at a time
    #[arg(long, value_name = "SIZE", default_value = "128K", value_parser = parse_block_size, help_heading = "Machine")]
    #[serde(deserialize_with = "read_block_size")]
    pub block_size: usize,

    /// Read only the window of files that are in the order of time, give or take SLACK [default SLACK: 60s]
    #[arg(long, value_name = "SLACK", num_args = 0..=1, require_equals = true, default_missing_value = SLACK, long_help = SORTED, help_heading = "Time")]
    #[serde(deserialize_with = "read_slack")]
    pub sorted: Option<Slack>,

    /// Count only records of the last DURATION, such as 5m; with --tail, forget older ones as time passes
    ///
    /// Counts expire in slices of a sixtieth of the window, or in the buckets of --every, so up to a slice more than the window may
    /// be counted.
    #[arg(long, value_name = "DURATION", conflicts_with_all = ["since", "until"], help_heading = "Time")]
    #[serde(deserialize_with = "value::maybe")]
    pub last: Option<Last>,
}

/// Flags of counts that are not compared.
const NOT_COMPARED: [&str; 11] = [
    "columns",
    "every",
    "approx",
    "percent",
    "cumulative",
    "bars",
    "save_counts",
    "tail",
    "live",
    "listen",
    "plot",
];

/// The options without any flag.
impl Default for CountOptions {
    fn default() -> Self {
        let command = TopArguments::augment_args(Command::new("top")).no_binary_name(true);
        let parsed = command
            .try_get_matches_from([""; 0])
            .and_then(|mut matches| TopArguments::from_arg_matches_mut(&mut matches));
        parsed.expect("no flag is required").options
    }
}

fn parse_number(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        count => count.parse().map_err(|_| "expected all or a number".to_owned()),
    }
}

fn parse_max_line(text: &str) -> Result<usize, String> {
    size::parse(text, 1, MAX_LINE_LIMIT)
}

fn parse_block_size(text: &str) -> Result<usize, String> {
    size::parse(text, 1, MAX_BLOCK_SIZE)
}

fn read_number<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    value::by(deserializer, parse_number).map(Some)
}

fn read_max_line<'d, D: Deserializer<'d>>(deserializer: D) -> Result<usize, D::Error> {
    value::by(deserializer, parse_max_line)
}

fn read_block_size<'d, D: Deserializer<'d>>(deserializer: D) -> Result<usize, D::Error> {
    value::by(deserializer, parse_block_size)
}

fn read_compare<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<Compare>, D::Error> {
    value::by_or(deserializer, "inputs", str::parse).map(Some)
}

fn read_slack<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<Slack>, D::Error> {
    value::by_or(deserializer, SLACK, str::parse).map(Some)
}

impl CountOptions {
    /// Reads options by name.
    ///
    /// # Errors
    /// If an option or a value is invalid, or it has no meaning without a terminal. The message is that of the command.
    pub fn named(options: Named) -> Result<Self, String> {
        let command = named::definition::<TopArguments>();
        let is_known = |name: &str| named::find(&command, name).is_some();
        let options: Self = named::options::<TopArguments, _>(percentile_flags::named(options, is_known))?;
        let missing = |flag, needed| Err(format!("--{flag}: needs --{needed}"));
        match &options {
            Self { definition, .. } if definition.each && definition.extract.is_empty() => {
                missing("each", "extract")
            }
            Self { approx, .. } if approx.recount && approx.approx.is_none() => missing("recount", "approx"),
            Self { memory, .. } if memory.temporary_directory.is_some() && memory.memory.is_none() => {
                missing("temporary-directory", "memory")
            }
            _ => Ok(options),
        }
    }

    /// Replaces relative times by absolute ones, so that the definition does not change any more.
    ///
    /// # Errors
    /// If the options are contradictory, or the zone of the machine has no name.
    pub(crate) fn fix_definition(&mut self) -> Result<(), UsageError> {
        let times = self.definition.times.fixed(self.window(false)?)?;
        self.definition = self.definition.fixed(times)?;
        // A window of the last hours is in the definition by its beginning.
        self.last = None;
        Ok(())
    }

    /// Records, keys, measures and their order. `is_tail` is whether the inputs are followed.
    pub(crate) fn query(&self, is_tail: bool) -> Result<QueryOptions, UsageError> {
        let (pairs, _) = self.definition.sed.as_chunks::<2>();
        let now = nanoseconds_now();
        let [since, mut until] = self.window(is_tail)?;
        if let Some(Compare::Earlier(_)) = self.diff {
            until = until.or_else(|| Bound::parse("now", &self.definition.times.zone(), now).ok());
        }
        let (fields, names) = match &self.definition.fields {
            None => (FieldList::default(), Vec::new()),
            Some(KeyFields::Positions(fields)) => (fields.clone(), Vec::new()),
            Some(KeyFields::Names(names)) => (FieldList::default(), names.clone()),
        };
        let options = QueryOptions::default()
            .number(self.number.unwrap_or(if self.definition.has_only_buckets() { usize::MAX } else { 10 }))
            .fields(fields)
            .names(names)
            .separator(self.definition.separator())
            .delimiter(self.definition.delimiter()?)
            .input(self.definition.input.clone())
            .record(self.definition.record.clone())
            .records(self.definition.records.clone())
            .unwrap(self.definition.unwrap.clone())
            .has_header(!self.definition.no_header)
            .extract(self.definition.extract.clone())
            .each(self.definition.each)
            .columns(self.definition.columns.clone())
            .compare(self.diff)
            .missing(self.definition.missing.clone())
            .ignore_case(self.definition.ignore_case)
            .normalize(self.definition.normalize)
            .grep(self.definition.grep.clone())
            .vgrep(self.definition.vgrep.clone())
            .sed(pairs.iter().cloned().map(|[regex, replacement]| (regex, replacement)).collect())
            .condition(self.definition.condition.clone())
            .time(self.definition.times.fields())
            .units(self.definition.unit.iter().map(|unit| (unit.field.clone(), unit.unit)).collect())
            .number_format(self.definition.number_format.clone())
            .time_form(self.definition.times.form())
            .zone(self.definition.times.zone())
            .since(since)
            .until(until)
            .sorted(self.sorted)
            .every(self.definition.times.every)
            .last(self.last.filter(|_| is_tail))
            .measures(self.definition.measures.distinct()?)
            .sort_by(self.sort_by()?)
            .reverse(self.reverse)
            .min_count(self.min_count);
        Ok(self.memory.apply(self.approx.apply(options)?))
    }

    /// The ends of the window of time.
    fn window(&self, is_tail: bool) -> Result<[Option<Bound>; 2], UsageError> {
        let [since, until] = self.definition.times.window()?;
        let last = self.last.filter(|_| !is_tail);
        Ok([last.map(Last::since).or(since), until])
    }

    /// Checks that a format uses the flags that are given for fields and headers.
    pub(crate) fn check_format(&self, query: &Query) -> Result<(), UsageError> {
        let format = query.input();
        let is_unused = *format == InputFormat::Lines && !query.has_positions();
        let is_default = if self.definition.input.is_none() { ", the default here," } else { "" };
        let chosen = format!("--input {}{is_default}", format.name());
        let no_separator = match format {
            // The text of the field may be plain, and the record around it CSV.
            _ if self.definition.unwrap.is_some() => None,
            InputFormat::Lines | InputFormat::Csv => None,
            InputFormat::Auto => Some("finds delimiters itself; --input csv takes one"),
            InputFormat::Tsv => Some("is separated by tabs; --input csv takes another delimiter"),
            _ => Some("has no separator of fields; omit -p"),
        };
        let has_headers = matches!(format, InputFormat::Csv | InputFormat::Tsv | InputFormat::Auto);
        match (&self.definition.fieldseparator, no_separator) {
            (Some(separator), Some(reason)) => {
                Err(UsageError(format!("-p '{separator}': {chosen} {reason}")))
            }
            (Some(separator), _) if is_unused => Err(UsageError(format!(
                "-p '{separator}': no field is selected by its number; add -f NUMBER or omit -p"
            ))),
            _ if self.definition.quotedfields && is_unused => {
                Err(UsageError("-q: no field is selected by its number; add -f NUMBER or omit -q".to_owned()))
            }
            _ if self.definition.quotedfields && *format != InputFormat::Lines => {
                Err(UsageError(format!("-q: {chosen} has its own rules for quotes; omit -q")))
            }
            _ if self.definition.no_header && !has_headers => {
                Err(UsageError(format!("--no-header: {chosen} has no header; --input csv and tsv have one")))
            }
            _ => Ok(()),
        }
    }

    fn sort_by(&self) -> Result<SortBy, UsageError> {
        if self.diff.is_some() {
            let name = self.sort.as_deref().unwrap_or("change");
            return order::of_changes(name).map_err(|error| UsageError(format!("--sort '{name}': {error}")));
        }
        let Some(name) = &self.sort else {
            return Ok(if self.definition.has_only_buckets() { SortBy::Key } else { SortBy::Count });
        };
        let error = |expected: String| UsageError(format!("--sort '{name}': {expected}"));
        match order::find(name, &self.definition.measures.0).map_err(error)? {
            SortBy::Measure(_)
                if self.definition.times.every.is_some() && !self.definition.has_only_buckets() =>
            {
                Err(error("with --every, expected one of count, key".to_owned()))
            }
            order => Ok(order),
        }
    }

    /// Width and zone of the buckets of time, for people.
    pub(crate) fn buckets(&self) -> Option<String> {
        Some(format!("{}, {}", self.definition.times.every?, self.definition.times.zone()))
    }

    /// Whether some records are rejected before the key.
    pub(crate) fn selects_rows(&self) -> bool {
        self.definition.selects_records()
            || self.definition.condition.is_some()
            || self.definition.times.selects()
            || self.last.is_some()
    }

    /// Whether parts of files are left out.
    pub(crate) fn reads_only_window(&self) -> bool {
        self.sorted.is_some()
    }

    /// Checks that there are two inputs, if they are compared.
    pub(crate) fn check_compared(&self, named: &[PathBuf]) -> Result<(), UsageError> {
        match self.diff {
            Some(Compare::Inputs) if named.len() != 2 => Err(UsageError(format!(
                "--diff: expected two inputs, such as --diff old.log new.log; found {}. To compare windows of time: --diff=1d --since TIME",
                named.len()
            ))),
            _ => Ok(()),
        }
    }

    /// Inputs and the options for reading them.
    pub(crate) fn inputs(&self, named: Vec<PathBuf>) -> Result<Inputs, UsageError> {
        let walk = WalkOptions::default()
            .skip_hidden(self.no_hidden)
            .rules(if self.ignore { RuleFiles::ALL } else { RuleFiles::NONE })
            .globs(selection::globs(&[Globs { flag: "--glob", globs: &self.glob, ignore_case: false }])?)
            .types(selection::named_types(&self.types)?)
            .archives(self.archives);
        let (encoding, decompress) = (self.encoding, !self.no_decompress);
        Ok(Inputs { walk, encoding, decompress, ..Inputs::new(named) })
    }

    /// Scan options, without progress display and stop signal.
    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        ScanOptions::default().width(self.threads.width()).block_size(self.block_size).max_line(self.max_line)
    }
}
