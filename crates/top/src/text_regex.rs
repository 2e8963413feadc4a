//! Regular expressions over texts that need not be UTF-8, as Go has them.
//!
//! A text is a run of characters, and each byte that does not belong to one is the character U+FFFD, as wide as that byte:
//! so `.`, `\S`, `\W` and `[^x]` match it. Empty matches stand between characters, never within one.
//!
//! A text that is UTF-8 is searched as it is. In any other, each byte that belongs to no character is *marked* first:
//! it becomes a surrogate, U+DC80 for 0x80 up to U+DCFF for 0xFF, encoded as if it were a character. No character is
//! encoded so, so the marked text can be searched with the expression in which everything that matches U+FFFD matches marks
//! as well, and be turned back without loss.
//!
//! An expression that names bytes, as `(?-u)\xFF` does, is about bytes and searches every text as it is.

use std::sync::{Arc, OnceLock};

use memchr::memchr;
use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind, Look};

use crate::Span;
use crate::pattern::{PatternError, SizeLimit, build, parse};

/// A regular expression over texts that need not be UTF-8.
#[derive(Clone, Debug)]
pub(crate) struct TextRegex {
    /// Searches texts as they are.
    plain: Regex,
    hir: Arc<Hir>,
    /// Searches marked texts, if there is a difference. Few inputs have such texts, so it is compiled for the first.
    marked: Option<Arc<OnceLock<Regex>>>,
}

/// The memory that searches work in.
#[derive(Debug)]
pub(crate) struct TextCache {
    plain: Cache,
    marked: Option<Cache>,
    text: Vec<u8>,
}

/// A text as it is searched, and what to search it with.
pub(crate) struct Searched<'a> {
    pub(crate) regex: &'a Regex,
    pub(crate) cache: &'a mut Cache,
    pub(crate) text: &'a [u8],
    pub(crate) is_marked: bool,
}

impl TextRegex {
    pub(crate) fn new(pattern: &str) -> Result<Self, PatternError> {
        Self::from_hir(parse(pattern)?)
    }

    pub(crate) fn from_hir(hir: Hir) -> Result<Self, PatternError> {
        let properties = hir.properties();
        let matters = is_over_characters(&hir)
            && (matches_invalid(&hir) || properties.minimum_len() == Some(0) || minds_boundaries(&hir));
        Ok(Self {
            plain: build(&hir, is_over_characters(&hir), SizeLimit::Usual)?,
            hir: Arc::new(hir),
            marked: matters.then(Arc::default),
        })
    }

    /// The expression that searches texts as they are.
    pub(crate) fn plain(&self) -> &Regex {
        &self.plain
    }

    pub(crate) fn hir(&self) -> &Hir {
        &self.hir
    }

    pub(crate) fn cache(&self) -> TextCache {
        TextCache { plain: self.plain.create_cache(), marked: None, text: Vec::new() }
    }

    /// A text, made ready to be searched.
    #[inline]
    pub(crate) fn searched<'a>(&'a self, cache: &'a mut TextCache, text: &'a [u8]) -> Searched<'a> {
        match &self.marked {
            // Nearly all texts are ASCII, which for a short one is found out in half of the time.
            Some(marked) if !text.is_ascii() && str::from_utf8(text).is_err() => {
                self.searched_marked(marked, cache, text)
            }
            _ => Searched { regex: &self.plain, cache: &mut cache.plain, text, is_marked: false },
        }
    }

    #[cold]
    fn searched_marked<'a>(
        &'a self,
        marked: &'a OnceLock<Regex>,
        cache: &'a mut TextCache,
        text: &[u8],
    ) -> Searched<'a> {
        let regex = marked.get_or_init(|| {
            // It is larger than the plain one by a few states for each class, and that one is within the limit.
            build(&with_invalid(&self.hir, &mark()), true, SizeLimit::None)
                .unwrap_or_else(|_| self.plain.clone())
        });
        let TextCache { marked: cache, text: marked_text, .. } = cache;
        mark_invalid(text, marked_text);
        let cache = cache.get_or_insert_with(|| regex.create_cache());
        Searched { regex, cache, text: marked_text, is_marked: true }
    }

    /// Whether a text has a match.
    pub(crate) fn is_match(&self, cache: &mut TextCache, text: &[u8]) -> bool {
        let Searched { regex, cache, text, .. } = self.searched(cache, text);
        regex.search_half_with(cache, &Input::new(text).earliest(true)).is_some()
    }

    /// The first match in a text.
    pub(crate) fn find(&self, cache: &mut TextCache, text: &[u8]) -> Option<Span> {
        let searched = self.searched(cache, text);
        let found = searched.regex.search_with(searched.cache, &Input::new(searched.text))?;
        Some((searched.origin(found.start()), searched.origin(found.end())))
    }
}

impl Searched<'_> {
    /// Where a position of the searched text is in the given one.
    pub(crate) fn origin(&self, at: usize) -> usize {
        if self.is_marked { at - 2 * marks(&self.text[..at]).count() } else { at }
    }
}

/// Whether an expression is about characters, rather than about bytes.
pub(crate) fn is_over_characters(hir: &Hir) -> bool {
    hir.properties().is_utf8()
}

/// Whether an expression can match a byte that belongs to no character.
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

/// Whether an expression asks for a place that is no boundary of a word, which there is within a character too.
pub(crate) fn minds_boundaries(hir: &Hir) -> bool {
    hir.properties().look_set().contains(Look::WordAsciiNegate)
}

fn has_replacement(class: &Class) -> bool {
    let Class::Unicode(class) = class else { return false };
    let replacement = char::REPLACEMENT_CHARACTER;
    class.iter().any(|range| range.start() <= replacement && replacement <= range.end())
}

/// The bytes of U+FFFD.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// Where U+FFFD stands in a literal.
fn invalid_in(literal: &[u8]) -> Option<usize> {
    literal.windows(REPLACEMENT.len()).position(|window| window == REPLACEMENT)
}

/// The expression that matches `invalid` wherever `hir` matches U+FFFD.
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

/// The expression that matches one of some bytes.
pub(crate) fn byte_of(start: u8, end: u8) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(start, end)])))
}

/// First byte of all marks. The next byte is one of two, by the seventh bit of the marked byte; the last has the rest.
const MARK: u8 = 0xED;
const MARKS: [u8; 2] = [0xB2, 0xB3];

/// The expression that matches a mark.
fn mark() -> Hir {
    Hir::concat(vec![Hir::literal([MARK]), byte_of(MARKS[0], MARKS[1]), byte_of(0x80, 0xBF)])
}

/// Puts a text into `marked`, with marks for the bytes that belong to no character.
fn mark_invalid(text: &[u8], marked: &mut Vec<u8>) {
    marked.clear();
    for chunk in text.utf8_chunks() {
        marked.extend_from_slice(chunk.valid().as_bytes());
        for &byte in chunk.invalid() {
            marked.extend_from_slice(&[MARK, MARKS[usize::from(byte >> 6 & 1)], 0x80 | byte & 0x3F]);
        }
    }
}

/// Where marks stand in a text.
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

/// Appends a marked text to `out`, with the bytes that the marks stand for.
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
