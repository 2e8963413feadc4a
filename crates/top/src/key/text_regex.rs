//! Regular expressions with the semantics of Go over texts that need not be UTF-8.
//!
//! A text is a sequence of characters, and each invalid byte is a character U+FFFD of one byte, which `.`, `\S`, `\W`
//! and `[^x]` match. Empty matches never lie within a character.
//!
//! A text that is UTF-8 is searched directly. In any other text, invalid bytes are *marked* first: each becomes a
//! surrogate, U+DC80 for 0x80 up to U+DCFF for 0xFF, encoded like a character. No character has this encoding. So the
//! marked text can be searched with an expression in which everything that matches U+FFFD also matches marks, and it
//! can be converted back without loss.
//!
//! An expression that matches single bytes, such as `(?-u)\xFF`, searches every text directly.

use std::sync::{Arc, OnceLock};

use memchr::memchr;
use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind, Look};

use crate::cells::Span;
use crate::key::pattern::{Case, PatternError, SizeLimit, build, parse};

/// A regular expression over texts that need not be UTF-8.
#[derive(Clone, Debug)]
pub(crate) struct TextRegex {
    /// For texts that are searched directly.
    plain: Regex,
    hir: Arc<Hir>,
    /// For marked texts, if the difference matters. Few inputs have such texts, so it is compiled on first use.
    marked: Option<Arc<OnceLock<Regex>>>,
}

/// Scratch memory of searches.
#[derive(Debug)]
pub(crate) struct TextCache {
    plain: Cache,
    marked: Option<Cache>,
    text: Vec<u8>,
}

/// A text prepared for a search, with its regular expression and cache.
pub(crate) struct Prepared<'a> {
    pub(crate) regex: &'a Regex,
    pub(crate) cache: &'a mut Cache,
    pub(crate) text: &'a [u8],
    pub(crate) is_marked: bool,
}

impl TextRegex {
    pub(crate) fn new(pattern: &str) -> Result<Self, PatternError> {
        Self::with_case(pattern, Case::Distinct)
    }

    pub(crate) fn with_case(pattern: &str, case: Case) -> Result<Self, PatternError> {
        Self::from_hir(parse(pattern, case)?)
    }

    pub(crate) fn from_hir(hir: Hir) -> Result<Self, PatternError> {
        let properties = hir.properties();
        let matters = is_over_characters(&hir)
            && (matches_invalid(&hir) || properties.minimum_len() == Some(0) || has_negated_boundary(&hir));
        Ok(Self {
            plain: build(&hir, is_over_characters(&hir), SizeLimit::Usual)?,
            hir: Arc::new(hir),
            marked: matters.then(Arc::default),
        })
    }

    /// Returns the expression for texts that are searched directly.
    pub(crate) fn plain(&self) -> &Regex {
        &self.plain
    }

    pub(crate) fn hir(&self) -> &Hir {
        &self.hir
    }

    pub(crate) fn cache(&self) -> TextCache {
        TextCache { plain: self.plain.create_cache(), marked: None, text: Vec::new() }
    }

    /// Returns what [`TextRegex::prepare`] uses for a text that is ASCII, and for any text if invalid bytes do not matter.
    #[inline(always)]
    pub(crate) fn direct<'a>(&'a self, cache: &'a mut TextCache) -> (&'a Regex, &'a mut Cache) {
        (&self.plain, &mut cache.plain)
    }

    /// Prepares a text for a search.
    #[inline]
    pub(crate) fn prepare<'a>(&'a self, cache: &'a mut TextCache, text: &'a [u8]) -> Prepared<'a> {
        match &self.marked {
            // Nearly all texts are ASCII. For a short text this check takes half of the time of a check for UTF-8.
            Some(marked) if !text.is_ascii() && str::from_utf8(text).is_err() => {
                self.prepare_marked(marked, cache, text)
            }
            _ => Prepared { regex: &self.plain, cache: &mut cache.plain, text, is_marked: false },
        }
    }

    #[cold]
    fn prepare_marked<'a>(
        &'a self,
        marked: &'a OnceLock<Regex>,
        cache: &'a mut TextCache,
        text: &[u8],
    ) -> Prepared<'a> {
        let regex = marked.get_or_init(|| {
            // It has a few more states per class than the plain expression, which is within the limit.
            build(&with_invalid(&self.hir, &mark()), true, SizeLimit::None)
                .unwrap_or_else(|_| self.plain.clone())
        });
        let TextCache { marked: cache, text: marked_text, .. } = cache;
        mark_invalid(text, marked_text);
        let cache = cache.get_or_insert_with(|| regex.create_cache());
        Prepared { regex, cache, text: marked_text, is_marked: true }
    }

    /// Whether a text has a match.
    pub(crate) fn is_match(&self, cache: &mut TextCache, text: &[u8]) -> bool {
        let Prepared { regex, cache, text, .. } = self.prepare(cache, text);
        regex.search_half_with(cache, &Input::new(text).earliest(true)).is_some()
    }

    /// Returns the first match in a text.
    pub(crate) fn find(&self, cache: &mut TextCache, text: &[u8]) -> Option<Span> {
        let prepared = self.prepare(cache, text);
        let found = prepared.regex.search_with(prepared.cache, &Input::new(prepared.text))?;
        Some((prepared.origin(found.start()), prepared.origin(found.end())))
    }
}

/// Maps positions of a prepared text to the given text, in ascending order. Each call examines only the text since the
/// position of the call before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    at: usize,
    marks: usize,
}

impl Origin {
    /// Maps a position that is not before that of the call before.
    #[inline]
    pub(crate) fn of(&mut self, prepared: &Prepared<'_>, at: usize) -> usize {
        if !prepared.is_marked {
            return at;
        }
        self.marks += marks(&prepared.text[self.at..at]).count();
        self.at = at;
        at - 2 * self.marks
    }
}

impl Prepared<'_> {
    /// Maps a position of the prepared text to the given text.
    pub(crate) fn origin(&self, at: usize) -> usize {
        if self.is_marked { at - 2 * marks(&self.text[..at]).count() } else { at }
    }
}

/// Whether an expression matches characters only, rather than single bytes.
pub(crate) fn is_over_characters(hir: &Hir) -> bool {
    hir.properties().is_utf8()
}

/// Whether an expression can match an invalid byte.
pub(crate) fn matches_invalid(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => invalid_in(&literal.0).is_some(),
        HirKind::Class(class) => has_replacement(class),
        HirKind::Repetition(repetition) => matches_invalid(&repetition.sub),
        HirKind::Capture(capture) => matches_invalid(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(matches_invalid),
    }
}

/// Whether an expression has an ASCII `\B`, which also matches within a character.
pub(crate) fn has_negated_boundary(hir: &Hir) -> bool {
    hir.properties().look_set().contains(Look::WordAsciiNegate)
}

fn has_replacement(class: &Class) -> bool {
    let Class::Unicode(class) = class else { return false };
    let replacement = char::REPLACEMENT_CHARACTER;
    class.iter().any(|range| range.start() <= replacement && replacement <= range.end())
}

/// UTF-8 encoding of U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// Returns the offset of U+FFFD in a literal.
fn invalid_in(literal: &[u8]) -> Option<usize> {
    literal.windows(REPLACEMENT.len()).position(|window| window == REPLACEMENT)
}

/// Makes an expression that also matches `invalid` where `hir` matches U+FFFD.
pub(crate) fn with_invalid(hir: &Hir, invalid: &Hir) -> Hir {
    let inner = |part: &Hir| with_invalid(part, invalid);
    match hir.kind() {
        HirKind::Class(class) if has_replacement(class) => {
            Hir::alternation(vec![hir.clone(), invalid.clone()])
        }
        HirKind::Literal(literal) => literal_with_invalid(&literal.0, invalid),
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => hir.clone(),
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            *repetition.sub = inner(&repetition.sub);
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => {
            let mut capture = capture.clone();
            *capture.sub = inner(&capture.sub);
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(inner).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(inner).collect()),
    }
}

fn literal_with_invalid(mut literal: &[u8], invalid: &Hir) -> Hir {
    let mut parts = Vec::new();
    while let Some(at) = invalid_in(literal) {
        parts.push(Hir::literal(&literal[..at]));
        parts.push(Hir::alternation(vec![Hir::literal(REPLACEMENT), invalid.clone()]));
        literal = &literal[at + REPLACEMENT.len()..];
    }
    parts.push(Hir::literal(literal));
    Hir::concat(parts)
}

/// Makes an expression that matches a byte of a range.
pub(crate) fn byte_of(start: u8, end: u8) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(start, end)])))
}

/// First byte of all marks.
const MARK: u8 = 0xED;
/// Second byte of a mark, by bit 6 of the marked byte. The third byte has the lower bits.
const MARKS: [u8; 2] = [0xB2, 0xB3];

/// Makes an expression that matches a mark.
fn mark() -> Hir {
    Hir::concat(vec![Hir::literal([MARK]), byte_of(MARKS[0], MARKS[1]), byte_of(0x80, 0xBF)])
}

/// Copies a text to `marked`, with marks in place of invalid bytes.
fn mark_invalid(text: &[u8], marked: &mut Vec<u8>) {
    marked.clear();
    for chunk in text.utf8_chunks() {
        marked.extend_from_slice(chunk.valid().as_bytes());
        for &byte in chunk.invalid() {
            marked.extend_from_slice(&[MARK, MARKS[usize::from(byte >> 6 & 1)], 0x80 | byte & 0x3F]);
        }
    }
}

/// Returns the offsets of marks in a text.
fn marks(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let is_mark = |at: usize| text.get(at + 1).is_some_and(|second| MARKS.contains(second));
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + memchr(MARK, text.get(from..)?)?;
            from = at + 3;
            if is_mark(at) {
                return Some(at);
            }
        }
    })
}

/// Appends a marked text to `out`, with the original bytes in place of marks.
pub(crate) fn append_unmarked(text: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    for at in marks(text) {
        out.extend_from_slice(&text[copied..at]);
        if let [_, second, last, ..] = text[at..] {
            out.push(0x80 | (second & 1) << 6 | last & 0x3F);
        }
        copied = at + 3;
    }
    out.extend_from_slice(&text[copied.min(text.len())..]);
}
