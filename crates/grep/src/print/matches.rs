//! Finds and replaces the matches in a line.

use grep_matcher::{Captures, LineTerminator, Match, Matcher};

use crate::any_matcher::{AnyCaptures, AnyMatcher};
use crate::file_state::Line;
use crate::find::{Finder, terminator_len, without_terminator};

/// The matches in one line.
#[derive(Default)]
pub(crate) struct Matches {
    /// Matches, in order.
    pub(crate) found: Vec<Match>,
    /// The line with each match replaced; empty if nothing is.
    replaced: Vec<u8>,
    /// Positions of the replacements in `replaced`.
    replacements: Vec<Match>,
    captures: Option<AnyCaptures>,
}

impl Matches {
    pub(crate) fn clear(&mut self) {
        self.found.clear();
        self.replaced.clear();
        self.replacements.clear();
    }

    /// Finds the matches in a line with its terminator. Errors of the engine count as no match: the same search has found the
    /// line before without an error.
    pub(crate) fn find(&mut self, finder: &Finder<AnyMatcher>, line: Line<'_>) {
        self.clear();
        let (offset, line, found) = (line.offset, line.bytes, &mut self.found);
        let text = without_terminator(line, finder.terminator());
        // ripgrep searches with the preceding lines in view, and PCRE2 does not match after a line feed at the end of the text.
        if text.is_empty() && offset > 0 && finder.misses_final_empty_line() {
            let before = [finder.terminator().as_byte()];
            let any = finder.matcher().find_at(&before, 1).ok().flatten().is_some();
            found.extend(any.then_some(Match::zero(0)));
            return;
        }
        let _ = finder.matcher().find_iter(text, |found_here| {
            found.push(found_here);
            true
        });
        // An empty match at the very end of the file is in no line.
        if found.last().is_some_and(|last| last.is_empty() && last.start() >= line.len()) {
            found.pop();
        }
    }

    /// Replaces each match; `$1` and the like in `replacement` stand for capture groups.
    pub(crate) fn replace(
        &mut self,
        matcher: &AnyMatcher,
        line: &[u8],
        terminator: LineTerminator,
        replacement: &[u8],
    ) {
        let Self { found, replaced, replacements, captures } = self;
        replaced.clear();
        replacements.clear();
        if found.is_empty() {
            return;
        }
        let Some(captures) = captures.as_mut() else {
            let Ok(new) = matcher.new_captures() else { return };
            *captures = Some(new);
            return self.replace(matcher, line, terminator, replacement);
        };
        let end = line.len() - terminator_len(line, terminator);
        let text = &line[..end];
        let mut copied = 0;
        let _ = matcher.captures_iter(text, captures, |captures| {
            let Some(whole) = captures.get(0).filter(|whole| whole.start() < line.len()) else {
                return false;
            };
            replaced.extend_from_slice(&text[copied..whole.start()]);
            copied = whole.end();
            let start = replaced.len();
            captures.interpolate(|name| matcher.capture_index(name), text, replacement, replaced);
            replacements.push(Match::new(start, replaced.len()));
            true
        });
        replaced.extend_from_slice(&line[copied..]);
    }

    /// Returns the line with each match replaced and the positions of the replacements, or, without replacements, the line
    /// and its matches.
    pub(crate) fn shown<'a>(&'a self, line: &'a [u8]) -> (&'a [u8], &'a [Match]) {
        match self.replacement() {
            Some(shown) => shown,
            None => (line, &self.found),
        }
    }

    /// Returns the line with each match replaced and the positions of the replacements, if there are any.
    pub(crate) fn replacement(&self) -> Option<(&[u8], &[Match])> {
        (!self.replacements.is_empty()).then_some((&self.replaced, &self.replacements))
    }
}
