//! Patterns and how they match.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{OsStringValueParser, StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use finecomb_grep::{Boundary, Case, Engine, PatternOptions};
use finecomb_sys::io_reason;

use crate::args::selection::UsageError;
use crate::grep::args::order::{Off, Order};
use crate::grep::args::value;

/// Source of patterns.
#[derive(Clone, Debug)]
enum Source {
    Pattern(String),
    File(PathBuf),
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Pattern options")]
pub(crate) struct Patterns {
    /// Pattern to search for; repeatable, a line matches if any pattern does
    #[arg(
        short = 'e',
        long,
        value_name = "PATTERN",
        allow_hyphen_values = true,
        value_parser = StringValueParser::new().map(Source::Pattern)
    )]
    regexp: Vec<Source>,

    /// Read patterns from FILE, one per line, or from standard input if FILE is -; repeatable
    ///
    /// An empty file has no patterns, and nothing matches. An empty line is a pattern that matches every line.
    #[arg(
        short = 'f',
        long,
        value_name = "FILE",
        value_parser = OsStringValueParser::new().map(|file| Source::File(file.into()))
    )]
    file: Vec<Source>,

    /// Match only lines that also match PATTERN; repeatable, all must match
    ///
    /// Matches are still found by the other patterns. -F, -i, -w and the like apply to all patterns. With -U, the lines of a match
    /// count together; with -v, lines are selected that fail any of the patterns.
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    and: Vec<String>,

    /// Match only lines that do not match PATTERN; repeatable, none may match
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    not: Vec<String>,

    /// Search only files in which a line matches PATTERN; repeatable, all must match
    ///
    /// Each file is read into memory as a whole. In other files, nothing matches.
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true, hide_short_help = true)]
    file_and: Vec<String>,

    /// Search only files in which no line matches PATTERN; repeatable, none may match
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true, hide_short_help = true)]
    file_not: Vec<String>,

    /// Treat patterns as literal strings
    #[arg(short = 'F', short_alias = 'Q', long, alias = "literal", add = Off(&["no-fixed-strings"]))]
    fixed_strings: bool,

    /// Ignore case
    #[arg(short = 'i', long, overrides_with_all = ["case_sensitive", "smart_case"])]
    ignore_case: bool,

    /// Match case (default)
    #[arg(short = 's', long, overrides_with = "smart_case")]
    case_sensitive: bool,

    /// Ignore case unless a pattern has an upper-case letter
    #[arg(short = 'S', long)]
    smart_case: bool,

    /// Match whole words only
    #[arg(short = 'w', long, overrides_with = "line_regexp")]
    word_regexp: bool,

    /// Match whole lines only
    #[arg(short = 'x', long)]
    line_regexp: bool,

    /// Search across lines
    ///
    /// Files are read into memory as a whole. `.` matches a line feed only with --multiline-dotall.
    #[arg(short = 'U', long, overrides_with = "stop_on_nonmatch", add = Off(&["no-multiline", "nomultiline"]))]
    pub(super) multiline: bool,

    /// With -U, make . match line feeds
    #[arg(long, add = Off(&["no-multiline-dotall"]))]
    multiline_dotall: bool,

    /// Use the PCRE2 engine, with look-around and back-references
    #[arg(short = 'P', long, overrides_with_all = ["engine", "auto_hybrid_regex"], add = Off(&["no-pcre2", "no-auto-hybrid-regex"]))]
    pcre2: bool,

    /// Regular expression engine
    #[arg(long, value_enum, value_name = "ENGINE", overrides_with = "auto_hybrid_regex", add = Off(&["no-pcre2", "no-auto-hybrid-regex"]))]
    engine: Option<EngineName>,

    /// Same as --engine=auto
    #[arg(long, hide_short_help = true, add = Off(&["no-pcre2", "no-auto-hybrid-regex"]))]
    auto_hybrid_regex: bool,

    /// Disable Unicode: \w, \d and similar classes, ., and -i work on ASCII
    #[arg(long, alias = "no-pcre2-unicode", add = Off(&["unicode", "pcre2-unicode"]))]
    no_unicode: bool,

    /// Maximum size of the compiled patterns
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, hide_short_help = true)]
    regex_size_limit: Option<usize>,

    /// Maximum size of the lazy DFA cache
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, hide_short_help = true)]
    dfa_size_limit: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum EngineName {
    /// Rust's regex crate, in time linear in the size of the input
    Default,
    /// PCRE2
    Pcre2,
    /// The default engine, or PCRE2 for patterns that it does not support
    Auto,
}

impl Patterns {
    /// Whether patterns are given by flags. The first positional argument is then a path.
    pub(super) fn are_given(&self) -> bool {
        !self.regexp.is_empty() || !self.file.is_empty()
    }

    /// Whether patterns are read from standard input.
    pub(super) fn take_input(&self) -> bool {
        self.file.iter().any(|source| matches!(source, Source::File(file) if file == Path::new("-")))
    }

    /// Pattern options. Reads the files of patterns.
    pub(super) fn options(
        &self,
        order: &Order,
        argument: Option<String>,
    ) -> Result<PatternOptions, UsageError> {
        Ok(PatternOptions::default()
            .patterns(self.patterns(order, argument)?)
            .and(self.and.clone())
            .not(self.not.clone())
            .file_and(self.file_and.clone())
            .file_not(self.file_not.clone())
            .fixed_strings(self.fixed_strings)
            .case(self.case())
            .boundary(self.boundary())
            .multiline(self.multiline)
            .multiline_dotall(self.multiline_dotall)
            .unicode(!self.no_unicode)
            .engine(self.engine())
            .regex_size_limit(self.regex_size_limit)
            .dfa_size_limit(self.dfa_size_limit))
    }

    fn patterns(&self, order: &Order, argument: Option<String>) -> Result<Arc<[String]>, UsageError> {
        let mut patterns: Vec<String> = argument.into_iter().collect();
        for (_, source) in order.merge(&[("regexp", &self.regexp), ("file", &self.file)]) {
            match source {
                Source::Pattern(pattern) => patterns.push(pattern.clone()),
                Source::File(file) => patterns.extend(read(file)?),
            }
        }
        Ok(patterns.into())
    }

    fn case(&self) -> Case {
        if self.ignore_case {
            Case::Insensitive
        } else if self.smart_case {
            Case::Smart
        } else {
            Case::Sensitive
        }
    }

    fn boundary(&self) -> Option<Boundary> {
        if self.word_regexp { Some(Boundary::Word) } else { self.line_regexp.then_some(Boundary::Line) }
    }

    fn engine(&self) -> Engine {
        match self.engine {
            _ if self.pcre2 => Engine::Pcre2,
            _ if self.auto_hybrid_regex => Engine::Auto,
            Some(EngineName::Pcre2) => Engine::Pcre2,
            Some(EngineName::Auto) => Engine::Auto,
            Some(EngineName::Default) | None => Engine::Rust,
        }
    }
}

/// Reads the patterns of a file, one per line.
fn read(file: &Path) -> Result<Vec<String>, UsageError> {
    let (name, content) = if file == Path::new("-") {
        let mut content = Vec::new();
        ("standard input".to_owned(), io::stdin().lock().read_to_end(&mut content).map(|_| content))
    } else {
        (file.display().to_string(), fs::read(file))
    };
    let content = content.map_err(|error| UsageError(format!("{name}: {}", io_reason(&error))))?;
    let lines = (1..).zip(content.strip_suffix(b"\n").unwrap_or(&content).split(|&byte| byte == b'\n'));
    let lines = lines.filter(|_| !content.is_empty());
    lines
        .map(|(number, line)| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            str::from_utf8(line).map(str::to_owned).map_err(|_| {
                UsageError(format!(
                    "{name}: the pattern in line {number} is not valid UTF-8; use escapes such as '(?-u)\\xFF'"
                ))
            })
        })
        .collect()
}
