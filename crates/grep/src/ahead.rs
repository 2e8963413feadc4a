//! Search for matches across lines in the parts of a large file, by all workers, before one of them searches the whole.
//!
//! A search goes from match to match, as in ripgrep: it searches the text after the last match, as if the text began there. Each part
//! is searched in the same way from its first line on. For a place of the search in a part, the next match is known if the search of the part
//! came to the same place, or if nothing between there and here can make a difference: an expression may ask what precedes a
//! match, but not beyond the beginning of a line.

use std::ops::Range;
use std::ptr;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher};
use memchr::{memchr, memchr_iter};
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Maximum number of line feeds in a match: as many lines of each part are searched twice.
const MAX_LINE_FEEDS: usize = 100;

/// Maximum number of bytes of the next part in which the end of the last match is looked for.
const MAX_OVERLAP: usize = 1 << 20;

/// Bytes of text per match that is remembered, which takes 8 bytes.
const BYTES_PER_MATCH: usize = 64;

/// How parts are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// Maximum number of line feeds in a match.
    line_feeds: usize,
    /// Whether the bytes before a match matter.
    looks_behind: bool,
    /// Whether the bytes around a match matter.
    looks_around: bool,
    /// Whether a match may be empty.
    may_be_empty: bool,
}

impl Ahead {
    /// Returns `None` if matches of the expressions may hold any number of line feeds, or depend on where the text begins. With `looks_behind`,
    /// the bytes before a match matter in any case.
    pub(crate) fn new(expressions: &[Hir], looks_behind: bool) -> Option<Self> {
        let line_feeds =
            expressions.iter().map(max_line_feeds).try_fold(0, |sum: usize, one| Some(sum.max(one?)))?;
        let looks = expressions.iter().map(|expression| expression.properties().look_set());
        let looks = looks.reduce(|all, one| all.union(one)).unwrap_or_default();
        let is_known = line_feeds <= MAX_LINE_FEEDS && !looks.contains(Look::Start);
        let looks_behind = looks_behind || looks.iter().any(|look| !matches!(look, Look::End | Look::EndLF));
        let looks_around = looks_behind || !looks.is_empty();
        let may_be_empty =
            expressions.iter().any(|expression| expression.properties().minimum_len() == Some(0));
        is_known.then_some(Self { line_feeds, looks_behind, looks_around, may_be_empty })
    }

    /// Returns `true` if a search of only the lines of some matches finds the same matches: nothing around a match matters, and none is
    /// empty, for which a search of lines has rules of its own.
    pub(crate) fn finds_same_in_lines(self) -> bool {
        !self.looks_around && !self.may_be_empty
    }

    /// Searches a part of a text, from its first line on to the first line after it; `None` if there is none nearby, or the engine fails.
    pub(crate) fn search(
        self,
        matcher: &impl Matcher,
        text: &[u8],
        part: Range<usize>,
    ) -> Option<PartMatches> {
        let line_from = |at: usize| match at {
            0 => Some(0),
            at if at == text.len() => Some(at),
            at => {
                let near = &text[at - 1..text.len().min(at + MAX_OVERLAP)];
                memchr(b'\n', near).map(|end| at + end)
            }
        };
        let lines = line_from(part.start)?..line_from(part.end)?;
        let overlap = &text[lines.end..text.len().min(lines.end + MAX_OVERLAP)];
        // A match that begins before ends with one of these line feeds at the latest, and asks at most for the byte after it.
        let end = match memchr_iter(b'\n', overlap).nth(self.line_feeds) {
            Some(end) => lines.end + end + 1,
            None if lines.end + overlap.len() == text.len() => text.len(),
            None => return None,
        };
        let max_matches = lines.len() / BYTES_PER_MATCH;
        let mut found = PartMatches { lines: lines.clone(), is_complete: true, matches: Vec::new() };
        let mut at = lines.start;
        while at < lines.end {
            let Some(next) = matcher.find(&text[at..end]).ok()? else { break };
            let next = next.offset(at);
            // At the very end of the text, an empty match belongs to the last part.
            if next.start() >= lines.end && lines.end < text.len() {
                break;
            }
            if found.matches.len() >= max_matches {
                found.is_complete = false;
                break;
            }
            let offset = |at: usize| u32::try_from(at - lines.start).ok();
            found.matches.push((offset(next.start())?, offset(next.end())?));
            at = after(next);
        }
        Some(found)
    }
}

/// Position from which a search continues after a match.
pub(crate) fn after(found: Match) -> usize {
    found.end() + usize::from(found.is_empty())
}

/// Returns the maximum number of line feeds in a match; `None` if there is none.
fn max_line_feeds(expression: &Hir) -> Option<usize> {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => Some(memchr_iter(b'\n', &literal.0).count()),
        HirKind::Class(Class::Bytes(class)) => {
            Some(usize::from(class.iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))))
        }
        HirKind::Class(Class::Unicode(class)) => {
            Some(usize::from(class.iter().any(|range| (range.start()..=range.end()).contains(&'\n'))))
        }
        HirKind::Repetition(repetition) => match (max_line_feeds(&repetition.sub)?, repetition.max) {
            (0, _) => Some(0),
            (each, Some(max)) => each.checked_mul(usize::try_from(max).ok()?),
            (_, None) => None,
        },
        HirKind::Capture(capture) => max_line_feeds(&capture.sub),
        HirKind::Concat(parts) => {
            parts.iter().map(max_line_feeds).try_fold(0, |sum: usize, one| sum.checked_add(one?))
        }
        HirKind::Alternation(parts) => {
            parts.iter().map(max_line_feeds).try_fold(0, |max: usize, one| Some(max.max(one?)))
        }
    }
}

/// Matches that begin in a part of a text.
#[derive(Debug, Default)]
pub(crate) struct PartMatches {
    /// The lines that begin in the part.
    lines: Range<usize>,
    /// Whether no match is left out.
    is_complete: bool,
    /// Beginnings and ends, from the beginning of the lines on.
    matches: Vec<(u32, u32)>,
}

impl PartMatches {
    fn get(&self, number: usize) -> Option<Match> {
        let offset = |at: u32| self.lines.start + at as usize;
        self.matches.get(number).map(|&(start, end)| Match::new(offset(start), offset(end)))
    }

    /// Returns the first match for a search from `at` on, or the position from which the search continues after this part;
    /// `None` if that is not known.
    fn find(&self, text: &[u8], at: usize, looks_behind: bool) -> Option<Result<Match, usize>> {
        let number = self.matches.partition_point(|&(start, _)| self.lines.start + (start as usize) < at);
        let searched_from = match number.checked_sub(1) {
            None => self.lines.start,
            Some(before) => after(self.get(before)?),
        };
        let is_same = at == searched_from
            || at > searched_from
                && (!looks_behind || begins_line(text, at) && begins_line(text, searched_from));
        match self.get(number) {
            _ if !is_same => None,
            Some(found) => Some(Ok(found)),
            None if !self.is_complete => None,
            None => Some(Err(self.lines.end.max(at))),
        }
    }
}

/// Whether the bytes before a position make no difference after it. Without a character that begins there, the engine may take an
/// invalid byte for the end of a character that begins in the line before.
fn begins_line(text: &[u8], at: usize) -> bool {
    let is_continued = text.get(at).is_some_and(|byte| matches!(byte, 0x80..=0xBF));
    at == 0 || text[at - 1] == b'\n' && !is_continued
}

/// A matcher for a text, which knows matches in parts of it.
pub(crate) struct Remembering<'a, M> {
    matcher: &'a M,
    text: &'a [u8],
    ahead: Option<Ahead>,
    /// In the order of the text.
    parts: &'a [PartMatches],
}

impl<'a, M: Matcher> Remembering<'a, M> {
    /// A matcher for a text with what was found in its parts, if they were searched.
    pub(crate) fn new(
        matcher: &'a M,
        text: &'a [u8],
        ahead: Option<Ahead>,
        parts: &'a [PartMatches],
    ) -> Self {
        Self { matcher, text, ahead, parts }
    }

    /// The result of a search of the text from `at` on, if it is known. At the end there may be an empty match.
    fn remembered(&self, mut at: usize) -> Option<Option<Match>> {
        let Ahead { looks_behind, .. } = self.ahead?;
        if at == self.text.len() {
            return None;
        }
        let first = self.parts.partition_point(|part| part.lines.end <= at);
        for part in &self.parts[first..] {
            if at < part.lines.start {
                return None;
            }
            match part.find(self.text, at, looks_behind)? {
                Ok(found) => return Some(Some(found)),
                Err(next) if looks_behind && !begins_line(self.text, next) => return None,
                Err(next) => at = next,
            }
        }
        (at == self.text.len() && !self.parts.is_empty()).then_some(None)
    }

    /// The same for a search of the rest of the text.
    fn remembered_in_rest(&self, rest: &[u8]) -> Option<Option<Match>> {
        let start = self.text.len().checked_sub(rest.len())?;
        if !ptr::eq(&self.text[start..], rest) {
            return None;
        }
        let found = self.remembered(start)?;
        Some(found.map(|found| Match::new(found.start() - start, found.end() - start)))
    }

    /// The same for a search from `at` on of the text up to some place, by a printer. If nothing but the match itself matters, this is the
    /// match in the whole text, as long as it fits.
    fn remembered_up_to(&self, text: &[u8], at: usize) -> Option<Option<Match>> {
        let is_beginning = self.text.get(..text.len()).is_some_and(|beginning| ptr::eq(beginning, text));
        if !is_beginning || self.ahead?.looks_around {
            return None;
        }
        match self.remembered(at)? {
            Some(found) if found.end() > text.len() => None,
            found => Some(found),
        }
    }
}

impl<M: Matcher> Matcher for Remembering<'_, M> {
    type Captures = M::Captures;
    type Error = M::Error;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, M::Error> {
        let in_rest = || if at == 0 { self.remembered_in_rest(text) } else { None };
        match in_rest().or_else(|| self.remembered_up_to(text, at)) {
            Some(known) => Ok(known),
            None => self.matcher.find_at(text, at),
        }
    }

    fn new_captures(&self) -> Result<M::Captures, M::Error> {
        self.matcher.new_captures()
    }

    fn capture_count(&self) -> usize {
        self.matcher.capture_count()
    }

    fn capture_index(&self, name: &str) -> Option<usize> {
        self.matcher.capture_index(name)
    }

    fn captures_at(&self, text: &[u8], at: usize, captures: &mut M::Captures) -> Result<bool, M::Error> {
        self.matcher.captures_at(text, at, captures)
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, M::Error> {
        self.matcher.shortest_match_at(text, at)
    }

    fn is_match_at(&self, text: &[u8], at: usize) -> Result<bool, M::Error> {
        self.matcher.is_match_at(text, at)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, M::Error> {
        self.matcher.find_candidate_line(text)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use grep_matcher::NoCaptures;
    use proptest::prelude::*;

    use super::*;
    use crate::any_matcher::AnyMatcher;
    use crate::differential::searching;
    use crate::matcher::{expressions, regex};
    use crate::options::{Boundary, GrepOptions, LineEnd};

    /// With two spaces between them.
    const PATTERNS: &str = concat!(
        r"a\nb  a.*\n.*b  ^b\n  a|^b\nc  \bb\n+?a  b$\n^a  \na{1,2}  [^a]b  (?s)a.b  a*\n  \n?  (?:a\n){0,3}  ",
        r"\Bb\s  c\n\b  (?m:$)\n  \n\z",
    );

    fn options(pattern: &str, boundary: Option<Boundary>) -> GrepOptions {
        let mut options = searching(pattern);
        (options.pattern.boundary, options.pattern.multiline) = (boundary, true);
        options
    }

    fn ahead(options: &GrepOptions) -> Option<Ahead> {
        let matcher = AnyMatcher::new(options).expect("a valid pattern");
        let looks_behind = options.pattern.boundary.is_some() || options.line_end == LineEnd::Crlf;
        Ahead::new(&expressions(&matcher, &options.pattern)?, looks_behind)
    }

    #[test]
    fn parts_are_searched_if_the_end_of_a_match_is_near() {
        let line_feeds = |pattern| Some(ahead(&options(pattern, None))?.line_feeds);
        assert_eq!(line_feeds(r"a\nb"), Some(1));
        assert_eq!(line_feeds(r"(?:a\n){3}[^x]|b"), Some(4));
        assert_eq!(line_feeds(r"a.*\s?"), Some(1));
        assert_eq!(line_feeds(r"a\n+"), None);
        assert_eq!(line_feeds(r"(?s)a.*b"), None);
        assert_eq!(line_feeds(r"\Aa\n"), None);
        assert_eq!(line_feeds(r"\n{101}"), None);
    }

    #[test]
    fn only_boundaries_before_a_match_look_behind() {
        let looks = |pattern, boundary| ahead(&options(pattern, boundary)).map(|ahead| ahead.looks_behind);
        assert_eq!(looks(r"a\nb$", None), Some(false));
        assert_eq!(looks(r"a\n\z", None), Some(false));
        assert_eq!(looks(r"^a\nb", None), Some(true));
        assert_eq!(looks(r"a\n\bb", None), Some(true));
        assert_eq!(looks(r"a\nb", Some(Boundary::Word)), Some(true));
    }

    /// Counts the searches of the engine.
    struct Counting<M>(M, Cell<usize>);

    impl<M: Matcher> Matcher for Counting<M> {
        type Captures = NoCaptures;
        type Error = M::Error;

        fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, M::Error> {
            self.1.set(self.1.get() + 1);
            self.0.find_at(text, at)
        }

        fn new_captures(&self) -> Result<NoCaptures, M::Error> {
            Ok(NoCaptures::new())
        }
    }

    #[test]
    fn known_matches_are_not_searched_for_again() {
        let options = options(r"^b\na", None);
        let text =
            b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nb\na\n".repeat(100);
        let ahead = ahead(&options).expect("a short match");
        let matcher = Counting(regex(&options).expect("a valid pattern"), Cell::new(0));
        let parts = (0..text.len())
            .step_by(1000)
            .map(|at| ahead.search(&matcher, &text, at..text.len().min(at + 1000)));
        let parts: Vec<PartMatches> = parts.flatten().collect();
        let known = Remembering::new(&matcher, &text, Some(ahead), &parts);
        matcher.1.set(0);
        let (mut at, mut count) = (0, 0);
        while let Ok(Some(found)) = known.find(&text[at..]) {
            count += 1;
            at += after(found);
        }
        assert_eq!((count, matcher.1.get()), (100, 0));
    }

    proptest! {
        #[test]
        fn remembered_matches_are_those_of_a_search(
            pattern in prop::sample::select(PATTERNS.split("  ").collect::<Vec<_>>()),
            text in prop::collection::vec(prop::sample::select(b"aabbc \n\n\r\xC3\xA9\xA9\xFF\0".as_slice()), 0..300),
            size in 1..90_usize,
            boundary in prop::sample::select(vec![None, None, Some(Boundary::Word), Some(Boundary::Line)]),
            by_line: bool,
            crlf: bool,
        ) {
            let line_end = if crlf { LineEnd::Crlf } else { LineEnd::Lf };
            let options = GrepOptions { line_end, ..options(pattern, boundary) };
            let matcher = regex(&options).expect("a valid pattern");
            let Some(ahead) = ahead(&options) else { return Ok(()) };
            let parts = (0..text.len()).step_by(size).map(|at| ahead.search(&matcher, &text, at..text.len().min(at + size)));
            let parts: Vec<PartMatches> = parts.flatten().collect();
        let known = Remembering::new(&matcher, &text, Some(ahead), &parts);
            for end in [0, text.len() / 3, text.len() / 2, text.len()] {
                for at in 0..=end {
                    let expected = matcher.find_at(&text[..end], at).expect("no error");
                    prop_assert_eq!(known.find_at(&text[..end], at).expect("no error"), expected, "{}..{}", at, end);
                }
            }
            let mut at = 0;
            while at < text.len() {
                let expected = matcher.find(&text[at..]).expect("no error");
                prop_assert_eq!(known.find(&text[at..]).expect("no error"), expected, "at {}", at);
                let Some(found) = expected else { break };
                at += match by_line {
                    // As if lines without a match are selected.
                    true => memchr(b'\n', &text[at + found.end()..]).map_or(text.len(), |end| found.end() + end + 1),
                    false => after(found),
                };
            }
        }
    }
}
