//! Finds and replaces the matches in a line.

use std::convert::Infallible;

use grep_matcher::{Captures, Match, Matcher};

use crate::ahead::{Ahead, PartMatches, Remembering};
use crate::any_matcher::{AnyCaptures, AnyMatcher};
use crate::file_state::Line;
use crate::find::{Finder, lines, without_terminator};

/// Bytes after the lines of a match that an expression may look at, as in ripgrep's printers.
const LOOK_AHEAD: usize = 128;

/// The matches in a line, or in the lines of matches that span lines.
#[derive(Default)]
pub(crate) struct Matches {
    /// Matches, in order.
    pub(crate) found: Vec<Match>,
    /// The line with each match replaced; empty if nothing is.
    replaced: Vec<u8>,
    /// Positions of the replacements in `replaced`.
    replacements: Vec<Match>,
    captures: Option<AnyCaptures>,
    /// How parts of the file were searched before, and what was found.
    pub(crate) known: (Option<Ahead>, Vec<PartMatches>),
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
        match finder.finds_records() {
            false => self.find_in_line(finder, line, 0),
            // A selected record of an inverted search may have matches.
            true if !finder.is_met(line.bytes) => {}
            true => in_record(finder, line, |part, at| self.find_in_line(finder, part, at)),
        }
    }

    /// Adds the matches in a line, or in a record, at an offset in the record.
    fn find_in_line(&mut self, finder: &Finder<AnyMatcher>, line: Line<'_>, at: usize) {
        let Self { found, known: (ahead, parts), .. } = self;
        let (text, start) = searched(finder, line);
        // An empty match at the very end of the lines is in none of them.
        let end = start + line.bytes.len();
        let mut found_here = |found_here: Match| {
            let is_inside = found_here.start() < end;
            if is_inside {
                let (from, to) = (found_here.start() - start, found_here.end().min(end) - start);
                found.push(Match::new(at + from, at + to));
            }
            is_inside
        };
        if finder.spans_lines() {
            // What was found before is not about a line by itself.
            let is_part = line.bytes.len() < line.text.len();
            let parts = if is_part { &parts[..] } else { &[] };
            let _ = Remembering::new(finder.matcher(), line.text, *ahead, parts)
                .find_iter_at(text, start, found_here);
            return;
        }
        // ripgrep searches with the preceding lines in view, and PCRE2 does not match after a line feed at the end of the text.
        if text.is_empty() && line.offset > 0 && finder.misses_final_empty_line() {
            let before = [finder.terminator().as_byte()];
            let any = finder.matcher().find_at(&before, 1).ok().flatten().is_some();
            found.extend(any.then_some(Match::zero(at)));
            return;
        }
        // The engines implement this iteration themselves, but not `find_iter`.
        let _ = finder.matcher().try_find_iter(text, |here| Ok::<_, Infallible>(found_here(here)));
    }

    /// Replaces each match; `$1` and the like in `replacement` stand for capture groups.
    pub(crate) fn replace(&mut self, finder: &Finder<AnyMatcher>, line: Line<'_>, replacement: &[u8]) {
        self.replaced.clear();
        self.replacements.clear();
        if self.found.is_empty() {
            return;
        }
        if self.captures.is_none() {
            let Ok(new) = finder.matcher().new_captures() else { return };
            self.captures = Some(new);
        }
        match finder.finds_records() {
            false => self.replace_in_line(finder, line, replacement),
            true => in_record(finder, line, |part, _| self.replace_in_line(finder, part, replacement)),
        }
    }

    /// Adds a line, or a record, with each match replaced.
    fn replace_in_line(&mut self, finder: &Finder<AnyMatcher>, line: Line<'_>, replacement: &[u8]) {
        let Self { replaced, replacements, captures: Some(captures), .. } = self else { return };
        let matcher = finder.matcher();
        let (text, start) = searched(finder, line);
        let end = start + line.bytes.len();
        let mut copied = start;
        let _ = matcher.captures_iter_at(text, start, captures, |captures| {
            let Some(whole) = captures.get(0).filter(|whole| whole.start() < end) else {
                return false;
            };
            replaced.extend_from_slice(&text[copied..whole.start()]);
            copied = whole.end();
            let start = replaced.len();
            captures.interpolate(|name| matcher.capture_index(name), text, replacement, replaced);
            replacements.push(Match::new(start, replaced.len()));
            true
        });
        // As in ripgrep, a match that ends after the lines, where less of the text is seen, takes the visible part along.
        replaced.extend_from_slice(if copied > end {
            &text[copied..]
        } else {
            &line.bytes[copied - start..]
        });
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

/// Calls `each` with the parts of a record that are searched by themselves, and their offsets in it: its lines or, if matches may span
/// them, the record.
fn in_record<'a>(finder: &Finder<AnyMatcher>, record: Line<'a>, mut each: impl FnMut(Line<'a>, usize)) {
    if finder.matches_across_lines() {
        return each(record.by_itself(), 0);
    }
    for line in lines(record.bytes, finder.terminator()) {
        let (at, bytes) = (line.start, &record.bytes[line]);
        each(Line { bytes, ..record }.by_itself(), at);
    }
}

/// The text in which the matches of a line are searched for, and the offset of the line in it.
fn searched<'a>(finder: &Finder<AnyMatcher>, line: Line<'a>) -> (&'a [u8], usize) {
    if finder.finds_records() && finder.matches_across_lines() {
        return (line.bytes, 0);
    }
    if finder.spans_lines() {
        let end = line.start + line.bytes.len() + LOOK_AHEAD;
        (&line.text[..end.min(line.text.len())], line.start)
    } else {
        (without_terminator(line.bytes, finder.terminator()), 0)
    }
}
