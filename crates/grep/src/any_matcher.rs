//! The matcher of a search: one type for all engines, with and without conditions, so that searchers and printers are compiled once.

use std::fmt::{self, Display, Formatter};

use grep_matcher::{ByteSet, Captures, LineMatchKind, LineTerminator, Match, Matcher, NoError};

use crate::condition::Conditioned;
use crate::line_matcher::{LineCaptures, LineMatcher};

/// Patterns compiled by one of the engines.
#[derive(Clone, Debug)]
pub(crate) enum AnyMatcher {
    Rust(LineMatcher),
    RustWith(Box<Conditioned<LineMatcher>>),
    #[cfg(feature = "pcre2")]
    Pcre2(grep_pcre2::RegexMatcher),
    #[cfg(feature = "pcre2")]
    Pcre2With(Box<Conditioned<grep_pcre2::RegexMatcher>>),
}

/// Evaluates an expression for the matcher of any engine.
macro_rules! with_each {
    ($any:expr, $matcher:ident => $result:expr) => {
        match $any {
            AnyMatcher::Rust($matcher) => $result,
            AnyMatcher::RustWith($matcher) => $result,
            #[cfg(feature = "pcre2")]
            AnyMatcher::Pcre2($matcher) => $result,
            #[cfg(feature = "pcre2")]
            AnyMatcher::Pcre2With($matcher) => $result,
        }
    };
}

impl AnyMatcher {
    /// Whether the engine is that of Rust.
    pub(crate) fn is_rust(&self) -> bool {
        matches!(self, Self::Rust(_) | Self::RustWith(_))
    }

    /// Whether files must be in memory as a whole, since there are conditions on them.
    pub(crate) fn needs_whole_files(&self) -> bool {
        match self {
            Self::RustWith(matcher) => matcher.needs_whole_files(),
            #[cfg(feature = "pcre2")]
            Self::Pcre2With(matcher) => matcher.needs_whole_files(),
            _ => false,
        }
    }

    /// Whether the present file meets the conditions on files.
    pub(crate) fn is_right_file(&self) -> bool {
        match self {
            Self::RustWith(matcher) => matcher.is_right_file(),
            #[cfg(feature = "pcre2")]
            Self::Pcre2With(matcher) => matcher.is_right_file(),
            _ => true,
        }
    }

    /// Looks at a file before it is searched, if there are conditions.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn begin_file(&mut self, text: &[u8]) -> Result<(), Failure> {
        match self {
            Self::RustWith(matcher) => Ok(matcher.begin_file(text)?),
            #[cfg(feature = "pcre2")]
            Self::Pcre2With(matcher) => Ok(matcher.begin_file(text)?),
            _ => Ok(()),
        }
    }
}

/// Failure of an engine during a search. It is small, since every call may return one.
#[derive(Debug)]
pub(crate) struct Failure(Box<str>);

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<NoError> for Failure {
    fn from(error: NoError) -> Self {
        Self(error.to_string().into())
    }
}

#[cfg(feature = "pcre2")]
impl From<grep_pcre2::Error> for Failure {
    fn from(error: grep_pcre2::Error) -> Self {
        Self(error.to_string().into())
    }
}

/// Groups of a match by any engine.
#[derive(Clone, Debug)]
pub(crate) enum AnyCaptures {
    Rust(LineCaptures),
    #[cfg(feature = "pcre2")]
    Pcre2(grep_pcre2::RegexCaptures),
}

impl Captures for AnyCaptures {
    fn len(&self) -> usize {
        match self {
            Self::Rust(captures) => captures.len(),
            #[cfg(feature = "pcre2")]
            Self::Pcre2(captures) => captures.len(),
        }
    }

    fn get(&self, index: usize) -> Option<Match> {
        match self {
            Self::Rust(captures) => captures.get(index),
            #[cfg(feature = "pcre2")]
            Self::Pcre2(captures) => captures.get(index),
        }
    }
}

impl Matcher for AnyMatcher {
    type Captures = AnyCaptures;
    type Error = Failure;

    #[inline]
    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, Failure> {
        with_each!(self, matcher => Ok(matcher.find_at(text, at)?))
    }

    fn new_captures(&self) -> Result<AnyCaptures, Failure> {
        Ok(match self {
            Self::Rust(matcher) => AnyCaptures::Rust(matcher.new_captures()?),
            Self::RustWith(matcher) => AnyCaptures::Rust(matcher.new_captures()?),
            #[cfg(feature = "pcre2")]
            Self::Pcre2(matcher) => AnyCaptures::Pcre2(matcher.new_captures()?),
            #[cfg(feature = "pcre2")]
            Self::Pcre2With(matcher) => AnyCaptures::Pcre2(matcher.new_captures()?),
        })
    }

    fn capture_count(&self) -> usize {
        with_each!(self, matcher => matcher.capture_count())
    }

    fn capture_index(&self, name: &str) -> Option<usize> {
        with_each!(self, matcher => matcher.capture_index(name))
    }

    // Iterations choose the engine once for a text, rather than for each match.
    #[inline]
    fn try_find_iter<F, E>(&self, text: &[u8], matched: F) -> Result<Result<(), E>, Failure>
    where
        F: FnMut(Match) -> Result<bool, E>,
    {
        with_each!(self, matcher => Ok(matcher.try_find_iter(text, matched)?))
    }

    #[inline]
    fn try_find_iter_at<F, E>(&self, text: &[u8], at: usize, matched: F) -> Result<Result<(), E>, Failure>
    where
        F: FnMut(Match) -> Result<bool, E>,
    {
        with_each!(self, matcher => Ok(matcher.try_find_iter_at(text, at, matched)?))
    }

    fn captures_at(&self, text: &[u8], at: usize, captures: &mut AnyCaptures) -> Result<bool, Failure> {
        Ok(match (self, captures) {
            (Self::Rust(matcher), AnyCaptures::Rust(captures)) => matcher.captures_at(text, at, captures)?,
            (Self::RustWith(matcher), AnyCaptures::Rust(captures)) => {
                matcher.captures_at(text, at, captures)?
            }
            #[cfg(feature = "pcre2")]
            (Self::Pcre2(matcher), AnyCaptures::Pcre2(captures)) => {
                matcher.captures_at(text, at, captures)?
            }
            #[cfg(feature = "pcre2")]
            (Self::Pcre2With(matcher), AnyCaptures::Pcre2(captures)) => {
                matcher.captures_at(text, at, captures)?
            }
            #[cfg(feature = "pcre2")]
            _ => unreachable!("groups of another engine"),
        })
    }

    #[inline]
    fn is_match_at(&self, text: &[u8], at: usize) -> Result<bool, Failure> {
        with_each!(self, matcher => Ok(matcher.is_match_at(text, at)?))
    }

    #[inline]
    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, Failure> {
        with_each!(self, matcher => Ok(matcher.shortest_match_at(text, at)?))
    }

    #[inline]
    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        with_each!(self, matcher => matcher.non_matching_bytes())
    }

    #[inline]
    fn line_terminator(&self) -> Option<LineTerminator> {
        with_each!(self, matcher => matcher.line_terminator())
    }

    #[inline]
    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, Failure> {
        with_each!(self, matcher => Ok(matcher.find_candidate_line(text)?))
    }
}
