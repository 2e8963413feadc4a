//! Files in two languages: definitions of the one are found by a lexer, and a parser gets the rest as a text in the other.

#[cfg(feature = "objc")]
pub(crate) mod objc;
#[cfg(feature = "vue")]
pub(crate) mod vue;

use std::ops::Range;

use crate::lines::Lexed;

/// Lexer for a file in two languages.
pub(crate) type Splitter = fn(&[u8]) -> Split;

/// Result of a lexer.
#[derive(Debug, Default)]
pub(crate) struct Split {
    /// The text with spaces for what is not in the language of the parser. Positions are those of the source.
    pub(crate) text: Vec<u8>,
    /// Definitions in what was left out.
    pub(crate) lexed: Lexed,
}

impl Split {
    fn new(source: &[u8]) -> Self {
        Self { text: source.to_vec(), lexed: Lexed::default() }
    }

    /// Writes spaces over a range. Lines stay.
    fn leave_out(&mut self, range: Range<usize>) {
        let bytes = self.text[range].iter_mut();
        bytes.filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    }
}
