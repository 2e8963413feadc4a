//! What to look for, and what to print of it.

use grep_printer::{ColorSpecs, HyperlinkConfig};

/// What a line must have in it to match.
#[derive(Clone, Debug)]
pub struct PatternOptions {
    /// A line matches if one of these does. None at all match nothing.
    pub patterns: Vec<String>,
    /// Take the patterns as they stand, not as regular expressions.
    pub fixed_strings: bool,
    /// Whether upper and lower case are told apart.
    pub case: Case,
    /// What must be at both ends of a match.
    pub boundary: Option<Boundary>,
    /// Let a match go across lines.
    pub multiline: bool,
    /// With `multiline`, let `.` match a line feed.
    pub multiline_dotall: bool,
    /// Let `\w`, `\d`, `.` and the like, and letters without regard to case, be those of Unicode.
    pub unicode: bool,
    /// Which engine interprets the patterns.
    pub engine: Engine,
    /// How many bytes the compiled patterns may take; the engine's own limit if none is given.
    pub regex_size_limit: Option<usize>,
    /// How many bytes the cache of the lazy automaton may take; the engine's own limit if none is given.
    pub dfa_size_limit: Option<usize>,
}

impl Default for PatternOptions {
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
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

/// Whether upper and lower case are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// They are.
    Sensitive,
    /// They are not.
    Insensitive,
    /// They are if a pattern has an upper-case letter.
    Smart,
}

/// What must be at both ends of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The ends of the line.
    Line,
    /// The ends of a word.
    Word,
}

/// Which engine interprets the patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// That of Rust's regex crate: its time is linear in the size of the input.
    Rust,
    /// PCRE2, which has look-around and back-references.
    Pcre2,
    /// Rust's, or PCRE2 for patterns that it does not know.
    Auto,
}

/// Which bytes end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// A line feed.
    Lf,
    /// A line feed, or a carriage return and a line feed: `$` matches before both.
    Crlf,
    /// A NUL.
    Nul,
}

/// What to make of files that hold a NUL byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Give up files that were found below a directory; say of named ones only that they match.
    Auto,
    /// Say only that they match.
    Suppress,
    /// Take them as text.
    Text,
}

/// What is printed of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Its matching lines.
    Lines,
    /// Its matching lines as JSON, in ripgrep's schema.
    Json,
    /// How many lines match.
    Count,
    /// How many matches there are.
    CountMatches,
    /// Its name if a line matches.
    FilesWithMatches,
    /// Its name if no line matches.
    FilesWithoutMatch,
}

/// How to search and what to print.
#[derive(Clone, Debug)]
pub struct GrepOptions {
    /// What to look for.
    pub pattern: PatternOptions,
    /// What is printed of a file.
    pub mode: Mode,
    /// Print nothing, and end with the first match.
    pub quiet: bool,
    /// Which bytes end a line.
    pub line_end: LineEnd,
    /// What to make of files that hold a NUL byte.
    pub binary: Binary,
    /// Take the lines that do not match.
    pub invert: bool,
    /// How many matching lines of a file are taken at most.
    pub max_count: Option<u64>,
    /// End with a file at its first line that does not match after one that does.
    pub stop_on_nonmatch: bool,
    /// How many lines before a match are printed with it.
    pub before_context: usize,
    /// How many lines after a match are printed with it.
    pub after_context: usize,
    /// Print all lines, matching or not.
    pub passthru: bool,
    /// Print the path of the file.
    pub with_filename: bool,
    /// Print the path once, above the matches of a file, and an empty line between files.
    pub heading: bool,
    /// Print line numbers, from 1.
    pub line_number: bool,
    /// Print the column of the first match, in bytes, from 1.
    pub column: bool,
    /// Print how many bytes of the file are before the line, or before the match with `only_matching`.
    pub byte_offset: bool,
    /// Print each match alone, on a line of its own.
    pub only_matching: bool,
    /// Print a line once for each match in it.
    pub vimgrep: bool,
    /// Print this in place of each match; `$1` or `${name}` in it stands for what a group matched.
    pub replace: Option<Vec<u8>>,
    /// Print no lines longer than this many bytes.
    pub max_columns: Option<u64>,
    /// Print the beginning of a line that is too long.
    pub max_columns_preview: bool,
    /// Leave out the blanks at the beginning of lines.
    pub trim: bool,
    /// With a count, print files without a match as well.
    pub include_zero: bool,
    /// Print a NUL after a path, in place of what is there otherwise.
    pub null_after_path: bool,
    /// Print this in place of the slashes in paths.
    pub path_separator: Option<u8>,
    /// What is between groups of lines that do not adjoin; nothing at all if none.
    pub context_separator: Option<Vec<u8>>,
    /// What is between the fields of a matching line.
    pub field_match_separator: Vec<u8>,
    /// What is between the fields of a line of context.
    pub field_context_separator: Vec<u8>,
    /// The colours, if there are to be any.
    pub colors: Option<ColorSpecs>,
    /// How paths link to files, if they are to.
    pub hyperlink: Option<HyperlinkConfig>,
    /// Count what is searched, found and printed.
    pub stats: bool,
}

impl Default for GrepOptions {
    fn default() -> Self {
        Self {
            pattern: PatternOptions::default(),
            mode: Mode::Lines,
            quiet: false,
            line_end: LineEnd::Lf,
            binary: Binary::Auto,
            invert: false,
            max_count: None,
            stop_on_nonmatch: false,
            before_context: 0,
            after_context: 0,
            passthru: false,
            with_filename: false,
            heading: false,
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
            stats: false,
        }
    }
}

impl GrepOptions {
    /// With what follows from other options.
    pub(crate) fn settled(mut self) -> Self {
        self.mode = match self.mode {
            Mode::CountMatches if self.invert => Mode::Count,
            Mode::Count if self.only_matching && !self.invert => Mode::CountMatches,
            mode => mode,
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_counted_unless_lines_without_any_are_wanted() {
        let settled = |mode, only_matching, invert| {
            GrepOptions { mode, only_matching, invert, ..GrepOptions::default() }.settled().mode
        };
        assert_eq!(settled(Mode::CountMatches, false, false), Mode::CountMatches);
        assert_eq!(settled(Mode::CountMatches, false, true), Mode::Count);
        assert_eq!(settled(Mode::Count, true, false), Mode::CountMatches);
        assert_eq!(settled(Mode::Count, true, true), Mode::Count);
        assert_eq!(settled(Mode::Count, false, false), Mode::Count);
    }
}
