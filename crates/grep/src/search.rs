//! Searches the blocks of files and prints what is found.

use std::mem;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::Instant;

use finecomb_scan::{Block, Output, START, Source, Visit};
use grep_matcher::{LineTerminator, Matcher};
use grep_printer::Stats;
use memchr::{memchr, memchr_iter, memrchr};

use crate::binary;
use crate::file_state::{FileState, Found, FoundLine, Line, Nowhere, Nul, Rules, Sink, Step};
use crate::find::{Finder, lines};
use crate::options::{Binary, LineEnd, Mode};
use crate::print::lines::Style;
use crate::print::{Matches, Tally, json, lines as text};

/// A worker's search.
pub(crate) struct Searcher<'q, M: Matcher> {
    style: &'q Style,
    rules: Rules,
    finder: Finder<M>,
    matches: Matches<M>,
    pub(crate) sums: Sums,
}

/// What a worker found in all its files.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) any: bool,
    pub(crate) stats: Stats,
    /// What an engine said of a file.
    pub(crate) errors: Vec<(String, String)>,
}

impl Sums {
    pub(crate) fn add(&mut self, other: Self) {
        self.any |= other.any;
        self.stats += &other.stats;
        self.errors.extend(other.errors);
    }
}

/// Prints nothing, but counts matches.
struct Counter<'a, M: Matcher> {
    finder: &'a Finder<M>,
    matches: &'a mut Matches<M>,
    tally: &'a mut Tally,
}

impl<M: Matcher> Sink for Counter<'_, M> {
    fn wants_numbers(&self) -> bool {
        false
    }

    fn matched(&mut self, line: Line<'_>) {
        self.matches.find(self.finder.matcher(), line.bytes, self.finder.terminator());
        self.tally.lines += 1;
        self.tally.matches += self.matches.found.len().max(1) as u64;
    }

    fn context(&mut self, _line: Line<'_>) {}
    fn gap(&mut self) {}
}

/// The path of a file as it is printed.
pub(crate) fn path_of(source: &Source) -> &Path {
    source.path().unwrap_or(Path::new("<stdin>"))
}

impl<'q, M: Matcher> Searcher<'q, M> {
    pub(crate) fn new(style: &'q Style, finder: Finder<M>) -> Self {
        let options = &style.options;
        let prints = matches!(options.mode, Mode::Lines | Mode::Json) && !options.quiet;
        let rules = Rules {
            before: if prints { options.before_context } else { 0 },
            after: if prints { options.after_context } else { 0 },
            passthru: prints && options.passthru,
            max_count: options.max_count,
            line_end: options.line_end.terminator().as_byte(),
            binary_ends: options.mode == Mode::Lines,
        };
        Self { style, rules, finder, matches: Matches::default(), sums: Sums::default() }
    }

    fn mode(&self) -> Mode {
        self.style.options.mode
    }

    /// Whether lines or messages are printed.
    fn prints(&self) -> bool {
        matches!(self.mode(), Mode::Lines | Mode::Json) && !self.style.options.quiet
    }

    fn wants_stats(&self) -> bool {
        self.style.options.stats || self.mode() == Mode::Json
    }

    /// Whether it must be known which lines match, not only how many.
    fn needs_lines(&self) -> bool {
        self.prints() || self.wants_stats() || self.mode() == Mode::CountMatches
    }

    /// Whether one matching line is all there is to know of a file.
    fn stops_at_first_match(&self) -> bool {
        let by_name = matches!(self.mode(), Mode::FilesWithMatches | Mode::FilesWithoutMatch);
        (by_name || self.style.options.quiet) && !self.wants_stats()
    }

    fn nul(&self, source: &Source) -> Nul {
        let options = &self.style.options;
        match options.binary {
            _ if options.line_end == LineEnd::Nul => Nul::Ignore,
            Binary::Text => Nul::Ignore,
            _ if source.path().is_none() => Nul::EndLine,
            _ if source.is_named() => Nul::Suppress,
            Binary::Auto => Nul::Quit,
            Binary::Suppress => Nul::EndLine,
        }
    }

    /// Finds the lines of a block that match.
    fn find(&self, bytes: &[u8], found: &mut Found) {
        let Style { options, terminator, .. } = self.style;
        let (needs_lines, enough) = (self.needs_lines(), self.enough());
        if !needs_lines && enough == u64::MAX && self.finder.finds_everything() {
            found.count = if options.invert { 0 } else { count_lines(bytes, self.rules.line_end) };
            return;
        }
        let Found { lines, count, error, .. } = found;
        let mut take = |line| {
            *count += 1;
            if needs_lines {
                lines.push(FoundLine::new(line));
            }
            if *count >= enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut rest = 0..bytes.len();
        let searched = self.finder.lines(bytes, |line| {
            if !options.invert {
                return take(line);
            }
            let gap = mem::replace(&mut rest.start, line.end)..line.start;
            let taken = lines_in(bytes, gap, *terminator).try_for_each(&mut take);
            if taken.is_break() {
                rest.start = rest.end;
            }
            taken
        });
        match searched {
            Ok(()) if options.invert => {
                let _ = lines_in(bytes, rest, *terminator).try_for_each(take);
            }
            Ok(()) => {}
            Err(failure) => *error = Some(failure.to_string()),
        }
    }

    /// How many matching lines of a block are wanted at most.
    fn enough(&self) -> u64 {
        match self.rules.max_count {
            _ if self.stops_at_first_match() => 1,
            // Those in the context of the last one that counts are wanted as well.
            Some(max) if self.rules.after == 0 => max,
            _ => u64::MAX,
        }
    }

    /// Looks for a NUL where it matters, and leaves out what is behind it if need be.
    fn detect_binary(&self, nul: Nul, block: &Block<'_>, found: &mut Found) {
        // Where nothing is found, it makes no difference to what is printed.
        let matters = found.count > 0
            || !block.is_whole
            || self.rules.passthru
            || self.style.options.include_zero
            || self.wants_stats()
            || self.mode() == Mode::FilesWithoutMatch;
        let start = &block.bytes[..block.bytes.len().min(START)];
        match nul {
            Nul::Quit if matters => found.nul = memchr(0, block.bytes),
            Nul::Suppress if block.is_whole => found.nul = memchr(0, start),
            Nul::EndLine if block.is_whole => {
                let line_end = self.rules.line_end;
                found.suppressed_from =
                    found.nul.map(|at| binary::searched_before(at, block.bytes, line_end));
            }
            _ => {}
        }
        if let Some(at) = found.nul.filter(|_| nul == Nul::Quit) {
            let cut = match block.is_whole {
                true => binary::searched_before(at, block.bytes, self.rules.line_end),
                false => memrchr(self.rules.line_end, &block.bytes[..at]).map_or(0, |end| end + 1),
            };
            *found = Found { nul: found.nul, cut: Some(cut), ..Found::default() };
            self.find(&block.bytes[..cut], found);
        }
    }

    /// Runs over a block with a sink that prints nothing, or with one that prints.
    fn step(&self, block: &Block<'_>, found: &Found, state: &mut FileState, sink: &mut impl Sink) {
        let nul = if self.prints() || self.wants_stats() { self.nul(block.source) } else { Nul::Ignore };
        Step::new(&self.rules, nul, (block.bytes, block.offset), found, state, sink).run();
    }

    fn add_stats(&mut self, source: &Source, state: &FileState, tally: &Tally) -> Stats {
        let mut stats = Stats::new();
        stats.add_elapsed(tally.elapsed);
        stats.add_searches(1);
        stats.add_searches_with_match(u64::from(state.count > 0));
        stats.add_bytes_searched(match self.nul(source) {
            Nul::Suppress => state.searched.min(state.nul.unwrap_or(u64::MAX)),
            _ => state.searched,
        });
        stats.add_bytes_printed(tally.bytes);
        stats.add_matched_lines(tally.lines);
        stats.add_matches(tally.matches);
        self.sums.stats += &stats;
        stats
    }

    /// Says that a file is binary, if it matches.
    fn end_lines(&mut self, source: &Source, state: &FileState, out: &mut Vec<u8>) {
        let nul = self.nul(source);
        let Some(at) = state.nul.filter(|_| state.count > 0 && nul != Nul::Ignore) else { return };
        if self.style.options.with_filename {
            self.style.write_path(path_of(source).as_os_str().as_encoded_bytes(), out);
            out.extend_from_slice(b": ");
        }
        let text = match nul {
            Nul::Quit => "WARNING: stopped searching binary file after match",
            _ => "binary file matches",
        };
        out.extend_from_slice(format!("{text} (found \"\\0\" byte around offset {at})\n").as_bytes());
    }

    fn end_count(&mut self, source: &Source, count: u64, out: &mut Vec<u8>) {
        let options = &self.style.options;
        if count == 0 && !options.include_zero {
            return;
        }
        if options.with_filename {
            self.style.write_path(path_of(source).as_os_str().as_encoded_bytes(), out);
            if options.null_after_path { out.push(0) } else { out.push(b':') }
        }
        out.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
        out.extend_from_slice(self.style.terminator.as_bytes());
    }

    fn end_name(&mut self, source: &Source, out: &mut Vec<u8>) {
        self.style.write_path(path_of(source).as_os_str().as_encoded_bytes(), out);
        let end = if self.style.options.null_after_path { b"\0" } else { self.style.terminator.as_bytes() };
        out.extend_from_slice(end);
    }
}

/// The lines in a range that begins with a line.
fn lines_in(
    bytes: &[u8],
    range: Range<usize>,
    terminator: LineTerminator,
) -> impl Iterator<Item = Range<usize>> {
    let start = range.start;
    lines(&bytes[range], terminator).map(move |line| start + line.start..start + line.end)
}

impl<M: Matcher<Captures: Send> + Send> Visit for Searcher<'_, M> {
    type Found = Found;
    type State = FileState;
    type Tally = Tally;

    fn begin(&mut self, source: &Source, start: &[u8]) -> FileState {
        let nul = self.nul(source);
        let early = if matches!(nul, Nul::Quit | Nul::Suppress) { memchr(0, start) } else { None };
        let mut state = FileState::default();
        state.nul = early.map(|at| at as u64);
        state.over = early.is_some() && nul == Nul::Quit;
        state
    }

    fn search(&mut self, block: &mut Block<'_>) -> Found {
        let started = self.wants_stats().then(Instant::now);
        let mut found = Found::default();
        let nul = self.nul(block.source);
        if nul == Nul::EndLine {
            found.nul = memchr(0, block.bytes);
            if let Some(first) = found.nul {
                let ends = block.bytes[first..].iter_mut().filter(|byte| **byte == 0);
                ends.for_each(|byte| *byte = self.rules.line_end);
            }
        }
        self.find(block.bytes, &mut found);
        self.detect_binary(nul, block, &mut found);
        if self.style.options.line_number {
            found.count_lines(block.bytes, self.rules.line_end, !block.is_whole);
        }
        if let Some(error) = found.error.take() {
            self.sums.errors.push((path_of(block.source).display().to_string(), error));
        }
        found.elapsed = started.map(|started| started.elapsed()).unwrap_or_default();
        found
    }

    fn has_nothing(&mut self, block: &Block<'_>) -> bool {
        let options = &self.style.options;
        let minds_all = options.invert || options.include_zero || self.rules.passthru || self.wants_stats();
        if minds_all || self.mode() == Mode::FilesWithoutMatch || self.nul(block.source) == Nul::EndLine {
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
        if self.needs_lines() {
            self.step(block, found, state, &mut Nowhere);
        } else if !state.over {
            state.count = (state.count + found.count).min(self.rules.max_count.unwrap_or(u64::MAX));
            let enough = self.enough() <= state.count;
            if !enough {
                state.nul = state.nul.or(found.nul.map(|at| block.offset + at as u64));
            }
            state.over = found.cut.is_some() || enough;
        }
        if state.over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn skip_line(&mut self, state: &mut FileState, bytes: u64) {
        state.skip_line(bytes);
    }

    fn print(
        &mut self,
        block: &Block<'_>,
        found: Found,
        state: &FileState,
        tally: &mut Tally,
        out: &mut Output<'_>,
    ) {
        tally.elapsed += found.elapsed;
        if !self.needs_lines()
            || state.over
            || found.lines.is_empty() && !state.is_owed() && !self.rules.passthru
        {
            return;
        }
        let before = out.printed();
        let mut state = state.clone();
        let mut matches = mem::take(&mut self.matches);
        let (style, finder) = (self.style, &self.finder);
        let path = path_of(block.source);
        let begun = state.printed;
        if !self.prints() {
            let mut sink = Counter { finder, matches: &mut matches, tally };
            self.step(block, &found, &mut state, &mut sink);
        } else if self.mode() == Mode::Json {
            let options = &style.options;
            let mut sink = json::Printer { options, finder, matches: &mut matches, path, begun, tally, out };
            self.step(block, &found, &mut state, &mut sink);
        } else {
            let path = style.options.with_filename.then_some(path.as_os_str().as_encoded_bytes());
            let mut sink = text::Printer { style, finder, matches: &mut matches, path, begun, tally, out };
            self.step(block, &found, &mut state, &mut sink);
        }
        self.matches = matches;
        tally.bytes += out.printed() - before;
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
        let quit = self.nul(source) == Nul::Quit && state.nul.is_some();
        // What was found in a file that then turned out to be binary is printed, but is no count of all that there is.
        let count = if quit && !self.prints() { 0 } else { state.count };
        let bytes = out.bytes();
        match self.mode() {
            _ if self.style.options.quiet => {}
            Mode::Lines => self.end_lines(source, &state, bytes),
            Mode::Count if !quit => self.end_count(source, count, bytes),
            Mode::CountMatches if !quit => self.end_count(source, tally.matches, bytes),
            Mode::FilesWithMatches if count > 0 => self.end_name(source, bytes),
            Mode::FilesWithoutMatch if count == 0 && !quit => self.end_name(source, bytes),
            _ => {}
        }
        self.sums.any |= if self.mode() == Mode::FilesWithoutMatch { count == 0 } else { count > 0 };
        if self.wants_stats() {
            let stats = self.add_stats(source, &state, &tally);
            if self.mode() == Mode::Json && self.prints() && state.printed {
                json::end(path_of(source), state.nul, &stats, out.bytes());
            }
        }
        let is_all = self.style.options.quiet && !self.wants_stats() && self.sums.any;
        if is_all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn count_lines(bytes: &[u8], line_end: u8) -> u64 {
    let unended = bytes.last().is_some_and(|&last| last != line_end);
    memchr_iter(line_end, bytes).count() as u64 + u64::from(unended)
}
