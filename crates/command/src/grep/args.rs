//! The flags of `comb grep`: all flags of ripgrep 15, the flags of ag that do not conflict with them, and more.

mod color;
mod files;
pub(crate) mod hints;
mod matching;
mod order;
pub(crate) mod paths;
mod patterns;
mod printing;
#[cfg(test)]
mod tests;
mod value;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use finecomb_grep::GrepOptions;
use finecomb_scan::{
    Encoding, Inputs, MAX_BLOCK_SIZE, MAX_LINE_LIMIT, Mapping, ScanOptions, WalkOptions, Width,
};
use ignore::types::Types;

use self::order::Off;
pub(crate) use self::paths::Paths;
use crate::args::profile::Profile;
pub(crate) use crate::args::selection::UsageError;
use crate::args::tree_index::{IndexUpdate, IndexUse};
use crate::args::value::ByName;
use crate::args::{size, threads};
use crate::shell::facts;
use crate::tables::TableFormat;
use crate::terminal;
use crate::terminal::When;

pub(crate) const USAGE: &str = "\
comb grep [OPTIONS] PATTERN [PATH]...
       comb grep [OPTIONS] -e PATTERN... [-f FILE]... [PATH]...
       comb grep [OPTIONS] --files [PATH]...
       comb grep --type-list";

/// Environment variable with the path of the configuration file.
pub(crate) const CONFIG_VARIABLE: &str = "COMB_CONFIG";

const LONG_ABOUT: &str = "\
Search files for lines that match a pattern

Examples:
  Lines with the word 'unsafe' in all files below the current directory:
      comb grep -w unsafe
  Lines of Rust files in any letter case, with two lines of context:
      comb grep -t rust -i -C 2 'todo|fixme' src
  A literal string that begins with a hyphen:
      comb grep -F -e '->next' drivers
  Names of files that match, or the number of matching lines in each:
      comb grep -l 'fn main'
      comb grep -c 'fn main'
  Preview of a replacement with a capture group:
      comb grep 'colou?r_(\\w+)' -r 'hue_$1'
  Hidden and ignored files as well:
      comb grep -uu token
  A compressed log, or the output of another command:
      comb grep -z ' 500 ' access.log.2.gz
      journalctl -o cat | comb grep -i error
  Whole messages of a log, with their stack traces:
      comb grep --record time TimeoutException app.log

Without PATH, searches the current directory recursively, or standard input if it is a file or a pipe. In directories, files \
excluded by .gitignore, .ignore and similar files, hidden files and binary files are skipped; -u, -uu and -uuu include \
them. Files named as PATH are always searched.

The flags are those of ripgrep, plus those of ag that do not conflict with them. If flags conflict, the last one takes \
precedence. Files are printed in the order of their paths, with any number of threads.";

const CONFIGURATION_AND_EXIT_STATUS: &str = "\
Configuration:
  The environment variable COMB_CONFIG names a file of arguments, one per line,
  that are inserted before those of the command line. Empty lines and lines that
  begin with # are ignored.

Exit status:
  0    at least one line matched
  1    no line matched
  2    an error occurred, even if a line matched (except with -q)
  130  interrupted";

/// Search files for lines that match a pattern
#[derive(Args)]
#[command(
    args_override_self = true,
    override_usage = USAGE,
    long_about = LONG_ABOUT,
    add = facts::GREP,
    after_help = "Try 'comb grep --help' for more flags and for examples.",
    after_long_help = CONFIGURATION_AND_EXIT_STATUS,
)]
#[group(skip)]
pub(crate) struct Arguments {
    // The first field, as it reads the positions of all flags, and other fields remove theirs when they are parsed.
    #[command(flatten)]
    order: order::Order,

    /// Regular expression in the syntax of Rust's regex crate; omitted if -e or -f is given
    #[arg(value_name = "PATTERN")]
    pattern: Option<OsString>,

    /// Files, directories (searched recursively), or - for standard input
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<OsString>,

    #[command(flatten)]
    patterns: patterns::Patterns,

    #[command(flatten)]
    files: files::Files,

    #[command(flatten)]
    matching: matching::Matching,

    #[command(flatten)]
    pub(super) modes: printing::Modes,

    #[command(flatten)]
    lines: printing::Lines,

    #[command(flatten)]
    colors: color::Colors,

    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "General options")]
pub(crate) struct Running {
    /// Number of threads; auto (or 0) adapts to the available cores
    ///
    /// -w, which is short for this flag in other commands, is short for --word-regexp here.
    #[arg(short = 'j', long, visible_alias = "width", alias = "workers", value_name = "N", default_value = "auto", value_parser = threads::parse, allow_hyphen_values = true, add = ByName)]
    threads: Width,

    #[command(flatten)]
    pub(crate) index: IndexUse,

    #[command(flatten)]
    pub(crate) update: IndexUpdate,

    #[command(flatten)]
    pub(crate) profile: Profile,

    /// Suppress messages about files that cannot be read; the exit status is unchanged
    #[arg(long, alias = "silent", add = Off(&["messages"]))]
    no_messages: bool,

    /// Report on standard error which indexes were used and what they spared, or why they were not used
    #[arg(long, alias = "trace", hide_short_help = true)]
    pub(crate) debug: bool,

    /// On a terminal, print through this program, such as 'less -R'
    ///
    /// Messages go through it too. Ctrl-C stops the search, and the program shows what was found until then.
    #[arg(long, value_name = "COMMAND", hide_short_help = true, add = Off(&["nopager"]))]
    pub(crate) pager: Option<String>,

    /// Ignore the configuration file named by COMB_CONFIG
    #[arg(long)]
    pub(crate) no_config: bool,

    /// Skip and report lines longer than SIZE
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = |text: &str| size::parse(text, 1, MAX_LINE_LIMIT), hide_short_help = true, add = ByName)]
    max_line: usize,

    /// Amount that each thread reads at a time
    #[arg(long, value_name = "SIZE", default_value = "256K", value_parser = |text: &str| size::parse(text, 1, MAX_BLOCK_SIZE), hide_short_help = true, add = ByName)]
    block_size: usize,
}

/// Task of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Search.
    Search,
    /// Print the files that would be searched.
    Files,
    /// Print the known file types.
    TypeList,
}

impl Arguments {
    /// The task selected by the flags.
    pub(crate) fn job(&self) -> Job {
        if self.modes.files && self.is_last("files") {
            Job::Files
        } else if self.modes.type_list && self.is_last("type_list") {
            Job::TypeList
        } else {
            Job::Search
        }
    }

    /// Whether a flag comes after all flags that select the output of a search; the last of these takes precedence.
    fn is_last(&self, flag: &str) -> bool {
        self.order.last(flag) > self.modes.last_of_search(&self.order)
    }

    /// The paths to search.
    ///
    /// # Errors
    ///
    /// If both patterns and text would be read from standard input.
    pub(crate) fn paths(&self) -> Result<Paths, UsageError> {
        let first = self.pattern.iter().filter(|_| !self.has_pattern());
        self.paths_of(first.chain(&self.paths).map(PathBuf::from).collect())
    }

    /// The paths to search, where these are given.
    ///
    /// # Errors
    ///
    /// As for [`Arguments::paths`].
    pub(super) fn paths_of(&self, given: Vec<PathBuf>) -> Result<Paths, UsageError> {
        let search = self.job() == Job::Search;
        let for_patterns = search && self.patterns.take_input();
        // With --parallel, standard input belongs to the program that runs several instances at a time.
        let may_read = search && !for_patterns && !self.order.has("parallel");
        let paths = Paths::new(given, || may_read && paths::input_is_readable());
        let paths = Paths { one_file: paths.one_file && !self.files.archives, ..paths };
        if for_patterns { paths.without_input() } else { Ok(paths) }
    }

    /// Search and output options. `terminal` is whether standard output is a terminal. Reads the files named by -f.
    ///
    /// # Errors
    ///
    /// If there is no pattern, or a file of patterns cannot be read.
    pub(crate) fn grep(&self, paths: &Paths, terminal: bool) -> Result<GrepOptions, UsageError> {
        let argument = if self.has_pattern() {
            Some(paths::pattern(self.pattern.as_ref(), self.files.first_glob())?)
        } else {
            None
        };
        let mut options = GrepOptions::default();
        if self.job() == Job::Search {
            options.pattern = self.patterns.options(&self.order, argument)?;
        }
        self.matching.apply(&self.order, &mut options);
        self.modes.apply(&self.order, self.matching.invert_match, self.lines.only_matching, &mut options);
        self.lines.apply(&self.order, paths, terminal, &mut options);
        options.enclosing = self.lines.enclosing()?;
        let colored = match self.color() {
            _ if options.compact => false,
            When::Auto => terminal && terminal::output_has_colors(),
            when => when == When::Always,
        };
        options.colors = colored.then(|| self.colors.specs());
        options.hyperlink = if colored { self.colors.links() } else { None };
        // With -0, a program separates the paths.
        options.escape_paths = terminal && !options.null_after_path;
        matching::Matching::check(&options)?;
        Ok(options)
    }

    /// The inputs of a search.
    ///
    /// # Errors
    ///
    /// If a glob, a type or another selection of files is invalid.
    pub(crate) fn inputs(&self, paths: Paths) -> Result<Inputs, UsageError> {
        Ok(Inputs {
            named: paths.paths,
            strip_dot: paths.implicit,
            walk: self.walk()?,
            encoding: self.matching.encoding.unwrap_or(Encoding::Auto),
            decompress: self.matching.search_zip(&self.order),
            preprocessor: self.matching.preprocessor(&self.order)?,
        })
    }

    /// Selection of the files in directories.
    pub(crate) fn walk(&self) -> Result<WalkOptions, UsageError> {
        self.files.options(&self.order)
    }

    /// All known file types.
    pub(crate) fn types(&self) -> Result<Types, UsageError> {
        self.files.types(&self.order)
    }

    /// Scan options, without progress display and stop signal.
    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        ScanOptions::default()
            .width(self.running.threads)
            .block_size(self.running.block_size)
            .max_line(self.running.max_line)
            .mapping(self.mapping())
            .profile(self.running.profile.detail())
    }

    /// How large files are read: as the last flag says.
    fn mapping(&self) -> Mapping {
        match (self.order.last("mmap"), self.order.last("no-mmap")) {
            (None, None) => Mapping::Auto,
            (always, never) if always > never => Mapping::Always,
            _ => Mapping::Never,
        }
    }

    /// The format of a table, if that is the output.
    ///
    /// # Errors
    ///
    /// If this build does not have it, standard output is a terminal, or another flag prints text as well.
    pub(crate) fn table(&self) -> Result<Option<TableFormat>, UsageError> {
        let Some(table) = self.modes.table(&self.order) else { return Ok(None) };
        let flags = [
            ("--stats", self.modes.stats()),
            ("--totals", self.modes.totals),
            ("--compact", self.lines.compact),
        ];
        if let Some((flag, _)) = flags.into_iter().find(|&(_, is_given)| is_given) {
            return Err(UsageError(format!("{flag}: prints text; omit it with --format {table}")));
        }
        table.printed().map(Some).map_err(UsageError)
    }

    /// When to use colour.
    pub(crate) fn color(&self) -> When {
        let pretty = ["color", "nocolor"].iter().all(|flag| self.lines.is_pretty(&self.order, flag));
        if pretty { When::Always } else { self.colors.when(&self.order) }
    }

    /// Whether to report files that cannot be read.
    pub(crate) fn messages(&self) -> bool {
        !self.running.no_messages
    }

    /// Whether to report invalid globs in ignore files.
    pub(crate) fn rule_messages(&self) -> bool {
        self.order.last("ignore-messages") >= self.order.last("no-ignore-messages")
    }

    /// Whether flags give patterns. The first positional argument is then a path.
    pub(crate) fn has_patterns(&self) -> bool {
        self.patterns.are_given()
    }

    /// Whether the first positional argument is a pattern.
    fn has_pattern(&self) -> bool {
        self.job() == Job::Search && !self.has_patterns()
    }
}
