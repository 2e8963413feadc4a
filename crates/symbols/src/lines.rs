//! Languages of lines: their lexers find definitions without a grammar.
//!
//! A definition in them begins a line or a statement, and the rest is skipped. A short lexer takes a tenth of the time of a parser. It
//! lists the definitions of any text; the only errors are comments, literals and definitions that do not end. Ranges are offsets in the
//! source, as nothing is left out.

#[cfg(feature = "dockerfile")]
pub(crate) mod dockerfile;
#[cfg(feature = "make")]
pub(crate) mod make;
#[cfg(feature = "markdown")]
pub(crate) mod markdown;
#[cfg(feature = "perl")]
pub(crate) mod perl;
#[cfg(feature = "sql")]
pub(crate) mod sql;

use std::ops::Range;

use memchr::memchr;

use crate::definition::Definition;
use crate::kind::Kind;

/// Lexer of a language.
pub(crate) type Lexer = fn(&[u8]) -> Lexed;

/// Result of a lexer for a text.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// Definitions, those around others first.
    pub(crate) definitions: Vec<Definition>,
    /// Comments and literals, in order. Words in them are no uses of a name.
    pub(crate) no_code: Vec<Range<usize>>,
    /// Offset of the first comment, literal or definition that does not end.
    pub(crate) error: Option<usize>,
}

impl Lexed {
    /// Adds a definition, which ends with its head until [`Self::end`] is called. Returns its index, or `None` if the name is empty or
    /// has control characters.
    pub(crate) fn add(
        &mut self,
        text: &[u8],
        (kind, name): (Kind, Range<usize>),
        head: Range<usize>,
        scope: Option<usize>,
    ) -> Option<usize> {
        if name.is_empty() || text[name.clone()].iter().any(u8::is_ascii_control) {
            return None;
        }
        let extent = head.clone();
        self.definitions.push(Definition {
            kind,
            name,
            extent,
            head,
            parameters: None,
            qualifier: None,
            scope,
        });
        Some(self.definitions.len() - 1)
    }

    /// Records the offset of a comment, literal or definition that does not end. Only the first is kept.
    pub(crate) fn fail(&mut self, start: usize) {
        self.error.get_or_insert(start);
    }

    /// Extends definitions to an offset.
    pub(crate) fn end(&mut self, definitions: impl IntoIterator<Item = usize>, end: usize) {
        for index in definitions {
            self.definitions[index].extent.end = end;
        }
    }

    /// Returns a function that is `true` for code and `false` for comments and literals. It takes offsets in order.
    pub(crate) fn code(&self) -> impl FnMut(usize) -> bool + '_ {
        let mut rest = &self.no_code[..];
        move |offset| {
            while let [first, others @ ..] = rest
                && first.end <= offset
            {
                rest = others;
            }
            rest.first().is_none_or(|range| offset < range.start)
        }
    }
}

/// The line that begins at an offset, without its end, and the offset of the next one.
fn line(text: &[u8], start: usize) -> (Range<usize>, usize) {
    let rest = &text[start..];
    let length = memchr(b'\n', rest).unwrap_or(rest.len());
    let next = (start + length + 1).min(text.len());
    let length = if rest[..length].ends_with(b"\r") { length - 1 } else { length };
    (start..start + length, next)
}

/// A range without white space around it.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_ascii_start().len());
    start..(range.start + part.trim_ascii_end().len()).max(start)
}

/// The first word of a range, which white space ends.
#[cfg(any(feature = "dockerfile", feature = "make"))]
fn word(text: &[u8], range: Range<usize>) -> Range<usize> {
    let range = trimmed(text, range);
    let part = &text[range.clone()];
    let length = part.iter().position(u8::is_ascii_whitespace).unwrap_or(part.len());
    range.start..range.start + length
}

#[cfg(all(test, feature = "all-languages"))]
mod tests;
