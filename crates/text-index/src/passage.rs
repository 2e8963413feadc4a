//! Occurrences with their context.

use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::index::Index;
use crate::lines::LineColumn;

/// Part of the text with its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPassage {
    /// Position of the part: digits are counted from 1, all other symbols from 0.
    pub position: u64,
    /// Line and column, in a text of bytes.
    pub place: Option<LineColumn>,
    /// Context before the part.
    pub before: Vec<u8>,
    /// The part itself.
    pub matched: Vec<u8>,
    /// Context after the part.
    pub after: Vec<u8>,
}

impl Index {
    /// Reads `length` symbols from an offset (counted from 0), with up to `context` symbols before and after. In a text of bytes,
    /// the context is trimmed to whole UTF-8 characters.
    ///
    /// # Errors
    ///
    /// If the text or its line numbers are corrupt there, or the file was truncated after it was opened.
    pub fn passage(&self, offset: u64, length: u64, context: u64) -> Result<TextPassage, Error> {
        let end = offset.saturating_add(length);
        let mut before = self.text(offset.saturating_sub(context), offset)?;
        let mut after = self.text(end, end.saturating_add(context))?;
        if self.alphabet() == Alphabet::Bytes {
            if offset > context {
                before.drain(..leading_continuation(&before));
            }
            after.truncate(after.len() - trailing_incomplete(&after));
        }
        let position = offset.saturating_add(self.alphabet().first_position());
        let place = self.place(offset)?;
        Ok(TextPassage { position, place, before, matched: self.text(offset, end)?, after })
    }

    /// Offset, counted from 0, of a position. The end of the text is a valid position, at which nothing begins.
    ///
    /// # Errors
    ///
    /// If it is before the start or past the end of the text.
    pub fn offset(&self, position: u64) -> Result<u64, Error> {
        let first = self.alphabet().first_position();
        let Some(offset) = position.checked_sub(first) else {
            return Err(Error::PositionTooLow { position, first });
        };
        if offset > self.symbols() {
            return Err(Error::PositionTooHigh {
                position,
                last: (first + self.symbols()).saturating_sub(1),
            });
        }
        Ok(offset)
    }
}

/// Number of UTF-8 continuation bytes at the start, at most three.
fn leading_continuation(text: &[u8]) -> usize {
    text.iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80).count()
}

/// Number of bytes of an incomplete UTF-8 character at the end.
fn trailing_incomplete(text: &[u8]) -> usize {
    for (length, &byte) in text.iter().rev().take(3).enumerate() {
        match byte {
            0xC0..=0xDF => return if length < 1 { length + 1 } else { 0 },
            0xE0..=0xEF => return if length < 2 { length + 1 } else { 0 },
            0xF0..=0xF7 => return length + 1,
            0x80..=0xBF => {}
            _ => return 0,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_split() {
        let text = "aäö€😀".as_bytes();
        for end in 0..=text.len() {
            let whole = &text[..end - trailing_incomplete(&text[..end])];
            assert!(str::from_utf8(whole).is_ok() && end - whole.len() <= 3, "cut at {end}");
            let rest = &text[end..];
            assert!(str::from_utf8(&rest[leading_continuation(rest)..]).is_ok(), "cut at {end}");
        }
        assert_eq!((trailing_incomplete(b"abc\x80"), leading_continuation(b"abc")), (0, 0));
    }
}
