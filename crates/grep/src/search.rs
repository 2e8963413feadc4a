//! Searches files block by block and prints the results.
//!
//! ripgrep's searcher and printer cannot search blocks: they cannot be told at which line a block begins, or what was printed before it.

use std::mem;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::Instant;

use finecomb_scan::{
    Absent, Block, HEAD_SIZE, LONG_LINE, Medium, Meter, NulEnds, Output, Print, Search, Select, Source,
    Wants, decompressed_name,
};
use grep_matcher::{LineTerminator, Matcher};
use grep_printer::Stats;
use memchr::{memchr, memchr_iter, memrchr};

use crate::ahead::{Ahead, PartMatches, Remembering, after};
use crate::any_matcher::{AnyMatcher, Failure};
use crate::binary::{self, Cut};
use crate::enclosing::{Enclosing, ScopeFinder, not_shown};
use crate::file_state::{FileState, Found, FoundLine, Line, Nul, NullSink, Rules, Sink, Step};
use crate::find::{Finder, lines, lines_of};
use crate::options::{Binary, GrepOptions, LineEnd, Mode};
use crate::print::lines::Style;
use crate::print::{Matches, Tally, json, lines as text, records};
use crate::records::{binary_notice, put_binary, put_path};
use crate::units::Units;

#[cfg(test)]
mod tests;

/// Block-wise search of one worker.
pub(crate) struct Searcher<'q> {
    style: &'q Style,
    rules: Rules,
    finder: Finder<AnyMatcher>,
    matches: Matches,
    /// Finds definitions around matches, if they are printed.
    scope_finder: Option<Box<dyn ScopeFinder>>,
    /// How parts of large files are searched first, if they are.
    pub(crate) ahead: Option<Ahead>,
    /// Matches in the parts of the next file.
    parts: Vec<PartMatches>,
    pub(crate) totals: Totals,
}

/// Totals of one worker over all its files.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Whether anything was found.
    pub(crate) any: bool,
    pub(crate) stats: Stats,
    /// Number of printed bytes that are colour escapes, if statistics are wanted.
    pub(crate) color_bytes: u64,
    /// Errors of the regex engine: file and message.
    pub(crate) errors: Vec<(Source, String)>,
}

impl Totals {
    pub(crate) fn add(&mut self, other: Self) {
        self.any |= other.any;
        self.stats += &other.stats;
        self.color_bytes += other.color_bytes;
        self.errors.extend(other.errors);
    }
}

/// Sink that counts matches and prints nothing.
struct Counter<'a> {
    finder: &'a Finder<AnyMatcher>,
    matches: &'a mut Matches,
    tally: &'a mut Tally,
}

impl Sink for Counter<'_> {
    fn wants_numbers(&self) -> bool {
        false
    }

    fn matched(&mut self, line: Line<'_>) {
        self.matches.find(self.finder, line);
        self.tally.lines += self.finder.lines_in(line.bytes);
        self.tally.matches += self.matches.found.len().max(1) as u64;
    }

    fn continued(&mut self, rest: Line<'_>) {
        self.matches.find(self.finder, rest);
        self.tally.matches += self.matches.found.len() as u64;
    }

    fn context(&mut self, _line: Line<'_>) {}
    fn gap(&mut self) {}
}

/// Parts of the sinks that print a block.
struct Printing<'a, 'o> {
    style: &'a Style,
    finder: &'a Finder<AnyMatcher>,
    matches: &'a mut Matches,
    path: &'a Path,
    /// Whether a line of the file has been printed.
    begun: bool,
    enclosing: Option<Enclosing<'a>>,
    tally: &'a mut Tally,
    out: &'a mut Output<'o>,
}

impl<'a, 'o> Printing<'a, 'o> {
    fn counter(self) -> Counter<'a> {
        let Self { finder, matches, tally, .. } = self;
        Counter { finder, matches, tally }
    }

    fn json(self) -> json::Printer<'a, 'o> {
        let Self { style, finder, matches, path, begun, enclosing, tally, out } = self;
        let (options, which, begins_result) = (&style.options, style.which.as_ref(), false);
        json::Printer { options, which, finder, matches, path, begun, begins_result, enclosing, tally, out }
    }

    fn records(self) -> records::Printer<'a, 'o> {
        let Self { style, finder, matches, path, tally, out, .. } = self;
        let path = Some(path.as_os_str().as_encoded_bytes());
        records::Printer { options: &style.options, finder, matches, path, begins_result: false, tally, out }
    }

    fn lines(self) -> text::Printer<'a, 'o> {
        let Self { style, finder, matches, path, begun, enclosing, tally, out } = self;
        let path = style.options.with_filename.then_some(path.as_os_str().as_encoded_bytes());
        let (link, begins_result) = (path.and_then(|path| style.link_to(path)), false);
        text::Printer { style, finder, matches, path, link, begun, begins_result, enclosing, tally, out }
    }
}

impl<'q> Searcher<'q> {
    pub(crate) fn new(style: &'q Style, finder: Finder<AnyMatcher>) -> Self {
        let options = &style.options;
        let finder = finder.across_lines(options.pattern.multiline);
        let prints = options.prints();
        let line_end = options.line_end.terminator().as_byte();
        let rules = Rules {
            before_context: if prints { options.before_context } else { 0 },
            after_context: if prints { options.after_context } else { 0 },
            passthru: prints && options.passthru,
            max_count: options.max_count.filter(|_| !finder.spans_lines()),
            matches_after_limit: finder.spans_lines()
                || !options.stop_on_nonmatch
                    && (options.invert || finder.searches_across_lines() || finder.finds_records()),
            stop_on_nonmatch: options.stop_on_nonmatch && !finder.spans_lines(),
            line_end,
            units: Units::new(line_end, options.record.clone()),
            stops_at_binary: matches!(options.mode, Mode::Lines | Mode::Records),
        };
        let scope_finder = options.scope_finder();
        let (matches, ahead, parts, totals) = Default::default();
        Self { style, rules, finder, matches, scope_finder, ahead, parts, totals }
    }

    fn mode(&self) -> Mode {
        self.style.options.mode
    }

    /// Returns `true` if lines or JSON messages are printed.
    fn prints(&self) -> bool {
        self.style.options.prints()
    }

    fn wants_stats(&self) -> bool {
        self.style.options.stats || self.mode() == Mode::Json
    }

    /// Returns `true` if the matching lines of a block themselves are needed, not only their number.
    fn needs_lines(&self, block: &Block<'_>) -> bool {
        self.prints()
            || self.wants_stats()
            || self.mode() == Mode::CountMatches
            || self.rules.stop_on_nonmatch
            || self.finder.spans_lines()
            // A NUL in a selected record ends the search.
            || self.finder.finds_records()
                && self.nul(block.source) == Nul::QuitInLines
                && memchr(0, block.bytes).is_some()
    }

    /// Returns `true` if the first matching line settles the result for a file, except for a NUL after it.
    fn stops_at_first_match(&self) -> bool {
        let settled = match self.mode() {
            Mode::FilesWithMatches => true,
            // A NUL after the last counted match does not matter.
            Mode::FilesWithoutMatch => self.rules.max_count.is_none() && !self.takes_several_lines(),
            _ => self.style.options.quiet,
        };
        settled && !self.wants_stats()
    }

    /// Returns `true` if a NUL after the first match matters: without a limit, a binary file is none with a match.
    fn reads_on_for_nul(&self, source: &Source) -> bool {
        self.mode() == Mode::FilesWithoutMatch
            && self.rules.max_count.is_none()
            && self.nul(source) == Nul::Quit
    }

    /// Returns `true` if several lines may be selected together: those of a match, or of a record. A NUL then only matters in lines that
    /// are selected or printed, and in the head of a file.
    fn takes_several_lines(&self) -> bool {
        self.finder.spans_lines() || self.finder.finds_records()
    }

    /// Returns `true` if a NUL in the head of a file makes it binary. The head of a pipe may be shorter, and that of decoded text is only
    /// known if it is one block.
    fn checks_start(&self, nul: Nul, source: &Source) -> bool {
        match (nul, source.medium()) {
            (Nul::Ignore, _) | (_, Medium::Transcoded(_)) => false,
            (Nul::Suppress | Nul::QuitInLines, medium) if self.finder.finds_records() => {
                source.path().is_some() && matches!(medium, Medium::File | Medium::Decompressed)
            }
            (Nul::Quit | Nul::QuitInLines | Nul::Suppress, _) => true,
            (Nul::EndLine, medium) => matches!(medium, Medium::Decompressed),
        }
    }

    /// Returns how NULs in a file are handled.
    fn nul(&self, source: &Source) -> Nul {
        let options = &self.style.options;
        match options.binary {
            _ if options.line_end == LineEnd::Nul => Nul::Ignore,
            Binary::Text => Nul::Ignore,
            Binary::Auto if self.takes_several_lines() && !options.is_named(source) => Nul::QuitInLines,
            _ if self.takes_several_lines() => Nul::Suppress,
            _ if source.path().is_none() => Nul::EndLine,
            // ripgrep memory-maps files named on the command line and reads all others.
            _ if options.is_named(source) && matches!(source.medium(), Medium::File) => Nul::Suppress,
            Binary::Auto if !options.is_named(source) => Nul::Quit,
            Binary::Auto => Nul::EndLine,
            Binary::Suppress => Nul::EndLine,
        }
    }

    /// Finds the matching lines of a block.
    fn find(&self, bytes: &[u8], found: &mut Found) {
        let options = &self.style.options;
        let max = self.max_needed();
        let is_every = self.finder.matches_every_line() && !self.finder.finds_records();
        if found.is_count && max == u64::MAX && is_every {
            found.count = if options.invert { 0 } else { count_lines(bytes, self.rules.line_end) };
            return;
        }
        let Found { lines, count, error, is_count, .. } = found;
        let mut take = |line| {
            *count += 1;
            if !*is_count {
                lines.push(FoundLine::new(line));
            }
            if *count >= max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut rest = 0..bytes.len();
        let searched = self.finder.lines(bytes, |line| {
            if !options.invert {
                return take(line);
            }
            let gap = mem::replace(&mut rest.start, line.end)..line.start;
            let taken = self.units_in(bytes, gap).try_for_each(&mut take);
            if taken.is_break() {
                rest.start = rest.end;
            }
            taken
        });
        match searched {
            Ok(()) if options.invert => {
                let _ = self.units_in(bytes, rest).try_for_each(take);
            }
            Ok(()) => {}
            Err(failure) => *error = Some(failure.to_string()),
        }
    }

    /// Finds the lines of the matches in a text, which may span lines. Matches touch, and are printed together, if one begins in the
    /// line in which the last one ends, or in the next line.
    fn find_spans(&self, text: &[u8], found: &mut Found) -> Result<(), Failure> {
        let Style { options, terminator, .. } = self.style;
        let known = Remembering::new(self.finder.matcher(), text, self.ahead, &found.parts);
        let max = options.max_count.unwrap_or(u64::MAX);
        let wanted = if self.stops_at_first_match() { 1 } else { usize::MAX };
        let groups = &mut found.lines;
        // Matches so far, and those in the last group.
        let (mut count, mut last_count, mut at) = (0, 0, 0);
        while at < text.len() && count < max && (groups.len() < wanted || !options.invert) {
            let Some(next) = known.find(&text[at..])? else { break };
            let next = next.offset(at);
            let lines = lines_of(text, next, self.rules.line_end);
            count += 1;
            if options.invert {
                found.limit = (count == max).then_some(groups.len() as u64);
                let rest = lines_in(text, at..lines.start, *terminator).map(FoundLine::new);
                groups.extend(rest.take(wanted - groups.len()));
                at = lines.end;
                continue;
            }
            at = after(next);
            match groups.last().map(|last| last.range()) {
                Some(last) if last.end >= lines.start => {
                    groups.pop();
                    groups.push(FoundLine::new(last.start..lines.end));
                }
                Some(_) if groups.len() == wanted => break,
                _ => {
                    groups.push(FoundLine::new(lines));
                    last_count = 0;
                }
            }
            last_count += 1;
        }
        if options.invert {
            let rest = lines_in(text, at..text.len(), *terminator).map(FoundLine::new);
            groups.extend(rest.take(wanted - groups.len()));
        } else if count == max {
            // The first match of a group is found before the group before it is printed.
            let groups_before = groups.len() as u64 - 1;
            found.limit = Some(if last_count == 1 { groups_before.saturating_sub(1) } else { groups_before });
        }
        found.count = groups.len() as u64;
        found.matches = self.counts_at_once().then_some(count);
        self.find_past_limit(text, found)
    }

    /// Returns `true` if the number of matches across lines is all that is wanted, and known from their search. Else the lines of each
    /// match are searched again, as in ripgrep.
    fn counts_at_once(&self) -> bool {
        let GrepOptions { mode, invert, max_count, .. } = self.style.options;
        matches!(mode, Mode::Count | Mode::CountMatches)
            && !invert
            && max_count.is_none()
            && !self.wants_stats()
            && self.ahead.is_some_and(Ahead::finds_same_in_lines)
    }

    /// Finds the lines of trailing context that match by themselves when the limit on matches is reached.
    fn find_past_limit(&self, text: &[u8], found: &mut Found) -> Result<(), Failure> {
        let Style { options, terminator, .. } = self.style;
        let Some(limit) = found.limit.filter(|_| self.rules.after_context > 0 && !self.rules.passthru) else {
            return Ok(());
        };
        for number in limit.max(1) as usize..=found.lines.len() {
            let start = found.lines[number - 1].range().end;
            let end = found.lines.get(number).map_or(text.len(), |next| next.range().start);
            for line in lines_in(text, start..end, *terminator).take(self.rules.after_context) {
                if self.finder.is_match(&text[line.clone()])? != options.invert {
                    found.past_limit.push(line.start);
                }
            }
        }
        Ok(())
    }

    /// Finds the matching lines of a block that has long lines split by NULs. Such a line counts as one line, and its parts
    /// are searched separately.
    fn find_with_long_lines(&self, block: &Block<'_>, found: &mut Found) {
        let (bytes, mut from) = (&*block.bytes, 0);
        for line in std::mem::take(&mut found.long_lines) {
            let range = line.range.clone();
            self.find_in_part(bytes, from..range.start, found);
            let mut matches = false;
            let searched = self.finder.lines(&bytes[range.clone()], |_| {
                matches = true;
                ControlFlow::Break(())
            });
            found.error = searched.err().map(|error| error.to_string()).or(found.error.take());
            let has_ended = range.end < bytes.len();
            from = bytes.len().min(range.end + 1);
            // Only at the end of a line is it known not to match.
            if if self.style.options.invert { !matches && has_ended } else { matches } {
                found.continues_long_line |= found.count == 0 && range.start == 0 && block.in_long_line;
                found.count += 1;
                found.lines.push(FoundLine::new(range.start..from));
            }
            found.open_long_line = (!has_ended).then_some(matches);
            found.long_lines.push(line);
        }
        self.find_in_part(bytes, from..bytes.len(), found);
    }

    /// Finds the matching lines in a part of a block and adds them to `found`.
    fn find_in_part(&self, bytes: &[u8], part: Range<usize>, found: &mut Found) {
        let mut found_in_part = Found::new(found.is_count);
        self.find(&bytes[part.clone()], &mut found_in_part);
        found.count += found_in_part.count;
        found.lines.extend(found_in_part.lines.into_iter().map(|line| line.shifted_by(part.start)));
        found.error = found.error.take().or(found_in_part.error);
    }

    /// Maximum number of matching lines needed from a block.
    fn max_needed(&self) -> u64 {
        match self.rules.max_count {
            _ if self.stops_at_first_match() => 1,
            // With trailing context, matching lines in the context of the last counted match are needed as well.
            Some(max) if self.rules.after_context == 0 => max,
            _ => u64::MAX,
        }
    }

    fn max_count(&self) -> u64 {
        self.rules.max_count.unwrap_or(u64::MAX)
    }

    /// Searches a block for a NUL where one matters, and drops the matches after it.
    fn detect_binary(&self, nul: Nul, block: &Block<'_>, found: &mut Found) {
        // In a file without matches, a NUL does not change the output.
        let matters = found.count > 0
            || !block.is_whole
            || self.rules.passthru
            || self.style.options.include_zero
            || self.wants_stats()
            || self.mode() == Mode::FilesWithoutMatch;
        let start = &block.bytes[..block.bytes.len().min(HEAD_SIZE)];
        match nul {
            Nul::Quit if matters => found.nul = memchr(0, block.bytes),
            Nul::Suppress | Nul::QuitInLines
                if block.is_whole && (self.finder.spans_lines() || self.checks_start(nul, block.source)) =>
            {
                found.nul = memchr(0, start);
            }
            _ => {}
        }
        if let Some(at) = found.nul.filter(|_| nul == Nul::Quit) {
            let end = memrchr(self.rules.line_end, &block.bytes[..at]).map_or(0, |end| end + 1);
            *found = Found { nul: found.nul, ..Found::new(found.is_count) };
            self.find(&block.bytes[..end], found);
        }
    }

    /// Returns the units in a range, which must begin with one.
    fn units_in<'a>(
        &'a self,
        bytes: &'a [u8],
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        self.rules.units.iter(&bytes[..range.end], range.start)
    }

    /// Determines whether a NUL ends the search of the file in this block. Called in block order.
    fn cut(&self, block: &Block<'_>, found: &Found, state: &mut FileState) -> Option<Cut> {
        let nul = self.nul(block.source);
        let prints = self.prints() || self.wants_stats();
        let is_open = match nul {
            Nul::Quit => !state.over,
            Nul::EndLine => prints && !state.over && state.suppressed_from.is_none(),
            Nul::Ignore | Nul::Suppress | Nul::QuitInLines => false,
        };
        let wanted = found.count > 0 || state.has_context_due() || self.rules.passthru || self.wants_stats();
        let line_end = self.rules.line_end;
        let find_cut = || {
            if is_open { state.pieces.advance(block, line_end, found.nul, wanted) } else { None }
        };
        *found.cut.get_or_init(find_cut)
    }

    /// Returns `true` if a file is binary, given its only block: definitions in it are not shown.
    fn has_nul(&self, block: &Block<'_>, found: &Found) -> bool {
        // NULs that end lines have been replaced.
        let was_replaced = found.nul.is_some() || !found.long_lines.is_empty();
        self.nul(block.source) != Nul::Ignore && (was_replaced || memchr(0, block.bytes).is_some())
    }

    /// Counts the matching lines of a block before the file offset `end`.
    fn count_before(&self, block: &Block<'_>, end: u64) -> u64 {
        let end = end.saturating_sub(block.offset) as usize;
        let mut found = Found::new(true);
        self.find(&block.bytes[..end], &mut found);
        found.count
    }

    /// Advances the state past a block and passes the selected lines to the sink.
    fn step(&self, block: &Block<'_>, found: &Found, state: &mut FileState, sink: &mut impl Sink) {
        let nul = match self.nul(block.source) {
            nul if nul.quits() || self.prints() || self.wants_stats() => nul,
            // A count does not depend on NULs that only hide lines.
            _ => Nul::Ignore,
        };
        if let Some(first) = block.first_line.filter(|_| self.finder.finds_records()) {
            // How many lines an overlong record has is not known.
            state.line_ends = first - 1;
        }
        Step::new(&self.rules, nul, (block.bytes, block.offset), found, state, sink).run();
    }

    fn add_stats(&mut self, source: &Source, state: &FileState, tally: &Tally) -> Stats {
        let mut stats = Stats::new();
        stats.add_elapsed(tally.elapsed);
        stats.add_searches(1);
        stats.add_searches_with_match(u64::from(state.count > 0));
        stats.add_bytes_searched(match self.nul(source) {
            Nul::Suppress | Nul::QuitInLines => state.searched.min(state.nul.unwrap_or(u64::MAX)),
            _ => state.searched,
        });
        stats.add_bytes_printed(tally.bytes);
        self.totals.color_bytes += tally.color_bytes;
        stats.add_matched_lines(tally.lines);
        stats.add_matches(tally.matches);
        self.totals.stats += &stats;
        stats
    }

    /// Prints a notice if a matching file is binary.
    fn print_binary_notice(&mut self, source: &Source, state: &FileState, out: &mut Output<'_>) {
        let nul = self.nul(source);
        let Some(at) = state.nul.filter(|_| state.count > 0 && nul != Nul::Ignore) else { return };
        // Without a line of the file, the notice is the result.
        if state.printed {
            out.begin_rest()
        } else {
            out.begin_result()
        }
        let (path, out) = (source.display_path().as_os_str().as_encoded_bytes(), out.bytes());
        if self.mode() == Mode::Records {
            put_path(path, out);
            put_binary(at, nul.quits(), out);
            return;
        }
        if self.style.options.with_filename {
            self.totals.color_bytes += self.style.write_path(path, out);
            out.extend_from_slice(b": ");
        }
        out.extend_from_slice(binary_notice(at, nul.quits()).as_bytes());
        out.push(b'\n');
    }

    fn print_count(&mut self, source: &Source, count: u64, out: &mut Output<'_>) {
        let options = &self.style.options;
        if count == 0 && !options.include_zero {
            return;
        }
        out.begin_result();
        let out = out.bytes();
        if options.with_filename {
            self.style.write_path(source.display_path().as_os_str().as_encoded_bytes(), out);
            if options.null_after_path { out.push(0) } else { out.push(b':') }
        }
        out.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
        out.extend_from_slice(self.style.terminator.as_bytes());
    }

    fn print_name(&mut self, source: &Source, out: &mut Output<'_>) {
        out.begin_result();
        let out = out.bytes();
        self.style.write_path(source.display_path().as_os_str().as_encoded_bytes(), out);
        let end = if self.style.options.null_after_path { b"\0" } else { self.style.terminator.as_bytes() };
        out.extend_from_slice(end);
    }
}

/// Returns the lines in a range, which must begin at the start of a line.
fn lines_in(
    bytes: &[u8],
    range: Range<usize>,
    terminator: LineTerminator,
) -> impl Iterator<Item = Range<usize>> {
    let start = range.start;
    lines(&bytes[range], terminator).map(move |line| start + line.start..start + line.end)
}

impl Select for Searcher<'_> {
    fn wants(&self) -> Wants {
        match self.finder.spans_lines() || self.finder.matcher().needs_whole_files() {
            true => Wants::Whole(usize::MAX),
            false => Wants::Blocks,
        }
    }

    fn whole_size(&self, source: &Source) -> usize {
        let Some(finder) = &self.scope_finder else { return 0 };
        if finder.knows(decompressed_name(source.display_path())) { finder.size_limit() } else { 0 }
    }

    fn nul_ends(&self, source: &Source) -> NulEnds {
        match self.nul(source) {
            Nul::Ignore | Nul::QuitInLines => NulEnds::Never,
            Nul::Suppress if self.takes_several_lines() => NulEnds::Never,
            // Messages hold whole lines.
            Nul::Suppress if self.mode() == Mode::Json && self.prints() => NulEnds::Never,
            Nul::Suppress => NulEnds::LongLines,
            Nul::Quit | Nul::EndLine => NulEnds::Always,
        }
    }

    fn searches_parts(&self) -> bool {
        let GrepOptions { mode, quiet, max_count, limit, .. } = self.style.options;
        let may_end_early = quiet || max_count.is_some() || limit.is_some();
        self.ahead.is_some()
            && !may_end_early
            && !matches!(mode, Mode::FilesWithMatches | Mode::FilesWithoutMatch)
    }

    fn allows_gaps(&self) -> bool {
        let Rules { before_context, after_context, passthru, line_end, stop_on_nonmatch, .. } = self.rules;
        let asks_for_others = before_context > 0
            || after_context > 0
            || passthru
            || stop_on_nonmatch
            || self.style.options.invert
            || self.finder.finds_records();
        !asks_for_others && self.wants() == Wants::Blocks && self.scope_finder.is_none() && line_end == b'\n'
    }
}

impl Search for Searcher<'_> {
    type Found = Found;
    type State = FileState;

    fn begin(&mut self, source: &Source, start: &[u8]) -> FileState {
        let nul = self.nul(source);
        let first_nul = if self.checks_start(nul, source) { memchr(0, start) } else { None };
        let mut state = FileState::default();
        state.nul = first_nul.map(|at| at as u64);
        state.over = first_nul.is_some() && nul.quits();
        state.suppressed_from = first_nul.filter(|_| nul == Nul::EndLine).map(|_| 0);
        state.in_parts = !start.is_empty();
        state
    }

    fn is_over(&self, state: &FileState) -> bool {
        state.over
    }

    fn search(&mut self, block: &mut Block<'_>) -> Found {
        let started = self.wants_stats().then(Instant::now);
        let mut found = Found::new(!self.needs_lines(block));
        if let Err(error) = self.finder.matcher_mut().begin_file(block.bytes) {
            self.totals.errors.push((block.source.clone(), error.to_string()));
            return found;
        }
        let nul = self.nul(block.source);
        if nul == Nul::EndLine {
            found.nul = memchr(0, block.bytes);
            if let Some(first) = found.nul {
                let ends = block.bytes[first..].iter_mut().filter(|byte| **byte == 0);
                ends.for_each(|byte| *byte = self.rules.line_end);
            }
        } else if self.nul_ends(block.source) == NulEnds::LongLines {
            found.long_lines = binary::split_long_lines(block, self.rules.line_end);
        }
        if self.finder.spans_lines() {
            found.parts = mem::take(&mut self.parts);
            if let Err(error) = self.find_spans(block.bytes, &mut found) {
                found.error = Some(error.to_string());
                // The last group may be incomplete.
                found.lines.pop_if(|_| !self.style.options.invert);
            }
        } else if found.long_lines.is_empty() {
            // In the wrong file nothing is selected, not even a record that fails the conditions on records.
            if !self.finder.finds_records() || self.finder.matcher().is_right_file() {
                self.find(block.bytes, &mut found);
            }
        } else {
            self.find_with_long_lines(block, &mut found);
        }
        self.detect_binary(nul, block, &mut found);
        let is_numbered = self.mode() == Mode::Json && self.scope_finder.is_some();
        if self.style.options.line_number || is_numbered {
            found.count_lines(block.bytes, self.rules.line_end, !block.is_whole);
        }
        if let Some(error) = found.error.take() {
            self.totals.errors.push((block.source.clone(), error));
        }
        found.elapsed = started.map(|started| started.elapsed()).unwrap_or_default();
        found
    }

    fn search_part(&mut self, text: &[u8], part: Range<usize>) -> Option<Found> {
        let parts = vec![self.ahead?.search(self.finder.matcher(), text, part)?];
        Some(Found { parts, ..Found::default() })
    }

    fn receive_parts(&mut self, found: Vec<Option<Found>>) {
        self.parts = found.into_iter().flatten().flat_map(|found| found.parts).collect();
    }

    fn is_skippable(&mut self, block: &Block<'_>) -> bool {
        let options = &self.style.options;
        let needs_every_block =
            options.invert || options.include_zero || self.rules.passthru || self.wants_stats();
        let may_split = block.in_long_line || block.bytes.len() > LONG_LINE;
        let nul_matters = match self.nul(block.source) {
            Nul::EndLine => true,
            Nul::Suppress => may_split,
            Nul::Ignore | Nul::Quit | Nul::QuitInLines => false,
        };
        if needs_every_block || nul_matters || self.mode() == Mode::FilesWithoutMatch {
            return false;
        }
        let mut any = false;
        let searched = self.finder.lines(block.bytes, |_| {
            any = true;
            ControlFlow::Break(())
        });
        searched.is_ok() && !any
    }

    fn advance(&mut self, block: &Block<'_>, found: &Found, state: &mut FileState) -> ControlFlow<()> {
        let cut = self.cut(block, found, state);
        if !found.is_count {
            self.step(block, found, state, &mut NullSink);
            // Later blocks may have a NUL in a record that is not asked for.
            state.over |= self.finder.finds_records() && self.stops_at_first_match() && state.count > 0;
        } else if !state.over {
            let counted = u64::from(state.advance_long_line(found, block.offset));
            let count = cut.map_or(found.count, |cut| self.count_before(block, cut.from)) - counted;
            state.count = (state.count + count).min(self.max_count());
            let reached_limit = self.max_needed() <= state.count && !self.reads_on_for_nul(block.source);
            if !reached_limit {
                state.nul = state.nul.or(cut.map(|cut| cut.nul));
            }
            state.over = cut.is_some() || reached_limit;
        }
        if state.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn skip_line(&mut self, state: &mut FileState, bytes: &[u8]) {
        state.skip_unit(bytes.len() as u64, self.rules.units.lines_in(bytes));
    }

    fn skip_to(&mut self, state: &mut FileState, offset: u64, lines: u64) {
        state.skip_to(offset, lines);
    }
}

impl Print for Searcher<'_> {
    type Tally = Tally;

    fn absent(&mut self, source: &Source, absent: &Absent, out: &mut Output<'_>) -> Option<ControlFlow<()>> {
        let options = &self.style.options;
        let depends_on_nul =
            self.mode() == Mode::FilesWithoutMatch || options.include_zero || self.wants_stats();
        if !absent.is_plain && (depends_on_nul || self.nul(source) != Nul::Quit) {
            return None;
        }
        let mut state = FileState::default();
        state.searched = absent.stamp.size;
        Some(self.end(source, state, Tally::default(), out))
    }

    fn print(
        &mut self,
        block: &Block<'_>,
        mut found: Found,
        state: &FileState,
        tally: &mut Tally,
        out: &mut Output<'_>,
        _: &mut Meter,
    ) {
        tally.elapsed += found.elapsed;
        if found.is_count
            || state.over
            || found.lines.is_empty() && !state.has_context_due() && !self.rules.passthru
        {
            return;
        }
        if let Some(matches) = found.matches.filter(|_| found.nul.is_none()) {
            tally.matches += matches;
            return;
        }
        let (before, colors) = (out.printed(), tally.color_bytes);
        let mut state = state.clone();
        let mut matches = mem::take(&mut self.matches);
        matches.known = (self.ahead, mem::take(&mut found.parts));
        let (style, finder) = (self.style, &self.finder);
        let path = block.source.display_path();
        let begun = state.printed;
        let (mut scope_finder, mut errors) = (self.scope_finder.take(), Vec::new());
        let enclosing = scope_finder.as_deref_mut().and_then(|finder| {
            tally.lacks_definitions |= state.in_parts && is_too_large(finder, block, &found);
            let (text, line_end, errors) = (&*block.bytes, self.rules.line_end, &mut errors);
            let is_shown = block.is_whole && !self.has_nul(block, &found);
            is_shown.then_some(Enclosing { finder, path, text, line_end, scopes: None, errors })
        });
        let printing = Printing { style, finder, matches: &mut matches, path, begun, enclosing, tally, out };
        match self.mode() {
            _ if !self.prints() => self.step(block, &found, &mut state, &mut printing.counter()),
            Mode::Json => self.step(block, &found, &mut state, &mut printing.json()),
            Mode::Records => self.step(block, &found, &mut state, &mut printing.records()),
            _ => self.step(block, &found, &mut state, &mut printing.lines()),
        }
        matches.known = Default::default();
        self.matches = matches;
        self.scope_finder = scope_finder;
        self.totals.errors.extend(errors.into_iter().map(|error| (block.source.clone(), error)));
        tally.bytes += out.printed() - before - (tally.color_bytes - colors);
    }

    fn add(tally: &mut Tally, other: Tally) {
        tally.add(other);
    }

    fn end(
        &mut self,
        source: &Source,
        state: FileState,
        tally: Tally,
        out: &mut Output<'_>,
    ) -> ControlFlow<()> {
        let (mut state, mut tally) = (state, tally);
        let open = state.open_long_line.filter(|line| self.style.options.invert && !line.matches);
        if let Some(line) = open.filter(|_| state.count < self.max_count()) {
            state.count += 1;
            let counts = u64::from(!self.prints());
            tally.lines += counts;
            tally.matches += counts;
            state.nul.get_or_insert(line.nul);
        }
        if let Some(finder) = self.scope_finder.as_deref().filter(|_| tally.lacks_definitions) {
            let reason = format!("larger than {} MiB", finder.size_limit() >> 20);
            self.totals.errors.push((source.clone(), not_shown(&reason)));
        }
        let quit = self.nul(source).quits() && state.nul.is_some();
        // Matches before the NUL that made the file binary are printed, but they are not a count of the whole file.
        let count = if quit && !self.prints() { 0 } else { state.count };
        match self.mode() {
            _ if self.style.options.quiet => {}
            Mode::Lines | Mode::Records => self.print_binary_notice(source, &state, out),
            Mode::Count if !quit && !self.finder.spans_lines() => self.print_count(source, count, out),
            // The number of matches that span lines is not that of their lines.
            Mode::Count | Mode::CountMatches if !quit => self.print_count(source, tally.matches, out),
            Mode::FilesWithMatches if count > 0 => self.print_name(source, out),
            Mode::FilesWithoutMatch if count == 0 && !quit => self.print_name(source, out),
            _ => {}
        }
        // As in ripgrep, a file with a NUL after a match counts as one without, although it is not listed.
        self.totals.any |= if self.mode() == Mode::FilesWithoutMatch { count == 0 } else { count > 0 };
        if self.wants_stats() {
            let stats = self.add_stats(source, &state, &tally);
            if self.mode() == Mode::Json && self.prints() && state.printed {
                out.begin_rest();
                json::end(source.display_path(), state.nul, &stats, out.bytes());
            }
        }
        out.end_result();
        // Ending the job drops pending output: with `quiet` there is none.
        let stops = self.style.options.quiet && !self.wants_stats() && self.totals.any;
        if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Returns `true` if matches in a block of a source text are printed without definitions because the text is too large.
fn is_too_large(finder: &dyn ScopeFinder, block: &Block<'_>, found: &Found) -> bool {
    let is_read_in_parts = !block.is_whole && !matches!(block.source.medium(), Medium::Pipe);
    is_read_in_parts
        && !found.lines.is_empty()
        && finder.knows(decompressed_name(block.source.display_path()))
}

fn count_lines(bytes: &[u8], line_end: u8) -> u64 {
    let unterminated = bytes.last().is_some_and(|&last| last != line_end);
    memchr_iter(line_end, bytes).count() as u64 + u64::from(unterminated)
}
