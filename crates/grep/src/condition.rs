//! Conditions on the lines around a match, and on the files: `--and`, `--not`, `--file-and`, `--file-not`.
//!
//! A matcher with conditions has only the matches of another matcher whose lines meet the conditions. So everything else, from
//! context to counts, behaves as for a pattern that includes the conditions.

use std::ops::ControlFlow;

use grep_matcher::{ByteSet, Captures, LineMatchKind, LineTerminator, Match, Matcher};

use crate::find::{Finder, lines_of, without_terminator};

/// Patterns that a text must match, and patterns that it must not match.
#[derive(Clone, Debug)]
pub(crate) struct Conditions<M> {
    pub(crate) all: Vec<M>,
    pub(crate) none: Vec<M>,
}

impl<M> Conditions<M> {
    fn is_empty(&self) -> bool {
        self.all.is_empty() && self.none.is_empty()
    }

    /// Whether a text meets the conditions, given a test for one pattern.
    pub(crate) fn hold<E>(&self, mut matches: impl FnMut(&M) -> Result<bool, E>) -> Result<bool, E> {
        for matcher in &self.all {
            if !matches(matcher)? {
                return Ok(false);
            }
        }
        for matcher in &self.none {
            if matches(matcher)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A matcher with conditions.
#[derive(Clone, Debug)]
pub(crate) struct Conditioned<M> {
    matcher: M,
    lines: Conditions<M>,
    files: Conditions<Finder<M>>,
    terminator: LineTerminator,
    /// Whether a match may hold a line feed.
    spans_lines: bool,
    /// Whether lines are selected that do not match.
    inverts: bool,
    /// Whether the present file meets the conditions on files.
    is_right_file: bool,
}

impl<M: Matcher> Conditioned<M> {
    pub(crate) fn new(
        matcher: M,
        lines: Conditions<M>,
        files: Conditions<M>,
        terminator: LineTerminator,
        (spans_lines, inverts): (bool, bool),
    ) -> Self {
        let finder = |matcher| Finder::new(matcher, terminator, false);
        let files = Conditions {
            all: files.all.into_iter().map(finder).collect(),
            none: files.none.into_iter().map(finder).collect(),
        };
        Self { matcher, lines, files, terminator, spans_lines, inverts, is_right_file: true }
    }

    /// Whether files must be in memory as a whole.
    pub(crate) fn needs_whole_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Whether the present file meets the conditions on files.
    pub(crate) fn is_right_file(&self) -> bool {
        self.is_right_file
    }

    /// Looks at a file before it is searched.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn begin_file(&mut self, text: &[u8]) -> Result<(), M::Error> {
        self.is_right_file = self.files.hold(|finder| {
            if self.spans_lines {
                return finder.matcher().is_match(text);
            }
            let mut any = false;
            finder.lines(text, |_| {
                any = true;
                ControlFlow::Break(())
            })?;
            Ok(any)
        })?;
        Ok(())
    }

    /// Returns the first match at or after `at` that `find` finds and whose lines meet the conditions.
    fn first(
        &self,
        text: &[u8],
        mut at: usize,
        mut find: impl FnMut(usize) -> Result<Option<Match>, M::Error>,
    ) -> Result<Option<Match>, M::Error> {
        while let Some(found) = find(at)? {
            let lines = lines_of(text, found, self.terminator.as_byte());
            let line = without_terminator(&text[lines.clone()], self.terminator);
            if self.lines.hold(|matcher| matcher.is_match(line))? {
                return Ok(Some(found));
            }
            at = match self.spans_lines {
                // Another match may begin in the same lines and end in others.
                true => found.end().max(found.start() + 1),
                false => lines.end,
            };
            if at >= text.len() {
                break;
            }
        }
        Ok(None)
    }
}

impl<M: Matcher> Matcher for Conditioned<M> {
    type Captures = M::Captures;
    type Error = M::Error;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, M::Error> {
        if !self.is_right_file {
            // Nothing is selected: every line matches if lines without a match are wanted.
            return Ok(self.inverts.then(|| Match::zero(at)));
        }
        self.first(text, at, |at| self.matcher.find_at(text, at))
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
        if !self.is_right_file {
            return Ok(false);
        }
        // `captures` must come from the search that finds the match: a search that begins at the match may find other groups.
        let found = self.first(text, at, |at| {
            let any = self.matcher.captures_at(text, at, captures)?;
            Ok(if any { captures.get(0) } else { None })
        })?;
        Ok(found.is_some())
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, M::Error> {
        if !self.is_right_file {
            return Ok(self.inverts.then_some(LineMatchKind::Candidate(0)));
        }
        let found = self.matcher.find_candidate_line(text)?.map(|found| match found {
            LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at) => at,
        });
        // An empty match after the last line is in no line. The searcher of ripgrep takes care of that only if it is confirmed.
        let is_in_line = |at: &usize| *at < text.len() || text.last() != Some(&self.terminator.as_byte());
        Ok(found.filter(is_in_line).map(LineMatchKind::Candidate))
    }
}

#[cfg(test)]
mod tests {
    use crate::any_matcher::AnyMatcher;
    use crate::differential::searching;
    use crate::line_matcher::LineMatcher;
    use crate::options::{GrepOptions, PatternOptions};

    use super::*;

    /// Calls `test` with a matcher for `pattern` with conditions.
    fn with(pattern: &PatternOptions, invert: bool, test: impl FnOnce(Conditioned<LineMatcher>)) {
        let options = GrepOptions { pattern: pattern.clone(), invert, ..GrepOptions::default() };
        match AnyMatcher::new(&options) {
            Ok(AnyMatcher::RustWith(matcher)) => test(*matcher),
            _ => panic!("a matcher with conditions"),
        }
    }

    #[test]
    fn matches_are_those_of_the_pattern_in_lines_that_meet_the_conditions() {
        let one = |pattern: &str| vec![pattern.to_owned()];
        let pattern = PatternOptions { and: one("b"), not: one("c"), ..searching("a").pattern };
        let lines = [("a\na b\na b c\nb a", 0, Some(2)), ("a\na b\na b c\nb a", 3, Some(14))];
        let lines = [&lines[..], &[("a\nb", 0, None), ("", 0, None)]].concat();
        // Across lines, all lines of a match count.
        let across = PatternOptions { multiline: true, patterns: one(r"x\n+y").into(), ..pattern.clone() };
        let spans = [("x\ny\nb x\ny", 0, Some(6)), ("x\ny b\n", 0, Some(0))];
        let spans = [&spans[..], &[("x\ny b c\n", 0, None), ("x\ny\nb\n", 0, None)]].concat();
        for (pattern, cases) in [(pattern, lines), (across, spans)] {
            with(&pattern, false, |matcher| {
                for (text, at, expected) in cases {
                    let found = matcher.find_at(text.as_bytes(), at).expect("no error");
                    assert_eq!(found.map(|found| found.start()), expected, "{text} {at}");
                }
            });
        }
    }

    #[test]
    fn in_other_files_nothing_is_selected() {
        let [file_and, file_not] = ["b", "^c$"].map(|pattern| vec![pattern.to_owned()]);
        let pattern = PatternOptions { file_and, file_not, ..searching("a").pattern };
        for invert in [false, true] {
            with(&pattern, invert, |mut matcher| {
                for (text, is_right) in
                    [("a\nb\n", true), ("a\n", false), ("a\nb\nc\n", false), ("a\nb\ncc", true)]
                {
                    matcher.begin_file(text.as_bytes()).expect("no error");
                    let any = matcher.is_match(b"a").expect("no error");
                    assert_eq!(any, is_right || invert, "{text}");
                    let other = matcher.is_match(b"x").expect("no error");
                    assert_eq!(other, !is_right && invert, "{text}");
                }
            });
        }
    }
}
