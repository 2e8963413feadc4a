//! Search and output options.

use std::sync::Arc;

use finecomb_scan::{Limit, RecordStart, Source};
use finecomb_sys::setters;
use grep_printer::ColorSpecs;

use crate::enclosing::{NewScopeFinder, ScopeFinder};
use crate::print::link::Hyperlink;

/// Patterns and how they match.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PatternOptions {
    /// Patterns. A line matches if any of them does. An empty list matches nothing.
    pub patterns: Arc<[String]>,
    /// Patterns that the lines of a match must match as well, each of them. All settings apply to these, too.
    pub and: Vec<String>,
    /// Patterns that the lines of a match must not match.
    pub not: Vec<String>,
    /// Patterns that must each match some line of the file; files are then held in memory as a whole.
    pub file_and: Vec<String>,
    /// Patterns that no line of the file may match; the same.
    pub file_not: Vec<String>,
    /// Treat the patterns as literal strings, not as regular expressions.
    pub fixed_strings: bool,
    /// Case sensitivity.
    pub case: Case,
    /// Boundary required at both ends of a match.
    pub boundary: Option<Boundary>,
    /// Allow matches to span lines.
    pub multiline: bool,
    /// With `multiline`, let `.` match a line feed.
    pub multiline_dotall: bool,
    /// Use Unicode definitions for `\w`, `\d`, `.` and the like, and for case-insensitive matching.
    pub unicode: bool,
    /// Regex engine that compiles the patterns.
    pub engine: Engine,
    /// Maximum size of the compiled patterns in bytes; `None` leaves the engine's own limit.
    pub regex_size_limit: Option<usize>,
    /// Maximum size of the lazy DFA's cache in bytes; `None` leaves the engine's own limit.
    pub dfa_size_limit: Option<usize>,
}

setters! {
    PatternOptions {
        patterns: Arc<[String]>,
        and: Vec<String>,
        not: Vec<String>,
        file_and: Vec<String>,
        file_not: Vec<String>,
        fixed_strings: bool,
        case: Case,
        boundary: Option<Boundary>,
        multiline: bool,
        multiline_dotall: bool,
        unicode: bool,
        engine: Engine,
        regex_size_limit: Option<usize>,
        dfa_size_limit: Option<usize>,
    }
}

impl Default for PatternOptions {
    fn default() -> Self {
        Self {
            patterns: [].into(),
            and: Vec::new(),
            not: Vec::new(),
            file_and: Vec::new(),
            file_not: Vec::new(),
            fixed_strings: false,
            case: Case::Sensitive,
            boundary: None,
            multiline: false,
            multiline_dotall: false,
            unicode: true,
            engine: Engine::Rust,
            regex_size_limit: None,
            dfa_size_limit: None,
        }
    }
}

/// Case sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Match case.
    Sensitive,
    /// Ignore case.
    Insensitive,
    /// Match case if a pattern contains an upper-case letter, ignore it otherwise.
    Smart,
}

/// Boundary required at both ends of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The start and end of the line.
    Line,
    /// The start and end of a word.
    Word,
}

/// Regex engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The engine of Rust's regex crate. Search time is linear in the size of the input.
    Rust,
    /// PCRE2, which supports look-around and back-references.
    Pcre2,
    /// Rust's engine, or PCRE2 if it does not support the patterns.
    Auto,
}

/// Line terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// A line feed.
    Lf,
    /// A line feed, or a carriage return and a line feed: `$` matches before both.
    Crlf,
    /// A NUL.
    Nul,
}

/// Handling of files that contain a NUL byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Stop searching files found in a directory. For files named on the command line, report only that they match.
    Auto,
    /// Report only that they match.
    Suppress,
    /// Search them as text.
    Text,
}

/// Kind of output for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Matching lines.
    Lines,
    /// Matching lines as JSON, in ripgrep's schema.
    Json,
    /// Matching lines as [`records`](crate::records), for programs. Options that only change their text are ignored.
    Records,
    /// Number of matching lines.
    Count,
    /// Number of matches.
    CountMatches,
    /// Path, if a line matches.
    FilesWithMatches,
    /// Path, if no line matches.
    FilesWithoutMatch,
}

/// Search and output options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GrepOptions {
    /// Patterns and how they match.
    pub pattern: PatternOptions,
    /// Kind of output.
    pub mode: Mode,
    /// Print nothing and stop at the first match.
    pub quiet: bool,
    /// Line terminator.
    pub line_end: LineEnd,
    /// Handling of files that contain a NUL byte.
    pub binary: Binary,
    /// Search files that are named as those found in directories: a NUL ends the search. Default: `false`.
    pub named_as_found: bool,
    /// Select whole records, which begin with such lines: those with a matching line. Other options, conditions and the output then apply to
    /// records instead of lines. With `multiline`, each record is searched on its own. Lines must not end with a NUL.
    pub record: Option<RecordStart>,
    /// Select the lines that do not match.
    pub invert: bool,
    /// Maximum number of matching lines per file.
    pub max_count: Option<u64>,
    /// Maximum number of results printed over all files: lines as `max_count` counts them, files with a count or only a path.
    pub limit: Option<u64>,
    /// Stop searching a file at the first non-matching line after a match.
    pub stop_on_nonmatch: bool,
    /// Number of context lines before each match.
    pub before_context: usize,
    /// Number of context lines after each match.
    pub after_context: usize,
    /// Print all lines, matching or not.
    pub passthru: bool,
    /// Print the definition around each match, as found by a scope finder. Only [`Mode::Lines`] and [`Mode::Json`] print it.
    pub enclosing: Option<NewScopeFinder>,
    /// Print the path of the file.
    pub with_filename: bool,
    /// Print the path once above the matches of a file, and an empty line between files.
    pub heading: bool,
    /// Print in the format of AckMate: the path after a colon, and each matching line as its number, the offsets and lengths of
    /// its matches, and its text. Requires `heading` and `line_number`.
    pub ackmate: bool,
    /// Print line numbers, from 1.
    pub line_number: bool,
    /// Print the column of the first match, in bytes, from 1.
    pub column: bool,
    /// Print the byte offset of the line, or of the match with `only_matching`.
    pub byte_offset: bool,
    /// Print only the matched text, each match on its own line.
    pub only_matching: bool,
    /// Print a line once for each match in it.
    pub vimgrep: bool,
    /// Replacement for each match; `$1` and `${name}` stand for capture groups.
    pub replace: Option<Vec<u8>>,
    /// Maximum length of a printed line in bytes.
    pub max_columns: Option<u64>,
    /// Print the beginning of lines that exceed `max_columns`.
    pub max_columns_preview: bool,
    /// Omit blanks at the beginning of lines.
    pub trim: bool,
    /// With a count, print files without a match as well.
    pub include_zero: bool,
    /// Print a NUL after each path, instead of its usual separator.
    pub null_after_path: bool,
    /// Byte printed instead of each slash in paths.
    pub path_separator: Option<u8>,
    /// Line between groups of lines that are not adjacent; `None` prints no such line.
    pub context_separator: Option<Vec<u8>>,
    /// Separator between the fields of a matching line.
    pub field_match_separator: Vec<u8>,
    /// Separator between the fields of a context line.
    pub field_context_separator: Vec<u8>,
    /// Colours, if the output is coloured.
    pub colors: Option<ColorSpecs>,
    /// Format of hyperlinks from paths to files, if they are printed.
    pub hyperlink: Option<Hyperlink>,
    /// Escape control characters and invalid UTF-8 in printed paths, which a terminal would obey. Lines are unchanged.
    pub escape_paths: bool,
    /// With [`Mode::Lines`], cut lines longer than `max_columns` around the first match, omit empty lines between files, and let no
    /// path above lines look like a line with its number. There are no colours, paths are [above](Self::heading) the lines, and
    /// these are not [`vimgrep`](Self::vimgrep) or [`ackmate`](Self::ackmate).
    pub compact: bool,
    /// With [`Mode::Json`], name the pattern of each match.
    pub which_pattern: bool,
    /// Collect statistics.
    pub stats: bool,
}

setters! {
    GrepOptions {
        pattern: PatternOptions,
        mode: Mode,
        quiet: bool,
        line_end: LineEnd,
        binary: Binary,
        named_as_found: bool,
        record: Option<RecordStart>,
        invert: bool,
        max_count: Option<u64>,
        limit: Option<u64>,
        stop_on_nonmatch: bool,
        before_context: usize,
        after_context: usize,
        passthru: bool,
        enclosing: Option<NewScopeFinder>,
        with_filename: bool,
        heading: bool,
        ackmate: bool,
        line_number: bool,
        column: bool,
        byte_offset: bool,
        only_matching: bool,
        vimgrep: bool,
        replace: Option<Vec<u8>>,
        max_columns: Option<u64>,
        max_columns_preview: bool,
        trim: bool,
        include_zero: bool,
        null_after_path: bool,
        path_separator: Option<u8>,
        context_separator: Option<Vec<u8>>,
        field_match_separator: Vec<u8>,
        field_context_separator: Vec<u8>,
        colors: Option<ColorSpecs>,
        hyperlink: Option<Hyperlink>,
        escape_paths: bool,
        compact: bool,
        which_pattern: bool,
        stats: bool,
    }
}

impl Default for GrepOptions {
    fn default() -> Self {
        Self {
            pattern: PatternOptions::default(),
            mode: Mode::Lines,
            quiet: false,
            line_end: LineEnd::Lf,
            binary: Binary::Auto,
            named_as_found: false,
            record: None,
            invert: false,
            max_count: None,
            limit: None,
            stop_on_nonmatch: false,
            before_context: 0,
            after_context: 0,
            passthru: false,
            enclosing: None,
            with_filename: false,
            heading: false,
            ackmate: false,
            line_number: false,
            column: false,
            byte_offset: false,
            only_matching: false,
            vimgrep: false,
            replace: None,
            max_columns: None,
            max_columns_preview: false,
            trim: false,
            include_zero: false,
            null_after_path: false,
            path_separator: None,
            context_separator: Some(b"--".to_vec()),
            field_match_separator: b":".to_vec(),
            field_context_separator: b"-".to_vec(),
            colors: None,
            hyperlink: None,
            escape_paths: false,
            compact: false,
            which_pattern: false,
            stats: false,
        }
    }
}

impl PatternOptions {
    /// Whether there are conditions on lines or files.
    pub(crate) fn has_conditions(&self) -> bool {
        [&self.and, &self.not, &self.file_and, &self.file_not].iter().any(|patterns| !patterns.is_empty())
    }
}

impl GrepOptions {
    /// Whether files without a match show up in the output.
    pub(crate) fn counts_absent(&self) -> bool {
        matches!(self.mode, Mode::FilesWithoutMatch | Mode::Json) || self.include_zero || self.stats
    }

    /// Whether lines or messages are printed.
    pub(crate) fn prints(&self) -> bool {
        matches!(self.mode, Mode::Lines | Mode::Json | Mode::Records) && !self.quiet
    }

    /// Whether the positions of matches within a line are needed, not only the matching lines.
    pub(crate) fn needs_matches(&self) -> bool {
        match self.mode {
            _ if self.stats => true,
            _ if self.quiet => false,
            Mode::Count | Mode::FilesWithMatches | Mode::FilesWithoutMatch => false,
            Mode::CountMatches | Mode::Json | Mode::Records => true,
            Mode::Lines => {
                self.colors.as_ref().is_some_and(|colors| !colors.matched().is_none())
                    || self.column
                    || self.replace.is_some()
                    || self.vimgrep
                    || self.ackmate
                    || self.only_matching
                    || self.compact
            }
        }
    }

    /// Whether a file is searched as one that is named.
    pub(crate) fn is_named(&self, source: &Source) -> bool {
        source.is_named() && !self.named_as_found
    }

    /// Whether a limit leaves nothing to print.
    pub fn prints_no_results(&self) -> bool {
        matches!(self.scan_limit(), Some(Limit { results: 0, ends_job: true }))
    }

    /// The limit on results. The search ends there, unless totals are reported.
    pub(crate) fn scan_limit(&self) -> Option<Limit> {
        let ends_job = !(self.stats || self.compact || self.mode == Mode::Json);
        Some(Limit { results: self.limit?, ends_job })
    }

    /// Creates what finds the definitions around matches, if they are printed.
    pub(crate) fn scope_finder(&self) -> Option<Box<dyn ScopeFinder>> {
        self.enclosing.filter(|_| self.prints()).map(|make| make())
    }

    /// Returns the options with the mode that `invert` and `only_matching` imply.
    pub(crate) fn normalized(mut self) -> Self {
        self.mode = match self.mode {
            Mode::CountMatches if self.invert => Mode::Count,
            Mode::Count if self.only_matching && !self.invert => Mode::CountMatches,
            mode => mode,
        };
        if let Some(Limit { results, ends_job: true }) = self.scan_limit()
            && matches!(self.mode, Mode::Lines | Mode::Records)
            // There, a match of several lines is one result, but not one line.
            && (!self.pattern.multiline || self.record.is_some())
        {
            // The first line that is not printed ends the context of the last one.
            let is_followed = self.after_context > 0 || self.passthru;
            let wanted = results.saturating_add(u64::from(is_followed));
            self.max_count = Some(self.max_count.map_or(wanted, |max| max.min(wanted)));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_counted_unless_lines_without_any_are_wanted() {
        let settled = |mode, only_matching, invert| {
            GrepOptions { mode, only_matching, invert, ..GrepOptions::default() }.normalized().mode
        };
        assert_eq!(settled(Mode::CountMatches, false, false), Mode::CountMatches);
        assert_eq!(settled(Mode::CountMatches, false, true), Mode::Count);
        assert_eq!(settled(Mode::Count, true, false), Mode::CountMatches);
        assert_eq!(settled(Mode::Count, true, true), Mode::Count);
        assert_eq!(settled(Mode::Count, false, false), Mode::Count);
    }
}
