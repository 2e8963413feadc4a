//! Visits all pairs of records that have `=`. Words without it mostly belong to a message.

use memchr::{memchr2, memchr3};

use super::unescape_one;
use crate::cells::{Cell, Cells, Span, Violation, bytes_of};
use crate::records::escape::{closing_quote, unescape};

/// Calls `visit` with the key and the value of each pair of a record. The record is examined to its end.
///
/// # Errors
/// If the record is malformed. Its pairs before that have been visited.
pub(crate) fn visit(
    text: &[u8],
    (start, end): Span,
    mut visit: impl FnMut(&[u8], PairText),
) -> Result<(), Violation> {
    let mut at = start;
    while at < end {
        if matches!(text[at], b' ' | b'\t') {
            at += 1;
            continue;
        }
        let key = at;
        at = memchr3(b' ', b'\t', b'=', &text[key..end]).map_or(end, |length| key + length);
        if at == end || text[at] != b'=' {
            continue;
        }
        let key = (key, at);
        let open = at + 1;
        let value = if text[open..end].first() == Some(&b'"') {
            let Some(length) = closing_quote(&text[open + 1..end]) else {
                return Err((open, "unclosed quote"));
            };
            at = open + 1 + length + 1;
            if at < end && !matches!(text[at], b' ' | b'\t') {
                return Err((at, "expected a blank after the closing quote"));
            }
            PairText { span: (open + 1, at - 1), is_quoted: true }
        } else {
            at = memchr2(b' ', b'\t', &text[open..end]).map_or(end, |length| open + length);
            PairText { span: (open, at), is_quoted: false }
        };
        if key.0 < key.1 {
            visit(bytes_of(text, key), value);
        }
    }
    Ok(())
}

/// The value of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairText {
    span: Span,
    is_quoted: bool,
}

impl PairText {
    pub(crate) fn cell(self, text: &[u8], cells: &mut Cells) -> Cell {
        let value = bytes_of(text, self.span);
        if self.is_quoted && value.contains(&b'\\') {
            return cells.decode(|out| _ = unescape(value, out, unescape_one));
        }
        Cell::raw(self.span)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::field::Field;
    use crate::records::format::logfmt::Logfmt;

    proptest! {
        /// The extractor is asked for each key, and for one that no record has, so that it examines all of the record.
        #[test]
        fn pairs_have_the_values_that_the_extractor_finds(
            pieces in prop::collection::vec(prop::sample::select(vec!["a", "b", "=", "\"", "\\", " ", "\t", "a=", "b=\"x y\" ", "é"]), 0..20),
        ) {
            let text = pieces.concat();
            let text = text.as_bytes();
            let record = (0, text.len());
            let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            let mut decoded = Cells::default();
            let outcome = visit(text, record, |key, value| {
                let cell = value.cell(text, &mut decoded);
                let value = decoded.bytes(text, cell).unwrap_or_default().to_vec();
                pairs.push((key.to_vec(), value));
            });
            for name in ["a", "b", "é"] {
                let mut cells = Cells::default();
                cells.reset(2);
                let fields = [Field::named(name), Field::named("none")];
                Logfmt::new(&fields).expect("names").extract(text, &[record], &mut cells);
                prop_assert_eq!(outcome.is_err(), !cells.malformed().is_empty());
                if outcome.is_ok() {
                    let found = cells.bytes(text, cells.column(0)[0]);
                    let expected = pairs.iter().find(|(key, _)| key == name.as_bytes());
                    // A word without `=` may come before the pair.
                    if found != Some(b"true") {
                        prop_assert_eq!(found, expected.map(|(_, value)| &value[..]));
                    }
                }
            }
        }
    }
}
