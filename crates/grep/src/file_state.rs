//! Selects the lines of a block to print, given the state left by the blocks before it.
//!
//! Context is selected, the limit of matches applied, and binary data the end, here; `search` finds where a NUL cuts a file, and where
//! the limit lies among matches that span lines. The code runs twice over each block:
//! first in block order with a sink that prints nothing, to compute the state for the next block; then in parallel
//! with the sink that prints.

use std::cell::OnceCell;
use std::ops::Range;
use std::time::Duration;

use memchr::memchr;

use crate::ahead::PartMatches;
use crate::binary::{Cut, LongLine, Pieces, count_line_ends};
use crate::tail::{Part, Tail};
use crate::units::Units;

/// Settings shared by every block of a job.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) before_context: usize,
    pub(crate) after_context: usize,
    pub(crate) passthru: bool,
    pub(crate) max_count: Option<u64>,
    /// Whether the search of a file ends at the first line after a match that does not match.
    pub(crate) stop_on_nonmatch: bool,
    /// Byte that ends a line.
    pub(crate) line_end: u8,
    /// Units that are selected and printed as a whole. If they are records, a line stands for a record below.
    pub(crate) units: Units,
    /// Whether matching lines in the trailing context of the last counted match are printed as matches. ripgrep does this
    /// when it searches many lines at once and when matching is inverted.
    pub(crate) matches_after_limit: bool,
    /// Whether the search of a file ends at a line that is suppressed because of a NUL.
    pub(crate) stops_at_binary: bool,
}

/// Handling of NUL bytes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nul {
    /// A NUL is a byte like any other.
    Ignore,
    /// The search ends before the line that contains a NUL.
    Quit,
    /// A NUL ends a line. Matching lines after the first NUL are reported by a notice only.
    EndLine,
    /// Matching lines that contain a NUL are reported by a notice only.
    Suppress,
    /// The search ends before a match or a line to print that contains a NUL. If matches may span lines, no others are looked for.
    QuitInLines,
}

impl Nul {
    /// Returns `true` if a NUL ends the search.
    pub(crate) fn quits(self) -> bool {
        matches!(self, Self::Quit | Self::QuitInLines)
    }
}

/// A matching line of a block, or the lines of matches that span lines and touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundLine {
    start: usize,
    end: usize,
    /// Number of lines of the block before this one, if line numbers are wanted.
    lines_before: u64,
}

impl FoundLine {
    pub(crate) fn new(range: Range<usize>) -> Self {
        Self { start: range.start, end: range.end, lines_before: 0 }
    }

    /// Returns the line with its offsets increased by `bytes`.
    pub(crate) fn shifted_by(self, bytes: usize) -> Self {
        Self { start: self.start + bytes, end: self.end + bytes, ..self }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl Found {
    /// Nothing yet. `is_count` is set if only the number of matching lines is wanted.
    pub(crate) fn new(is_count: bool) -> Self {
        Self { is_count, ..Self::default() }
    }

    /// Returns the point at which a NUL ends the search of the file, if it is known from this block.
    pub(crate) fn cut(&self) -> Option<Cut> {
        self.cut.get().copied().flatten()
    }

    /// Returns `true` if the line at an offset matches, given that the match limit is reached.
    fn matches_at(&self, start: usize) -> bool {
        match self.limit {
            Some(_) => self.past_limit.binary_search(&start).is_ok(),
            None => self.lines.binary_search_by_key(&start, |line| line.start).is_ok(),
        }
    }

    /// Counts the lines before each match and, if `all`, the lines of the whole block.
    pub(crate) fn count_lines(&mut self, bytes: &[u8], line_end: u8, all: bool) {
        let (mut counted, mut lines) = (0, 0);
        for line in &mut self.lines {
            lines += count_line_ends(bytes, counted..line.start, line_end, &self.long_lines);
            counted = line.start;
            line.lines_before = lines;
        }
        if all {
            self.line_ends = lines + count_line_ends(bytes, counted..bytes.len(), line_end, &self.long_lines);
        }
    }
}

/// Search results of a block.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Whether only the number of matching lines is wanted.
    pub(crate) is_count: bool,
    /// Matching lines, terminators included, if they are wanted.
    pub(crate) lines: Vec<FoundLine>,
    /// Number of matching lines.
    pub(crate) count: u64,
    /// Number of matches in these lines, if it is all that is wanted and already known.
    pub(crate) matches: Option<u64>,
    /// Number of line terminators in the block, if line numbers are wanted.
    pub(crate) line_ends: u64,
    /// Offset of the first NUL in the block, if it was searched for.
    pub(crate) nul: Option<usize>,
    /// Point at which a NUL ends the search of the file. Set by `advance`, in block order.
    pub(crate) cut: OnceCell<Option<Cut>>,
    /// Parts in the block of long lines that NULs split into several.
    pub(crate) long_lines: Vec<LongLine>,
    /// Whether the first matching line is the rest of a long line that began in an earlier block.
    pub(crate) continues_long_line: bool,
    /// For a long line that continues past the block: whether it matches so far.
    pub(crate) open_long_line: Option<bool>,
    /// Number of matching lines after which the match limit counts as reached, if matches may span lines: it is on matches, not on
    /// lines.
    pub(crate) limit: Option<u64>,
    /// The starts of the lines of trailing context that match by themselves when that limit is reached.
    pub(crate) past_limit: Vec<usize>,
    /// Matches in parts of a text, found before it was searched as a whole.
    pub(crate) parts: Vec<PartMatches>,
    /// Time that the search took, if statistics are wanted.
    pub(crate) elapsed: Duration,
    pub(crate) error: Option<String>,
}

/// A long line, split by NULs, that has not ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenLongLine {
    /// Whether it matches so far, in which case it is already counted.
    pub(crate) matches: bool,
    /// File offset of its start.
    offset: u64,
    /// File offset of its first NUL.
    pub(crate) nul: u64,
}

/// Per-file state carried from block to block.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileState {
    /// Number of line terminators before the block.
    pub(crate) line_ends: u64,
    /// Number of matching lines before the block, up to the match limit.
    pub(crate) count: u64,
    /// File offset of the end of the last printed line.
    printed_to: u64,
    /// Whether any line has been printed.
    pub(crate) printed: bool,
    /// Number of lines of trailing context still to be printed.
    after_context_left: usize,
    /// The last lines before the block, without a long line that has not ended.
    tail: Tail,
    /// File offset of the first NUL that was noticed.
    pub(crate) nul: Option<u64>,
    /// File offset from which matching lines are reported by a notice only.
    pub(crate) suppressed_from: Option<u64>,
    pub(crate) open_long_line: Option<OpenLongLine>,
    /// Position in the pieces that ripgrep would read the file in.
    pub(crate) pieces: Pieces,
    /// Number of bytes searched.
    pub(crate) searched: u64,
    /// File offset at which the search ends if the match limit is reached, or at a line that is not printed because the file is
    /// binary: the end of that line, of the last matching line or, past the limit, of its trailing context.
    limit_end: u64,
    /// Whether the search of the file is over: nothing more is printed of it.
    pub(crate) over: bool,
    /// Whether the file is larger than its first block.
    pub(crate) in_parts: bool,
}

/// A line for a [`Sink`], or the lines of matches that span lines and touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The line, terminator included.
    pub(crate) bytes: &'a [u8],
    /// The block that it is in.
    pub(crate) text: &'a [u8],
    /// Its offset in the block.
    pub(crate) start: usize,
    /// Line number, from 1. Meaningless if line numbers are not wanted.
    pub(crate) number: u64,
    /// File offset of the line.
    pub(crate) offset: u64,
}

impl Line<'_> {
    /// Returns the line as if nothing stood around it.
    pub(crate) fn by_itself(self) -> Self {
        Self { text: self.bytes, start: 0, offset: 0, ..self }
    }
}

/// Receiver of the lines to print.
pub(crate) trait Sink {
    /// Returns `true` if lines need their numbers.
    fn wants_numbers(&self) -> bool;
    /// The next lines belong to a matching line that counts for the match limit, the last of them.
    fn begin_match(&mut self) {}
    /// Takes a matching line.
    fn matched(&mut self, line: Line<'_>);
    /// Takes more of a matching line that NULs split. Only a sink that counts needs it: such a line is not printed.
    fn continued(&mut self, _rest: Line<'_>) {}
    /// Takes a line of context.
    fn context(&mut self, line: Line<'_>);
    /// Takes a gap between groups of lines that are not adjacent.
    fn gap(&mut self);

    /// Returns the line of the definition around a matching line, if it is to be printed before it. Both are ranges in the block.
    fn definition_of(&mut self, _line: Range<usize>) -> Option<Range<usize>> {
        None
    }

    /// Takes the line of a definition.
    fn definition(&mut self, _line: Line<'_>) {}
}

/// Sink that prints nothing, for computing the state after a block.
pub(crate) struct NullSink;

impl Sink for NullSink {
    fn wants_numbers(&self) -> bool {
        false
    }

    fn matched(&mut self, _line: Line<'_>) {}
    fn context(&mut self, _line: Line<'_>) {}
    fn gap(&mut self) {}
}

/// A step over one block: its bytes, its search results, the state before it and the sink for its lines.
pub(crate) struct Step<'a, S> {
    pub(crate) rules: &'a Rules,
    pub(crate) nul: Nul,
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: u64,
    pub(crate) found: &'a Found,
    pub(crate) state: &'a mut FileState,
    pub(crate) sink: &'a mut S,
    /// Offset in the block up to which line terminators are counted, and their number in the file up to there.
    counted: (usize, u64),
    /// The long line that began before the block and continues in it.
    open_long_line: Option<OpenLongLine>,
    /// Start of the line of a definition that is among the lines of context to be printed.
    definition: Option<usize>,
    /// Whether the last printed line is that of a definition further above than lines printed before.
    went_back: bool,
}

/// How to proceed after a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    /// A line cannot be printed because the file is binary: stop.
    StopAtBinary,
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
        let (counted, open_long_line) = ((0, state.line_ends), state.open_long_line);
        let (definition, went_back) = (None, false);
        Self { rules, nul, bytes, offset, found, state, sink, counted, open_long_line, definition, went_back }
    }

    /// Prints the selected lines of the block and advances the state past it.
    pub(crate) fn run(mut self) {
        if self.state.over {
            return;
        }
        let cut = self.found.cut();
        let end_of_quit = cut.filter(|_| self.nul == Nul::Quit).map(|cut| cut.from);
        // An offset within the block, so it fits in `usize`.
        let end = end_of_quit.map_or(self.bytes.len(), |from| from.saturating_sub(self.offset) as usize);
        let stop = self.end_of_nonmatch(end);
        let end = stop.unwrap_or(end);
        // A search that ends before the piece with the NUL never reads that.
        let is_unread = cut.zip(stop).is_some_and(|(cut, stop)| self.offset + stop as u64 <= cut.from);
        let cut = cut.filter(|_| !is_unread);
        let nul = match cut {
            Some(cut) => Some(cut.nul),
            None => self.found.nul.filter(|_| !is_unread).map(|at| self.offset + at as u64),
        };
        if let (Nul::EndLine, Some(cut)) = (self.nul, cut) {
            self.state.suppressed_from.get_or_insert(cut.from);
        } else if self.nul == Nul::Suppress {
            self.state.nul = self.state.nul.or(nul);
        }
        // Otherwise the lines after the cut are still searched, and a match in them is reported by a notice.
        let cut = cut.filter(|_| self.nul == Nul::Quit);
        if self.nul == Nul::QuitInLines && nul.is_some() {
            (self.state.nul, self.state.over) = (nul, true);
            return;
        }
        let next = self.print_lines(end);
        // The rest of the last counted line may have more matches.
        let is_open = self.state.open_long_line.is_some_and(|line| line.matches);
        let limited =
            self.is_limited() && self.state.after_context_left == 0 && !self.rules.passthru && !is_open;
        // With `passthru`, a line before the first match may be the one that is not printed: a match is still reported.
        let suppressed = next == Next::StopAtBinary && self.state.count > 0;
        self.state.searched = if limited || suppressed || self.found.limit.is_some() {
            self.state.limit_end
        } else {
            self.offset + end as u64
        };
        // A search that has reached its limit never reads the NUL that makes the file binary.
        if next == Next::StopAtBinary || !limited {
            self.state.nul = self.state.nul.or(nul);
        }
        if suppressed || cut.is_some() || limited || stop.is_some() {
            self.state.over = true;
            return;
        }
        self.keep_tail();
        self.state.line_ends += self.found.line_ends;
    }

    fn print_lines(&mut self, end: usize) -> Next {
        let counted = self.state.advance_long_line(self.found, self.offset);
        if let Some(&rest) = self.found.lines.first().filter(|_| counted) {
            self.state.limit_end = self.offset + rest.range().end as u64;
            self.sink.continued(self.line(rest.range()));
        }
        for &line in self.found.lines.get(usize::from(counted)..).unwrap_or_default() {
            let range = line.range();
            let is_past_limit = self.rules.max_count.is_some_and(|max| self.state.count >= max);
            if is_past_limit || range.start >= end && !range.is_empty() {
                break;
            }
            let next = self.print_before(range.clone());
            self.counted = (range.start, self.state.line_ends + line.lines_before);
            let line = self.line(range.clone());
            let quits = self.nul == Nul::QuitInLines && (next == Next::StopAtBinary || self.is_binary(line));
            if quits {
                return Next::StopAtBinary;
            }
            // An empty match after the last line counts for the context before it alone. A match that a NUL keeps from being printed
            // counts as well: the notice reports it.
            self.state.count += u64::from(!range.is_empty());
            if range.is_empty() && next == Next::Continue {
                break;
            }
            if next == Next::StopAtBinary || self.print_match(line) == Next::StopAtBinary {
                return Next::StopAtBinary;
            }
            self.state.after_context_left = self.rules.after_context;
            self.state.limit_end = self.offset + range.end as u64;
        }
        if self.found.limit.is_some() {
            self.state.limit_end = self.offset + end as u64;
        }
        if self.rules.passthru { self.print_all(end) } else { self.print_after(end) }
    }

    /// Returns the end of the first line after a match that does not match, if the search ends there.
    fn end_of_nonmatch(&self, end: usize) -> Option<usize> {
        let max = self.rules.max_count.unwrap_or(u64::MAX) - self.state.count;
        let mut matched_to = (self.state.count > 0).then_some(0);
        if !self.rules.stop_on_nonmatch {
            return None;
        }
        for line in self.found.lines.iter().zip(0..max).map(|(line, _)| line.range()) {
            if matched_to.is_some_and(|matched_to| matched_to < line.start) || line.start >= end {
                break;
            }
            matched_to = Some(line.end);
        }
        let line = self.line_at(matched_to.filter(|&matched_to| matched_to < end)?);
        Some(line.end)
    }

    fn is_limited(&self) -> bool {
        self.found.limit.or(self.rules.max_count).is_some_and(|max| self.state.count >= max)
    }

    /// Returns the offset of the first unprinted line of the block.
    fn unprinted_start(&self) -> usize {
        // An offset within the block, so it fits in `usize`.
        (self.state.printed_to.saturating_sub(self.offset) as usize).min(self.bytes.len())
    }

    /// Prints the lines before a matching line: the rest of the previous match's trailing context, the line of the definition
    /// around it, then its leading context.
    fn print_before(&mut self, line: Range<usize>) -> Next {
        let start = line.start;
        if self.rules.passthru {
            if line.is_empty() {
                return self.print_all(start);
            }
            self.print_definition(line, self.unprinted_start());
            let next = self.print_all(start);
            // With `passthru`, the lines before a match are printed even if the file has no match, so they do not belong to it.
            self.sink.begin_match();
            return next;
        }
        if self.print_after(start) == Next::StopAtBinary {
            return Next::StopAtBinary;
        }
        let from = self.unprinted_start();
        let (first, lines) = self.last_lines_before(from..start);
        if !line.is_empty() {
            self.sink.begin_match();
            self.print_definition(line, first);
        }
        if self.rules.before_context == 0 {
            return Next::Continue;
        }
        // Once a line of the block is printed, no line before the block is still wanted.
        if from == 0
            && lines < self.rules.before_context
            && self.print_tail(self.rules.before_context - lines) == Next::StopAtBinary
        {
            return Next::StopAtBinary;
        }
        let mut at = first;
        while at < start {
            let line = self.line_at(at);
            at = line.end;
            if self.print_context_at(line) == Next::StopAtBinary {
                return Next::StopAtBinary;
            }
        }
        Next::Continue
    }

    /// Returns the start of the lines of leading context in a part of the block, and their number. A long line that NULs
    /// split is one line.
    fn last_lines_before(&self, part: Range<usize>) -> (usize, usize) {
        let (wanted, units) = (self.rules.before_context, &self.rules.units);
        let (mut end, mut lines) = (part.end, 0);
        let inside = |long: &&LongLine| part.start <= long.range.start && long.range.end < part.end;
        for long in self.found.long_lines.iter().rev().filter(inside) {
            let begin = long.range.end + 1;
            let (first, count) = units.last(&self.bytes[begin..end], wanted - lines);
            lines += count;
            if lines == wanted {
                return (begin + first, lines);
            }
            (end, lines) = (long.range.start, lines + 1);
        }
        let (first, count) = units.last(&self.bytes[part.start..end], wanted - lines);
        (part.start + first, lines + count)
    }

    /// Prints the line of the definition around a matching line, or marks it if it is among the lines of context from
    /// `context` on.
    fn print_definition(&mut self, line: Range<usize>, context: usize) {
        let Some(definition) = self.sink.definition_of(line) else { return };
        if definition.start >= context {
            self.definition = Some(definition.start);
            return;
        }
        // The scope resumes after an inner scope whose lines have been printed, so its own line is above these.
        let is_printed = definition.start < self.unprinted_start();
        let line = self.line_above(definition);
        self.went_back |= is_printed;
        self.print_gap(line.offset);
        self.sink.definition(line);
        if is_printed { self.went_back = true } else { self.mark_printed(line) }
    }

    /// Prints the last `lines` lines of the blocks before this one.
    fn print_tail(&mut self, lines: usize) -> Next {
        let tail = std::mem::take(&mut self.state.tail);
        let lines_in = |part: &Part, count| part.lines_in_last(count, &self.rules.units);
        let mut left = tail.last(lines).map(|(part, count)| lines_in(part, count)).sum::<u64>();
        for (part, count) in tail.last(lines) {
            let number = (self.state.line_ends + 1).saturating_sub(left);
            left -= lines_in(part, count);
            if self.print_part(part, count, number) == Next::StopAtBinary {
                return Next::StopAtBinary;
            }
        }
        Next::Continue
    }

    /// Prints the last `count` lines of a part of the tail. `number` is the number of the first of them.
    fn print_part(&mut self, part: &Part, count: usize, mut number: u64) -> Next {
        let (bytes, start) = match part {
            Part::Lines { bytes, offset, .. } => (&bytes[..], *offset),
            Part::LongLine { offset, nul } => {
                self.state.nul.get_or_insert(*nul);
                return self.print_context(Line { bytes: b"", text: b"", start: 0, number, offset: *offset });
            }
        };
        let units = &self.rules.units;
        let (mut at, _) = units.last(bytes, count);
        while at < bytes.len() {
            let end = units.end_from(bytes, at);
            let (line, offset) = (&bytes[at..end], start + at as u64);
            let next = number + units.lines_in(line);
            let line = Line { bytes: line, text: bytes, start: at, number, offset };
            (at, number) = (end, next);
            if self.print_context(line) == Next::StopAtBinary {
                return Next::StopAtBinary;
            }
        }
        Next::Continue
    }

    /// Prints the trailing context of the last matching line. Past the match limit, matching lines in it may be printed as
    /// matches, although they do not count.
    fn print_after(&mut self, end: usize) -> Next {
        let mut at = self.unprinted_start();
        while self.state.after_context_left > 0 && at < end {
            let line = self.line_at(at);
            at = line.end;
            let next = match self.is_limited() && self.rules.matches_after_limit {
                true if self.found.matches_at(line.start) => {
                    self.print_definition(line.clone(), line.start);
                    self.state.limit_end = self.offset + line.end as u64;
                    let line = self.numbered_line(line);
                    self.print_match(line)
                }
                _ => {
                    if self.is_limited() && !self.rules.matches_after_limit {
                        self.state.limit_end = self.offset + line.end as u64;
                    }
                    self.print_context_at(line)
                }
            };
            if next == Next::StopAtBinary {
                return Next::StopAtBinary;
            }
            self.state.after_context_left -= 1;
        }
        Next::Continue
    }

    /// Prints all unprinted lines before `end` as context, for `passthru`.
    fn print_all(&mut self, end: usize) -> Next {
        let mut at = self.unprinted_start();
        while at < end {
            let line = self.line_at(at);
            at = line.end;
            if self.print_context_at(line) == Next::StopAtBinary {
                return Next::StopAtBinary;
            }
        }
        Next::Continue
    }

    fn line_at(&self, start: usize) -> Range<usize> {
        start..self.rules.units.end_from(self.bytes, start)
    }

    fn print_match(&mut self, line: Line<'_>) -> Next {
        self.print_gap(line.offset);
        if self.is_binary(line) {
            self.state.limit_end = line.offset + line.bytes.len() as u64;
            return Next::StopAtBinary;
        }
        self.sink.matched(line);
        self.mark_printed(line);
        Next::Continue
    }

    fn print_context_at(&mut self, range: Range<usize>) -> Next {
        let line = self.numbered_line(range);
        self.print_context(line)
    }

    fn print_context(&mut self, line: Line<'_>) -> Next {
        self.print_gap(line.offset);
        if self.is_binary(line) {
            self.state.limit_end = line.offset + line.bytes.len() as u64;
            return Next::StopAtBinary;
        }
        let at = line.offset.wrapping_sub(self.offset) as usize;
        if self.definition.take_if(|definition| *definition == at).is_some() {
            self.sink.definition(line);
        } else {
            self.sink.context(line);
        }
        self.mark_printed(line);
        Next::Continue
    }

    fn print_gap(&mut self, offset: u64) {
        // A long line that began in an earlier block is adjacent to the line before that part.
        let begun = self.open_long_line.filter(|_| offset == self.offset);
        let offset = begun.map_or(offset, |line| line.offset);
        let any_context = self.rules.before_context > 0 || self.rules.after_context > 0;
        if any_context && self.state.printed && (self.state.printed_to < offset || self.went_back) {
            self.sink.gap();
        }
        self.went_back = false;
    }

    fn mark_printed(&mut self, line: Line<'_>) {
        self.state.printed_to = line.offset + line.bytes.len() as u64;
        self.state.printed = true;
    }

    /// Returns the line at `range` with its number. The line must not be before the last numbered one.
    fn numbered_line(&mut self, range: Range<usize>) -> Line<'a> {
        if self.sink.wants_numbers() {
            let (end, count) = self.counted;
            let more =
                count_line_ends(self.bytes, end..range.start, self.rules.line_end, &self.found.long_lines);
            self.counted = (range.start, count + more);
        }
        self.line(range)
    }

    /// Returns the line at `range` with its number. The line may be before the last numbered one.
    fn line_above(&mut self, range: Range<usize>) -> Line<'a> {
        let (end, count) = self.counted;
        if range.start >= end || !self.sink.wants_numbers() {
            return self.numbered_line(range);
        }
        let fewer =
            count_line_ends(self.bytes, range.start..end, self.rules.line_end, &self.found.long_lines);
        let line = self.line(range);
        Line { number: (count + 1).saturating_sub(fewer), ..line }
    }

    /// Returns the line at `range`, which must be the last numbered one.
    fn line(&self, range: Range<usize>) -> Line<'a> {
        let offset = self.offset + range.start as u64;
        Line {
            bytes: &self.bytes[range.clone()],
            text: self.bytes,
            start: range.start,
            number: self.counted.1 + 1,
            offset,
        }
    }

    /// Returns `true` if a line must not be printed because of a NUL, and records that NUL.
    fn is_binary(&mut self, line: Line<'_>) -> bool {
        let is_binary = match self.nul {
            Nul::Ignore | Nul::Quit => false,
            Nul::EndLine => {
                self.state.suppressed_from.is_some_and(|from| from < line.offset + line.bytes.len() as u64)
            }
            Nul::Suppress => {
                if self.state.nul.is_none() {
                    let in_line = || memchr(0, line.bytes).map(|at| line.offset + at as u64);
                    self.state.nul = self.nul_of_long_line(line.offset).or_else(in_line);
                }
                self.state.nul.is_some()
            }
            Nul::QuitInLines => {
                self.state.nul = memchr(0, line.bytes).map(|at| line.offset + at as u64);
                return self.state.nul.is_some();
            }
        };
        is_binary && self.rules.stops_at_binary
    }

    /// Returns the file offset of the first NUL in the long line that contains the file offset `at`, if NULs split it.
    fn nul_of_long_line(&self, at: u64) -> Option<u64> {
        let at = at.checked_sub(self.offset)? as usize;
        let long = self.found.long_lines.iter().find(|long| long.range.contains(&at))?;
        self.nul_in(long)
    }

    /// Returns the file offset of the first NUL in a long line.
    fn nul_in(&self, long: &LongLine) -> Option<u64> {
        let before = self.open_long_line.filter(|_| long.range.start == 0).map(|line| line.nul);
        before.or(long.nul.map(|at| self.offset + at as u64))
    }

    /// Keeps the last unprinted lines of the block as possible leading context.
    fn keep_tail(&mut self) {
        let (wanted, units) = (self.rules.before_context, &self.rules.units);
        if wanted == 0 {
            return;
        }
        let mut from = self.unprinted_start();
        // Lines before a printed line are never printed later.
        if from > 0 {
            self.state.tail.clear();
        }
        let after = from;
        for long in self.found.long_lines.iter().filter(|long| long.range.start >= after) {
            let (before, offset) = (&self.bytes[from..long.range.start], self.offset + from as u64);
            self.state.tail.push_lines(before, offset, wanted, units);
            // A line that has not ended is no context yet.
            let ended = self.nul_in(long).filter(|_| long.range.end < self.bytes.len());
            if let Some(nul) = ended {
                let begun = self.open_long_line.filter(|_| long.range.start == 0);
                let offset = begun.map_or(self.offset + long.range.start as u64, |line| line.offset);
                self.state.tail.push_long_line(offset, nul, wanted);
            }
            from = self.bytes.len().min(long.range.end + 1);
        }
        self.state.tail.push_lines(&self.bytes[from..], self.offset + from as u64, wanted, units);
    }
}

impl FileState {
    /// Returns `true` if lines of trailing context are still to be printed.
    pub(crate) fn has_context_due(&self) -> bool {
        self.after_context_left > 0
    }

    /// Advances the state of a long line past the block at `offset`. Returns `true` if the first matching line of the block is
    /// the rest of a long line that already matched and was counted.
    pub(crate) fn advance_long_line(&mut self, found: &Found, offset: u64) -> bool {
        let before = self.open_long_line.take();
        let matched = before.is_some_and(|line| line.matches);
        if let (Some(matches), Some(long)) = (found.open_long_line, found.long_lines.last()) {
            let before = before.filter(|_| long.range.start == 0);
            let begin = offset + long.range.start as u64;
            let nul = offset + long.nul.unwrap_or(long.range.start) as u64;
            self.open_long_line = Some(OpenLongLine {
                matches: matches || before.is_some_and(|line| line.matches),
                offset: before.map_or(begin, |line| line.offset),
                nul: before.map_or(nul, |line| line.nul),
            });
        }
        found.continues_long_line && matched
    }

    /// Advances past the lines before an offset, without printing any.
    pub(crate) fn skip_to(&mut self, offset: u64, lines: u64) {
        self.line_ends = lines;
        self.searched = offset;
        self.pieces.skip_to(offset);
    }

    /// Advances past an overlong line, or a record of this many lines, that is in no block. Lines have numbers, but their bytes are not
    /// available.
    pub(crate) fn skip_unit(&mut self, bytes: u64, lines: u64) {
        self.line_ends += lines;
        self.searched += bytes;
        // The skipped line cannot be printed, so older lines are no context of the next match: they would not be adjacent.
        self.tail.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_line_counts_as_a_line_and_as_searched_bytes_but_is_no_context() {
        let mut state = FileState { line_ends: 3, searched: 10, ..FileState::default() };
        state.tail.push_lines(b"before\n", 0, 1, &Units::lines(b'\n'));
        state.skip_unit(7, 1);
        assert_eq!((state.line_ends, state.searched, state.tail.last(1).count()), (4, 17, 0));
    }

    #[test]
    fn the_rest_of_a_long_line_is_already_counted_only_if_the_line_matched_before() {
        for (before, continues_long_line) in
            [(None, true), (Some(false), true), (Some(true), false), (Some(true), true)]
        {
            let open_long_line = before.map(|matches| OpenLongLine { matches, offset: 0, nul: 1 });
            let mut state = FileState { open_long_line, ..FileState::default() };
            let counted = state.advance_long_line(&Found { continues_long_line, ..Found::default() }, 9);
            assert_eq!(
                counted,
                before == Some(true) && continues_long_line,
                "{before:?} {continues_long_line}"
            );
        }
    }
}
