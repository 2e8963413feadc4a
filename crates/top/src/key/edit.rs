//! Edits keys like `sed`: replaces every match of a regular expression.

use memchr::memchr;
use regex_automata::meta::{Cache, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::iter::Searcher;
use regex_automata::{Anchored, Input, Match};

use crate::key::leading_star::{LeadingStar, LeadingStarCache};
use crate::key::pattern::{Case, MatchShape, PatternError};
use crate::key::replacement::Replacement;
use crate::key::text_regex::{Prepared, TextCache, TextRegex, append_unmarked};

/// An expression and its replacement.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    regex: TextRegex,
    pattern: String,
    replacement_text: String,
    replacement: Replacement,
    shape: MatchShape,
    /// Faster search for capture groups, for some expressions.
    leading_star: Option<LeadingStar>,
}

/// Maximum length of a short key, in bytes.
const MAX_SHORT: usize = 256;

/// Scratch memory of an edit.
#[derive(Debug)]
pub(crate) struct EditCache {
    regex: TextCache,
    captures: Captures,
    leading_star: Option<LeadingStarCache>,
    marked: Vec<u8>,
}

/// Searches in a key.
struct Searches<'a> {
    regex: &'a Regex,
    cache: &'a mut Cache,
    /// Receives the groups of a match, if the replacement needs them.
    captures: Option<&'a mut Captures>,
    leading_star: Option<(&'a LeadingStar, &'a mut LeadingStarCache)>,
    shape: MatchShape,
}

impl Edit {
    pub(crate) fn new(pattern: &str, replacement: &str, case: Case) -> Result<Self, PatternError> {
        let regex = TextRegex::with_case(pattern, case)?;
        let replacement_text = replacement.to_owned();
        let replacement = Replacement::new(replacement, regex.plain().group_info());
        let leading_star =
            if replacement.constant().is_none() { LeadingStar::new(regex.hir()) } else { None };
        let shape = MatchShape::of(regex.hir());
        Ok(Self { regex, pattern: pattern.to_owned(), replacement_text, replacement, shape, leading_star })
    }

    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(crate) fn replacement(&self) -> &str {
        &self.replacement_text
    }

    /// References of the replacement to groups that do not exist in the expression.
    pub(crate) fn unknown_groups(&self) -> &[String] {
        self.replacement.unknown()
    }

    pub(crate) fn cache(&self) -> EditCache {
        let captures = self.regex.plain().create_captures();
        let leading_star = self.leading_star.as_ref().map(LeadingStar::cache);
        EditCache { regex: self.regex.cache(), captures, leading_star, marked: Vec::new() }
    }

    /// Replaces every match in `key` and appends the result to `out`.
    pub(crate) fn apply(&self, cache: &mut EditCache, key: &[u8], out: &mut Vec<u8>) {
        let EditCache { regex, captures, leading_star, marked } = cache;
        let Prepared { regex, cache, text, is_marked } = self.regex.prepare(regex, key);
        // In marked text, a match may begin with a mark instead.
        let first = self.shape.first.filter(|_| !is_marked);
        let shape = MatchShape { first, ..self.shape };
        let captures = self.replacement.constant().is_none().then_some(captures);
        let leading_star = self.leading_star.as_ref().zip(leading_star.as_mut());
        let leading_star = leading_star.filter(|(search, _)| !is_marked && search.supports(text));
        let searches = Searches { regex, cache, captures, leading_star, shape };
        if is_marked {
            marked.clear();
            self.replace_all(searches, text, marked);
            append_unmarked(marked, out);
        } else {
            self.replace_all(searches, text, out);
        }
    }

    fn replace_all(&self, mut searches: Searches<'_>, key: &[u8], out: &mut Vec<u8>) {
        let mut searcher = Searcher::new(Input::new(key));
        let constant = self.replacement.constant().unwrap_or_default();
        let mut copied = 0;
        while let Some(found) = searcher.advance(|input| Ok(searches.find(input))) {
            out.extend_from_slice(&key[copied..found.start()]);
            copied = found.end();
            match &searches.captures {
                Some(captures) => self.replacement.append(found, captures, key, out),
                None => out.extend_from_slice(constant),
            }
            // Avoids a search that cannot match. Often the first match extends to the end of the key, or is the only one.
            if key.len() - copied < self.shape.shortest || searches.leading_star.is_some() {
                break;
            }
        }
        out.extend_from_slice(&key[copied..]);
    }
}

impl Searches<'_> {
    /// Returns the first match.
    ///
    /// In general this takes two searches: a forward search for its end and a reverse search for its start. If all
    /// matches begin with the same byte, one anchored search from each such byte is enough. Only short keys are
    /// searched this way, as the time may grow with the square of the length.
    fn find(&mut self, input: &Input<'_>) -> Option<Match> {
        let Some(first) = self.shape.first.filter(|_| input.haystack().len() <= MAX_SHORT) else {
            return self.search(input);
        };
        let mut start = input.start();
        loop {
            start += memchr(first, &input.haystack()[start..input.end()])?;
            let from_here = input.clone().range(start..input.end()).anchored(Anchored::Yes);
            if let Some(found) = self.search(&from_here) {
                return Some(found);
            }
            start += 1;
        }
    }

    fn search(&mut self, input: &Input<'_>) -> Option<Match> {
        let Some(captures) = &mut self.captures else { return self.regex.search_with(self.cache, input) };
        if let Some((search, cache)) = &mut self.leading_star
            && let Ok(found) = search.find(cache, input, captures)
        {
            return found;
        }
        self.regex.search_captures_with(self.cache, input, captures);
        captures.get_match()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::go_syntax::translate;
    use crate::oracle::Runes;

    fn edited(pattern: &str, replacement: &str, key: &[u8]) -> Vec<u8> {
        let edit = Edit::new(pattern, replacement, Case::Distinct).expect("a valid pattern");
        let mut out = b"before ".to_vec();
        edit.apply(&mut edit.cache(), key, &mut out);
        out.split_off(b"before ".len())
    }

    #[test]
    fn replacements_refer_to_groups_by_number_and_name() {
        assert_eq!(edited(r"(\d+)/(?<month>\w+)", "$month-$1", b"[17/May/2015:10"), b"[May-17/2015:10");
        assert_eq!(edited("b", "$$${0}x$9", b"abc"), b"a$bxc");
    }

    #[test]
    fn a_replacement_character_matches_a_byte_that_is_not_utf8() {
        assert_eq!(edited("\u{FFFD}", "x", b"a\xFFb"), b"axb");
        assert_eq!(edited("\u{FFFD}", "x", "a\u{FFFD}b".as_bytes()), b"axb");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

        #[test]
        fn edits_are_equal_to_those_of_the_oracle(
            pattern in prop::sample::select(
                &["a", "", "a*", "^a", "b$", "(a)(b)?", "[^b]", r"\b", r"\B", "(?-u)\\xFF", ".", "a.*b$", "(?:ab|a a)+",
                  "(?m:^)a|a$", r"\Ba", "a+?b", "b(?: |$)", "[a]b?", "..", "(.)(a|é)", ".*(b)(.?)", "é*",
                  ".*(a|ab)(b?).*", "^.*(b+)(a)?.*$", "(?s).*(é|😀).*", r".*\b(a+).*", ".*(a)(.*)", ".*b(a*?)(b|$)", "^.*([^a]).*",
                  r".*(\Ba).*", ".*(.)(a)", r"\W+", "[^a-z]?b"][..]),
            replacement in prop::sample::select(&["", "x", "$0", "<$1>", "${1}y", "$1y", "$$", "$"][..]),
            key in prop_oneof![
                4 => prop::collection::vec(prop::sample::select(&[b'a', b'b', b' ', 0xFF, 0xC3, 0xA9, 0xED, 0xB2][..]), 0..12),
                4 => prop::collection::vec(prop::sample::select(&["a", "b", "é", "한", "😀", "\n", " "][..]), 0..12)
                    .prop_map(|chars| chars.concat().into_bytes()),
                1 => prop::collection::vec(prop::sample::select(&b"ab "[..]), 250..260),
            ],
        ) {
            let translated = translate(pattern).expect("valid syntax").text;
            let expected = Runes::new(&translated).replace_all(&key, replacement);
            prop_assert_eq!(edited(pattern, replacement, &key), expected);
        }
    }
}
