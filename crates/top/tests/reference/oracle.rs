//! Reference implementation of regular expressions over texts that need not be UTF-8: the `regex` crate. For a text that is
//! not UTF-8, every class with U+FFFD is replaced in the text of the expression by one that also matches single bytes.
#![allow(dead_code, reason = "each test uses a part of it")]

use regex::Regex;
use regex::bytes;

pub(crate) struct Oracle {
    given: bytes::Regex,
    lenient: bytes::Regex,
    /// Whether the expression matches characters rather than single bytes.
    is_over_characters: bool,
}

impl Oracle {
    pub(crate) fn new(pattern: &str) -> Self {
        let compile = |pattern: &str| bytes::Regex::new(pattern).expect("a valid pattern");
        Self {
            given: compile(pattern),
            lenient: compile(&lenient(pattern)),
            is_over_characters: Regex::new(pattern).is_ok(),
        }
    }

    /// Returns all matches. In a text that is UTF-8, no empty match of characters lies within one.
    fn matches<'t>(&self, text: &'t [u8]) -> Vec<bytes::Captures<'t>> {
        let Ok(valid) = str::from_utf8(text) else { return self.lenient.captures_iter(text).collect() };
        let is_whole = |found: &bytes::Captures<'_>| {
            !self.is_over_characters
                || !found[0].is_empty()
                || valid.is_char_boundary(found.get(0).expect("group 0").start())
        };
        self.given.captures_iter(text).filter(is_whole).collect()
    }

    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        !self.matches(text).is_empty()
    }

    /// Returns the place of the first match.
    pub(crate) fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        let found = self.matches(text).into_iter().next()?.get(0)?;
        Some((found.start(), found.end()))
    }

    /// Returns the groups of the first match by their number or name.
    pub(crate) fn groups(&self, text: &[u8], names: &[&str]) -> Option<Vec<Option<Vec<u8>>>> {
        let found = self.matches(text).into_iter().next()?;
        let group = |name: &&str| found.name(name).map(|group| group.as_bytes().to_vec());
        Some(names.iter().map(group).collect())
    }

    pub(crate) fn split(&self, text: &[u8]) -> Vec<Vec<u8>> {
        let mut parts = Vec::new();
        let mut from = 0;
        for found in self.matches(text) {
            let found = found.get(0).expect("group 0");
            parts.push(text[from..found.start()].to_vec());
            from = found.end();
        }
        parts.push(text[from..].to_vec());
        parts
    }

    pub(crate) fn replace_all(&self, text: &[u8], replacement: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let mut from = 0;
        for groups in self.matches(text) {
            let found = groups.get(0).expect("group 0");
            out.extend_from_slice(&text[from..found.start()]);
            groups.expand(replacement.as_bytes(), &mut out);
            from = found.end();
        }
        out.extend_from_slice(&text[from..]);
        out
    }
}

/// Replaces each class with U+FFFD by one that also matches single bytes.
fn lenient(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let (part, after) = rest.split_at(match first {
            '[' => class(rest),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            first => first.len_utf8(),
        });
        let (part, after) = match part {
            r"\p" | r"\P" | r"\x" | r"\b" if after.starts_with('{') => {
                rest.split_at(rest.find('}').expect("a brace") + 1)
            }
            _ => (part, after),
        };
        let is_class = part == "." || part.starts_with('[') || part.starts_with('\\') && part.len() > 1;
        let matches = |class| {
            Regex::new(class).is_ok_and(|class| class.find("\u{FFFD}").is_some_and(|found| !found.is_empty()))
        };
        if is_class && !part.starts_with(r"\x") && matches(part) {
            out.push_str(&format!(r"(?:{part}|(?-u:[\x80-\xFF]))"));
        } else {
            out.push_str(part);
        }
        rest = after;
    }
    out
}

/// Length of the class in brackets at the start of an expression.
fn class(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        match text.as_bytes()[at] {
            b'\\' => at += 1,
            b'[' => {
                depth += 1;
                at += usize::from(text[at + 1..].starts_with('^'));
                at += usize::from(text[at + 1..].starts_with(']'));
            }
            b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
}
