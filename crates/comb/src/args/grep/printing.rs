//! What is printed, and how.

use clap::Args;
use finecomb_grep::{GrepOptions, Mode};

use super::order::Order;
use super::paths::Paths;
use super::value::{self, Separator};
use crate::args::format::TextOrJson;

/// The place of the last flag that says what to print of a search, but for --format.
fn last_search_mode(order: &Order) -> Option<usize> {
    let flags = ["files_with_matches", "files_without_match", "count", "count_matches", "json"];
    flags.into_iter().filter_map(|flag| order.last(flag)).max()
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "What is printed")]
pub(crate) struct Modes {
    /// Print the names of files with a match
    #[arg(short = 'l', long, overrides_with_all = ["files_without_match", "count", "count_matches", "json"])]
    files_with_matches: bool,

    /// Print the names of files without a match (-L is --follow)
    #[arg(long, alias = "files-without-matches", overrides_with_all = ["count", "count_matches", "json"])]
    files_without_match: bool,

    /// Print how many lines of each file match
    #[arg(short = 'c', long, overrides_with_all = ["count_matches", "json"])]
    count: bool,

    /// Print how many matches there are in each file
    #[arg(long, overrides_with = "json")]
    count_matches: bool,

    /// With a count, print files without a match as well
    #[arg(long)]
    include_zero: bool,

    /// Print JSON, one object a line, as ripgrep does
    #[arg(long)]
    json: bool,

    /// How to print matches: text, or json for --json [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", overrides_with = "json")]
    format: Option<TextOrJson>,

    /// Print nothing; the exit status says whether there is a match
    #[arg(short = 'q', long)]
    quiet: bool,

    /// Print which files would be searched, and search nothing
    #[arg(long, overrides_with = "type_list")]
    pub(super) files: bool,

    /// Print the types of files, with their globs
    #[arg(long, alias = "list-file-types")]
    pub(super) type_list: bool,

    /// Print at the end what was searched and found
    #[arg(long)]
    stats: bool,

    /// The same, and nothing else.
    #[arg(long, hide = true)]
    stats_only: bool,
}

impl Modes {
    /// Sets what these flags are about.
    pub(super) fn apply(&self, order: &Order, invert: bool, only_matching: bool, options: &mut GrepOptions) {
        options.mode = self.mode(order, invert, only_matching);
        options.quiet = self.quiet || self.stats_only;
        options.include_zero = self.include_zero;
        options.stats = self.stats || self.stats_only || options.mode == Mode::Json;
    }

    fn mode(&self, order: &Order, invert: bool, only_matching: bool) -> Mode {
        match () {
            () if self.json || self.is_json_by_format(order) => Mode::Json,
            () if self.files_with_matches => Mode::FilesWithMatches,
            () if self.files_without_match => Mode::FilesWithoutMatch,
            () if self.count && only_matching => Mode::CountMatches,
            () if self.count || self.count_matches && invert => Mode::Count,
            () if self.count_matches => Mode::CountMatches,
            () => Mode::Lines,
        }
    }

    /// Whether --format asks for JSON, and no other mode was asked for after that.
    fn is_json_by_format(&self, order: &Order) -> bool {
        self.json_by_format(order) > last_search_mode(order)
    }

    /// The place of --format if it asks for JSON.
    fn json_by_format(&self, order: &Order) -> Option<usize> {
        order.last("format").filter(|_| self.format == Some(TextOrJson::Json))
    }

    /// The place of the last flag that says what to print of a search.
    pub(super) fn last_of_search(&self, order: &Order) -> Option<usize> {
        last_search_mode(order).max(self.json_by_format(order))
    }
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "How lines are printed")]
pub(crate) struct Lines {
    /// Print line numbers, as on a terminal
    #[arg(short = 'n', long, alias = "numbers", overrides_with = "no_line_number")]
    line_number: bool,

    /// Print no line numbers, as into files and pipes
    #[arg(short = 'N', long, alias = "nonumbers")]
    no_line_number: bool,

    /// Print the column of the first match, in bytes, and the line number
    #[arg(long)]
    column: bool,

    /// Print how many bytes of the file are before the line, or with -o before the match
    #[arg(short = 'b', long)]
    byte_offset: bool,

    /// Print the path with every line
    #[arg(short = 'H', long, alias = "filename", overrides_with = "no_filename")]
    with_filename: bool,

    /// Print no paths
    #[arg(short = 'I', long, alias = "nofilename")]
    no_filename: bool,

    /// Print the path once, above the lines of a file, as on a terminal; --no-heading is the opposite
    #[arg(long, alias = "group")]
    heading: bool,

    /// Print as on a terminal: --color=always --heading -n
    #[arg(short = 'p', long)]
    pretty: bool,

    /// Print for editors: PATH:LINE:COLUMN:TEXT, a line for each match
    #[arg(long)]
    vimgrep: bool,

    /// Print each match alone, on a line of its own
    #[arg(short = 'o', long)]
    pub(super) only_matching: bool,

    /// Print this in place of each match; $1 or ${name} stands for what a group matched
    #[arg(short = 'r', long, value_name = "TEXT", allow_hyphen_values = true)]
    replace: Option<String>,

    /// Print so many lines after each match
    #[arg(short = 'A', long, alias = "after", value_name = "LINES", value_parser = value::count, allow_hyphen_values = true, overrides_with = "passthru")]
    after_context: Option<usize>,

    /// Print so many lines before each match
    #[arg(short = 'B', long, alias = "before", value_name = "LINES", value_parser = value::count, allow_hyphen_values = true, overrides_with = "passthru")]
    before_context: Option<usize>,

    /// Print so many lines before and after each match, but for what -A and -B say
    #[arg(short = 'C', long, value_name = "LINES", value_parser = value::count, allow_hyphen_values = true, overrides_with = "passthru")]
    context: Option<usize>,

    /// Print all lines, matching or not
    #[arg(long, alias = "passthrough")]
    passthru: bool,

    /// Print no lines longer than this many bytes, but say that they match; 0 for no limit
    #[arg(short = 'M', long, value_name = "BYTES", value_parser = value::number, allow_hyphen_values = true)]
    max_columns: Option<u64>,

    /// With -M, print the beginning of a line that is too long
    #[arg(long)]
    max_columns_preview: bool,

    /// Leave out the blanks at the beginning of lines
    #[arg(long)]
    trim: bool,

    /// Print a NUL byte after a path
    #[arg(short = '0', long, alias = "print0")]
    null: bool,

    /// What to print between groups of lines [default: --]; --no-context-separator for nothing
    ///
    /// In this and in other separators, \t, \n, \r, \0, \\ and \xFF stand for bytes.
    #[arg(long, value_name = "TEXT", value_parser = value::separator, allow_hyphen_values = true, hide_short_help = true)]
    context_separator: Option<Separator>,

    /// What to print after path, line number and the like of a matching line [default: :]
    #[arg(long, value_name = "TEXT", value_parser = value::separator, allow_hyphen_values = true, hide_short_help = true)]
    field_match_separator: Option<Separator>,

    /// The same for a line of context [default: -]
    #[arg(long, value_name = "TEXT", value_parser = value::separator, allow_hyphen_values = true, hide_short_help = true)]
    field_context_separator: Option<Separator>,

    /// What to print in place of / in paths: one byte
    #[arg(long, value_name = "BYTE", value_parser = value::path_separator, allow_hyphen_values = true, hide_short_help = true)]
    path_separator: Option<Separator>,
}

impl Lines {
    /// Sets what these flags are about. It depends on the mode.
    pub(super) fn apply(&self, order: &Order, paths: &Paths, terminal: bool, options: &mut GrepOptions) {
        options.with_filename = match () {
            () if self.with_filename => true,
            () if self.no_filename => false,
            () => self.vimgrep || !paths.one_file,
        };
        options.heading = !self.vimgrep && self.heading(order).unwrap_or(terminal);
        options.column = self.column || self.vimgrep && !order.has("no-column");
        options.line_number = self.line_number(order).unwrap_or_else(|| match options.mode {
            _ if options.quiet => false,
            Mode::Lines => terminal && !paths.only_input() || options.column || self.vimgrep,
            Mode::Json => true,
            Mode::Count | Mode::CountMatches | Mode::FilesWithMatches | Mode::FilesWithoutMatch => false,
        });
        options.byte_offset = self.byte_offset;
        options.only_matching = self.only_matching;
        options.vimgrep = self.vimgrep;
        options.replace = self.replace.clone().map(String::into_bytes);
        options.max_columns = self.max_columns.filter(|&columns| columns > 0);
        options.max_columns_preview = self.max_columns_preview;
        options.trim = self.trim;
        self.apply_context(options);
        self.apply_separators(order, options);
    }

    /// -A and -B count for more than -C, wherever they are.
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

    /// Whether --pretty was given, and not before this flag.
    pub(super) fn is_pretty(&self, order: &Order, flag: &str) -> bool {
        self.pretty && order.last("pretty") > order.last(flag)
    }

    fn heading(&self, order: &Order) -> Option<bool> {
        match () {
            () if self.heading || self.is_pretty(order, "no-heading") => Some(true),
            () if order.has("no-heading") => Some(false),
            () => None,
        }
    }

    fn line_number(&self, order: &Order) -> Option<bool> {
        match () {
            () if self.line_number || self.is_pretty(order, "no_line_number") => Some(true),
            () if self.no_line_number => Some(false),
            () => None,
        }
    }
}
