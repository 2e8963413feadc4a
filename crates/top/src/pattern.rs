//! Regular expressions over records, searched for in whole blocks.
//!
//! A search that runs once a record pays its start-up for every record; most records do not match. So a pattern is
//! searched for in the block, and the record around a match is found afterwards. For that the pattern is rewritten so
//! that no match of it can reach from one record into the next: `\n` is taken out of everything that it can match, and
//! `^` and `$` become the start and end of a line. (The approach is that of ripgrep's `grep-regex`.)

use memchr::{memchr, memrchr};
use regex_automata::Input;
use regex_automata::meta::{self, Cache, Regex};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
};
use thiserror::Error;

use crate::{Span, bytes_of};

/// Why a regular expression cannot be used. Its text shows with a caret where the expression is wrong.
#[derive(Debug, Error)]
pub enum PatternError {
    /// The expression is not valid.
    #[error("{0}")]
    Syntax(#[from] Box<regex_syntax::Error>),
    /// The expression is too large when it is compiled.
    #[error("{}", too_large(.0))]
    Build(#[from] Box<meta::BuildError>),
}

fn too_large(error: &meta::BuildError) -> String {
    match error.size_limit() {
        Some(limit) => {
            format!("compiled, the expression takes more than {limit} bytes; make its repetitions shorter")
        }
        None => error.to_string(),
    }
}

/// Parses a regular expression over bytes, with Unicode on, as `regex::bytes` does.
fn parse(pattern: &str) -> Result<Hir, PatternError> {
    let mut parser = ParserBuilder::new().utf8(false).build();
    parser.parse(pattern).map_err(|error| PatternError::Syntax(Box::new(error)))
}

/// What is compiled may take 10 MiB, the limit that the `regex` crate sets.
const SIZE_LIMIT: usize = 10 << 20;

fn build(hir: &Hir) -> Result<Regex, PatternError> {
    let config = Regex::config().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT));
    let built = Regex::builder().configure(config).build_from_hir(hir);
    built.map_err(|error| PatternError::Build(Box::new(error)))
}

/// Compiles a regular expression that is applied to one text at a time.
pub(crate) fn compile(pattern: &str) -> Result<Regex, PatternError> {
    build(&parse(pattern)?)
}

/// What all matches of an expression have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchShape {
    /// The length of the shortest, in bytes; 0 if that is not known.
    pub(crate) shortest: usize,
    /// The byte that all of them begin with, if there is one.
    pub(crate) first: Option<u8>,
}

/// Compiles a regular expression and says what its matches look like.
pub(crate) fn compile_with_shape(pattern: &str) -> Result<(Regex, MatchShape), PatternError> {
    let hir = parse(pattern)?;
    let shape = MatchShape { shortest: hir.properties().minimum_len().unwrap_or(0), first: first_byte(&hir) };
    Ok((build(&hir)?, shape))
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
    record: Regex,
    /// Rewritten, for many.
    block: Regex,
    /// Whether every line that is found has to be asked again by itself. A Unicode word boundary looks at the character
    /// before it; in front of a byte that is no character it would find the line feed of the line before.
    looks_back: bool,
    text: String,
}

/// The memory that a search of a [`RecordPattern`] works in.
#[derive(Debug)]
pub(crate) struct PatternCache {
    record: Cache,
    block: Cache,
}

impl RecordPattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, PatternError> {
        let hir = parse(pattern)?;
        Ok(Self {
            record: build(&hir)?,
            block: build(&within_lines(&hir))?,
            looks_back: hir.properties().look_set().contains_word_unicode(),
            text: pattern.to_owned(),
        })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cache(&self) -> PatternCache {
        PatternCache { record: self.record.create_cache(), block: self.block.create_cache() }
    }

    /// The first match in one record: the reference implementation of [`RecordPattern::next_line`].
    pub(crate) fn find(&self, cache: &mut PatternCache, record: &[u8]) -> Option<Span> {
        let found = self.record.search_with(&mut cache.record, &Input::new(record))?;
        Some((found.start(), found.end()))
    }

    /// Whether one record has a match.
    pub(crate) fn is_match(&self, cache: &mut PatternCache, record: &[u8]) -> bool {
        let input = Input::new(record).earliest(true);
        self.record.search_half_with(&mut cache.record, &input).is_some()
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
            if !self.looks_back && memchr(b'\r', &text[start..end]).is_none() {
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

/// The pattern that finds in many lines what `hir` finds in one, and perhaps more: in lines with carriage returns, and with
/// Unicode word boundaries at bytes that are not UTF-8.
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

    /// The records of `text` that match, found one at a time.
    fn record_by_record(pattern: &str, text: &[u8]) -> Vec<Vec<u8>> {
        let regex = regex::bytes::Regex::new(pattern).expect("a valid pattern");
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.split(|&byte| byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|record| regex.is_match(record))
            .map(<[u8]>::to_vec)
            .collect()
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
    }

    #[test]
    fn errors_show_where() {
        let error = RecordPattern::new("a(b").expect_err("unclosed").to_string();
        assert!(error.contains("a(b\n     ^"), "{error}");
        let error = RecordPattern::new(r"(?:\w{1000}){1000}").expect_err("huge").to_string();
        assert!(error.contains("takes more than 10485760 bytes"), "{error}");
    }
}
