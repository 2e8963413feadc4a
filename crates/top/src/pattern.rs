//! Regular expressions over records, searched for in whole blocks.
//!
//! A search that runs once a record pays its start-up for every record; most records do not match. So a pattern is
//! searched for in the block, and the record around a match is found afterwards. For that the pattern is rewritten so
//! that no match of it can reach from one record into the next: `\n` is taken out of everything that it can match, and
//! `^` and `$` become the start and end of a line. (The approach is that of ripgrep's `grep-regex`.)

use std::fmt::{self, Write as _};
use std::ops::Range;

use memchr::{memchr, memrchr};
use regex_automata::Input;
use regex_automata::meta::{self, Cache, Regex};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
};
use thiserror::Error;

use crate::go_syntax::{Mistake, translate};
use crate::text_regex::{
    TextCache, TextRegex, byte_of, is_over_characters, matches_invalid, minds_boundaries, with_invalid,
};
use crate::{Span, bytes_of};

/// Why a regular expression cannot be used. Its text shows with a caret where the expression is wrong.
#[derive(Debug, Error)]
pub enum PatternError {
    /// The expression is not valid.
    #[error("{0}")]
    Syntax(SyntaxError),
    /// The expression is too large when it is compiled.
    #[error("{}", too_large(.0))]
    Build(#[from] Box<meta::BuildError>),
}

/// Why an expression is not valid, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pattern: String,
    span: Range<usize>,
    reason: String,
}

impl std::error::Error for SyntaxError {}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, span, reason } = self;
        let count = |range: Range<usize>| pattern.get(range).map_or(0, |text| text.chars().count());
        f.write_str("regex parse error:\n    ")?;
        for char in pattern.chars() {
            // On one line, in which each character has its column.
            f.write_char(if char.is_control() { char::REPLACEMENT_CHARACTER } else { char })?;
        }
        let (before, wrong) = (count(0..span.start), count(span.clone()).max(1));
        write!(f, "\n    {:before$}{}\nerror: {reason}", "", "^".repeat(wrong))
    }
}

fn too_large(error: &meta::BuildError) -> String {
    match error.size_limit() {
        Some(limit) => {
            format!("compiled regex exceeds the size limit of {limit} bytes; shorten its repetitions")
        }
        None => error.to_string(),
    }
}

/// Parses a regular expression in Go's syntax, over characters or bytes.
pub(crate) fn parse(pattern: &str) -> Result<Hir, PatternError> {
    let wrong =
        |span, reason| PatternError::Syntax(SyntaxError { pattern: pattern.to_owned(), span, reason });
    let translation =
        translate(pattern).map_err(|Mistake { span, reason }| wrong(span, reason.to_owned()))?;
    ParserBuilder::new().utf8(false).build().parse(&translation.text).map_err(|error| {
        let (span, reason) = match error {
            regex_syntax::Error::Parse(error) => (*error.span(), error.kind().to_string()),
            regex_syntax::Error::Translate(error) => (*error.span(), error.kind().to_string()),
            error => return wrong(0..pattern.len(), error.to_string()),
        };
        wrong(translation.origin(span.start.offset..span.end.offset), reason)
    })
}

/// How much what is compiled may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeLimit {
    /// 10 MiB, the limit that the `regex` crate sets.
    Usual,
    None,
}

/// Compiles an expression. With `whole_characters`, no empty match stands within a character.
pub(crate) fn build(hir: &Hir, whole_characters: bool, limit: SizeLimit) -> Result<Regex, PatternError> {
    let limit = (limit == SizeLimit::Usual).then_some(10 << 20);
    let config = Regex::config().utf8_empty(whole_characters).nfa_size_limit(limit);
    let built = Regex::builder().configure(config).build_from_hir(hir);
    built.map_err(|error| PatternError::Build(Box::new(error)))
}

/// What all matches of an expression have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchShape {
    /// The length of the shortest, in bytes; 0 if that is not known.
    pub(crate) shortest: usize,
    /// The byte that all of them begin with, if there is one.
    pub(crate) first: Option<u8>,
}

impl MatchShape {
    /// The shape of the matches of an expression.
    pub(crate) fn of(hir: &Hir) -> Self {
        Self { shortest: hir.properties().minimum_len().unwrap_or(0), first: first_byte(hir) }
    }
}

/// The byte that every match begins with, if there is one.
fn first_byte(hir: &Hir) -> Option<u8> {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.first().copied(),
        HirKind::Class(class) => class.literal()?.first().copied(),
        HirKind::Repetition(repetition) if repetition.min > 0 => first_byte(&repetition.sub),
        HirKind::Capture(capture) => first_byte(&capture.sub),
        HirKind::Concat(parts) => {
            first_byte(parts.iter().find(|part| !matches!(part.kind(), HirKind::Look(_)))?)
        }
        HirKind::Alternation(parts) => {
            let first = first_byte(parts.first()?)?;
            parts.iter().all(|part| first_byte(part) == Some(first)).then_some(first)
        }
        HirKind::Empty | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

/// A regular expression over records.
#[derive(Clone, Debug)]
pub(crate) struct RecordPattern {
    /// As given, for one record.
    record: TextRegex,
    /// Rewritten, for many.
    block: Regex,
    /// Whether every line that is found has to be asked again by itself. A Unicode word boundary looks at the character
    /// before it; in front of a byte that is no character it would find the line feed of the line before.
    looks_back: bool,
    /// Whether every line that is found and not of ASCII has to be asked again by itself. In a block, any byte beyond
    /// ASCII is taken for one that belongs to no character, and empty matches may stand within a character.
    minds_characters: bool,
    text: String,
}

/// The memory that a search of a [`RecordPattern`] works in.
#[derive(Debug)]
pub(crate) struct PatternCache {
    record: TextCache,
    block: Cache,
}

impl RecordPattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, PatternError> {
        let record = TextRegex::new(pattern)?;
        let hir = record.hir();
        let takes_invalid = is_over_characters(hir) && matches_invalid(hir);
        let in_block = if takes_invalid {
            within_lines(&with_invalid(hir, &byte_of(0x80, 0xFF)))
        } else {
            within_lines(hir)
        };
        Ok(Self {
            block: build(&in_block, false, SizeLimit::Usual)?,
            looks_back: hir.properties().look_set().contains_word_unicode(),
            minds_characters: takes_invalid || minds_boundaries(hir),
            text: pattern.to_owned(),
            record,
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cache(&self) -> PatternCache {
        PatternCache { record: self.record.cache(), block: self.block.create_cache() }
    }

    /// The first match in one record: the reference implementation of [`RecordPattern::next_line`].
    pub(crate) fn find(&self, cache: &mut PatternCache, record: &[u8]) -> Option<Span> {
        self.record.find(&mut cache.record, record)
    }

    /// Whether one record has a match.
    pub(crate) fn is_match(&self, cache: &mut PatternCache, record: &[u8]) -> bool {
        self.record.is_match(&mut cache.record, record)
    }

    /// The first record with a match among those that begin at `from` or later, where a line begins. Gives the record
    /// and where the next line begins.
    pub(crate) fn next_line(
        &self,
        cache: &mut PatternCache,
        text: &[u8],
        mut from: usize,
    ) -> Option<(Span, usize)> {
        while from < text.len() {
            let input = Input::new(text).range(from..).earliest(true);
            let found = self.block.search_half_with(&mut cache.block, &input)?;
            // A match ends in the line that it begins in.
            let start =
                memrchr(b'\n', &text[from..found.offset()]).map_or(from, |line_feed| from + line_feed + 1);
            if start == text.len() {
                return None;
            }
            let line_feed = memchr(b'\n', &text[found.offset()..]).map(|length| found.offset() + length);
            let end = line_feed.unwrap_or(text.len());
            let next = line_feed.map_or(end, |line_feed| line_feed + 1);
            let line = &text[start..end];
            let is_sure = !self.looks_back && (!self.minds_characters || line.is_ascii());
            if is_sure && memchr(b'\r', line).is_none() {
                return Some(((start, end), next));
            }
            // In the block `$` stands before any carriage return, so the record has the last word.
            let record = (start, end - usize::from(text[..end].ends_with(b"\r")));
            if self.is_match(cache, bytes_of(text, record)) {
                return Some((record, next));
            }
            from = next;
        }
        None
    }
}

/// The pattern that finds in many lines what `hir` finds in one, and perhaps more: in lines with carriage returns, with
/// Unicode word boundaries at bytes that are not UTF-8, and in lines that are not of ASCII.
fn within_lines(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => Hir::class(without_line_feed(class)),
        HirKind::Look(look) => Hir::look(match look {
            Look::Start => Look::StartLF,
            // A record ends before `\n` and before `\r\n`.
            Look::End | Look::EndLF => Look::EndCRLF,
            other => *other,
        }),
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            *repetition.sub = within_lines(&repetition.sub);
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => within_lines(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(within_lines).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(within_lines).collect()),
    }
}

fn without_line_feed(class: &Class) -> Class {
    match class {
        Class::Unicode(class) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Class::Unicode(class)
        }
        Class::Bytes(class) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Class::Bytes(class)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oracle::{ALL_INVALID, Runes};

    fn records(text: &[u8]) -> impl Iterator<Item = &[u8]> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The records of `text` that match, found one at a time by the oracle.
    fn record_by_record(pattern: &str, text: &[u8]) -> Vec<Vec<u8>> {
        let regex = oracle(pattern);
        records(text).filter(|record| regex.is_match(record)).map(<[u8]>::to_vec).collect()
    }

    /// An expression in the terms of the oracle, whose characters for bytes that belong to none are not U+FFFD.
    fn oracle(pattern: &str) -> Runes {
        let pattern = translate(pattern).expect("valid syntax").text;
        let replacement = format!(r"\x{{FFFD}}{ALL_INVALID}");
        Runes::new(
            &pattern
                .replace(r"\x{FFFD}", &replacement)
                .replace(r"\p{So}", &format!(r"[\p{{So}}{ALL_INVALID}]")),
        )
    }

    fn block_wise(pattern: &str, text: &[u8]) -> Vec<Vec<u8>> {
        let pattern = RecordPattern::new(pattern).expect("a valid pattern");
        let mut cache = pattern.cache();
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
        "^.{3}$",
        "^..$",
        r"^\S\W",
        "^[^a]{2}b",
        ".b$",
        r"[\x{FFFD}]",
        r"[^\x{FFFD}]a",
        r"a[\x{FFFD}]b",
        r"^\p{So}+$",
        "(?i)^[^A]+$",
    ];

    /// Boundaries of Unicode, which are nowhere next to a byte that belongs to no character; the oracle does not know that.
    const OF_UNICODE: &[&str] = &[
        r"(?u)\b",
        r"(?u)\bab\b",
        r"(?u)\B",
        r"(?u:\B){2}",
        r"(?u)a\B",
        r"(?u)\b{start-half}a",
        r"(?u)\b{end-half}(?:^|[^\n])(?m:$)",
        r"(?:(?s-u:.)(?u:\b)(?-u:\b))+",
    ];

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
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
        ];
        prop::collection::vec(piece, 1..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16 * ProptestConfig::default().cases))]

        #[test]
        fn blocks_give_the_records_that_match(
            pattern in prop::sample::select(PATTERNS),
            text in texts(),
        ) {
            prop_assert_eq!(block_wise(pattern, &text), record_by_record(pattern, &text));
        }

        #[test]
        fn blocks_give_the_records_that_match_one_by_one(
            pattern in prop::sample::select(OF_UNICODE),
            text in texts(),
        ) {
            let compiled = RecordPattern::new(pattern).expect("a valid pattern");
            let mut cache = compiled.cache();
            let matching = records(&text).filter(|record| compiled.find(&mut cache, record).is_some());
            let expected: Vec<Vec<u8>> = matching.map(<[u8]>::to_vec).collect();
            prop_assert_eq!(block_wise(pattern, &text), expected);
        }

        #[test]
        fn the_first_match_is_that_of_the_oracle(
            pattern in prop::sample::select(PATTERNS),
            text in texts(),
        ) {
            let compiled = RecordPattern::new(pattern).expect("a valid pattern");
            let found = compiled.find(&mut compiled.cache(), &text);
            let found = found.map(|(start, end)| (text[..start].to_vec(), text[start..end].to_vec()));
            prop_assert_eq!(found, oracle(pattern).find(&text));
        }
    }

    #[test]
    fn errors_show_where() {
        let error = RecordPattern::new("a(b").expect_err("unclosed").to_string();
        assert!(error.contains("a(b\n     ^"), "{error}");
        let error = RecordPattern::new(r"(?:\w{1000}){1000}").expect_err("huge").to_string();
        assert!(error.contains("exceeds the size limit of 10485760 bytes"), "{error}");
    }
}
