//! Rewriting keys as `sed` does: every match of a regular expression is replaced.

use memchr::memchr;
use regex_automata::meta::{Cache, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::{interpolate, iter::Searcher};
use regex_automata::{Anchored, Input, Match};

use crate::pattern::{MatchShape, PatternError, compile_with_shape};

/// One edit. In the replacement `$1` and `${name}` stand for groups of the expression and `$$` for a dollar sign.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    regex: Regex,
    pattern: String,
    replacement: String,
    has_groups: bool,
    shape: MatchShape,
}

/// Up to this length, in bytes, a key is short.
const SHORT: usize = 256;

/// The memory that an edit works in.
#[derive(Debug)]
pub(crate) struct EditCache {
    cache: Cache,
    captures: Captures,
}

impl Edit {
    pub(crate) fn new(pattern: &str, replacement: &str) -> Result<Self, PatternError> {
        let (regex, shape) = compile_with_shape(pattern)?;
        Ok(Self {
            regex,
            shape,
            pattern: pattern.to_owned(),
            replacement: replacement.to_owned(),
            has_groups: memchr(b'$', replacement.as_bytes()).is_some(),
        })
    }

    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(crate) fn replacement(&self) -> &str {
        &self.replacement
    }

    pub(crate) fn cache(&self) -> EditCache {
        EditCache { cache: self.regex.create_cache(), captures: self.regex.create_captures() }
    }

    /// Appends `key` with every match replaced to `out`.
    pub(crate) fn apply(&self, cache: &mut EditCache, key: &[u8], out: &mut Vec<u8>) {
        let mut searcher = Searcher::new(Input::new(key));
        let mut copied = 0;
        while let Some(found) = searcher.advance(|input| Ok(self.find(cache, input))) {
            out.extend_from_slice(&key[copied..found.start()]);
            copied = found.end();
            if self.has_groups {
                self.expand(&cache.captures, key, out);
            } else {
                out.extend_from_slice(self.replacement.as_bytes());
            }
            // A search costs far more than it finds: often the first match reaches to the end of the key.
            if key.len() - copied < self.shape.shortest {
                break;
            }
        }
        out.extend_from_slice(&key[copied..]);
    }

    /// The first match.
    ///
    /// In general that takes two searches, one forwards for its end and one backwards for its start. If all matches begin
    /// with the same byte, one search from each such byte on is enough. It is done for short keys only: in long ones, the
    /// time could grow with the square of the length.
    fn find(&self, cache: &mut EditCache, input: &Input<'_>) -> Option<Match> {
        let Some(first) = self.shape.first.filter(|_| input.haystack().len() <= SHORT) else {
            return self.search(cache, input);
        };
        let mut start = input.start();
        loop {
            start += memchr(first, &input.haystack()[start..input.end()])?;
            let from_here = input.clone().range(start..input.end()).anchored(Anchored::Yes);
            if let Some(found) = self.search(cache, &from_here) {
                return Some(found);
            }
            start += 1;
        }
    }

    fn search(&self, EditCache { cache, captures }: &mut EditCache, input: &Input<'_>) -> Option<Match> {
        if !self.has_groups {
            return self.regex.search_with(cache, input);
        }
        self.regex.search_captures_with(cache, input, captures);
        captures.get_match()
    }

    fn expand(&self, captures: &Captures, key: &[u8], out: &mut Vec<u8>) {
        interpolate::bytes(
            self.replacement.as_bytes(),
            |group, out| {
                if let Some(span) = captures.get_group(group) {
                    out.extend_from_slice(&key[span]);
                }
            },
            |name| captures.group_info().to_index(captures.pattern()?, name),
            out,
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edited(pattern: &str, replacement: &str, key: &[u8]) -> Vec<u8> {
        let edit = Edit::new(pattern, replacement).expect("a valid pattern");
        let mut out = b"before ".to_vec();
        edit.apply(&mut edit.cache(), key, &mut out);
        out.split_off(b"before ".len())
    }

    #[test]
    fn groups_by_number_and_name() {
        assert_eq!(edited(r"(\d+)/(?<month>\w+)", "$month-$1", b"[17/May/2015:10"), b"[May-17/2015:10");
        assert_eq!(edited("b", "$$${0}x$9", b"abc"), b"a$bxc");
    }

    proptest! {
        #[test]
        fn edits_are_those_of_replace_all(
            pattern in prop::sample::select(
                &["a", "", "a*", "^a", "b$", "(a)(b)?", "[^b]", r"\b", "(?-u)\\xFF", ".", "a.*b$", "(?:ab|a a)+", "(?m:^)a|a$",
                  r"\Ba", "a+?b", "b(?: |$)", "[a]b?"][..]),
            replacement in prop::sample::select(&["", "x", "$0", "<$1>", "${1}y", "$1y", "$$", "$"][..]),
            key in prop_oneof![
                4 => prop::collection::vec(prop::sample::select(&[b'a', b'b', b' ', 0xFF, 0xC3, 0xA9][..]), 0..12),
                1 => prop::collection::vec(prop::sample::select(&b"ab "[..]), 250..260),
            ],
        ) {
            let expected = regex::bytes::Regex::new(pattern)
                .expect("a valid pattern")
                .replace_all(&key, replacement.as_bytes())
                .into_owned();
            prop_assert_eq!(edited(pattern, replacement, &key), expected);
        }
    }
}
