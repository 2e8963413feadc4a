//! An occurrence with what is around it.

use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::index::Index;
use crate::lines::Place;

/// A part of the text, with what is before it and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Where it begins, as people say it: digits are counted from 1, all else from 0.
    pub position: u64,
    /// Its line and column, in a text of bytes.
    pub place: Option<Place>,
    /// What is before it.
    pub before: Vec<u8>,
    /// The part itself.
    pub matched: Vec<u8>,
    /// What is after it.
    pub after: Vec<u8>,
}

impl Index {
    /// So many symbols of the text from an offset (counted from 0) on, with at most so many before and after. In a text of bytes, what
    /// is around it is cut where characters begin, if it is UTF-8.
    ///
    /// # Errors
    ///
    /// If the file was cut off since it was opened.
    pub fn passage(&self, offset: u64, length: u64, context: u64) -> Result<Passage, Error> {
        let end = offset.saturating_add(length);
        let mut before = self.text(offset.saturating_sub(context), offset)?;
        let mut after = self.text(end, end.saturating_add(context))?;
        if self.alphabet() == Alphabet::Bytes {
            if offset > context {
                before.drain(..continued(&before));
            }
            after.truncate(after.len() - begun(&after));
        }
        let (position, place) = (offset + self.alphabet().first_position(), self.place(offset)?);
        Ok(Passage { position, place, before, matched: self.text(offset, end)?, after })
    }

    /// The offset, counted from 0, of a position as people say it. The one right behind the text is one, too: what begins there or
    /// later is nothing.
    ///
    /// # Errors
    ///
    /// If it is further behind the text, or before it.
    pub fn offset(&self, position: u64) -> Result<u64, Error> {
        let first = self.alphabet().first_position();
        let Some(offset) = position.checked_sub(first) else { return Err(Error::Before { first }) };
        if offset > self.symbols() {
            return Err(Error::Behind { position, last: (first + self.symbols()).saturating_sub(1) });
        }
        Ok(offset)
    }
}

/// Bytes at the beginning that belong to a character which began before: three at most.
fn continued(text: &[u8]) -> usize {
    text.iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80).count()
}

/// Bytes at the end of a character that is not all there.
fn begun(text: &[u8]) -> usize {
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
    fn characters_are_not_cut() {
        let text = "aäö€😀".as_bytes();
        for end in 0..=text.len() {
            let whole = &text[..end - begun(&text[..end])];
            assert!(str::from_utf8(whole).is_ok() && end - whole.len() <= 3, "cut at {end}");
            let rest = &text[end..];
            assert!(str::from_utf8(&rest[continued(rest)..]).is_ok(), "cut at {end}");
        }
        assert_eq!((begun(b"abc\x80"), continued(b"abc")), (0, 0));
    }
}
