//! Reference implementation of regular expressions with the semantics of Go: a text is decoded into characters, each
//! invalid byte becomes a character that the tests do not use, and results are encoded again.
#![allow(dead_code, reason = "each test uses a part of it")]

use regex::{Regex, bytes};

/// An expression in the syntax of the `regex` crate.
pub(crate) enum Runes {
    Characters(Regex),
    /// The expression matches single bytes: texts are not decoded.
    Bytes(bytes::Regex),
}

/// Character of the invalid byte 0; the others follow, in the last block for private use.
const INVALID: u32 = 0x10_FF00;

/// All characters of invalid bytes, as members of a class.
pub(crate) const ALL_INVALID: &str = r"\x{10FF80}-\x{10FFFF}";

impl Runes {
    pub(crate) fn new(pattern: &str) -> Self {
        match Regex::new(pattern) {
            Ok(regex) => Self::Characters(regex),
            Err(_) => Self::Bytes(bytes::Regex::new(pattern).expect("a valid pattern")),
        }
    }

    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        match self {
            Self::Characters(regex) => regex.is_match(&decoded(text)),
            Self::Bytes(regex) => regex.is_match(text),
        }
    }

    /// Returns the first match: the text before it, and the match.
    pub(crate) fn find(&self, text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        match self {
            Self::Characters(regex) => {
                let text = decoded(text);
                regex.find(&text).map(|found| (encoded(&text[..found.start()]), encoded(found.as_str())))
            }
            Self::Bytes(regex) => {
                let found = regex.find(text)?;
                Some((text[..found.start()].to_vec(), found.as_bytes().to_vec()))
            }
        }
    }

    pub(crate) fn split(&self, text: &[u8]) -> Vec<Vec<u8>> {
        match self {
            Self::Characters(regex) => regex.split(&decoded(text)).map(encoded).collect(),
            Self::Bytes(regex) => regex.split(text).map(<[u8]>::to_vec).collect(),
        }
    }

    pub(crate) fn replace_all(&self, text: &[u8], replacement: &str) -> Vec<u8> {
        match self {
            Self::Characters(regex) => encoded(&regex.replace_all(&decoded(text), replacement)),
            Self::Bytes(regex) => regex.replace_all(text, replacement.as_bytes()).into_owned(),
        }
    }
}

/// Decodes a text: a character at a time, or a byte if it is invalid.
fn decoded(mut text: &[u8]) -> String {
    let mut characters = String::new();
    while let Some(&byte) = text.first() {
        let one = (1..=text.len().min(4)).find_map(|length| str::from_utf8(&text[..length]).ok());
        match one {
            Some(one) => characters.push_str(one),
            None => characters.extend(char::from_u32(INVALID + u32::from(byte))),
        }
        text = &text[one.map_or(1, str::len)..];
    }
    characters
}

fn encoded(characters: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for char in characters.chars() {
        match u32::from(char).checked_sub(INVALID) {
            Some(byte) => text.push(byte as u8),
            None => text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    text
}
