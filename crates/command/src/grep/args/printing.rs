//! Output modes and output format.

use clap::Args;
use finecomb_grep::{GrepOptions, Mode, NewScopeFinder};

use crate::args::format::LineFormat;
use crate::args::selection::UsageError;
use crate::args::value::ByName;
use crate::grep::args::order::{Off, Order};
use crate::grep::args::paths::Paths;
use crate::grep::args::value;
use crate::grep::args::value::Separator;
use crate::grep::scopes::NEW_SCOPE_FINDER;
use crate::tables::TableKind;

/// Length from which on lines are cut with `--compact`, in bytes.
const COMPACT_COLUMNS: u64 = 200;

/// Position of the last flag that selects the output of a search, apart from `--format`.
fn last_search_mode(order: &Order) -> Option<usize> {
    let flags = ["files_with_matches", "files_without_match", "count", "count_matches", "json"];
    flags.into_iter().filter_map(|flag| order.last(flag)).max()
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Output modes")]
pub(crate) struct Modes {
    /// Print only the paths of files that match
    #[arg(short = 'l', long, overrides_with_all = ["files_without_match", "count", "count_matches", "json"])]
    files_with_matches: bool,

    /// Print only the paths of files that do not match (-L is --follow)
    #[arg(long, alias = "files-without-matches", overrides_with_all = ["count", "count_matches", "json"])]
    files_without_match: bool,

    /// Print the number of matching lines per file
    #[arg(short = 'c', long, overrides_with_all = ["count_matches", "json"])]
    count: bool,

    /// Print the number of matches per file
    #[arg(long, overrides_with = "json")]
    count_matches: bool,

    /// With a count, include files without a match
    #[arg(long, add = Off(&["no-include-zero"]))]
    include_zero: bool,

    /// Print JSON Lines in ripgrep's format
    #[arg(long, add = Off(&["no-json"]))]
    json: bool,

    /// With --json, name the pattern of each match, as a member 'pattern' of the submatch; no effect without --json
    #[arg(long, hide_short_help = true)]
    which_pattern: bool,

    /// Output format; json is the same as --json [default: text]
    ///
    /// arrow and parquet write a table with a row for each line, to a file or a pipe.
    #[arg(long, value_enum, value_name = "FORMAT", overrides_with = "json", add = Off(&["no-json"]))]
    format: Option<LineFormat>,

    /// Print nothing; the exit status shows whether a line matched
    #[arg(short = 'q', long)]
    quiet: bool,

    /// Print the files that would be searched
    #[arg(long, overrides_with = "type_list")]
    pub(super) files: bool,

    /// Print all file types and their globs
    #[arg(long, alias = "list-file-types")]
    pub(super) type_list: bool,

    /// Print statistics about the search at the end
    #[arg(long, add = Off(&["no-stats"]))]
    stats: bool,

    /// Print the number of matching lines, matches and files at the end
    ///
    /// They do not depend on --limit. --json has them in its last message.
    #[arg(long)]
    pub(crate) totals: bool,

    /// Print statistics only.
    #[arg(long, hide = true, add = Off(&["no-stats"]))]
    stats_only: bool,
}

impl Modes {
    /// Sets the options of these flags.
    pub(super) fn apply(&self, order: &Order, invert: bool, only_matching: bool, options: &mut GrepOptions) {
        options.mode = self.mode(order, invert, only_matching);
        options.quiet = self.quiet || self.stats_only;
        options.include_zero = self.include_zero;
        options.which_pattern = self.which_pattern;
        options.stats = self.stats() || self.totals || options.mode == Mode::Json;
    }

    /// Whether statistics are printed at the end.
    pub(crate) fn stats(&self) -> bool {
        self.stats || self.stats_only
    }

    fn mode(&self, order: &Order, invert: bool, only_matching: bool) -> Mode {
        if self.last_format(order) == Some(LineFormat::Json) || self.json {
            Mode::Json
        } else if self.table(order).is_some() {
            Mode::Records
        } else if self.files_with_matches {
            Mode::FilesWithMatches
        } else if self.files_without_match {
            Mode::FilesWithoutMatch
        } else if self.count && !only_matching || self.count_matches && invert {
            Mode::Count
        } else if self.count || self.count_matches {
            Mode::CountMatches
        } else {
            Mode::Lines
        }
    }

    /// The format of a table, if that is the output.
    pub(super) fn table(&self, order: &Order) -> Option<TableKind> {
        self.last_format(order).and_then(LineFormat::table)
    }

    /// The format selected by `--format`, unless it is text or a later flag selects another mode.
    fn last_format(&self, order: &Order) -> Option<LineFormat> {
        self.format.filter(|_| self.position_of_format(order) > last_search_mode(order))
    }

    /// The position of `--format` if it selects anything but text.
    fn position_of_format(&self, order: &Order) -> Option<usize> {
        order.last("format").filter(|_| self.format != Some(LineFormat::Text))
    }

    /// The position of the last flag that selects the output of a search.
    pub(super) fn last_of_search(&self, order: &Order) -> Option<usize> {
        last_search_mode(order).max(self.position_of_format(order))
    }
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Output options")]
pub(crate) struct Lines {
    /// Print line numbers (default on a terminal)
    #[arg(short = 'n', long, alias = "numbers", overrides_with = "no_line_number", add = ByName)]
    line_number: bool,

    /// Omit line numbers (default in files and pipes)
    #[arg(short = 'N', long, alias = "nonumbers", add = ByName)]
    no_line_number: bool,

    /// Print the column of the first match, in bytes; implies -n
    #[arg(long, add = Off(&["no-column"]))]
    column: bool,

    /// Print the byte offset of each line, or with -o of each match
    #[arg(short = 'b', long, add = Off(&["no-byte-offset"]))]
    byte_offset: bool,

    /// Print the path with each line
    #[arg(short = 'H', long, alias = "filename", overrides_with = "no_filename")]
    with_filename: bool,

    /// Omit paths
    #[arg(short = 'I', long, alias = "nofilename")]
    no_filename: bool,

    /// Print the path once, above the lines of a file (default on a terminal; --no-heading turns it off)
    #[arg(long, alias = "group", add = Off(&["no-heading", "noheading", "nogroup"]))]
    heading: bool,

    /// Same as --color=always --heading -n
    #[arg(short = 'p', long)]
    pretty: bool,

    /// Print PATH:LINE:COLUMN:TEXT for each match, for editors
    #[arg(long)]
    vimgrep: bool,

    /// Print compactly: paths above the lines of a file, and numbered lines, cut around the match if they are long
    ///
    /// Lines of over 200 bytes, or the number given with -M, are cut; … marks the cut. With --limit, a line at the end shows the
    /// number of further results. There are no colours. --vimgrep and --ackmate turn it off.
    #[arg(long)]
    pub(super) compact: bool,

    /// Print for AckMate: paths above the lines of a file, and the offsets and lengths of matches in each line
    #[arg(long, hide_short_help = true)]
    ackmate: bool,

    /// Print only the matches, each on its own line
    #[arg(short = 'o', long)]
    pub(super) only_matching: bool,

    /// Replace each match with TEXT in the output; $1 or ${name} inserts a capture group
    #[arg(short = 'r', long, value_name = "TEXT", allow_hyphen_values = true)]
    replace: Option<String>,

    /// Print LINES lines of context after each match
    #[arg(short = 'A', long, alias = "after", value_name = "LINES", value_parser = value::count, allow_hyphen_values = true, overrides_with = "passthru", add = ByName)]
    after_context: Option<usize>,

    /// Print LINES lines of context before each match
    #[arg(short = 'B', long, alias = "before", value_name = "LINES", value_parser = value::count, allow_hyphen_values = true, overrides_with = "passthru", add = ByName)]
    before_context: Option<usize>,

    /// Print LINES lines of context before and after each match; -A and -B take precedence
    #[arg(short = 'C', long, value_name = "LINES", value_parser = value::count, allow_hyphen_values = true, overrides_with = "passthru", add = ByName)]
    context: Option<usize>,

    /// Print matching and non-matching lines
    #[arg(long, alias = "passthrough", add = ByName)]
    passthru: bool,

    /// Print the line of the function or type around each match, as git grep -p does
    ///
    /// The line is printed before the first match in it, with = as the separator. Definitions are found in the languages and
    /// files of 'comb symbols'. With --json, each match has a member 'enclosing'.
    #[arg(long, alias = "show-function", add = Off(&["no-enclosing", "no-show-function"]))]
    enclosing: bool,

    /// Omit the text of lines longer than BYTES; 0 for no limit
    #[arg(short = 'M', long, value_name = "BYTES", value_parser = value::number, allow_hyphen_values = true, add = Off(&["print-long-lines"]))]
    max_columns: Option<u64>,

    /// With -M, print the beginning of long lines
    #[arg(long, add = Off(&["no-max-columns-preview"]))]
    max_columns_preview: bool,

    /// Trim white space at the beginning of lines
    #[arg(long, add = Off(&["no-trim"]))]
    trim: bool,

    /// Print a NUL byte after each path
    #[arg(short = '0', long, alias = "print0")]
    null: bool,

    /// Separator between groups of lines [default: --]; --no-context-separator omits it
    ///
    /// This and other separators may contain the escapes \t, \n, \r, \0, \\ and \xFF.
    #[arg(long, value_name = "TEXT", value_parser = value::separator, allow_hyphen_values = true, hide_short_help = true, add = Off(&["no-context-separator"]))]
    context_separator: Option<Separator>,

    /// Separator after path, line number and other fields of a matching line [default: :]
    #[arg(long, value_name = "TEXT", value_parser = value::separator, allow_hyphen_values = true, hide_short_help = true)]
    field_match_separator: Option<Separator>,

    /// Separator after path, line number and other fields of a context line [default: -]
    #[arg(long, value_name = "TEXT", value_parser = value::separator, allow_hyphen_values = true, hide_short_help = true)]
    field_context_separator: Option<Separator>,

    /// Byte printed in place of / in paths
    #[arg(long, value_name = "BYTE", value_parser = value::path_separator, allow_hyphen_values = true, hide_short_help = true)]
    path_separator: Option<Separator>,
}

impl Lines {
    /// Sets the options of these flags. Some depend on the mode.
    pub(super) fn apply(&self, order: &Order, paths: &Paths, terminal: bool, options: &mut GrepOptions) {
        options.with_filename = self.with_filename || !self.no_filename && (self.vimgrep || !paths.one_file);
        options.ackmate = self.ackmate;
        options.heading = self.ackmate || !self.vimgrep && self.heading(order).unwrap_or(terminal);
        options.column = self.column || self.vimgrep && !order.has("no-column");
        options.line_number = self.line_number(order).unwrap_or_else(|| match options.mode {
            _ if options.quiet => false,
            Mode::Lines => terminal && !paths.only_input() || options.column || self.vimgrep,
            Mode::Json | Mode::Records => true,
            Mode::Count | Mode::CountMatches | Mode::FilesWithMatches | Mode::FilesWithoutMatch => false,
        });
        options.line_number |= self.ackmate && options.mode == Mode::Lines;
        options.byte_offset = self.byte_offset;
        options.only_matching = self.only_matching;
        options.vimgrep = self.vimgrep;
        options.replace = self.replace.clone().map(String::into_bytes);
        options.max_columns = self.max_columns.filter(|&columns| columns > 0);
        options.max_columns_preview = self.max_columns_preview;
        options.trim = self.trim;
        self.apply_context(options);
        self.apply_separators(order, options);
        if self.compact && !self.vimgrep && !self.ackmate {
            self.apply_compact(order, options);
        }
    }

    fn apply_compact(&self, order: &Order, options: &mut GrepOptions) {
        let is_lines = options.mode == Mode::Lines && !options.quiet;
        options.compact = true;
        options.heading = true;
        options.line_number |= is_lines && self.line_number(order).unwrap_or(true);
        options.max_columns = self.max_columns.or(Some(COMPACT_COLUMNS)).filter(|&columns| columns > 0);
        // A gap shows in the line numbers.
        if self.context_separator.is_none() {
            options.context_separator = None;
        }
    }

    /// How definitions around matches are found, if they are printed.
    ///
    /// # Errors
    ///
    /// If this build has no parsers.
    pub(super) fn enclosing(&self) -> Result<Option<NewScopeFinder>, UsageError> {
        if self.enclosing && NEW_SCOPE_FINDER.is_none() {
            let text =
                "--enclosing: not in this build, which has no parsers; build with the feature 'symbols'";
            return Err(UsageError(text.to_owned()));
        }
        Ok(NEW_SCOPE_FINDER.filter(|_| self.enclosing))
    }

    /// `-A` and `-B` take precedence over `-C`, in any order.
    fn apply_context(&self, options: &mut GrepOptions) {
        options.before_context = self.before_context.or(self.context).unwrap_or(0);
        options.after_context = self.after_context.or(self.context).unwrap_or(0);
        options.passthru = self.passthru;
    }

    fn apply_separators(&self, order: &Order, options: &mut GrepOptions) {
        let bytes = |separator: &Option<Separator>| separator.as_ref().map(|separator| separator.0.clone());
        options.null_after_path = self.null;
        options.path_separator = bytes(&self.path_separator).and_then(|bytes| bytes.first().copied());
        if order.has("no-context-separator") {
            options.context_separator = None;
        } else if let Some(separator) = bytes(&self.context_separator) {
            options.context_separator = Some(separator);
        }
        if let Some(separator) = bytes(&self.field_match_separator) {
            options.field_match_separator = separator;
        }
        if let Some(separator) = bytes(&self.field_context_separator) {
            options.field_context_separator = separator;
        }
    }

    /// Whether `--pretty` was given, and not before `flag`.
    pub(super) fn is_pretty(&self, order: &Order, flag: &str) -> bool {
        self.pretty && order.last("pretty") > order.last(flag)
    }

    fn heading(&self, order: &Order) -> Option<bool> {
        let is_on = self.heading || self.is_pretty(order, "no-heading");
        if is_on { Some(true) } else { order.has("no-heading").then_some(false) }
    }

    fn line_number(&self, order: &Order) -> Option<bool> {
        let is_on = self.line_number || self.is_pretty(order, "no_line_number");
        if is_on { Some(true) } else { self.no_line_number.then_some(false) }
    }
}
