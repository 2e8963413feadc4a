//! The fields of a record one by one, and their values.

use memchr::memchr;

use super::Dialect;
use crate::cells::{Cell, Cells, Span};

const QUOTE: u8 = b'"';

/// The fields of a record in order, with their quotes. After an error there are no more.
pub(crate) struct Fields<'t> {
    dialect: Dialect,
    /// The text up to the end of the record.
    text: &'t [u8],
    /// Beginning of the next field.
    next: Option<usize>,
}

/// Position of a quote that is never closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenQuote(pub(super) usize);

impl<'t> Fields<'t> {
    /// The fields of a record in a text. A record of zero bytes has none.
    pub(crate) fn new(dialect: Dialect, text: &'t [u8], (start, end): Span) -> Self {
        Self { dialect, text: &text[..end], next: (start < end).then_some(start) }
    }

    /// Skips `count` fields and returns the next one; `None` if there are fewer.
    pub(super) fn skip_and_next(&mut self, count: usize) -> Result<Option<Span>, OpenQuote> {
        for _ in 0..count {
            let Some(field) = self.next() else { return Ok(None) };
            field?;
        }
        self.next().transpose()
    }
}

impl Iterator for Fields<'_> {
    type Item = Result<Span, OpenQuote>;

    fn next(&mut self) -> Option<Result<Span, OpenQuote>> {
        let start = self.next.take()?;
        let mut unquoted = start;
        if self.dialect.has_quotes && self.text.get(start) == Some(&QUOTE) {
            let Some(length) = closing_quote(&self.text[start + 1..]) else {
                return Some(Err(OpenQuote(start)));
            };
            unquoted = start + 1 + length + 1;
        }
        let delimiter = memchr(self.dialect.delimiter, &self.text[unquoted..]).map(|at| unquoted + at);
        self.next = delimiter.map(|delimiter| delimiter + 1);
        Some(Ok((start, delimiter.unwrap_or(self.text.len()))))
    }
}

/// Returns the position of the first quote that no other quote follows; `""` is data.
pub(crate) fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr(QUOTE, text.get(at..)?)?;
        if text.get(at + 1) != Some(&QUOTE) {
            return Some(at);
        }
        at += 2;
    }
}

/// Returns the value of a field.
#[inline(always)]
pub(super) fn cell(dialect: Dialect, text: &[u8], (start, end): Span, cells: &mut Cells) -> Cell {
    if dialect.has_quotes && text[start..end].first() == Some(&QUOTE) {
        quoted_cell(text, (start, end), cells)
    } else {
        Cell::raw((start, end))
    }
}

#[inline(never)]
fn quoted_cell(text: &[u8], (start, end): Span, cells: &mut Cells) -> Cell {
    let inner = &text[start + 1..end];
    if memchr(QUOTE, inner).is_some_and(|quote| quote + 1 == inner.len()) {
        Cell::raw((start + 1, end - 1))
    } else {
        cells.decode(|out| append_unquoted(inner, out))
    }
}

/// Appends the value of a field to `out`.
pub(super) fn append_value(dialect: Dialect, field: &[u8], out: &mut Vec<u8>) {
    match field.strip_prefix(&[QUOTE]) {
        Some(inner) if dialect.has_quotes => append_unquoted(inner, out),
        _ => out.extend_from_slice(field),
    }
}

/// Appends the value of a quoted field, given without the opening quote, to `out`.
fn append_unquoted(mut inner: &[u8], out: &mut Vec<u8>) {
    while let Some(quote) = memchr(QUOTE, inner) {
        let after = &inner[quote + 1..];
        match after.strip_prefix(&[QUOTE]) {
            Some(after) => {
                out.extend_from_slice(&inner[..=quote]);
                inner = after;
            }
            None => {
                out.extend_from_slice(&inner[..quote]);
                inner = after;
                break;
            }
        }
    }
    out.extend_from_slice(inner);
}
