//! Patterns: symbols packed like the text.

use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::packed::pack;

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
    pub(crate) fn new(text: &[u8], alphabet: Alphabet, limit: usize) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::EmptyPattern);
        }
        if text.len() > limit {
            return Err(Error::PatternTooLong { length: text.len(), limit });
        }
        if let Some(at) = alphabet.first_invalid(text) {
            return Err(Error::InvalidPattern { byte: text[at], at, alphabet });
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

    /// Bytes of the pattern.
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
