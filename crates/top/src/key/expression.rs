//! Regular expressions over texts that need not be UTF-8.
//!
//! The syntax is that of the `regex` crate, as in `comb grep`. In a text that is not UTF-8, `.`, `[^x]`, `\S`, `\W` and
//! all other classes with U+FFFD also match a single byte that is not ASCII, so that an edit such as `.*=` reaches across bytes of other encodings.
//! A text that is UTF-8 is searched with the expression as given: there, no match is a part of a character.
//!
//! A block of records is searched for an expression that is [rewritten](in_block) so that no match crosses the end of a record: `\n` is
//! removed from everything that it can match, and `^` and `$` become the start and end of a line. (This is the approach
//! of ripgrep's `grep-regex`.)

use std::sync::{Arc, OnceLock};

use finecomb_sys::units::ByteLimit;
use finecomb_words::within_lines;
use memchr::memchr;
use regex_automata::Input;
use regex_automata::meta::{self, Cache, Regex};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Class, ClassBytes, ClassBytesRange, Hir, HirKind, Look, Repetition};
use thiserror::Error;

use crate::cells::Span;

/// Size limit of a compiled expression, that of `comb grep`.
const SIZE_LIMIT: usize = 100 << 20;

/// An invalid regular expression.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The syntax is invalid. The message marks the error with a caret.
    #[error(transparent)]
    Syntax(#[from] Box<regex_syntax::Error>),
    /// The compiled expression is too large.
    #[error("{}", too_large(.0))]
    Build(#[from] Box<meta::BuildError>),
    /// A separator of fields matches the empty string.
    #[error("a separator cannot match the empty string; write '{fix}'")]
    Empty {
        /// A similar expression that does not.
        fix: String,
    },
}

impl PatternError {
    /// Byte offset of a syntax error and the reason.
    pub(crate) fn place(&self) -> Option<(usize, String)> {
        let Self::Syntax(error) = self else { return None };
        match &**error {
            regex_syntax::Error::Parse(error) => Some((error.span().start.offset, error.kind().to_string())),
            regex_syntax::Error::Translate(error) => {
                Some((error.span().start.offset, error.kind().to_string()))
            }
            _ => None,
        }
    }
}

fn too_large(error: &meta::BuildError) -> String {
    match error.size_limit() {
        Some(limit) => {
            format!(
                "compiled regex exceeds the size limit of {}; shorten its repetitions",
                ByteLimit(limit as u64)
            )
        }
        None => error.to_string(),
    }
}

/// Whether an expression distinguishes upper and lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Case {
    /// Upper and lower case are distinct.
    #[default]
    Distinct,
    /// They are the same, as after `(?i)`.
    Ignored,
}

/// Parses a regular expression.
pub(crate) fn parse(pattern: &str, case: Case) -> Result<Hir, PatternError> {
    let mut parser = ParserBuilder::new().utf8(false).case_insensitive(case == Case::Ignored).build();
    parser.parse(pattern).map_err(|error| PatternError::Syntax(Box::new(error)))
}

/// Compiles an expression for texts that are UTF-8. Unless it matches single bytes, no empty match lies within a character.
pub(crate) fn build(hir: &Hir) -> Result<Regex, PatternError> {
    compile(hir, hir.properties().is_utf8(), Some(SIZE_LIMIT))
}

fn compile(hir: &Hir, utf8_empty: bool, limit: Option<usize>) -> Result<Regex, PatternError> {
    let config = Regex::config().utf8_empty(utf8_empty).nfa_size_limit(limit);
    let built = Regex::builder().configure(config).build_from_hir(hir);
    built.map_err(|error| PatternError::Build(Box::new(error)))
}

/// A regular expression over texts that need not be UTF-8.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    hir: Hir,
    /// For texts that are UTF-8.
    regex: Regex,
    /// For other texts, if the difference matters. Few inputs have such texts, so it is compiled on first use.
    lenient: Option<Arc<OnceLock<Regex>>>,
    /// Whether the matches in a line of a block that is not ASCII may differ from those in the record.
    differs_beyond_ascii: bool,
}

/// Scratch memory of searches.
#[derive(Debug)]
pub(crate) struct ExpressionCache {
    regex: Cache,
    lenient: Option<Cache>,
}

/// The compiled expression that a text is searched with, and its scratch memory.
pub(crate) struct Fitting<'a> {
    pub(crate) regex: &'a Regex,
    pub(crate) cache: &'a mut Cache,
    /// Whether it is the one for texts that are not UTF-8.
    pub(crate) is_lenient: bool,
}

impl Expression {
    pub(crate) fn new(pattern: &str, case: Case) -> Result<Self, PatternError> {
        Self::from_hir(parse(pattern, case)?)
    }

    /// Compiles a separator of fields, which matches at least one byte.
    pub(crate) fn separator(pattern: &str) -> Result<Self, PatternError> {
        let hir = parse(pattern, Case::Distinct)?;
        match matches_empty(&hir) {
            true => Err(PatternError::Empty { fix: without_empty_match(pattern) }),
            false => Self::from_hir(hir),
        }
    }

    pub(crate) fn from_hir(hir: Hir) -> Result<Self, PatternError> {
        let differs = matches_empty(&hir) || with_single_bytes(&hir) != hir;
        Ok(Self {
            regex: build(&hir)?,
            differs_beyond_ascii: differs || has_unicode_boundary(&hir),
            hir,
            lenient: differs.then(Arc::default),
        })
    }

    /// Returns the compiled expression for texts that are UTF-8.
    pub(crate) fn regex(&self) -> &Regex {
        &self.regex
    }

    pub(crate) fn hir(&self) -> &Hir {
        &self.hir
    }

    pub(crate) fn cache(&self) -> ExpressionCache {
        ExpressionCache { regex: self.regex.create_cache(), lenient: None }
    }

    /// Returns the compiled expression for a text.
    #[inline]
    pub(crate) fn fitting<'a>(&'a self, cache: &'a mut ExpressionCache, text: &[u8]) -> Fitting<'a> {
        match &self.lenient {
            // Nearly all texts are ASCII. For a short text this check takes half of the time of a check for UTF-8.
            Some(lenient) if !text.is_ascii() && str::from_utf8(text).is_err() => {
                self.lenient(lenient, cache)
            }
            _ => Fitting { regex: &self.regex, cache: &mut cache.regex, is_lenient: false },
        }
    }

    #[cold]
    fn lenient<'a>(&'a self, lenient: &'a OnceLock<Regex>, cache: &'a mut ExpressionCache) -> Fitting<'a> {
        let regex = lenient.get_or_init(|| {
            // It has one more state per class than the other expression, which is within the limit.
            compile(&with_single_bytes(&self.hir), false, None).unwrap_or_else(|_| self.regex.clone())
        });
        let cache = cache.lenient.get_or_insert_with(|| regex.create_cache());
        Fitting { regex, cache, is_lenient: true }
    }

    /// Whether a text has a match.
    pub(crate) fn is_match(&self, cache: &mut ExpressionCache, text: &[u8]) -> bool {
        let Fitting { regex, cache, .. } = self.fitting(cache, text);
        regex.search_half_with(cache, &Input::new(text).earliest(true)).is_some()
    }

    /// Returns the first match in a text.
    pub(crate) fn find(&self, cache: &mut ExpressionCache, text: &[u8]) -> Option<Span> {
        let Fitting { regex, cache, .. } = self.fitting(cache, text);
        let found = regex.search_with(cache, &Input::new(text))?;
        Some((found.start(), found.end()))
    }

    /// Whether the matches in a line of a block may differ from those in the record. In a block, `$` matches before any
    /// carriage return, and every byte that is not ASCII counts as one that is not UTF-8.
    #[inline(always)]
    pub(crate) fn must_verify(&self, line: &[u8]) -> bool {
        self.differs_beyond_ascii && !line.is_ascii() || memchr(b'\r', line).is_some()
    }
}

/// Whether an expression can match the empty string.
pub(crate) fn matches_empty(hir: &Hir) -> bool {
    hir.properties().minimum_len() == Some(0)
}

/// Returns an expression like a separator that matches the empty string, but matches at least one byte: `\|` for `|`, and
/// `\s+` for `\s*`.
fn without_empty_match(pattern: &str) -> String {
    let repeated = pattern.strip_suffix(['*', '?']).map(|repeated| format!("{repeated}+"));
    let is_valid = |fix: &String| parse(fix, Case::Distinct).is_ok_and(|hir| !matches_empty(&hir));
    let fixes = [repeated, Some(regex_syntax::escape(pattern))];
    fixes.into_iter().flatten().find(is_valid).unwrap_or_else(|| r"[ \t]+".to_owned())
}

/// Makes an expression that also matches a byte that is not ASCII where `hir` matches U+FFFD by a class.
fn with_single_bytes(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class))
            if class
                .iter()
                .any(|range| (range.start()..=range.end()).contains(&char::REPLACEMENT_CHARACTER)) =>
        {
            Hir::alternation(vec![hir.clone(), beyond_ascii()])
        }
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(with_single_bytes(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => {
            let sub = Box::new(with_single_bytes(&capture.sub));
            Hir::capture(Capture { sub, ..capture.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(with_single_bytes).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(with_single_bytes).collect()),
    }
}

/// Makes an expression that matches a byte that is not ASCII.
fn beyond_ascii() -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(0x80, 0xFF)])))
}

fn has_unicode_boundary(hir: &Hir) -> bool {
    hir.properties().look_set().contains_word_unicode()
}

/// Rewrites an expression for a search of many lines. It finds all lines that `hir` matches, and others where
/// [`Expression::must_verify`] holds.
pub(crate) fn in_block(hir: &Hir) -> Hir {
    within_lines(&with_single_bytes(hir), |look| match look {
        Look::Start => Look::StartLF,
        // A record ends before `\n` and before `\r\n`.
        Look::End | Look::EndLF => Look::EndCRLF,
        other => other,
    })
}

/// Compiles a [rewritten](in_block) expression.
///
/// A DFA gives up at bytes that are not ASCII if there is a boundary of words in Unicode, and the engines that take its place are
/// slow. So every line with such bytes matches, unless the search is by literals anyway.
pub(crate) fn build_in_block(hir: &Hir) -> Result<Regex, PatternError> {
    let regex = compile(hir, false, Some(SIZE_LIMIT))?;
    if !has_unicode_boundary(hir) || regex.is_accelerated() {
        return Ok(regex);
    }
    let ascii = within_lines(hir, |look| match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        other => other,
    });
    compile(&Hir::alternation(vec![ascii, beyond_ascii()]), false, Some(SIZE_LIMIT))
}
