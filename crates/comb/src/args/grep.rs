//! The flags of `comb grep`: those of ripgrep 15, those of ag where they differ, and more.

mod color;
mod files;
pub(crate) mod hints;
mod matching;
mod order;
mod paths;
mod patterns;
mod printing;
#[cfg(test)]
mod tests;
mod value;

use std::ffi::OsString;

use clap::{Args, ValueHint};
use finecomb_grep::GrepOptions;
use finecomb_scan::{Encoding, MAX_BLOCK_SIZE, MAX_LINE_LIMIT, ScanOptions, WalkOptions, Width};
use ignore::types::Types;

pub(crate) use self::paths::Paths;
use super::profile::Profile;
pub(crate) use super::selection::UsageError;
use super::{size, threads};
use crate::terminal::{self, When};

const USAGE: &str = "\
comb grep [OPTIONS] PATTERN [PATH]...
       comb grep [OPTIONS] -e PATTERN... [-f FILE]... [PATH]...
       comb grep [OPTIONS] --files [PATH]...
       comb grep --type-list";

const EXAMPLES: &str = "\
Examples:
  Where a word is, below the current directory, but for what .gitignore names:
      comb grep -w unsafe

  In Rust files only, without regard to case, with two lines around each match:
      comb grep -t rust -i -C 2 'todo|fixme' src

  A text as it stands, also if it begins with a hyphen:
      comb grep -F -e '->next' drivers

  Which files have it, and how many of its lines:
      comb grep -l 'fn main'
      comb grep -c 'fn main'

  What a replacement would look like:
      comb grep 'colou?r_(\\w+)' -r 'hue_$1'

  In hidden and ignored files as well; in everything:
      comb grep -uu token
      comb grep -uuu token

  What another program writes; a compressed log:
      journalctl -o cat | comb grep -i error
      comb grep -z ' 500 ' access.log.2.gz";

const CONFIGURATION: &str = "\
Configuration:
  The file that the environment variable COMB_CONFIG names holds arguments, one a
  line, that come before those of the command line. Empty lines and lines that
  begin with # are skipped.";

const EXIT_CODES: &str = "\
Exit status:
  0    a line matched
  1    none did
  2    something went wrong, also when other files were searched; 0 with -q if a line matched
  130  interrupted";

/// Find lines that match a pattern
///
/// Without a PATH, what is below the current directory is searched, or standard input if it is a file or a pipe.
/// Below a directory, files that .gitignore, .ignore and the like name, hidden files and binary files are passed over;
/// -u, -uu and -uuu bring them back. Named files are always searched.
///
/// The flags are those of ripgrep, and those of ag where they do not contradict. Of flags that contradict each other the
/// last one holds. Files come in the order of their paths, whatever the number of threads.
#[derive(Args)]
#[command(
    args_override_self = true,
    override_usage = USAGE,
    after_help = "Try 'comb grep --help' for more flags and for examples.",
    after_long_help = format!("{EXAMPLES}\n\n{CONFIGURATION}\n\n{EXIT_CODES}"),
)]
#[group(skip)]
pub(crate) struct Arguments {
    // The first field, as it must see all flags: those of other fields are gone once they are taken.
    #[command(flatten)]
    order: order::Order,

    /// A regular expression in the syntax of Rust's regex crate, unless -e or -f has one
    #[arg(value_name = "PATTERN")]
    pattern: Option<OsString>,

    /// Files, directories, or - for standard input
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    paths: Vec<OsString>,

    #[command(flatten)]
    patterns: patterns::Patterns,

    #[command(flatten)]
    files: files::Files,

    #[command(flatten)]
    matching: matching::Matching,

    #[command(flatten)]
    modes: printing::Modes,

    #[command(flatten)]
    lines: printing::Lines,

    #[command(flatten)]
    colors: color::Colors,

    #[command(flatten)]
    running: Running,
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "How comb works")]
struct Running {
    /// Number of threads; auto (or 0) uses as many as pay off on the cores that this process may use
    ///
    /// -w, which means this in other commands of comb, is --word-regexp here, as in every grep.
    #[arg(short = 'j', long, visible_alias = "width", alias = "workers", value_name = "N", default_value = "auto", value_parser = threads::parse, allow_hyphen_values = true)]
    threads: Width,

    #[command(flatten)]
    profile: Profile,

    /// Do not say which files cannot be read; the exit status still does
    #[arg(long, alias = "silent")]
    no_messages: bool,

    /// Do not read the file that COMB_CONFIG names
    #[arg(long)]
    no_config: bool,

    /// Leave out lines longer than this, and say so
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = |text: &str| size::parse(text, 1, MAX_LINE_LIMIT), hide_short_help = true)]
    max_line: usize,

    /// How much a thread reads at a time
    #[arg(long, value_name = "SIZE", default_value = "256K", value_parser = |text: &str| size::parse(text, 1, MAX_BLOCK_SIZE), hide_short_help = true)]
    block_size: usize,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Search.
    Search,
    /// Print which files would be searched.
    Files,
    /// Print the types of files.
    TypeList,
}

impl Arguments {
    /// What there is to do.
    pub(crate) fn job(&self) -> Job {
        match () {
            () if self.modes.files && self.is_last("files") => Job::Files,
            () if self.modes.type_list && self.is_last("type_list") => Job::TypeList,
            () => Job::Search,
        }
    }

    /// Whether a flag comes behind those that say what to print of a search: of all of these the last one holds.
    fn is_last(&self, flag: &str) -> bool {
        self.order.last(flag) > self.modes.last_of_search(&self.order)
    }

    /// What is searched. Errors if standard input is already taken for patterns.
    pub(crate) fn paths(&self) -> Result<Paths, UsageError> {
        let search = self.job() == Job::Search;
        let for_patterns = search && self.patterns.take_input();
        let first = self.pattern.iter().filter(|_| !self.has_pattern());
        let given: Vec<OsString> = first.chain(&self.paths).cloned().collect();
        // With --parallel, standard input belongs to the program that runs several at a time.
        let may_read = search && !for_patterns && !self.order.has("parallel");
        let paths = Paths::new(&given, || may_read && paths::input_is_readable());
        if for_patterns { paths.without_input() } else { Ok(paths) }
    }

    /// How to search and what to print. `terminal` is whether it is printed on one.
    ///
    /// Reads the files that -f names. Errors if there is no pattern, or it cannot be read.
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
        let colored = match self.color() {
            When::Auto => terminal && terminal::output_has_colors(),
            when => when == When::Always,
        };
        options.colors = colored.then(|| self.colors.specs());
        options.hyperlink = if colored { self.colors.links() } else { None };
        Ok(options)
    }

    /// Which files below a directory are searched.
    pub(crate) fn walk(&self) -> Result<WalkOptions, UsageError> {
        self.files.options(&self.order)
    }

    /// All types of files that there are.
    pub(crate) fn types(&self) -> Result<Types, UsageError> {
        self.files.types(&self.order)
    }

    /// How to scan, but for what watches and stops it.
    pub(crate) fn scan(&self) -> ScanOptions<'static> {
        ScanOptions {
            width: self.running.threads,
            block_size: self.running.block_size,
            max_line: self.running.max_line,
            profile: self.running.profile.detail(),
            ..ScanOptions::default()
        }
    }

    /// Which encoding files are in.
    pub(crate) fn encoding(&self) -> Encoding {
        self.matching.encoding.unwrap_or(Encoding::Auto)
    }

    /// Whether and how to say where the time went.
    pub(crate) fn profile(&self) -> &Profile {
        &self.running.profile
    }

    /// Whether compressed files are searched.
    pub(crate) fn search_zip(&self) -> bool {
        self.matching.search_zip
    }

    /// When to print in colour.
    pub(crate) fn color(&self) -> When {
        let pretty = ["color", "nocolor"].iter().all(|flag| self.lines.is_pretty(&self.order, flag));
        if pretty { When::Always } else { self.colors.when(&self.order) }
    }

    /// Whether to say which files cannot be read.
    pub(crate) fn messages(&self) -> bool {
        !self.running.no_messages
    }

    /// Whether to say which globs of rule files are wrong.
    pub(crate) fn rule_messages(&self) -> bool {
        self.order.last("ignore-messages") >= self.order.last("no-ignore-messages")
    }

    /// Whether to take arguments from the configuration file.
    pub(crate) fn config(&self) -> bool {
        !self.running.no_config
    }

    /// Whether the first argument is a pattern.
    fn has_pattern(&self) -> bool {
        self.job() == Job::Search && !self.patterns.are_given()
    }
}
