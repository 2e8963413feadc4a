//! Patterns: symbols packed like the text.

use std::borrow::Cow;

use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::packed::pack;

/// The integer part of pi. An index of its digits has those after the decimal point.
const INTEGER_PART: &[u8] = b"3.";

/// The symbols that a pattern means, and where they begin in it: digits of pi may have their integer part, and bases are upper case.
fn understood(written: &[u8], alphabet: Alphabet) -> (Cow<'_, [u8]>, usize) {
    match alphabet {
        Alphabet::Digits => match written.strip_prefix(INTEGER_PART) {
            Some(rest) if !rest.is_empty() => (rest.into(), INTEGER_PART.len()),
            _ => (written.into(), 0),
        },
        Alphabet::Dna => (written.to_ascii_uppercase().into(), 0),
        Alphabet::Bytes => (written.into(), 0),
    }
}

/// A valid pattern for an index: at least one symbol, all of the index's alphabet.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Vec<u8>,
    codes: Vec<u8>,
    words: Vec<u64>,
}

impl Pattern {
    /// Packs a pattern.
    ///
    /// # Errors
    ///
    /// If it is empty, longer than `limit` symbols, or has a byte outside the alphabet.
    pub(crate) fn new(written: &[u8], alphabet: Alphabet, limit: usize) -> Result<Self, Error> {
        let (text, start) = understood(written, alphabet);
        let text = &*text;
        if text.is_empty() {
            return Err(Error::EmptyPattern);
        }
        if text.len() > limit {
            return Err(Error::PatternTooLong { length: text.len(), limit });
        }
        if let Some(at) = alphabet.first_invalid(text) {
            return Err(Error::InvalidPattern { byte: text[at], at: start + at, alphabet });
        }
        let codes = match alphabet.codes() {
            None => text.to_vec(),
            Some(codes) => text.iter().map(|&byte| codes.code(byte)).collect(),
        };
        let mut packed = Vec::with_capacity(text.len() + 8);
        pack(text, alphabet, &mut packed);
        packed.resize(packed.len().next_multiple_of(8), 0);
        let (words, _) = packed.as_chunks();
        Ok(Self {
            text: text.to_vec(),
            codes,
            words: words.iter().copied().map(u64::from_be_bytes).collect(),
        })
    }

    /// Bytes of the pattern, as they are searched for.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Number of symbols; at least one.
    #[allow(clippy::len_without_is_empty, reason = "a pattern is never empty")]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Symbols as codes, one byte each.
    pub(crate) fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// Packed symbols in words of 64 bits, the last padded with zeros.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_understood_as_people_write_them() {
        for (alphabet, written, expected) in [
            (Alphabet::Digits, "3.14159", "14159"),
            (Alphabet::Digits, "314159", "314159"),
            (Alphabet::Dna, "acGt", "ACGT"),
            (Alphabet::Bytes, "3.1 a", "3.1 a"),
        ] {
            let pattern = Pattern::new(written.as_bytes(), alphabet, 100).expect("a pattern");
            assert_eq!(pattern.text(), expected.as_bytes(), "{written}");
        }
        for (alphabet, written, place) in [
            (Alphabet::Digits, "3.1.4", 3),
            (Alphabet::Digits, "3.", 1),
            (Alphabet::Digits, "4.1", 1),
            (Alphabet::Dna, "acnt", 2),
        ] {
            match Pattern::new(written.as_bytes(), alphabet, 100) {
                Err(Error::InvalidPattern { at, .. }) => assert_eq!(at, place, "{written}"),
                other => panic!("{written}: {other:?}"),
            }
        }
    }
}
