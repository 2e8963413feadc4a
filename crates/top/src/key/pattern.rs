//! Searches blocks for the records that match a regular expression.
//!
//! A search per record pays its start-up cost for every record, and most records do not match. So the whole block is
//! searched for the [rewritten](in_block) expression, and the record is located around each match.
//!
//! The regex engine examines every byte for an expression like `[A-Za-z]+bot`. Such expressions are searched by their literal
//! ([`InnerLiteral`]). The alternatives of a long list of words are looked up ([`WordList`]).

use std::sync::Arc;

use finecomb_words::{InnerCache, InnerLiteral, InnerMatch, Options, WordList};
use memchr::{memchr, memrchr};
use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};
use regex_syntax::hir::{Hir, HirKind};

use crate::cells::{Span, bytes_of};
use crate::key::expression::{
    Case, Expression, ExpressionCache, PatternError, build_in_block, in_block, parse,
};

/// Minimum number of words that are looked up. The regex engine searches for fewer at least as fast.
const MIN_WORDS: usize = 1000;
/// The same if case is ignored.
const MIN_WORDS_IN_ANY_CASE: usize = 100;

/// A regular expression that records are matched against.
#[derive(Clone, Debug)]
pub(crate) struct RecordPattern {
    search: RecordSearch,
    text: String,
}

/// How records are matched.
#[derive(Clone, Debug)]
enum RecordSearch {
    Expression(Box<LineSearch>),
    /// A long list of words: a record matches if it contains one of them.
    Words(Arc<WordList>),
}

/// A regular expression that is searched for in blocks.
#[derive(Clone, Debug)]
struct LineSearch {
    /// The expression as given, for a single record.
    record: Expression,
    block: BlockSearch,
}

/// Search of a block of records for the rewritten expression.
#[derive(Clone, Debug)]
enum BlockSearch {
    Regex(Regex),
    /// By a literal in the middle of it.
    Literal(Box<InnerLiteral>),
}

impl BlockSearch {
    /// Compiles a rewritten expression.
    fn new(hir: &Hir) -> Result<Self, PatternError> {
        match InnerLiteral::new(hir) {
            Some(literal) => Ok(Self::Literal(Box::new(literal))),
            None => Ok(Self::Regex(build_in_block(hir)?)),
        }
    }

    /// Returns a position in the first line from `from` on that has, or may have, a match.
    #[inline(always)]
    fn find_line(&self, cache: &mut PatternCache, text: &[u8], from: usize) -> Option<InnerMatch> {
        match self {
            Self::Regex(regex) => {
                let cache = cache.regex.get_or_insert_with(|| regex.create_cache());
                let input = Input::new(text).range(from..).earliest(true);
                regex.search_half_with(cache, &input).map(|found| InnerMatch::Confirmed(found.offset()))
            }
            Self::Literal(literal) => {
                let cache = cache.literal.get_or_insert_with(|| Box::new(literal.cache()));
                literal.find_line_with(cache, text, from)
            }
        }
    }
}

/// Scratch memory of a [`RecordPattern`], made when it is needed.
#[derive(Debug, Default)]
pub(crate) struct PatternCache {
    record: Option<ExpressionCache>,
    regex: Option<Cache>,
    literal: Option<Box<InnerCache>>,
}

impl RecordPattern {
    pub(crate) fn new(pattern: &str, case: Case) -> Result<Self, PatternError> {
        let exact = parse(pattern, Case::Distinct)?;
        // With flags, the case of some words may be ignored, and that of others not.
        let is_uniform = case == Case::Distinct || !pattern.contains("(?");
        let words = if is_uniform { word_list(&exact, case) } else { None };
        let search = match (words, case) {
            (Some(words), _) => RecordSearch::Words(Arc::new(words)),
            (None, Case::Distinct) => RecordSearch::Expression(Box::new(LineSearch::new(exact)?)),
            (None, Case::Ignored) => {
                RecordSearch::Expression(Box::new(LineSearch::new(parse(pattern, case)?)?))
            }
        };
        Ok(Self { search, text: pattern.to_owned() })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the first match in a record: the reference implementation of [`RecordPattern::next_line`].
    pub(crate) fn find(&self, cache: &mut PatternCache, record: &[u8]) -> Option<Span> {
        match &self.search {
            RecordSearch::Expression(expression) => expression.record.find(cache.record(expression), record),
            RecordSearch::Words(words) => words.find_at(record, 0).map(|found| (found.start, found.end)),
        }
    }

    /// Whether a record has a match.
    pub(crate) fn is_match(&self, cache: &mut PatternCache, record: &[u8]) -> bool {
        match &self.search {
            RecordSearch::Expression(expression) => {
                expression.record.is_match(cache.record(expression), record)
            }
            RecordSearch::Words(words) => words.find_line(record).is_some(),
        }
    }

    /// Returns the first record with a match at or after `from`, which is the start of a line, and the start of the
    /// next line.
    pub(crate) fn next_line(
        &self,
        cache: &mut PatternCache,
        text: &[u8],
        from: usize,
    ) -> Option<(Span, usize)> {
        match &self.search {
            RecordSearch::Expression(expression) => expression.next_line(cache, text, from),
            RecordSearch::Words(words) => {
                let at = from + words.find_line(text.get(from..)?)?;
                let ((start, end), next) = line_around(text, from, at);
                Some(((start, end_of_record(text, end)), next))
            }
        }
    }
}

impl PatternCache {
    fn record(&mut self, search: &LineSearch) -> &mut ExpressionCache {
        self.record.get_or_insert_with(|| search.record.cache())
    }
}

impl LineSearch {
    fn new(hir: Hir) -> Result<Self, PatternError> {
        Ok(Self { block: BlockSearch::new(&in_block(&hir))?, record: Expression::from_hir(hir)? })
    }

    fn next_line(&self, cache: &mut PatternCache, text: &[u8], mut from: usize) -> Option<(Span, usize)> {
        while from < text.len() {
            let (is_sure, at) = match self.block.find_line(cache, text, from)? {
                InnerMatch::Confirmed(at) => (true, at),
                InnerMatch::Candidate(at) => (false, at),
            };
            // A match does not cross the end of a line.
            let ((start, end), next) = line_around(text, from, at);
            if start == text.len() {
                return None;
            }
            let line = &text[start..end];
            if is_sure && !self.record.must_verify(line) {
                return Some(((start, end), next));
            }
            let record = (start, end_of_record(text, end));
            if self.record.is_match(cache.record(self), bytes_of(text, record)) {
                return Some((record, next));
            }
            from = next;
        }
        None
    }
}

/// The words of an alternation, if they are many, and are found in a block as they are in a record.
fn word_list(exact: &Hir, case: Case) -> Option<WordList> {
    let min = match case {
        Case::Distinct => MIN_WORDS,
        Case::Ignored => MIN_WORDS_IN_ANY_CASE,
    };
    let mut hir = exact;
    while let HirKind::Capture(capture) = hir.kind() {
        hir = &capture.sub;
    }
    let HirKind::Alternation(words) = hir.kind() else { return None };
    if words.len() < min {
        return None;
    }
    let word = |hir: &Hir| {
        let HirKind::Literal(literal) = hir.kind() else { return None };
        let word = str::from_utf8(&literal.0).ok()?;
        // A carriage return may end a record.
        (!word.contains('\r')).then(|| word.to_owned())
    };
    let words = words.iter().map(word).collect::<Option<Arc<[String]>>>()?;
    WordList::new(words, Options::default().ignore_case(case == Case::Ignored).only_lines(true))
}

/// Returns the end of the record in a line that ends at `end`.
fn end_of_record(text: &[u8], end: usize) -> usize {
    end - usize::from(text[..end].ends_with(b"\r"))
}

/// Returns the line around a position, without its line feed, and the start of the next line. `from` is the start of that
/// line or of an earlier one.
#[inline(always)]
pub(crate) fn line_around(text: &[u8], from: usize, at: usize) -> (Span, usize) {
    let start = memrchr(b'\n', &text[from..at]).map_or(from, |line_feed| from + line_feed + 1);
    let line_feed = memchr(b'\n', &text[at..]).map(|length| at + length);
    let end = line_feed.unwrap_or(text.len());
    ((start, end), line_feed.map_or(end, |line_feed| line_feed + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oracle::Oracle;

    fn records(text: &[u8]) -> impl Iterator<Item = &[u8]> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Returns the records of `text` that match according to the oracle, which searches them one at a time.
    fn record_by_record(pattern: &str, text: &[u8]) -> Vec<Vec<u8>> {
        let regex = Oracle::new(pattern);
        records(text).filter(|record| regex.is_match(record)).map(<[u8]>::to_vec).collect()
    }

    fn block_wise(pattern: &str, text: &[u8]) -> Vec<Vec<u8>> {
        let pattern = RecordPattern::new(pattern, Case::Distinct).expect("a valid pattern");
        block_by_block(&pattern, text)
    }

    fn block_by_block(pattern: &RecordPattern, text: &[u8]) -> Vec<Vec<u8>> {
        let mut cache = PatternCache::default();
        let mut from = 0;
        let mut records = Vec::new();
        while let Some((record, next)) = pattern.next_line(&mut cache, text, from) {
            records.push(bytes_of(text, record).to_vec());
            from = next;
        }
        records
    }

    const PATTERNS: &[&str] = &[
        "a",
        "ab",
        "^a",
        "a$",
        "^$",
        "^",
        "$",
        "",
        "a*",
        "[^a]b",
        "[^a]+",
        r"\s",
        r"\sb",
        r"a\nb",
        r"a(\n|b)",
        ".",
        "(?s)a.b",
        "(?s).*",
        r"\Aa",
        r"b\z",
        r"\bab\b",
        r"\Ba",
        "(?m)^a",
        "(?m)b$",
        "(?R)(?m)^a",
        "(?R)(?m)a$",
        r"\r",
        r"\r$",
        r"a\r",
        "(?-u)[^a]$",
        r"(?-u)\xFF",
        r"[\n]",
        r"[\n]|a",
        "é",
        "(?i)A|B$",
        "(a|b){2,}",
        r"\W\z",
        "x??",
        r"[^\r]$",
        r"(?-u:\B)",
        r"\b{start}a",
        r"a\b{end}",
        r"\b",
        r"\B",
        r"(?:\B){2}",
        r"\b{start-half}",
        r"\b{end-half}",
        r"\b{start-half}(?:^|[^\n])(?m:$)",
        r"(?:(?s-u:.)\b{start-half}(?-u:\b))+",
        r"\w\B",
        r"\d\b|é\B",
        r"(?-u:\b)ab(?-u:\b)",
        r"(?-u)\Ba",
        r"\b{end-half}(?:^|[^\n])(?m:$)",
        r"(?:(?s-u:.)\b(?-u:\b))+",
        "^.{3}$",
        "^..$",
        r"^\S\W",
        "^[^a]{2}b",
        ".b$",
        r"\x{FFFD}",
        r"[^\x{FFFD}]a",
        r"a[\x{FFFD}-\x{FFFE}]b",
        r"^\p{So}+$",
        "(?i)^[^A]+$",
    ];

    /// Expressions with a literal in the middle, some with bytes or boundaries that a block search leaves open.
    const WITH_LITERAL: &[&str] = &[
        "[a-z]+bot",
        "^[ab]*bot",
        "[0-9a]*bot$",
        r"\w+bot\d",
        r"\w+bot\s*$",
        r"\W+bot",
        "[^a]+bot",
        "[^a]bot[^b]*bot",
        "(?s).*bot.",
        ".*bot.*a",
        r"(?-u)[^a]+bot",
        r"(?-u:[\x80-\xFF]+)bot\W",
        r"\b[a-z]+bot\b",
        r"\B[ab]+bot",
        r"\A[a-z]+bot",
        r"[a-z]+bot\z",
        "(?m)[a-z]+bot$",
        r"(?R)(?m)^\w+bot$",
        r"[a-z]+bot\r",
        r"[^\r]+bot\n?",
        r"[^b]+\x{FFFD}?bot",
        r"\w+é(?:bot|a)",
        "(?i)[^A]+bot",
        r"(?-u)\b[a-z]+bot",
    ];

    /// An alternation of words, long enough to be looked up, and a shorter one of the words that may be in a text.
    fn alternations() -> impl Strategy<Value = (String, String)> {
        let piece = prop::sample::select(vec![
            "a", "b", "A", "ab", " ", "é", "É", "K", "\u{212A}", r"\.", r"\xFF", r"\x00",
        ]);
        let word = prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat());
        prop::collection::vec(word, 2..6).prop_map(|words| {
            let few = words.join("|");
            let others = (0..MIN_WORDS).map(|number| format!("|other{number}")).collect::<String>();
            (format!("({few}{others})"), few)
        })
    }

    fn texts_with_words() -> impl Strategy<Value = Vec<u8>> {
        let other = prop::sample::select(vec!["A", "É", "k", "\u{212A}", ".", "ÿ", "\u{FFFD}"]);
        let piece = prop_oneof![4 => texts_piece(), 1 => other.prop_map(str::as_bytes)];
        prop::collection::vec(piece, 1..30).prop_map(|pieces| pieces.concat())
    }

    fn texts_with_literal() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            6 => Just(&b"bot"[..]),
            3 => texts_piece(),
            1 => Just(&b"1"[..]),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(texts_piece(), 1..30).prop_map(|pieces| pieces.concat())
    }

    /// The records that match when each is searched on its own.
    fn found_singly(pattern: &str, text: &[u8]) -> Vec<Vec<u8>> {
        let compiled = RecordPattern::new(pattern, Case::Distinct).expect("a valid pattern");
        let mut cache = PatternCache::default();
        let matching = records(text).filter(|record| compiled.find(&mut cache, record).is_some());
        matching.map(<[u8]>::to_vec).collect()
    }

    fn texts_piece() -> impl Strategy<Value = &'static [u8]> {
        prop_oneof![
            4 => Just(&b"\n"[..]),
            2 => Just(&b"\r\n"[..]),
            2 => Just(&b"\r"[..]),
            5 => Just(&b"a"[..]),
            5 => Just(&b"b"[..]),
            1 => Just(&b" "[..]),
            1 => Just("é".as_bytes()),
            1 => Just(&b"\xFF"[..]),
            2 => Just(&b"\xA9"[..]),
            1 => Just(&b"\xC3"[..]),
            1 => Just(&b"\0"[..]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16 * ProptestConfig::default().cases))]

        #[test]
        fn blocks_match_the_records_that_the_oracle_matches(
            pattern in prop::sample::select(PATTERNS),
            text in texts(),
        ) {
            prop_assert_eq!(block_wise(pattern, &text), record_by_record(pattern, &text));
        }

        #[test]
        fn lines_found_by_a_literal_are_the_records_that_match(
            pattern in prop::sample::select(WITH_LITERAL),
            text in texts_with_literal(),
        ) {
            prop_assert_eq!(block_wise(pattern, &text), found_singly(pattern, &text));
        }

        #[test]
        fn the_first_match_is_that_of_the_oracle(
            pattern in prop::sample::select(PATTERNS),
            text in texts(),
        ) {
            let compiled = RecordPattern::new(pattern, Case::Distinct).expect("a valid pattern");
            prop_assert_eq!(compiled.find(&mut PatternCache::default(), &text), Oracle::new(pattern).find(&text));
        }
    }

    proptest! {
        #[test]
        fn words_that_are_looked_up_are_those_of_an_expression(
            (many, few) in alternations(),
            case in prop::sample::select(vec![Case::Distinct, Case::Ignored]),
            text in texts_with_words(),
        ) {
            let words = RecordPattern::new(&many, case).expect("a valid pattern");
            let expression = RecordPattern::new(&few, case).expect("a valid pattern");
            prop_assert!(matches!(words.search, RecordSearch::Words(_)), "{}", few);
            prop_assert!(matches!(expression.search, RecordSearch::Expression(_)));
            prop_assert_eq!(block_by_block(&words, &text), block_by_block(&expression, &text));
            for record in records(&text) {
                let (found, expected) = [&words, &expression].map(|it| it.find(&mut PatternCache::default(), record)).into();
                prop_assert_eq!(found, expected);
                prop_assert_eq!(words.is_match(&mut PatternCache::default(), record), expected.is_some());
            }
        }
    }

    #[test]
    fn most_expressions_with_a_literal_are_found_by_it() {
        let by_literal = |pattern: &&str| {
            let pattern = RecordPattern::new(pattern, Case::Distinct).expect("a valid pattern");
            matches!(&pattern.search, RecordSearch::Expression(it) if matches!(it.block, BlockSearch::Literal(_)))
        };
        assert!(by_literal(&"[a-z]+bot") && !by_literal(&"bot"));
        let count = WITH_LITERAL.iter().filter(|pattern| by_literal(pattern)).count();
        assert!(count > WITH_LITERAL.len() / 2, "{count}");
    }

    #[test]
    fn words_are_looked_up_if_they_are_many_and_plain() {
        let is_list = |words: &str, number, case| {
            let others = (0..number).map(|number| format!("|other{number}")).collect::<String>();
            let pattern = RecordPattern::new(&format!("{words}{others}"), case).expect("a valid pattern");
            matches!(pattern.search, RecordSearch::Words(_))
        };
        assert!(is_list("a", MIN_WORDS, Case::Distinct) && !is_list("a", MIN_WORDS - 2, Case::Distinct));
        assert!(is_list("a", MIN_WORDS_IN_ANY_CASE, Case::Ignored));
        // A group without capture changes nothing, but its flags are not looked at.
        assert!(is_list("(?:a)", MIN_WORDS, Case::Distinct) && !is_list("(?-i:a)", MIN_WORDS, Case::Ignored));
        for other in ["a.", "[ab]", "", "a\r", r"\bab", r"a\n", r"(?-u)\xFF", "a+", "(ab)"] {
            assert!(!is_list(other, MIN_WORDS, Case::Distinct), "{other}");
        }
    }

    #[test]
    fn errors_show_their_place() {
        let error = RecordPattern::new("a(b", Case::Distinct).expect_err("unclosed").to_string();
        assert!(error.contains("a(b\n     ^"), "{error}");
        let error = RecordPattern::new(r"(?:\w{1000}){1000}", Case::Distinct).expect_err("huge").to_string();
        assert!(error.contains("exceeds the size limit of 100 MiB"), "{error}");
    }
}
