//! The words of a command line that is being typed.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A command line and the word at the cursor. Its words are without quotes.
pub(super) struct Line {
    words: Vec<OsString>,
    index: usize,
}

impl Line {
    /// Takes the words as they were typed.
    pub(super) fn new(words: Vec<OsString>, index: usize) -> Self {
        let mut words: Vec<OsString> = words.iter().map(|word| unquoted(word)).collect();
        // Some shells omit an empty word at the end.
        let index = index.min(words.len());
        if index == words.len() {
            words.push(OsString::new());
        }
        Self { words, index }
    }

    pub(super) fn words(&self) -> &[OsString] {
        &self.words
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// The word at the cursor.
    pub(super) fn current(&self) -> &OsStr {
        &self.words[self.index]
    }

    /// The words other than that at the cursor and the name of the program.
    pub(super) fn others(&self) -> impl Iterator<Item = &OsStr> {
        let others = self.words.iter().enumerate().skip(1).filter(|&(number, _)| number != self.index);
        others.map(|(_, word)| word.as_os_str())
    }

    /// The values of a long flag, in the order of the line: in the next word, or behind an equals sign.
    pub(super) fn values(&self, flag: &str) -> Vec<&str> {
        let mut others = self.others().map(|word| word.to_str().unwrap_or_default());
        let mut values = Vec::new();
        while let Some(word) = others.next() {
            match word.strip_prefix("--").and_then(|word| word.strip_prefix(flag)) {
                Some("") => values.extend(others.next()),
                Some(rest) => values.extend(rest.strip_prefix('=')),
                None => {}
            }
        }
        values
    }
}

/// A word as the shell passes it to a program, without quotes and backslashes. A quote may be open.
fn unquoted(word: &OsStr) -> OsString {
    let mut out = Vec::with_capacity(word.len());
    let mut quote = None;
    let mut bytes = word.as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None | Some(b'"'), b'\\') => out.extend(bytes.next()),
            _ => out.push(byte),
        }
    }
    OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str], index: usize) -> Line {
        Line::new(words.iter().map(OsString::from).collect(), index)
    }

    #[test]
    fn words_are_without_quotes() {
        let line = line(&["comb", "'a b'", "c\\ d", "\"e\\\"f", "g'"], 3);
        assert_eq!(line.words(), ["comb", "a b", "c d", "e\"f", "g"]);
        assert_eq!(line.current(), "e\"f");
        assert_eq!(line.others().collect::<Vec<_>>(), ["a b", "c d", "g"]);
    }

    #[test]
    fn the_word_at_the_cursor_may_be_missing() {
        for index in [2, 7] {
            let line = line(&["comb", "top"], index);
            assert_eq!((line.current(), line.index()), (OsStr::new(""), 2));
        }
    }

    #[test]
    fn flags_have_values_in_both_forms() {
        let line = line(&["comb", "top", "--input", "csv", "--input=json", "--inputs", "x", "--input"], 1);
        assert_eq!(line.values("input"), ["csv", "json"]);
    }
}
