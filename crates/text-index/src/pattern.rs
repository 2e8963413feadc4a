//! What is looked for: symbols, packed as the text is.

use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::packed::pack;

/// A pattern that fits an index: at least one symbol, all of the index's alphabet.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Vec<u8>,
    codes: Vec<u8>,
    words: Vec<u64>,
}

impl Pattern {
    /// # Errors
    ///
    /// If it is empty, longer than so many symbols, or has a symbol that the alphabet does not have.
    pub(crate) fn new(text: &[u8], alphabet: Alphabet, longest: usize) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::EmptyPattern);
        }
        if text.len() > longest {
            return Err(Error::LongPattern { length: text.len(), longest });
        }
        if let Some(at) = alphabet.first_foreign(text) {
            return Err(Error::ForeignPattern { byte: text[at], at, alphabet });
        }
        let codes = match alphabet.codes() {
            None => text.to_vec(),
            Some(codes) => text.iter().map(|&byte| codes.known(byte)).collect(),
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

    /// As it was given.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Symbols in it; at least one.
    #[allow(clippy::len_without_is_empty, reason = "a pattern is never empty")]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Its symbols as codes, a byte each.
    pub(crate) fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// Its symbols as they are packed, 64 bits at a time, the last filled with zeros.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}
