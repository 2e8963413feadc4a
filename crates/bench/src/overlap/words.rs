//! The computation: splitting text into words and hashing each, the first step of a lexer.

use std::hint::black_box;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

/// Number and combined hash of words, independent of the order of the pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WordHash {
    pub(super) count: u64,
    /// Sum of their hashes, modulo 2^64.
    pub(super) sum: u64,
}

impl AddAssign for WordHash {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// Bytes that are part of a word: ASCII letters, digits, underscore, and all bytes of non-ASCII characters.
const IN_WORDS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let ascii = byte as u8;
        table[byte] = byte >= 128 || ascii.is_ascii_alphanumeric() || ascii == b'_';
        byte += 1;
    }
    table
};

/// Splits bytes into words and hashes each, `times` times in all.
pub(super) fn hash_words(bytes: &[u8], times: u32) -> WordHash {
    let mut words = WordHash::default();
    for _ in 0..times {
        words = black_box(words_in(black_box(bytes)));
    }
    words
}

fn words_in(bytes: &[u8]) -> WordHash {
    let is_in_word = |&byte: &u8| IN_WORDS[usize::from(byte)];
    let (mut words, mut rest) = (WordHash::default(), bytes);
    while let Some(start) = rest.iter().position(is_in_word) {
        rest = &rest[start..];
        let end = rest.iter().position(|byte| !is_in_word(byte)).unwrap_or(rest.len());
        words += WordHash { count: 1, sum: XxHash3_64::oneshot(&rest[..end]) };
        rest = &rest[end..];
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(words: &[&str]) -> WordHash {
        let sum =
            words.iter().fold(0, |sum: u64, word| sum.wrapping_add(XxHash3_64::oneshot(word.as_bytes())));
        WordHash { count: words.len() as u64, sum }
    }

    #[test]
    fn words_are_identifiers_and_numbers() {
        assert_eq!(
            words_in("fn max_2(a: u32) -> größe;".as_bytes()),
            of(&["fn", "max_2", "a", "u32", "größe"])
        );
        assert_eq!(words_in(b" +-"), WordHash::default());
        assert_eq!(words_in(b""), WordHash::default());
    }

    #[test]
    fn repetition_does_not_change_the_result() {
        assert_eq!(hash_words(b"one two", 3), of(&["one", "two"]));
    }

    proptest! {
        #[test]
        fn words_are_those_of_str_split(text in "[a-z_0-9 .()\n\u{e4}]{0,200}") {
            let is_between = |char: char| !(char == '_' || char.is_alphanumeric());
            let split: Vec<&str> = text.split(is_between).filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(words_in(text.as_bytes()), of(&split));
        }
    }
}
