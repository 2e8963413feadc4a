//! Compiles patterns, with the engines configured as in ripgrep.

use std::collections::HashSet;

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;
use thiserror::Error;

use crate::any_matcher::AnyMatcher;
use crate::condition::{Conditioned, Conditions};
use crate::find::{Finder, RecordSearch};
use crate::line_matcher::{LineMatcher, Words, inner_literal};
use crate::options::{Binary, Boundary, Case, Engine, GrepOptions, LineEnd, PatternOptions};
#[cfg(feature = "pcre2")]
use crate::required::superset;
use crate::units::Units;

/// Error in a query.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A pattern is invalid.
    #[error("{0}")]
    Pattern(String),
    /// A pattern of a condition is invalid.
    #[error("{option}: {error}")]
    Condition {
        /// Field of [`PatternOptions`] with the pattern.
        option: &'static str,
        /// The message of the engine.
        error: String,
    },
    /// Neither engine accepts a pattern: the messages of both.
    #[error("neither engine accepts the pattern:\n{0}\n{1}")]
    Neither(String, String),
    /// PCRE2 was requested in a build without it.
    #[error("PCRE2 is not available in this build; build with the feature pcre2")]
    NoPcre2,
}

impl LineEnd {
    /// Returns the terminator as the engines' type.
    pub(crate) fn terminator(self) -> LineTerminator {
        match self {
            Self::Lf => LineTerminator::byte(b'\n'),
            Self::Crlf => LineTerminator::crlf(),
            Self::Nul => LineTerminator::byte(0),
        }
    }
}

impl AnyMatcher {
    /// Compiles the patterns of a query.
    pub(crate) fn new(options: &GrepOptions) -> Result<Self, Error> {
        match options.pattern.engine {
            Engine::Rust => with_rust(options),
            Engine::Pcre2 => pcre2(options),
            Engine::Auto => match with_rust(options) {
                Ok(matcher) => Ok(matcher),
                Err(rust) => {
                    pcre2(options).map_err(|pcre2| Error::Neither(rust.to_string(), pcre2.to_string()))
                }
            },
        }
    }
}

impl RecordSearch<AnyMatcher> {
    /// Compiles the conditions on records; `None` if lines are searched for.
    pub(crate) fn new(options: &GrepOptions) -> Result<Option<Self>, Error> {
        let GrepOptions { pattern, line_end, record, .. } = options;
        let Some(record) = record else { return Ok(None) };
        let terminator = line_end.terminator();
        let finders = |option: &'static str, patterns: &[String]| {
            let finder = |pattern: &String| {
                let (patterns, conditions) = ([pattern.clone()].into(), PatternOptions::default());
                let PatternOptions { and, not, file_and, file_not, .. } = conditions;
                let pattern =
                    PatternOptions { patterns, and, not, file_and, file_not, ..options.pattern.clone() };
                let matcher = AnyMatcher::new(&GrepOptions { pattern, ..options.clone() });
                let matcher =
                    matcher.map_err(|error| Error::Condition { option, error: error.to_string() })?;
                Ok(Finder::new(matcher, terminator, false))
            };
            patterns.iter().map(finder).collect::<Result<Vec<_>, Error>>()
        };
        let conditions =
            Conditions { all: finders("and", &pattern.and)?, none: finders("not", &pattern.not)? };
        let units = Units::new(terminator.as_byte(), Some(record.clone()));
        Ok(Some(Self { units, multiline: pattern.multiline, conditions }))
    }
}

/// Compiles the patterns, and the conditions if there are any.
fn with_rust(options: &GrepOptions) -> Result<AnyMatcher, Error> {
    let matcher = rust(options).map_err(Error::Pattern)?;
    if !options.pattern.has_conditions() {
        return Ok(AnyMatcher::Rust(matcher));
    }
    conditioned(matcher, options, rust).map(|matcher| AnyMatcher::RustWith(Box::new(matcher)))
}

/// Adds the conditions to a matcher. `compile` compiles the patterns of options.
fn conditioned<M: Matcher>(
    matcher: M,
    options: &GrepOptions,
    compile: impl Fn(&GrepOptions) -> Result<M, String>,
) -> Result<Conditioned<M>, Error> {
    let each = |option: &'static str, patterns: &[String]| {
        let compile = |pattern: &String| {
            let pattern = PatternOptions { patterns: [pattern.clone()].into(), ..options.pattern.clone() };
            let compiled = compile(&GrepOptions { pattern, ..options.clone() });
            compiled.map_err(|error| Error::Condition { option, error })
        };
        patterns.iter().map(compile).collect::<Result<Vec<M>, Error>>()
    };
    let PatternOptions { and, not, file_and, file_not, multiline, .. } = &options.pattern;
    let lines = match options.record {
        None => Conditions { all: each("and", and)?, none: each("not", not)? },
        // See `RecordSearch`.
        Some(_) => Conditions { all: Vec::new(), none: Vec::new() },
    };
    let files = Conditions { all: each("file_and", file_and)?, none: each("file_not", file_not)? };
    let terminator = options.line_end.terminator();
    Ok(Conditioned::new(matcher, lines, files, terminator, (*multiline, options.invert)))
}

fn rust(options: &GrepOptions) -> Result<LineMatcher, String> {
    match Words::new(options) {
        Some(words) => Ok(LineMatcher::Words(words)),
        None => regex(options).map(|matcher| match inner_literal(options) {
            Some(literal) => LineMatcher::Inner(matcher, Box::new(literal)),
            None => LineMatcher::Regex(matcher),
        }),
    }
}

/// Compiles the patterns into one expression.
pub(crate) fn regex(options: &GrepOptions) -> Result<RegexMatcher, String> {
    let pattern = &options.pattern;
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(pattern.unicode)
        .octal(false)
        .fixed_strings(pattern.fixed_strings)
        .case_insensitive(pattern.case == Case::Insensitive)
        .case_smart(pattern.case == Case::Smart)
        .whole_line(pattern.boundary == Some(Boundary::Line))
        .word(pattern.boundary == Some(Boundary::Word))
        .crlf(options.line_end == LineEnd::Crlf);
    if pattern.multiline {
        builder.dot_matches_new_line(pattern.multiline_dotall).line_terminator(None);
    } else {
        let byte = if options.line_end == LineEnd::Nul { 0 } else { b'\n' };
        builder.line_terminator(Some(byte)).dot_matches_new_line(false);
    }
    if options.line_end == LineEnd::Crlf && !pattern.multiline {
        // Setting the line terminator above has unset this option.
        builder.crlf(true);
    }
    if let Some(limit) = pattern.regex_size_limit {
        builder.size_limit(limit);
    }
    if let Some(limit) = pattern.dfa_size_limit {
        builder.dfa_size_limit(limit);
    }
    if options.binary != Binary::Text && options.line_end != LineEnd::Nul {
        builder.ban_byte(Some(0));
    }
    let built = builder.build_many(&distinct(&pattern.patterns));
    built.map_err(|error| wrong_pattern(options).unwrap_or_else(|| error.to_string()))
}

/// The patterns without duplicates, which would make a long list slower.
fn distinct(patterns: &[String]) -> Vec<&str> {
    let mut seen = HashSet::new();
    patterns.iter().map(String::as_str).filter(|&pattern| seen.insert(pattern)).collect()
}

/// Returns the syntax error of the first invalid pattern, shown in that pattern. The engine would show it in the combination
/// of all patterns.
fn wrong_pattern(options: &GrepOptions) -> Option<String> {
    let PatternOptions { patterns, fixed_strings, unicode, .. } = &options.pattern;
    let wrong = |pattern: &String| {
        // A parser accepts one pattern only and panics at the second.
        let parsed = ParserBuilder::new().utf8(false).unicode(*unicode).build().parse(pattern);
        parsed.err().map(|error| error.to_string())
    };
    patterns.iter().filter(|_| !fixed_strings).find_map(wrong)
}

#[cfg(feature = "pcre2")]
fn pcre2(options: &GrepOptions) -> Result<AnyMatcher, Error> {
    let matcher = pcre2_matcher(options).map_err(Error::Pattern)?;
    if !options.pattern.has_conditions() {
        return Ok(AnyMatcher::Pcre2(matcher));
    }
    let matcher = conditioned(matcher, options, pcre2_matcher)?;
    Ok(AnyMatcher::Pcre2With(Box::new(matcher)))
}

#[cfg(feature = "pcre2")]
fn pcre2_matcher(options: &GrepOptions) -> Result<grep_pcre2::RegexMatcher, String> {
    /// Maximum stack of the JIT-compiled code in bytes, large enough for patterns with deep recursion.
    const STACK: usize = 10 << 20;

    let pattern = &options.pattern;
    let mut builder = grep_pcre2::RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .fixed_strings(pattern.fixed_strings)
        .caseless(pattern.case == Case::Insensitive)
        .case_smart(pattern.case == Case::Smart)
        .whole_line(pattern.boundary == Some(Boundary::Line))
        .word(pattern.boundary == Some(Boundary::Word))
        .utf(pattern.unicode)
        .ucp(pattern.unicode)
        .dotall(pattern.multiline && pattern.multiline_dotall)
        .crlf(options.line_end == LineEnd::Crlf);
    if cfg!(target_pointer_width = "64") {
        builder.jit_if_available(true).max_jit_stack_size(Some(STACK));
    }
    let built = builder.build_many(&distinct(&pattern.patterns));
    built.map_err(|error| error.to_string())
}

#[cfg(not(feature = "pcre2"))]
fn pcre2(_options: &GrepOptions) -> Result<AnyMatcher, Error> {
    Err(Error::NoPcre2)
}

/// Maximum number of patterns that an index is asked for: most files have one of a thousand.
const MAX_EXPRESSIONS: usize = 1000;
/// The same for patterns in any case, which take ten times as long to prepare.
const MAX_EXPRESSIONS_IN_ANY_CASE: usize = 256;

/// Expressions: every text that matches the patterns holds a match of one of them. `None` if there are none, or too many.
pub(crate) fn expressions(matcher: &AnyMatcher, options: &PatternOptions) -> Option<Vec<Hir>> {
    // With smart case, more may match than does.
    let ignores_case = options.case != Case::Sensitive;
    let max = if ignores_case { MAX_EXPRESSIONS_IN_ANY_CASE } else { MAX_EXPRESSIONS };
    if options.patterns.len() > max {
        return None;
    }
    let parse = |pattern: &str| {
        let expression = match matcher {
            AnyMatcher::Rust(_) | AnyMatcher::RustWith(_) if options.fixed_strings => {
                regex_syntax::escape(pattern)
            }
            AnyMatcher::Rust(_) | AnyMatcher::RustWith(_) => pattern.to_owned(),
            #[cfg(feature = "pcre2")]
            AnyMatcher::Pcre2(_) | AnyMatcher::Pcre2With(_) => {
                superset(pattern, options.fixed_strings, ignores_case)
            }
        };
        let mut builder = ParserBuilder::new();
        builder
            .utf8(false)
            .multi_line(true)
            .unicode(options.unicode)
            .dot_matches_new_line(options.multiline && options.multiline_dotall)
            .case_insensitive(ignores_case);
        builder.build().parse(&expression).ok()
    };
    distinct(&options.patterns).into_iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher;

    use super::*;
    use crate::differential::searching;

    #[test]
    fn an_invalid_pattern_after_valid_ones_is_shown_as_written() {
        let error = |engine, patterns: &[&str]| {
            let patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            let pattern = PatternOptions { patterns, engine, ..PatternOptions::default() };
            AnyMatcher::new(&GrepOptions { pattern, ..GrepOptions::default() })
                .err()
                .map(|error| error.to_string())
        };
        for engine in [Engine::Rust, Engine::Auto] {
            let message = error(engine, &["foo", "bar", "(baz"]).expect("an error");
            assert!(message.contains("    (baz\n    ^\n"), "{message}");
        }
        // Each is valid by itself; only the engine rejects them.
        assert!(error(Engine::Rust, &["a", r"b\n"]).expect("an error").contains("not allowed"));
    }

    #[test]
    fn a_nul_can_be_searched_for_where_it_is_a_byte_like_any_other() {
        let is_valid = |binary, line_end| {
            AnyMatcher::new(&GrepOptions { binary, line_end, ..searching(r"\x00") }).is_ok()
        };
        assert!(!is_valid(Binary::Auto, LineEnd::Lf));
        assert!(is_valid(Binary::Text, LineEnd::Lf));
    }

    #[cfg(feature = "pcre2")]
    #[test]
    fn auto_uses_pcre2_if_any_pattern_needs_it() {
        let patterns = ["one".to_owned(), "foo(?=bar)".to_owned()].into();
        let pattern = PatternOptions { patterns, engine: Engine::Auto, ..PatternOptions::default() };
        let options = GrepOptions { pattern, ..GrepOptions::default() };
        assert!(matches!(AnyMatcher::new(&options), Ok(AnyMatcher::Pcre2(_))));
    }

    #[cfg(feature = "pcre2")]
    #[test]
    fn both_engines_agree_on_case_boundaries_and_literals() {
        let lines = ["foo", "a foo b", "xfoo", "FOO", "Foo bar", "f.o", "x f.o", "xf.ox", ""];
        let matched = |pattern: &PatternOptions| {
            let options = GrepOptions { pattern: pattern.clone(), ..GrepOptions::default() };
            let matcher = AnyMatcher::new(&options).expect("a sound pattern");
            let is_match = |line: &&str| matcher.is_match(line.as_bytes()).expect("a search");
            lines.into_iter().filter(is_match).collect::<Vec<_>>()
        };
        for text in ["foo", "Foo", "f.o"] {
            for boundary in [None, Some(Boundary::Word), Some(Boundary::Line)] {
                for case in [Case::Sensitive, Case::Insensitive, Case::Smart] {
                    for fixed_strings in [false, true] {
                        let pattern = searching(text).pattern;
                        let rust = PatternOptions { boundary, case, fixed_strings, ..pattern };
                        let pcre2 = PatternOptions { engine: Engine::Pcre2, ..rust.clone() };
                        assert_eq!(matched(&pcre2), matched(&rust), "{pcre2:?}");
                    }
                }
            }
        }
    }
}
