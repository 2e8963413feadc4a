//! Which lines of a block match.

use std::ops::{ControlFlow, Range};

use grep_matcher::{LineMatchKind, LineTerminator, Matcher};
use memchr::{memchr, memrchr};

/// Finds matching lines.
#[derive(Clone, Debug)]
pub(crate) struct Finder<M> {
    matcher: M,
    terminator: LineTerminator,
    /// Whether a search over many lines finds the same as one over each line without its end.
    across_lines: bool,
    /// Whether every line matches.
    everything: bool,
    hides_last_line: bool,
}

impl<M: Matcher> Finder<M> {
    /// `everything` says that the patterns are known to match every line.
    pub(crate) fn new(matcher: M, terminator: LineTerminator, everything: bool) -> Self {
        let byte = terminator.as_byte();
        // The engine does not know the ends of lines that end with NUL as the ends that `^` and `$` mean.
        let across_lines = byte != 0
            && (matcher.line_terminator() == Some(terminator)
                || matcher.non_matching_bytes().is_some_and(|bytes| bytes.contains(byte)));
        // The engine that says nothing of the ends of lines is PCRE2.
        let hides_last_line =
            matcher.line_terminator().is_none() && matcher.non_matching_bytes().is_none() && byte != 0;
        Self { matcher, terminator, across_lines, everything, hides_last_line }
    }

    pub(crate) fn matcher(&self) -> &M {
        &self.matcher
    }

    pub(crate) fn terminator(&self) -> LineTerminator {
        self.terminator
    }

    /// Whether many lines are searched at once.
    pub(crate) fn searches_across_lines(&self) -> bool {
        self.across_lines
    }

    /// Whether the engine does not match `^` behind a line feed that is the last byte of its text: so it is with PCRE2.
    pub(crate) fn hides_last_line(&self) -> bool {
        self.hides_last_line
    }

    /// Whether every line matches.
    pub(crate) fn finds_everything(&self) -> bool {
        self.everything
    }

    /// Calls `found` with every matching line, with its end, until it breaks.
    pub(crate) fn lines(
        &self,
        bytes: &[u8],
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), M::Error> {
        if self.everything || !self.across_lines {
            return self.one_by_one(bytes, found);
        }
        let mut from = 0;
        while from < bytes.len() {
            let (at, sure) = match self.matcher.find_candidate_line(&bytes[from..])? {
                None => break,
                Some(LineMatchKind::Confirmed(at)) => (from + at, true),
                Some(LineMatchKind::Candidate(at)) => (from + at, false),
            };
            let line = self.line_around(bytes, from, at);
            // An empty match behind the last line is in no line.
            if line.start == bytes.len() {
                break;
            }
            from = line.end;
            // A Unicode word boundary behind bytes that continue a character looks for its beginning, and would find the end of the
            // line before.
            let sure = sure && !continues_a_character(bytes[line.start]);
            if (sure || self.is_match(&bytes[line.clone()])?) && found(line).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The plain way, which needs nothing of the engine but to match one line.
    fn one_by_one(
        &self,
        bytes: &[u8],
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), M::Error> {
        for line in lines(bytes, self.terminator) {
            if (self.everything || self.is_match(&bytes[line.clone()])?) && found(line).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn is_match(&self, line: &[u8]) -> Result<bool, M::Error> {
        self.matcher.is_match(without_end(line, self.terminator))
    }

    /// The line around a place; `from` is where a line before it begins.
    fn line_around(&self, bytes: &[u8], from: usize, at: usize) -> Range<usize> {
        let end = self.terminator.as_byte();
        let start = memrchr(end, &bytes[from..at]).map_or(from, |before| from + before + 1);
        start..memchr(end, &bytes[at..]).map_or(bytes.len(), |length| at + length + 1)
    }
}

/// The lines of a block, with their ends.
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

/// Whether a byte is one behind the first of a character in UTF-8.
fn continues_a_character(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How many bytes the end of a line takes.
pub(crate) fn length_of_end(line: &[u8], terminator: LineTerminator) -> usize {
    match line {
        [.., b'\r', last] if terminator.is_crlf() && *last == b'\n' => 2,
        [.., last] if *last == terminator.as_byte() => 1,
        _ => 0,
    }
}

/// A line without its end.
pub(crate) fn without_end(line: &[u8], terminator: LineTerminator) -> &[u8] {
    &line[..line.len() - length_of_end(line, terminator)]
}

#[cfg(test)]
mod tests {
    use grep_regex::RegexMatcherBuilder;
    use proptest::prelude::*;

    use super::*;

    fn found(finder: &Finder<grep_regex::RegexMatcher>, bytes: &[u8], plain: bool) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let collect = |line| {
            lines.push(line);
            ControlFlow::Continue(())
        };
        let result = if plain { finder.one_by_one(bytes, collect) } else { finder.lines(bytes, collect) };
        assert!(result.is_ok());
        lines
    }

    proptest! {
        #[test]
        fn the_search_over_many_lines_finds_what_the_plain_one_finds(
            bytes in prop::collection::vec(prop::sample::select(b"ab \r\n\xFF\x80\n".as_slice()), 0..200),
            pattern in prop::sample::select(vec![
                "a", "ab", "a+b", "^a", "b$", "^$", "", "a?", r"\bab\b", "[^b]", "a.b", r"\s", "(?-u:\\xFF)", r"\b", r"\B", r"\b{end-half}", r"\Aa", r"b\z", "a|b",
            ]),
            crlf: bool,
            word: bool,
        ) {
            // Between a carriage return and a line feed the engine sees the end of a line, but no line ends there.
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
