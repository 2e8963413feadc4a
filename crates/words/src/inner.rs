//! Searches lines for an expression by a literal that is in the middle of all its matches.
//!
//! An expression like `[A-Za-z]+bot` is a literal between two others; one of these may be empty. It matches a line if, at some
//! occurrence of the literal, the first matches up to its beginning and the second from its end on. So only the bytes around the
//! literal are examined: the first backwards, each by a lazy DFA. The `regex` crate does the same (since 1.9, as "reverse inner"
//! and "reverse suffix"), but must also find where the leftmost match begins, which rules out many expressions.

use memchr::memchr;
use memchr::memmem::Finder;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson::{Compiler, Config as NfaConfig, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, MatchKind, meta};
use regex_syntax::hir::{Hir, HirKind, Look};

use crate::lines::within_lines;

/// Length of the shortest literal that is searched for, in bytes. Shorter ones are too frequent.
const MIN_LITERAL: usize = 3;

/// Maximum size of a compiled half, in bytes.
const SIZE_LIMIT: usize = 10 << 20;

/// An expression as a literal and the expressions around it.
#[derive(Debug)]
pub struct InnerLiteral {
    finder: Finder<'static>,
    /// The part before the literal, compiled for a search backwards.
    before: DFA,
    after: DFA,
    /// Whether the literal is the end of the expression, so that nothing must be searched for after it.
    is_last: bool,
    caches: Caches,
}

/// Scratch memory of a search.
#[derive(Debug)]
pub struct InnerCache {
    before: Cache,
    after: Cache,
}

impl InnerCache {
    fn new(before: &DFA, after: &DFA) -> Self {
        Self { before: before.create_cache(), after: after.create_cache() }
    }
}

type Caches = Pool<InnerCache, Box<dyn Fn() -> InnerCache + Send + Sync>>;

fn caches(before: &DFA, after: &DFA) -> Caches {
    let (before, after) = (before.clone(), after.clone());
    Pool::new(Box::new(move || InnerCache::new(&before, &after)))
}

/// A clone has caches of its own: threads that share them would wait for each other.
impl Clone for InnerLiteral {
    fn clone(&self) -> Self {
        let Self { finder, before, after, is_last, .. } = self;
        Self {
            finder: finder.clone(),
            before: before.clone(),
            after: after.clone(),
            is_last: *is_last,
            caches: caches(before, after),
        }
    }
}

/// A line that has the literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InnerMatch {
    /// The line around this position has a match.
    Confirmed(usize),
    /// The line around this position may have a match.
    Candidate(usize),
}

impl InnerLiteral {
    /// Divides an expression at a literal, to search for matches within lines. Returns `None` if there is none, if the `regex` crate
    /// finds candidates of the expression as fast, or if it has an assertion that a DFA does not know within a text of many lines: `\A` or
    /// `\z`.
    pub fn new(expression: &Hir) -> Option<Self> {
        Self::divided(expression).filter(|_| !is_accelerated(expression))
    }

    /// Divides an expression at its longest literal.
    fn divided(expression: &Hir) -> Option<Self> {
        let looks = expression.properties().look_set();
        if looks.contains(Look::Start) || looks.contains(Look::End) {
            return None;
        }
        let expression = within_lines(expression, |look| look);
        let HirKind::Concat(parts) = expression.kind() else { return None };
        let length = |part: &Hir| match part.kind() {
            HirKind::Literal(literal) => literal.0.len(),
            _ => 0,
        };
        let (at, part) = parts.iter().enumerate().max_by_key(|(_, part)| length(part))?;
        let HirKind::Literal(literal) = part.kind() else { return None };
        if literal.0.len() < MIN_LITERAL {
            return None;
        }
        let before = half(&parts[..at], true)?;
        let after = half(&parts[at + 1..], false)?;
        let finder = Finder::new(&literal.0).into_owned();
        let caches = caches(&before, &after);
        Some(Self { finder, before, after, is_last: at + 1 == parts.len(), caches })
    }

    /// Returns scratch memory for [`InnerLiteral::find_line_with`].
    pub fn cache(&self) -> InnerCache {
        InnerCache::new(&self.before, &self.after)
    }

    /// Returns the first line from `from` on that has, or may have, a match.
    pub fn find_line(&self, text: &[u8], from: usize) -> Option<InnerMatch> {
        self.find_line_with(&mut self.caches.get(), text, from)
    }

    /// The same with the caller's scratch memory.
    pub fn find_line_with(&self, cache: &mut InnerCache, text: &[u8], mut from: usize) -> Option<InnerMatch> {
        while from < text.len() {
            let at = from + self.finder.find(&text[from..])?;
            match self.is_match_around(text, at, cache) {
                Some(true) => return Some(InnerMatch::Confirmed(at)),
                Some(false) => {}
                None => return Some(InnerMatch::Candidate(at)),
            }
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
            // Checking all places of the literal one by one could take time that is quadratic in the length of the line.
            if self.finder.find(&text[at + 1..end]).is_some() {
                return Some(InnerMatch::Candidate(at));
            }
            from = end + 1;
        }
        None
    }

    /// Whether the expression matches with the literal at this position; `None` if a DFA has given up.
    fn is_match_around(&self, text: &[u8], at: usize, cache: &mut InnerCache) -> Option<bool> {
        let input = Input::new(text).anchored(Anchored::Yes).earliest(true);
        if self.before.try_search_rev(&mut cache.before, &input.clone().span(0..at)).ok()?.is_none() {
            return Some(false);
        }
        if self.is_last {
            return Some(true);
        }
        let behind = at + self.finder.needle().len()..text.len();
        Some(self.after.try_search_fwd(&mut cache.after, &input.span(behind)).ok()?.is_some())
    }
}

/// Whether the `regex` crate finds candidates of an expression by their literals.
fn is_accelerated(expression: &Hir) -> bool {
    let config = meta::Config::new().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT));
    let built = meta::Builder::new().configure(config).build_from_hir(expression);
    built.is_ok_and(|regex| regex.is_accelerated())
}

/// Compiles the parts on one side of the literal.
fn half(parts: &[Hir], reverse: bool) -> Option<DFA> {
    let config = NfaConfig::new()
        .utf8(false)
        .reverse(reverse)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(SIZE_LIMIT));
    let nfa = Compiler::new().configure(config).build_from_hir(&Hir::concat(parts.to_vec())).ok()?;
    // With a boundary of words in Unicode, the DFA gives up at characters that are not ASCII.
    let config = Config::new().match_kind(MatchKind::All).unicode_word_boundary(true);
    DFA::builder().configure(config).build_from_nfa(nfa).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_syntax::ParserBuilder;

    use super::*;

    fn parse(pattern: &str) -> Hir {
        let mut builder = ParserBuilder::new();
        builder.utf8(false).multi_line(true).build().parse(pattern).expect("valid syntax")
    }

    /// The lines that match by the literal, or by the engine where the literal does not decide.
    fn lines(pattern: &str, text: &[u8]) -> Vec<usize> {
        let expression = parse(pattern);
        let inner = InnerLiteral::divided(&expression).expect("a literal");
        let engine = meta::Regex::builder().build_from_hir(&expression).expect("an expression");
        let (mut from, mut found) = (0, Vec::new());
        while let Some(line) = inner.find_line(text, from) {
            let (InnerMatch::Confirmed(at) | InnerMatch::Candidate(at)) = line;
            let start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            from = memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length + 1);
            let line_text = text[start..from].strip_suffix(b"\n").unwrap_or(&text[start..from]);
            if matches!(line, InnerMatch::Confirmed(_)) || engine.is_match(line_text) {
                found.push(start);
            }
        }
        found
    }

    fn one_by_one(pattern: &str, text: &[u8]) -> Vec<usize> {
        let engine = meta::Regex::builder().build_from_hir(&parse(pattern)).expect("an expression");
        let mut start = 0;
        let mut found = Vec::new();
        for line in text.split(|&byte| byte == b'\n') {
            if engine.is_match(line) {
                found.push(start);
            }
            start += line.len() + 1;
        }
        found
    }

    #[test]
    fn expressions_without_a_literal_in_the_middle_are_left_to_the_engine() {
        for pattern in ["abc", "abc+", "[a-z]+c", "[a-z]+", "abcd[ef]", "[ab]+bot", r"\A\w+bot", r"\w+bot\z"]
        {
            assert!(InnerLiteral::new(&parse(pattern)).is_none(), "{pattern}");
        }
        for pattern in ["[a-z]+bot", "([a-z]+bot)", r"(\w+)_lock_irq", r"\b[a-z]+bot\b"] {
            assert!(InnerLiteral::new(&parse(pattern)).is_some(), "{pattern}");
        }
    }

    #[test]
    fn a_line_with_the_literal_alone_is_skipped() {
        let inner = InnerLiteral::new(&parse("[a-z]+bot")).expect("a literal");
        assert_eq!(inner.find_line(b"-bot\nabot", 0), Some(InnerMatch::Confirmed(6)));
        assert_eq!(inner.find_line(b"-bot -bot", 0), Some(InnerMatch::Candidate(1)));
        assert_eq!(inner.find_line(b"-bot", 0), None);
        assert_eq!(inner.find_line(b"", 0), None);
    }

    proptest! {
        #[test]
        fn the_same_lines_match_as_by_the_engine(
            text in prop::collection::vec(prop::sample::select(vec![
                &b"a"[..], b"b", b"bot", b"bot", b"boot", b"-", b"1", b"\n", b"\n", "é".as_bytes(), b"\xC3", b"\xFF", b"\r",
            ]), 0..40),
            pattern in prop::sample::select(vec![
                "[ab]+bot", "[ab]+bot[0-9]+", "^[ab]*bot", "[0-9]*bot$", "^-*bot-*$", r"[^\n]*bot[^\n]*bot", "(?-u:[^a\\n])bot",
                r"\w+bot", r"\W(bot)", r"[^a]+bot\s*", r"(?-u:\b)[b-z]+bot", "(a|é)bot", "(?:[ab]bot)?[^\\n-]bot1?", r"[^\n]bot$", "[ab]{2}bot",
                r"\b[ab]+bot", r"\w\Bbot\b", r"-+\bbot",
            ]),
        ) {
            let text = text.concat();
            prop_assert_eq!(lines(pattern, &text), one_by_one(pattern, &text));
        }
    }
}
