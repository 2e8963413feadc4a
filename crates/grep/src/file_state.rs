//! Which lines of a block are printed, given what was printed of the blocks before it.
//!
//! This is the one place that knows of context, of the limit on matches and of binary files. It runs twice over a
//! block: in the order of the blocks, with a sink that prints nothing, for what passes to the next block; and in
//! parallel, with the sink that prints.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use memchr::{memchr, memrchr_iter};

use crate::binary::{Cut, Pieces, line_ends_in};

/// What is the same for every block of a job.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) passthru: bool,
    pub(crate) max_count: Option<u64>,
    /// The byte that ends a line.
    pub(crate) line_end: u8,
    /// Whether lines that match in the context of the last one that counts are printed as such. ripgrep does so where it searches
    /// many lines at once, and where it looks for those that do not match.
    pub(crate) matches_behind_limit: bool,
    /// Whether a line that is not to be printed because of a NUL ends the file.
    pub(crate) binary_ends: bool,
}

/// What to make of NUL bytes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nul {
    /// Nothing: it is a byte like any other.
    Ignore,
    /// The file ends before the line that holds it.
    Quit,
    /// It ends a line; of the lines behind the first one it is only said that they match.
    EndLine,
    /// Of the lines that hold one it is only said that they match.
    Suppress,
}

/// A line of a block that matches. Positions in a block are below 2^32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundLine {
    start: u32,
    end: u32,
    /// How many lines of the block are before it, if the numbers of lines are wanted.
    before: u32,
}

impl FoundLine {
    pub(crate) fn new(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32, before: 0 }
    }

    /// The same line in a block that begins so much earlier.
    pub(crate) fn behind(self, bytes: usize) -> Self {
        Self { start: self.start + bytes as u32, end: self.end + bytes as u32, ..self }
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Found {
    /// Where the search of the file ends because of a NUL, if it does in this block.
    pub(crate) fn cut(&self) -> Option<Cut> {
        self.cut.get().copied().flatten()
    }

    /// Counts lines, up to each that was found, and to the end of the block if `all`.
    pub(crate) fn count_lines(&mut self, bytes: &[u8], line_end: u8, all: bool) {
        let (mut counted, mut lines) = (0, 0);
        for line in &mut self.lines {
            let before = counted..line.start as usize;
            lines += line_ends_in(bytes, before, line_end, &self.long_lines) as u32;
            counted = line.start as usize;
            line.before = lines;
        }
        if all {
            self.line_ends =
                u64::from(lines) + line_ends_in(bytes, counted..bytes.len(), line_end, &self.long_lines);
        }
    }
}

/// What was found in a block.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The lines that match, with their ends; only if they are wanted one by one.
    pub(crate) lines: Vec<FoundLine>,
    /// How many there are.
    pub(crate) count: u64,
    /// How many ends of lines are in the block, if the numbers of lines are wanted.
    pub(crate) line_ends: u64,
    /// The first NUL, if it was looked for.
    pub(crate) nul: Option<usize>,
    /// Where the search of the file ends because of a NUL, as soon as the block has had its turn.
    pub(crate) cut: OnceCell<Option<Cut>>,
    /// Long lines that NULs have cut into several, or what of them is in the block.
    pub(crate) long_lines: Vec<Range<usize>>,
    /// Whether the first of the lines found is the rest of a long line that began in a block before.
    pub(crate) continues: bool,
    /// If a long line goes on behind the block: whether it matches so far.
    pub(crate) unended: Option<bool>,
    /// How long the search took, if that is wanted.
    pub(crate) elapsed: Duration,
    pub(crate) error: Option<String>,
}

/// The last lines of a block.
#[derive(Debug)]
struct Tail {
    bytes: Vec<u8>,
    lines: usize,
}

/// Per-file state carried from block to block.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileState {
    /// Ends of lines before the block.
    pub(crate) line_ends: u64,
    /// Lines that match before the block, as far as they count.
    pub(crate) count: u64,
    /// Where the last line that was printed ended.
    visited: u64,
    /// Whether any line has been printed.
    pub(crate) printed: bool,
    /// How many more lines of context are due.
    after_left: usize,
    /// The last lines before the block, if they have not been printed and may become context. In parts, one of each
    /// block, which all states share: they may be many, and are mostly not wanted.
    tail: VecDeque<Arc<Tail>>,
    /// The first NUL that was noticed, in bytes from the beginning of the file.
    pub(crate) nul: Option<u64>,
    /// From where on it is only said that lines match.
    pub(crate) suppressed_from: Option<u64>,
    /// If a long line has not ended: whether it matches so far, and so has been counted.
    pub(crate) long_line: Option<bool>,
    /// Position in the file, in the pieces that ripgrep reads.
    pub(crate) pieces: Pieces,
    /// Bytes that were searched.
    pub(crate) searched: u64,
    /// Where the last line that matches ended.
    enough_at: u64,
    /// Whether nothing more is to be printed of the file.
    pub(crate) over: bool,
}

/// A line that is printed, or would be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// With its end.
    pub(crate) bytes: &'a [u8],
    /// Its number, from 1; of no meaning if the numbers are not wanted.
    pub(crate) number: u64,
    /// Bytes of the file before it.
    pub(crate) offset: u64,
}

/// Where lines go.
pub(crate) trait Sink {
    /// Whether lines should have their numbers.
    fn wants_numbers(&self) -> bool;
    /// A line that matches.
    fn matched(&mut self, line: Line<'_>);
    /// A line of context.
    fn context(&mut self, line: Line<'_>);
    /// A gap between lines.
    fn gap(&mut self);
}

/// For what passes on, whatever is printed.
pub(crate) struct Nowhere;

impl Sink for Nowhere {
    fn wants_numbers(&self) -> bool {
        false
    }

    fn matched(&mut self, _line: Line<'_>) {}
    fn context(&mut self, _line: Line<'_>) {}
    fn gap(&mut self) {}
}

/// A block and what was found in it.
pub(crate) struct Step<'a, S> {
    pub(crate) rules: &'a Rules,
    pub(crate) nul: Nul,
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: u64,
    pub(crate) found: &'a Found,
    pub(crate) state: &'a mut FileState,
    pub(crate) sink: &'a mut S,
    /// Up to where ends of lines have been counted, and how many of the file are before that.
    counted: (usize, u64),
}

/// Whether to go on with the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    /// A line cannot be printed because the file is binary.
    Binary,
}

impl<'a, S: Sink> Step<'a, S> {
    pub(crate) fn new(
        rules: &'a Rules,
        nul: Nul,
        (bytes, offset): (&'a [u8], u64),
        found: &'a Found,
        state: &'a mut FileState,
        sink: &'a mut S,
    ) -> Self {
        let counted = (0, state.line_ends);
        Self { rules, nul, bytes, offset, found, state, sink, counted }
    }

    /// Prints what is to be printed of the block, and brings the state behind it.
    pub(crate) fn run(mut self) {
        if self.state.over {
            return;
        }
        let cut = self.found.cut();
        let nul = match cut {
            Some(cut) => Some(cut.nul),
            None => self.found.nul.map(|at| self.offset + at as u64),
        };
        if let (Nul::EndLine, Some(cut)) = (self.nul, cut) {
            self.state.suppressed_from.get_or_insert(cut.from);
        } else if self.nul == Nul::Suppress {
            self.state.nul = self.state.nul.or(nul);
        }
        let cut = cut.filter(|_| self.nul == Nul::Quit);
        // Within the block, which is in memory.
        let end = cut.map_or(self.bytes.len(), |cut| cut.from.saturating_sub(self.offset) as usize);
        let go = self.lines(end);
        let limited = self.is_limited() && self.state.after_left == 0 && !self.rules.passthru;
        self.state.searched = if limited { self.state.enough_at } else { self.offset + end as u64 };
        // Who has enough does not read on to where the file turns out to be binary.
        if go == Go::Binary || !limited {
            self.state.nul = self.state.nul.or(nul);
        }
        if go == Go::Binary || cut.is_some() || limited {
            self.state.over = true;
            return;
        }
        self.keep_tail();
        self.state.line_ends += self.found.line_ends;
    }

    fn lines(&mut self, end: usize) -> Go {
        let counted = usize::from(self.state.pass_long_line(self.found));
        for &line in self.found.lines.get(counted..).unwrap_or_default() {
            if self.is_limited() {
                break;
            }
            let range = line.range();
            if range.start >= end {
                break;
            }
            let go = self.before(range.start);
            self.state.count += 1;
            if go == Go::Binary || self.matched(line) == Go::Binary {
                return Go::Binary;
            }
            self.state.after_left = self.rules.after;
            self.state.enough_at = self.offset + range.end as u64;
        }
        if self.rules.passthru { self.all_up_to(end) } else { self.after(end) }
    }

    fn is_limited(&self) -> bool {
        self.rules.max_count.is_some_and(|max| self.state.count >= max)
    }

    /// What has not been printed of the block begins here.
    fn unvisited(&self) -> usize {
        // Within the block, which is in memory.
        (self.state.visited.saturating_sub(self.offset) as usize).min(self.bytes.len())
    }

    /// Prints the context before a matching line: what is due after the last one, then what is due before this one.
    fn before(&mut self, start: usize) -> Go {
        if self.rules.passthru {
            return self.all_up_to(start);
        }
        if self.after(start) == Go::Binary {
            return Go::Binary;
        }
        if self.rules.before == 0 {
            return Go::On;
        }
        let from = self.unvisited();
        let (first, lines) = last_lines(&self.bytes[from..start], self.rules.before, self.rules.line_end);
        if from == 0
            && lines < self.rules.before
            && self.tail_context(self.rules.before - lines) == Go::Binary
        {
            return Go::Binary;
        }
        let mut at = from + first;
        while at < start {
            let line = self.line_at(at);
            at = line.end;
            if self.context(line) == Go::Binary {
                return Go::Binary;
            }
        }
        Go::On
    }

    /// Prints the last lines of the blocks before this one.
    fn tail_context(&mut self, lines: usize) -> Go {
        let parts = std::mem::take(&mut self.state.tail);
        let tail = parts.iter().map(|part| &part.bytes[..]).collect::<Vec<_>>().concat();
        let (first, mut count) = last_lines(&tail, lines, self.rules.line_end);
        let mut at = first;
        while at < tail.len() {
            let length = memchr(self.rules.line_end, &tail[at..]).map_or(tail.len() - at, |end| end + 1);
            let line = Line {
                bytes: &tail[at..at + length],
                number: (self.state.line_ends + 1).saturating_sub(count as u64),
                offset: self.offset - (tail.len() - at) as u64,
            };
            at += length;
            count -= 1;
            if self.print_context(line) == Go::Binary {
                return Go::Binary;
            }
        }
        Go::On
    }

    /// Prints the context that is due after the last matching line. Once there were enough matches, those in it may be
    /// printed as such, though they do not count.
    fn after(&mut self, upto: usize) -> Go {
        let mut at = self.unvisited();
        while self.state.after_left > 0 && at < upto {
            let line = self.line_at(at);
            at = line.end;
            let same = |found: &FoundLine| found.range().start.cmp(&line.start);
            let go = match self.found.lines.binary_search_by(same) {
                Ok(place) if self.is_limited() && self.rules.matches_behind_limit => {
                    self.state.enough_at = self.offset + line.end as u64;
                    self.matched(self.found.lines[place])
                }
                _ => {
                    if self.is_limited() && !self.rules.matches_behind_limit {
                        self.state.enough_at = self.offset + line.end as u64;
                    }
                    self.context(line)
                }
            };
            if go == Go::Binary {
                return Go::Binary;
            }
            self.state.after_left -= 1;
        }
        Go::On
    }

    fn all_up_to(&mut self, upto: usize) -> Go {
        let mut at = self.unvisited();
        while at < upto {
            let line = self.line_at(at);
            at = line.end;
            if self.context(line) == Go::Binary {
                return Go::Binary;
            }
        }
        Go::On
    }

    fn line_at(&self, start: usize) -> Range<usize> {
        let length = memchr(self.rules.line_end, &self.bytes[start..]);
        start..length.map_or(self.bytes.len(), |length| start + length + 1)
    }

    fn matched(&mut self, line: FoundLine) -> Go {
        self.counted = (line.range().start, self.state.line_ends + u64::from(line.before));
        let line = self.line(line.range());
        // ripgrep sees the NUL in a file that it has mapped before it prints anything, in others only after the gap.
        if self.nul == Nul::EndLine {
            self.separate(line.offset);
        }
        if self.is_binary(line) {
            return Go::Binary;
        }
        if self.nul != Nul::EndLine {
            self.separate(line.offset);
        }
        self.sink.matched(line);
        self.visit(line);
        Go::On
    }

    fn context(&mut self, range: Range<usize>) -> Go {
        let line = self.number(range);
        self.print_context(line)
    }

    fn print_context(&mut self, line: Line<'_>) -> Go {
        self.separate(line.offset);
        if self.is_binary(line) {
            return Go::Binary;
        }
        self.sink.context(line);
        self.visit(line);
        Go::On
    }

    fn separate(&mut self, offset: u64) {
        let any_context = self.rules.before > 0 || self.rules.after > 0;
        if any_context && self.state.printed && self.state.visited < offset {
            self.sink.gap();
        }
    }

    fn visit(&mut self, line: Line<'_>) {
        self.state.visited = line.offset + line.bytes.len() as u64;
        self.state.printed = true;
    }

    /// A line at or behind the last one whose number was asked for.
    fn number(&mut self, range: Range<usize>) -> Line<'a> {
        if self.sink.wants_numbers() {
            let (upto, count) = self.counted;
            let more =
                line_ends_in(self.bytes, upto..range.start, self.rules.line_end, &self.found.long_lines);
            self.counted = (range.start, count + more);
        }
        self.line(range)
    }

    /// The line whose number was asked for last.
    fn line(&self, range: Range<usize>) -> Line<'a> {
        let offset = self.offset + range.start as u64;
        Line { bytes: &self.bytes[range], number: self.counted.1 + 1, offset }
    }

    /// Whether a line is not to be printed because of a NUL, which is noticed.
    fn is_binary(&mut self, line: Line<'_>) -> bool {
        let is_binary = match self.nul {
            Nul::Ignore | Nul::Quit => false,
            Nul::EndLine => {
                self.state.suppressed_from.is_some_and(|from| from < line.offset + line.bytes.len() as u64)
            }
            Nul::Suppress => {
                if self.state.nul.is_none() {
                    let nul =
                        memchr(0, line.bytes).or_else(|| self.is_cut(line).then_some(line.bytes.len() - 1));
                    self.state.nul = nul.map(|at| line.offset + at as u64);
                }
                self.state.nul.is_some()
            }
        };
        is_binary && self.rules.binary_ends
    }

    /// Whether a line is part of a long one that NULs have cut into several.
    fn is_cut(&self, line: Line<'_>) -> bool {
        let at = line.offset.checked_sub(self.offset);
        at.is_some_and(|at| self.found.long_lines.iter().any(|long| long.contains(&(at as usize))))
    }

    /// Keeps the last lines of the block that have not been printed.
    fn keep_tail(&mut self) {
        if self.rules.before == 0 {
            return;
        }
        // Of a long line that NULs have cut there is nothing to print.
        let cut = self.found.long_lines.last().map_or(0, |line| (line.end + 1).min(self.bytes.len()));
        let from = self.unvisited().max(cut);
        let (first, lines) = last_lines(&self.bytes[from..], self.rules.before, self.rules.line_end);
        let tail = &mut self.state.tail;
        if from > 0 || lines >= self.rules.before {
            tail.clear();
        }
        if lines > 0 {
            tail.push_back(Arc::new(Tail { bytes: self.bytes[from + first..].to_vec(), lines }));
        }
        let mut all: usize = tail.iter().map(|part| part.lines).sum();
        while let Some(front) = tail.front().filter(|front| all - front.lines >= self.rules.before) {
            all -= front.lines;
            tail.pop_front();
        }
    }
}

impl FileState {
    /// Whether lines of context are due whatever is found next.
    pub(crate) fn is_owed(&self) -> bool {
        self.after_left > 0
    }

    /// Brings what is known of a long line behind a block. True if the first of the lines found in the block is the rest of one
    /// that is known to match.
    pub(crate) fn pass_long_line(&mut self, found: &Found) -> bool {
        let matches = self.long_line.take().unwrap_or(false);
        let goes_on = found.long_lines.len() == 1 && found.long_lines[0].start == 0;
        self.long_line = found.unended.map(|unended| unended || goes_on && matches);
        found.continues && matches
    }

    /// Passes over a line that is in no block: it has a number, but is not there.
    pub(crate) fn skip_line(&mut self, bytes: u64) {
        self.line_ends += 1;
        self.searched += bytes;
        self.tail.clear();
    }
}

/// Where the last lines of `bytes` begin, at most `wanted`, and how many those are.
fn last_lines(bytes: &[u8], wanted: usize, line_end: u8) -> (usize, usize) {
    if bytes.is_empty() || wanted == 0 {
        return (bytes.len(), 0);
    }
    let ended = bytes.strip_suffix(&[line_end]).unwrap_or(bytes);
    let mut lines = 0;
    for end in memrchr_iter(line_end, ended) {
        lines += 1;
        if lines == wanted {
            return (end + 1, lines);
        }
    }
    (0, lines + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_left_out_has_a_number_and_bytes_and_is_no_context() {
        let mut state = FileState { line_ends: 3, searched: 10, ..FileState::default() };
        state.tail.push_back(Arc::new(Tail { bytes: b"before\n".to_vec(), lines: 1 }));
        state.skip_line(7);
        assert_eq!((state.line_ends, state.searched, state.tail.len()), (4, 17, 0));
    }

    #[test]
    fn the_rest_of_a_long_line_is_known_only_if_the_line_matched_before() {
        for (before, continues) in
            [(None, true), (Some(false), true), (Some(true), false), (Some(true), true)]
        {
            let mut state = FileState { long_line: before, ..FileState::default() };
            let known = state.pass_long_line(&Found { continues, ..Found::default() });
            assert_eq!(known, before == Some(true) && continues, "{before:?} {continues}");
        }
    }
}
