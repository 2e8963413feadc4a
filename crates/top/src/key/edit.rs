//! Edits keys like `sed`: replaces every match of a regular expression.

use std::mem;

use memchr::memchr;
use regex_automata::meta::{Cache, Regex};
use regex_automata::util::captures::{Captures, GroupInfo};
use regex_automata::util::interpolate;
use regex_automata::util::iter::Searcher;
use regex_automata::{Anchored, Input, Match, PatternID};
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::Extractor;

use crate::key::expression::{Case, Expression, ExpressionCache, Fitting, PatternError};
use crate::key::leading_star::{LeadingStar, LeadingStarCache};

/// An expression and its replacement.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    regex: Expression,
    pattern: String,
    replacement_text: String,
    replacement: Replacement,
    /// Minimum length of a match in bytes; 0 if unknown.
    shortest: usize,
    /// First byte of all matches, if it is the same.
    first: Option<u8>,
    /// Faster search for capture groups, for some expressions.
    leading_star: Option<LeadingStar>,
}

/// Returns the first byte of all matches, if it is the same.
fn first_byte(hir: &Hir) -> Option<u8> {
    let prefixes = Extractor::new().extract(hir);
    let mut bytes = prefixes.literals()?.iter().map(|prefix| prefix.as_bytes().first());
    let first = bytes.next()??;
    bytes.all(|byte| byte == Some(first)).then_some(*first)
}

/// Maximum length of a short key, in bytes.
const MAX_SHORT: usize = 256;

/// Scratch memory of an edit.
#[derive(Debug)]
pub(crate) struct EditCache {
    regex: ExpressionCache,
    captures: Captures,
    leading_star: Option<LeadingStarCache>,
}

/// Searches in a key.
struct Searches<'a> {
    regex: &'a Regex,
    cache: &'a mut Cache,
    /// Receives the groups of a match, if the replacement needs them.
    captures: Option<&'a mut Captures>,
    leading_star: Option<(&'a LeadingStar, &'a mut LeadingStarCache)>,
    /// First byte of all matches, if it is the same.
    first: Option<u8>,
}

impl Edit {
    pub(crate) fn new(pattern: &str, replacement: &str, case: Case) -> Result<Self, PatternError> {
        let regex = Expression::new(pattern, case)?;
        let replacement_text = replacement.to_owned();
        let replacement = Replacement::new(replacement, regex.regex().group_info());
        Ok(Self {
            pattern: pattern.to_owned(),
            replacement_text,
            shortest: regex.hir().properties().minimum_len().unwrap_or(0),
            first: first_byte(regex.hir()),
            leading_star: if replacement.is_constant() { None } else { LeadingStar::new(regex.hir()) },
            replacement,
            regex,
        })
    }

    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(crate) fn replacement(&self) -> &str {
        &self.replacement_text
    }

    /// References of the replacement to groups that do not exist in the expression.
    pub(crate) fn unknown_groups(&self) -> &[String] {
        &self.replacement.unknown
    }

    pub(crate) fn cache(&self) -> EditCache {
        let captures = self.regex.regex().create_captures();
        let leading_star = self.leading_star.as_ref().map(LeadingStar::cache);
        EditCache { regex: self.regex.cache(), captures, leading_star }
    }

    /// Replaces every match in `key` and appends the result to `out`.
    pub(crate) fn apply(&self, cache: &mut EditCache, key: &[u8], out: &mut Vec<u8>) {
        let EditCache { regex, captures, leading_star } = cache;
        let Fitting { regex, cache, is_lenient } = self.regex.fitting(regex, key);
        let captures = (!self.replacement.is_constant()).then_some(captures);
        let leading_star = self.leading_star.as_ref().zip(leading_star.as_mut());
        let leading_star = leading_star.filter(|(search, _)| !is_lenient && search.supports(key));
        // In a text that is not UTF-8, a match may be a single byte, and begin with any.
        let (first, shortest) = if is_lenient { (None, 1) } else { (self.first, self.shortest) };
        let mut searches = Searches { regex, cache, captures, leading_star, first };
        let mut searcher = Searcher::new(Input::new(key));
        let mut copied = 0;
        while let Some(found) = searcher.advance(|input| Ok(searches.find(input))) {
            out.extend_from_slice(&key[copied..found.start()]);
            copied = found.end();
            match &searches.captures {
                Some(captures) => self.replacement.append(found, captures, key, out),
                None => out.extend_from_slice(&self.replacement.end),
            }
            // Avoids a search that cannot match. Often the first match extends to the end of the key, or is the only one.
            if key.len() - copied < shortest || searches.leading_star.is_some() {
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
        let Some(first) = self.first.filter(|_| input.haystack().len() <= MAX_SHORT) else {
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

/// A parsed replacement.
#[derive(Clone, Debug)]
struct Replacement {
    /// Numbers of groups, each with the text before it.
    groups: Vec<(Vec<u8>, usize)>,
    /// The text after the last group.
    end: Vec<u8>,
    /// References to groups that do not exist in the expression, as written without braces.
    unknown: Vec<String>,
}

impl Replacement {
    /// Parses a replacement in the syntax of [`interpolate`], for the matches of an expression with these groups.
    fn new(text: &str, info: &GroupInfo) -> Self {
        let (mut groups, mut end, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        let append = |number, text: &mut Vec<u8>| groups.push((mem::take(text), number));
        let to_number = |name: &str| {
            let number = info.to_index(PatternID::ZERO, name);
            if number.is_none() {
                unknown.push(format!("${name}"));
            }
            number
        };
        interpolate::bytes(text.as_bytes(), append, to_number, &mut end);
        let numbers = groups.iter().map(|&(_, number)| number);
        unknown.extend(
            numbers
                .filter(|&number| number >= info.group_len(PatternID::ZERO))
                .map(|number| format!("${number}")),
        );
        let escapes = text.match_indices('\\').filter_map(|(at, _)| text[at + 1..].chars().next());
        unknown.extend(escapes.filter(char::is_ascii_digit).map(|digit| format!("\\{digit}")));
        Self { groups, end, unknown }
    }

    /// Whether the replacement is `end` for all matches.
    fn is_constant(&self) -> bool {
        self.groups.is_empty()
    }

    /// Appends the replacement of a match in `text` to `out`. `captures` has the groups of the match, except group 0.
    #[inline]
    fn append(&self, found: Match, captures: &Captures, text: &[u8], out: &mut Vec<u8>) {
        for (before, number) in &self.groups {
            out.extend_from_slice(before);
            let span = if *number == 0 { Some(found.span()) } else { captures.get_group(*number) };
            out.extend_from_slice(span.map_or(b"", |span| &text[span]));
        }
        out.extend_from_slice(&self.end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oracle::Oracle;

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
    fn replacements_have_the_syntax_of_the_regex_crate() {
        for (replacement, expected) in [
            ("$1-$word-$2", "a-b-b"),
            ("${1}x${word}x", "axbx"),
            ("$1x", ""),
            ("$1é", "aé"),
            ("[$01]", "[a]"),
            ("$0$$", "ab$"),
            ("$", "$"),
            ("$-$", "$-$"),
            ("${}${1", "${1"),
            ("${a-b}", ""),
            ("$3|$4|$99999999999999999999", "||"),
            (r"\1", r"\1"),
        ] {
            assert_eq!(edited("(a)(?<word>b)(c)?", replacement, b"ab"), expected.as_bytes(), "{replacement}");
        }
    }

    #[test]
    fn references_to_missing_groups_are_reported() {
        let unknown = |replacement| {
            let edit = Edit::new("(a)(?<word>b)", replacement, Case::Distinct).expect("a valid pattern");
            edit.unknown_groups().to_vec()
        };
        assert_eq!(unknown("$1 $3 $word $$ ${wort} $1x $0 ${2}"), ["$wort", "$1x", "$3"]);
        assert_eq!(unknown(r"\1 \n \\"), [r"\1"]);
    }

    #[test]
    fn a_dot_matches_a_byte_that_is_not_utf8() {
        assert_eq!(edited("a.b", "x", b"a\xFFb"), b"x");
        assert_eq!(edited("^[^=]*=", "", b"caf\xE9=1"), b"1");
        // Beside such a byte, a character may be matched in parts, but only if there is no other match.
        assert_eq!(edited("^(.)(.)$", "$2$1", "\u{E9}b".as_bytes()), "b\u{E9}".as_bytes());
        assert_eq!(edited("(.)(.)", "$2$1", b"\xC3\xA9\xFF"), b"\xFF\xC3\xA9");
        assert_eq!(edited("^(.)(.)(.)$", "$3$2$1", b"\xC3\xA9\xFF"), b"\xFF\xA9\xC3");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

        #[test]
        fn edits_are_equal_to_those_of_the_oracle(
            pattern in prop::sample::select(
                &["a", "", "a*", "^a", "b$", "(a)(b)?", "[^b]", r"\b", r"\B", "(?-u)\\xFF", ".", "a.*b$", "(?:ab|a a)+",
                  "(?m:^)a|a$", r"\Ba", r"(?-u)\b", r"(?-u)\Ba|é", r"\w\b", r"\s|\d", "a+?b", "b(?: |$)", "[a]b?", "..", "(.)(a|é)", ".*(b)(.?)", "é*",
                  ".*(a|ab)(b?).*", "^.*(b+)(a)?.*$", "(?s).*(é|😀).*", r".*\b(a+).*", ".*(a)(.*)", ".*b(a*?)(b|$)", "^.*([^a]).*",
                  r".*(\Ba).*", ".*(.)(a)", r"\W+", "[^a-z]?b", r"[^\x00-\x7F]", r"[\x{FFFD}\x{FFFE}]"][..]),
            replacement in prop::sample::select(&["", "x", "$0", "<$1>", "${1}y", "$1y", "$$", "$"][..]),
            key in prop_oneof![
                4 => prop::collection::vec(prop::sample::select(&[b'a', b'b', b' ', 0xFF, 0xC3, 0xA9, 0xED, 0xB2][..]), 0..12),
                4 => prop::collection::vec(prop::sample::select(&["a", "b", "é", "한", "😀", "\n", " "][..]), 0..12)
                    .prop_map(|chars| chars.concat().into_bytes()),
                1 => prop::collection::vec(prop::sample::select(&b"ab "[..]), 250..260),
            ],
        ) {
            prop_assert_eq!(edited(pattern, replacement, &key), Oracle::new(pattern).replace_all(&key, replacement));
        }
    }
}
