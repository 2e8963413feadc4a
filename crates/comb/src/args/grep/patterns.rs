//! What to look for.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use finecomb_grep::{Boundary, Case, Engine, PatternOptions};
use finecomb_sys::io_reason;

use super::order::Order;
use super::value;
use crate::args::selection::UsageError;

/// Where patterns come from.
#[derive(Clone, Debug)]
enum Source {
    Pattern(String),
    File(PathBuf),
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "What to look for")]
pub(crate) struct Patterns {
    /// A pattern; if given more than once, a line matches if one of them does
    #[arg(
        short = 'e',
        long,
        value_name = "PATTERN",
        allow_hyphen_values = true,
        value_parser = StringValueParser::new().map(Source::Pattern)
    )]
    regexp: Vec<Source>,

    /// A file with a pattern on each line, or - for standard input; may be given more than once
    ///
    /// A file without a line has no pattern, and nothing matches. An empty line is a pattern that matches everything.
    #[arg(
        short = 'f',
        long,
        value_name = "FILE",
        value_parser = OsStringValueParser::new().map(|file| Source::File(file.into()))
    )]
    file: Vec<Source>,

    /// Take the patterns as they stand, not as regular expressions
    #[arg(short = 'F', short_alias = 'Q', long, alias = "literal")]
    fixed_strings: bool,

    /// Do not tell upper and lower case apart
    #[arg(short = 'i', long, overrides_with_all = ["case_sensitive", "smart_case"])]
    ignore_case: bool,

    /// Tell upper and lower case apart, which is the default
    #[arg(short = 's', long, overrides_with = "smart_case")]
    case_sensitive: bool,

    /// Tell upper and lower case apart only if a pattern has an upper-case letter
    #[arg(short = 'S', long)]
    smart_case: bool,

    /// Match whole words only
    #[arg(short = 'w', long, overrides_with = "line_regexp")]
    word_regexp: bool,

    /// Match whole lines only
    #[arg(short = 'x', long)]
    line_regexp: bool,

    /// Let a match go across lines
    ///
    /// A file is then held in memory as a whole, and `.` does not match a line feed unless --multiline-dotall says so.
    #[arg(short = 'U', long, overrides_with = "stop_on_nonmatch")]
    pub(super) multiline: bool,

    /// With -U, let . match a line feed
    #[arg(long)]
    multiline_dotall: bool,

    /// Use PCRE2, which has look-around and back-references
    #[arg(short = 'P', long, overrides_with_all = ["engine", "auto_hybrid_regex"])]
    pcre2: bool,

    /// Which engine interprets the patterns
    #[arg(long, value_enum, value_name = "ENGINE", overrides_with = "auto_hybrid_regex")]
    engine: Option<EngineName>,

    /// The same as --engine=auto
    #[arg(long, hide_short_help = true)]
    auto_hybrid_regex: bool,

    /// Let \w, \d, . and the like, and letters with -i, be those of ASCII
    #[arg(long, alias = "no-pcre2-unicode")]
    no_unicode: bool,

    /// How much memory the compiled patterns may take
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, hide_short_help = true)]
    regex_size_limit: Option<usize>,

    /// How much memory the cache of the lazy automaton may take
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, hide_short_help = true)]
    dfa_size_limit: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum EngineName {
    /// That of Rust's regex crate: its time is linear in the size of the input
    Default,
    /// PCRE2
    Pcre2,
    /// The default one, or PCRE2 for patterns that it does not know
    Auto,
}

impl Patterns {
    /// Whether the patterns are given by flags, so that the first argument is a path.
    pub(super) fn are_given(&self) -> bool {
        !self.regexp.is_empty() || !self.file.is_empty()
    }

    /// Whether patterns are read from standard input.
    pub(super) fn take_input(&self) -> bool {
        self.file.iter().any(|source| matches!(source, Source::File(file) if file == Path::new("-")))
    }

    /// What a line must have in it. Reads the files that have patterns in them.
    pub(super) fn options(
        &self,
        order: &Order,
        argument: Option<String>,
    ) -> Result<PatternOptions, UsageError> {
        Ok(PatternOptions {
            patterns: self.patterns(order, argument)?,
            fixed_strings: self.fixed_strings,
            case: self.case(),
            boundary: self.boundary(),
            multiline: self.multiline,
            multiline_dotall: self.multiline_dotall,
            unicode: !self.no_unicode,
            engine: self.engine(),
            regex_size_limit: self.regex_size_limit,
            dfa_size_limit: self.dfa_size_limit,
        })
    }

    /// The patterns, each once: a long list with duplicates would be slower.
    fn patterns(&self, order: &Order, argument: Option<String>) -> Result<Vec<String>, UsageError> {
        let mut patterns: Vec<String> = argument.into_iter().collect();
        for (_, source) in order.merge(&[("regexp", &self.regexp), ("file", &self.file)]) {
            match source {
                Source::Pattern(pattern) => patterns.push(pattern.clone()),
                Source::File(file) => patterns.extend(read(file)?),
            }
        }
        let mut seen = HashSet::new();
        patterns.retain(|pattern| seen.insert(pattern.clone()));
        Ok(patterns)
    }

    fn case(&self) -> Case {
        match () {
            () if self.ignore_case => Case::Insensitive,
            () if self.smart_case => Case::Smart,
            () => Case::Sensitive,
        }
    }

    fn boundary(&self) -> Option<Boundary> {
        match () {
            () if self.word_regexp => Some(Boundary::Word),
            () if self.line_regexp => Some(Boundary::Line),
            () => None,
        }
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

/// The patterns in a file, one a line.
fn read(file: &Path) -> Result<Vec<String>, UsageError> {
    let (name, content) = if file == Path::new("-") {
        let mut content = Vec::new();
        ("standard input".to_owned(), io::stdin().lock().read_to_end(&mut content).map(|_| content))
    } else {
        (file.display().to_string(), fs::read(file))
    };
    let content =
        content.map_err(|error| UsageError(format!("patterns of {name}: {}", io_reason(&error))))?;
    let lines = (1..).zip(content.strip_suffix(b"\n").unwrap_or(&content).split(|&byte| byte == b'\n'));
    let lines = lines.filter(|_| !content.is_empty());
    lines
        .map(|(number, line)| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            str::from_utf8(line).map(str::to_owned).map_err(|_| {
                UsageError(format!(
                    "patterns of {name}: line {number} is not UTF-8; write such bytes as \\xFF"
                ))
            })
        })
        .collect()
}
