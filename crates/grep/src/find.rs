//! Finds the matching lines of a block.

use std::ops::{ControlFlow, Range};

use grep_matcher::{LineMatchKind, LineTerminator, Match, Matcher};
use memchr::{memchr, memrchr};

pub(crate) use records::RecordSearch;

mod records;

/// Matcher of lines in a block.
#[derive(Clone, Debug)]
pub(crate) struct Finder<M> {
    matcher: M,
    terminator: LineTerminator,
    /// Whether the engine knows that no match holds a line terminator.
    stays_in_line: bool,
    /// Whether matches may span lines.
    spans_lines: bool,
    /// Whether the patterns are known to match every line.
    matches_every_line: bool,
    misses_final_empty_line: bool,
    /// Set if whole records are found.
    records: Option<Box<RecordSearch<M>>>,
}

impl<M: Matcher> Finder<M> {
    /// Makes a finder. `matches_every_line` is set if the patterns are known to match every line.
    pub(crate) fn new(matcher: M, terminator: LineTerminator, matches_every_line: bool) -> Self {
        let byte = terminator.as_byte();
        let stays_in_line = matcher.line_terminator() == Some(terminator)
            || matcher.non_matching_bytes().is_some_and(|bytes| bytes.contains(byte));
        // The engine that reports nothing about line terminators is PCRE2.
        let misses_final_empty_line =
            matcher.line_terminator().is_none() && matcher.non_matching_bytes().is_none() && byte != 0;
        let (spans_lines, records) = (false, None);
        Self {
            matcher,
            terminator,
            stays_in_line,
            spans_lines,
            matches_every_line,
            misses_final_empty_line,
            records,
        }
    }

    /// Finds records instead of lines, if `search` says how.
    pub(crate) fn by_records(self, search: Option<RecordSearch<M>>) -> Self {
        Self { records: search.map(Box::new), ..self }
    }

    /// Lets matches span lines, if there can be such matches and `is_wanted`.
    pub(crate) fn across_lines(self, is_wanted: bool) -> Self {
        Self { spans_lines: is_wanted && !self.stays_in_line && self.records.is_none(), ..self }
    }

    /// Returns `true` if whole records are found.
    pub(crate) fn finds_records(&self) -> bool {
        self.records.is_some()
    }

    /// Returns `true` if there are no conditions on records, or a record meets them.
    pub(crate) fn is_met(&self, record: &[u8]) -> bool {
        // The search has asked the same before without an error.
        self.records.as_ref().is_none_or(|search| search.is_met(record).unwrap_or(true))
    }

    /// Returns `true` if a match may span lines, of a file or of a record.
    pub(crate) fn matches_across_lines(&self) -> bool {
        self.spans_lines || self.records.as_ref().is_some_and(|search| search.multiline)
    }

    /// Returns `true` if matches may span lines. They are searched for in whole files.
    pub(crate) fn spans_lines(&self) -> bool {
        self.spans_lines
    }

    /// Number of lines that are handed out together.
    pub(crate) fn lines_in(&self, bytes: &[u8]) -> u64 {
        if self.spans_lines { lines(bytes, self.terminator).count() as u64 } else { 1 }
    }

    pub(crate) fn matcher(&self) -> &M {
        &self.matcher
    }

    pub(crate) fn matcher_mut(&mut self) -> &mut M {
        &mut self.matcher
    }

    pub(crate) fn terminator(&self) -> LineTerminator {
        self.terminator
    }

    /// Returns `true` if one search covers many lines: it finds the same lines as a search of each line without its terminator.
    pub(crate) fn searches_across_lines(&self) -> bool {
        // With NUL as line terminator, the engine does not match `^` and `$` at the ends of lines.
        self.stays_in_line && self.terminator.as_byte() != 0
    }

    /// Returns `true` if the engine, like PCRE2, does not match `^` after a line feed that is the last byte of the text.
    pub(crate) fn misses_final_empty_line(&self) -> bool {
        self.misses_final_empty_line
    }

    /// Returns `true` if the patterns are known to match every line.
    pub(crate) fn matches_every_line(&self) -> bool {
        self.matches_every_line
    }

    /// Calls `found` with every matching line or record, terminator included, until it breaks.
    pub(crate) fn lines(
        &self,
        bytes: &[u8],
        found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), M::Error> {
        match &self.records {
            None => self.single_lines(bytes, found),
            Some(search) => self.records(search, bytes, found),
        }
    }

    /// Calls `found` with every matching line, terminator included, until it breaks.
    fn single_lines(
        &self,
        bytes: &[u8],
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), M::Error> {
        if self.matches_every_line || !self.searches_across_lines() {
            return self.one_by_one(bytes, found);
        }
        let mut from = 0;
        while let Some(line) = self.next_line(bytes, from..from)? {
            from = line.end;
            if found(line).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the first matching line from `first` on, which is a line, or empty if its end is not known.
    fn line_from(&self, bytes: &[u8], first: Range<usize>) -> Result<Option<Range<usize>>, M::Error> {
        if self.matches_every_line || !self.searches_across_lines() {
            return self.line_by_itself(bytes, first.start);
        }
        self.next_line(bytes, first)
    }

    /// Returns the first line from `from` on that matches by itself.
    fn line_by_itself(&self, bytes: &[u8], from: usize) -> Result<Option<Range<usize>>, M::Error> {
        let mut found = None;
        self.one_by_one(&bytes[from..], |line| {
            found = Some(from + line.start..from + line.end);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// Returns the first matching line from `first` on by a search across lines.
    fn next_line(&self, bytes: &[u8], first: Range<usize>) -> Result<Option<Range<usize>>, M::Error> {
        let mut from = first.start;
        while from < bytes.len() {
            let (at, confirmed) = match self.matcher.find_candidate_line(&bytes[from..])? {
                None => break,
                Some(LineMatchKind::Confirmed(at)) => (from + at, true),
                Some(LineMatchKind::Candidate(at)) => (from + at, false),
            };
            let line = if at < first.end { first.clone() } else { self.line_around(bytes, from, at) };
            // An empty match after the last line is in no line.
            if line.start == bytes.len() {
                break;
            }
            from = line.end;
            // If the line begins with a UTF-8 continuation byte, a Unicode word boundary looks back for the start of the
            // character and would run into the end of the line before.
            let confirmed = confirmed && !is_utf8_continuation(bytes[line.start]);
            if confirmed || self.is_match(&bytes[line.clone()])? {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// Reference implementation, which only requires the engine to match single lines.
    fn one_by_one(
        &self,
        bytes: &[u8],
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), M::Error> {
        for line in lines(bytes, self.terminator) {
            if (self.matches_every_line || self.is_match(&bytes[line.clone()])?) && found(line).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns `true` if a line matches by itself.
    pub(crate) fn is_match(&self, line: &[u8]) -> Result<bool, M::Error> {
        self.matcher.is_match(without_terminator(line, self.terminator))
    }

    /// Returns the line that contains offset `at`. `from` is the start of that line or of an earlier one.
    fn line_around(&self, bytes: &[u8], from: usize, at: usize) -> Range<usize> {
        let end = self.terminator.as_byte();
        let start = memrchr(end, &bytes[from..at]).map_or(from, |before| from + before + 1);
        start..memchr(end, &bytes[at..]).map_or(bytes.len(), |length| at + length + 1)
    }
}

/// Returns the lines of a block, terminators included.
pub(crate) fn lines(bytes: &[u8], terminator: LineTerminator) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from;
        if start == bytes.len() {
            return None;
        }
        from = memchr(terminator.as_byte(), &bytes[start..]).map_or(bytes.len(), |length| start + length + 1);
        Some(start..from)
    })
}

/// Returns the lines that a match is in, terminators included.
pub(crate) fn lines_of(text: &[u8], found: Match, line_end: u8) -> Range<usize> {
    let start = memrchr(line_end, &text[..found.start()]).map_or(0, |before| before + 1);
    // A match that ends with a line feed is in the lines up to that.
    let last = if found.is_empty() { found.start() } else { found.end() - 1 };
    start..memchr(line_end, &text[last.min(text.len())..]).map_or(text.len(), |length| last + length + 1)
}

/// Returns `true` for a UTF-8 continuation byte.
fn is_utf8_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Length of a line's terminator in bytes.
pub(crate) fn terminator_len(line: &[u8], terminator: LineTerminator) -> usize {
    match line {
        [.., b'\r', last] if terminator.is_crlf() && *last == b'\n' => 2,
        [.., last] if *last == terminator.as_byte() => 1,
        _ => 0,
    }
}

/// Returns a line without its terminator.
pub(crate) fn without_terminator(line: &[u8], terminator: LineTerminator) -> &[u8] {
    &line[..line.len() - terminator_len(line, terminator)]
}

#[cfg(test)]
mod tests {
    use grep_regex::RegexMatcherBuilder;
    use proptest::prelude::*;

    use super::*;

    fn found(finder: &Finder<grep_regex::RegexMatcher>, bytes: &[u8], reference: bool) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let collect = |line| {
            lines.push(line);
            ControlFlow::Continue(())
        };
        let result = if reference { finder.one_by_one(bytes, collect) } else { finder.lines(bytes, collect) };
        assert!(result.is_ok());
        lines
    }

    proptest! {
        #[test]
        fn a_search_over_many_lines_finds_the_same_lines_as_one_over_single_lines(
            bytes in prop::collection::vec(prop::sample::select(b"ab \r\n\xFF\x80\n".as_slice()), 0..200),
            pattern in prop::sample::select(vec![
                "a", "ab", "a+b", "^a", "b$", "^$", "", "a?", r"\bab\b", "[^b]", "a.b", r"\s", "(?-u:\\xFF)", r"\b", r"\B", r"\b{end-half}", r"\Aa", r"b\z", "a|b",
            ]),
            crlf: bool,
            word: bool,
        ) {
            // The engine sees the end of a line between a carriage return and a line feed, where no line ends.
            let is_at_boundary = word || pattern.contains(r"\B") || pattern.contains("half");
            let crlf = crlf && !is_at_boundary;
            let mut builder = RegexMatcherBuilder::new();
            builder.multi_line(true).line_terminator(Some(b'\n')).word(word);
            if crlf {
                builder.crlf(true);
            }
            let terminator = if crlf { LineTerminator::crlf() } else { LineTerminator::byte(b'\n') };
            let finder = Finder::new(builder.build(pattern).unwrap(), terminator, false);
            prop_assert_eq!(found(&finder, &bytes, false), found(&finder, &bytes, true));
        }
    }
}
