//! Where in a line the matches are, and what the line is with them replaced.

use grep_matcher::{Captures, LineTerminator, Match, Matcher};

use crate::file_state::Line;
use crate::find::{Finder, length_of_end, without_end};

/// The matches in one line.
pub(crate) struct Matches<M: Matcher> {
    /// In the line, in order.
    pub(crate) found: Vec<Match>,
    /// The line with each match replaced, and where the replacements are in it. None if nothing is.
    replaced: Vec<u8>,
    replacements: Vec<Match>,
    captures: Option<M::Captures>,
}

impl<M: Matcher> Default for Matches<M> {
    fn default() -> Self {
        Self { found: Vec::new(), replaced: Vec::new(), replacements: Vec::new(), captures: None }
    }
}

impl<M: Matcher> Matches<M> {
    pub(crate) fn clear(&mut self) {
        self.found.clear();
        self.replaced.clear();
        self.replacements.clear();
    }

    /// Finds the matches in a line, which has its end. What an engine fails at counts as not found: it has found the
    /// line with the same search before.
    pub(crate) fn find(&mut self, finder: &Finder<M>, line: Line<'_>) {
        self.clear();
        let (offset, line, found) = (line.offset, line.bytes, &mut self.found);
        let text = without_end(line, finder.terminator());
        // ripgrep looks for matches with the lines before in view. Where nothing is behind a line feed, PCRE2 does not match.
        if text.is_empty() && offset > 0 && finder.hides_last_line() {
            let before = [finder.terminator().as_byte()];
            let any = finder.matcher().find_at(&before, 1).ok().flatten().is_some();
            found.extend(any.then_some(Match::zero(0)));
            return;
        }
        let _ = finder.matcher().find_iter(text, |found_here| {
            found.push(found_here);
            true
        });
        // At the very end of the file there is no line any more for an empty match to be in.
        if found.last().is_some_and(|last| last.is_empty() && last.start() >= line.len()) {
            found.pop();
        }
    }

    /// Replaces each match; `$1` and the like in `replacement` stand for what groups matched.
    pub(crate) fn replace(
        &mut self,
        matcher: &M,
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
        let end = line.len() - length_of_end(line, terminator);
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

    /// The line with each match replaced, and where the replacements are in it; the line itself if nothing is.
    pub(crate) fn shown<'a>(&'a self, line: &'a [u8]) -> (&'a [u8], &'a [Match]) {
        match self.replacement() {
            Some(shown) => shown,
            None => (line, &self.found),
        }
    }

    /// The line with each match replaced, and where the replacements are in it.
    pub(crate) fn replacement(&self) -> Option<(&[u8], &[Match])> {
        (!self.replacements.is_empty()).then_some((&self.replaced, &self.replacements))
    }
}
