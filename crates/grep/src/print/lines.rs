//! Prints lines as text: `path:line:text`, lines under a heading, or only the matched text.
//!
//! The output is byte for byte that of ripgrep, apart from the lines of definitions, which ripgrep does not have.

use std::borrow::Cow;
use std::io::Write;
use std::mem;
use std::ops::Range;

use bstr::ByteSlice;
use finecomb_scan::Output;
use finecomb_sys::display::escaped_bytes;
use grep_matcher::{LineTerminator, Match};

use super::excerpt::excerpt;
use super::link::{FileLink, Hyperlink};
use super::paint::Paint;
use super::{CUT, Matches, Tally};
use crate::any_matcher::AnyMatcher;
use crate::enclosing::Enclosing;
use crate::file_state::{Line, Sink};
use crate::find::{Finder, lines, without_terminator};
use crate::options::GrepOptions;
use crate::which::Which;

mod record;

/// Format of printed lines.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) options: GrepOptions,
    pub(crate) paint: Paint,
    pub(crate) terminator: LineTerminator,
    /// Format of hyperlinks, if they are printed.
    link: Option<Hyperlink>,
    /// Names the pattern of a match, if that is printed.
    pub(crate) which: Option<Which>,
    /// Whether the positions of matches within a line are needed.
    needs_matches: bool,
    /// Whether no context follows a matching line.
    ends_with_match: bool,
}

impl Style {
    pub(crate) fn new(options: &GrepOptions) -> Self {
        let paint = Paint::new(options.colors.as_ref());
        let needs_matches = options.needs_matches();
        let ends_with_match = options.after_context == 0 && !options.passthru;
        let terminator = options.line_end.terminator();
        let link = options.hyperlink.clone().filter(|_| options.colors.is_some());
        let (options, which) = (options.clone(), None);
        Self { options, paint, terminator, link, which, needs_matches, ends_with_match }
    }

    /// Number of leading blanks to omit from a line.
    pub(crate) fn leading_blanks(&self, bytes: &[u8]) -> usize {
        if !self.options.trim {
            return 0;
        }
        let end = self.terminator.as_bytes();
        let is_blank = |byte: &u8| matches!(byte, b'\t' | b'\n' | 0x0B | 0x0C | b'\r' | b' ');
        bytes.iter().take_while(|byte| is_blank(byte) && !end.contains(byte)).count()
    }

    fn is_too_long(&self, line: &[u8]) -> bool {
        self.options.max_columns.is_some_and(|max| line.len() as u64 > max)
    }

    /// Writes a path in colour, with the chosen path separator, as a hyperlink if there are any. Returns the number of bytes in
    /// escape sequences.
    pub(crate) fn write_path(&self, path: &[u8], out: &mut Vec<u8>) -> u64 {
        let link = self.link_to(path);
        let escapes = link.as_ref().map_or(0, |link| link.open(None, None, out));
        let escapes = escapes + self.write_colored_path(path, out);
        if link.is_some() {
            FileLink::close(out);
        }
        escapes
    }

    fn write_colored_path(&self, path: &[u8], out: &mut Vec<u8>) -> u64 {
        let path = self.with_separator(path);
        let path = match self.options.escape_paths {
            true => escaped_bytes(&path).into_bytes().into(),
            false => path,
        };
        self.paint.write(&self.paint.path, &path, out)
    }

    /// Returns the hyperlink to a file, if there are any.
    pub(crate) fn link_to(&self, path: &[u8]) -> Option<FileLink> {
        self.link.as_ref()?.to_file(&self.with_separator(path))
    }

    fn with_separator<'p>(&self, path: &'p [u8]) -> Cow<'p, [u8]> {
        match self.options.path_separator {
            None => path.into(),
            Some(separator) => path.replace("/", [separator]).into(),
        }
    }
}

/// Separator between the fields of the line of a definition, as `git grep -p` has it.
const DEFINITION_SEPARATOR: &[u8] = b"=";

/// Why a line is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Match,
    Context,
    /// It shows the definition around a match.
    Definition,
}

/// Sink that prints the lines of a file or block as text.
pub(crate) struct Printer<'a, 'o> {
    pub(crate) style: &'a Style,
    pub(crate) finder: &'a Finder<AnyMatcher>,
    pub(crate) matches: &'a mut Matches,
    /// The path of the file, if it is printed.
    pub(crate) path: Option<&'a [u8]>,
    /// The hyperlink to the file, if there is one.
    pub(crate) link: Option<FileLink>,
    /// Whether any line of the file has been printed.
    pub(crate) begun: bool,
    /// Whether the next line begins a result.
    pub(crate) begins_result: bool,
    /// Definitions of the file, if they are printed.
    pub(crate) enclosing: Option<Enclosing<'a>>,
    pub(crate) tally: &'a mut Tally,
    pub(crate) out: &'a mut Output<'o>,
}

impl Sink for Printer<'_, '_> {
    fn wants_numbers(&self) -> bool {
        self.style.options.line_number
    }

    fn begin_match(&mut self) {
        self.begins_result = true;
    }

    fn matched(&mut self, line: Line<'_>) {
        self.matches.clear();
        if self.style.needs_matches {
            self.find(line);
        }
        self.tally.lines += self.finder.lines_in(line.bytes);
        self.tally.matches += self.matches.found.len() as u64;
        self.print(line, Role::Match);
        if self.style.ends_with_match {
            self.out.end_result();
        }
    }

    fn context(&mut self, line: Line<'_>) {
        self.matches.clear();
        // With inverted matching, the lines that contain matches are the context.
        if self.style.options.invert && self.style.needs_matches {
            // ripgrep searches such a line by itself, without the lines before it.
            self.find(line.by_itself());
        }
        self.print(line, Role::Context);
    }

    fn definition_of(&mut self, line: Range<usize>) -> Option<Range<usize>> {
        let enclosing = self.enclosing.as_mut()?;
        enclosing.line_to_print(enclosing.line_at(line.start))
    }

    fn definition(&mut self, line: Line<'_>) {
        self.matches.clear();
        self.print(line, Role::Definition);
    }

    fn gap(&mut self) {
        self.begin_result();
        if let Some(separator) = &self.style.options.context_separator {
            let out = self.out.bytes();
            out.extend_from_slice(separator);
            out.extend_from_slice(self.style.terminator.as_bytes());
        }
    }
}

impl Printer<'_, '_> {
    fn find(&mut self, line: Line<'_>) {
        self.matches.find(self.finder, line);
        if let Some(replacement) = &self.style.options.replace {
            self.matches.replace(self.finder, line, replacement);
        }
    }

    fn print(&mut self, line: Line<'_>, role: Role) {
        let start = line.start;
        if let Some(enclosing) = &mut self.enclosing {
            // Files with definitions are one block.
            for line in lines(line.bytes, self.style.terminator) {
                enclosing.mark_printed(start + line.start);
            }
        }
        if !mem::replace(&mut self.begun, true) {
            self.begin();
        }
        self.begin_result();
        let Self { style, out, matches, tally, .. } = self;
        let (bytes, shown) = matches.shown(line.bytes);
        let match_count = matches.found.len();
        let options = &style.options;
        let spans = if options.ackmate { shown } else { &[] };
        let link = self.link.as_ref().filter(|_| role != Role::Definition);
        let prelude = Prelude { path: self.path, link, line, role, spans };
        if self.finder.spans_lines() && role == Role::Match {
            let mut printer = SpanPrinter { style, prelude, bytes, shown, match_count, tally, out };
            return match shown {
                _ if !shown.is_empty() && options.only_matching => printer.print_matches(),
                _ if !shown.is_empty() && options.vimgrep => printer.print_first_lines(),
                _ => printer.print_lines(),
            };
        }
        let mut printer = LinePrinter { style, prelude, role, match_count, tally, out };
        if self.finder.finds_records() && role != Role::Definition {
            record::print(&mut printer, bytes, shown);
        } else {
            printer.print(bytes, shown);
        }
    }

    fn begin_result(&mut self) {
        if mem::take(&mut self.begins_result) {
            self.out.begin_result();
        }
    }

    /// Begins the output of a file: prints the separator from the previous file, and the heading.
    fn begin(&mut self) {
        self.out.begin_group();
        let options = &self.style.options;
        if let Some(path) = self.path.filter(|_| options.heading) {
            if options.ackmate {
                self.out.bytes().push(b':');
            }
            if options.compact && looks_like_line(path) {
                self.out.bytes().extend_from_slice(b"./");
            }
            self.tally.color_bytes += self.style.write_path(path, self.out.bytes());
            let end = if options.null_after_path { b"\0" } else { self.style.terminator.as_bytes() };
            self.out.bytes().extend_from_slice(end);
        }
    }
}

/// Whether a path could be taken for a line with its number.
pub(crate) fn looks_like_line(path: &[u8]) -> bool {
    let rest = path.trim_start_with(|char| char.is_ascii_digit());
    rest.len() < path.len() && matches!(rest.first(), Some(b':' | b'-' | b'='))
}

/// Writes the line that shows a definition.
#[cfg(test)]
pub(crate) fn write_definition(style: &Style, path: Option<&[u8]>, line: Line<'_>, out: &mut Vec<u8>) {
    let role = Role::Definition;
    let color_bytes =
        Prelude { path, link: None, line, role, spans: &[] }.write(style, line.offset, None, out);
    let mut painter = Painter { style, role, match_count: 0, color_bytes, out };
    painter.write_plain(line.bytes, &[]);
}

/// Printer of a line.
struct LinePrinter<'a, 'o> {
    style: &'a Style,
    /// Fields of the line.
    prelude: Prelude<'a>,
    role: Role,
    /// Number of matches, before replacement.
    match_count: usize,
    tally: &'a mut Tally,
    out: &'a mut Output<'o>,
}

impl LinePrinter<'_, '_> {
    /// Prints a line with its matches or their replacements: once, or once for each match.
    fn print(&mut self, bytes: &[u8], shown: &[Match]) {
        let options = &self.style.options;
        match shown {
            [] => self.write(None, bytes, (&[], shown)),
            _ if options.only_matching => {
                for found in shown {
                    let bytes = &bytes[found.start()..found.end()];
                    self.write(Some(found), bytes, (&[Match::new(0, bytes.len())], shown));
                }
            }
            _ if options.vimgrep => {
                for found in shown {
                    self.write(Some(found), bytes, (&[*found], shown));
                }
            }
            [first, ..] => self.write(Some(first), bytes, (shown, shown)),
        }
    }

    fn write(&mut self, from: Option<&Match>, bytes: &[u8], (colored, all): (&[Match], &[Match])) {
        let Self { style, prelude, role, match_count, .. } = *self;
        let only = from.filter(|_| style.options.only_matching || style.options.vimgrep);
        let offset = prelude.line.offset + only.map_or(0, |found| found.start() as u64);
        let out = self.out.bytes();
        let color_bytes = prelude.write(style, offset, from.map(|found| found.start() as u64 + 1), out);
        let mut painter = Painter { style, role, match_count, color_bytes, out };
        painter.write_line(bytes, colored, all);
        self.tally.color_bytes += painter.color_bytes;
        self.out.flush_if_full();
    }
}

/// Printer of the lines of matches that span lines and touch.
struct SpanPrinter<'a, 'o> {
    style: &'a Style,
    /// Fields of the first line.
    prelude: Prelude<'a>,
    /// The lines, with each match replaced if that is wanted.
    bytes: &'a [u8],
    /// The matches, or their replacements.
    shown: &'a [Match],
    /// Number of matches, before replacement.
    match_count: usize,
    tally: &'a mut Tally,
    out: &'a mut Output<'o>,
}

impl SpanPrinter<'_, '_> {
    /// Prints the lines.
    fn print_lines(&mut self) {
        let column = self.shown.first().map(|found| found.start() as u64 + 1);
        for (number, line) in lines(self.bytes, self.style.terminator).enumerate() {
            // The matches in the other lines continue there.
            let (bytes, shown, is_first) =
                (self.bytes, self.shown, number == 0 && !self.style.options.invert);
            self.write(number, (line.start, column), |painter| {
                if shown.is_empty() || painter.style.options.compact {
                    painter.write_plain(&bytes[line], if is_first { shown } else { &[] });
                } else {
                    painter.write_part(bytes, line, shown);
                }
            });
        }
    }

    /// Prints the parts of matches, each that is in another line on its own line.
    fn print_matches(&mut self) {
        let (bytes, shown) = (self.bytes, self.shown);
        let mut next = 0;
        for (number, line) in lines(bytes, self.style.terminator).enumerate() {
            let line = self.trimmed(line);
            next += shown[next..].partition_point(|found| found.end() <= line.start);
            for found in shown[next..].iter().take_while(|found| found.start() < line.end) {
                let part = found.start().max(line.start)..found.end().min(line.end);
                if part.is_empty() {
                    continue;
                }
                self.write(number, (found.start(), Some(found.start() as u64 + 1)), |painter| {
                    painter.write_matched(bytes, part.clone(), part, shown)
                });
            }
        }
    }

    /// Prints the first line of each match, and the next ones if it is too long.
    fn print_first_lines(&mut self) {
        let bytes = self.bytes;
        let all: Vec<Range<usize>> = lines(bytes, self.style.terminator).collect();
        for found in self.shown {
            let first = all.partition_point(|line| line.end <= found.start());
            for (number, line) in
                all.iter().enumerate().skip(first).take_while(|(_, line)| line.start < found.end())
            {
                let column = found.start().saturating_sub(line.start) as u64 + 1;
                let part = self.trimmed(line.clone());
                let is_too_long = self.style.is_too_long(&bytes[part.clone()]);
                self.write(number, (line.start, Some(column)), |painter| {
                    let within = |at: usize| at.clamp(part.start, part.end);
                    painter.write_matched(
                        bytes,
                        part.clone(),
                        within(found.start())..within(found.end()),
                        &[*found],
                    )
                });
                if !is_too_long {
                    break;
                }
            }
        }
    }

    /// Returns the text of a line without its terminator and leading blanks that are omitted.
    fn trimmed(&self, line: Range<usize>) -> Range<usize> {
        let end = line.start + without_terminator(&self.bytes[line.clone()], self.style.terminator).len();
        line.start + self.style.leading_blanks(&self.bytes[line.start..end])..end
    }

    /// Writes the fields of a line, with an offset in the lines and a column, and its text.
    fn write(
        &mut self,
        number: usize,
        (at, column): (usize, Option<u64>),
        text: impl FnOnce(&mut Painter<'_>),
    ) {
        let Self { style, prelude, match_count, .. } = *self;
        let line = Line { number: prelude.line.number + number as u64, ..prelude.line };
        let out = self.out.bytes();
        let offset = line.offset + at as u64;
        let color_bytes = Prelude { line, ..prelude }.write(style, offset, column, out);
        let mut painter = Painter { style, role: prelude.role, match_count, color_bytes, out };
        text(&mut painter);
        self.tally.color_bytes += painter.color_bytes;
        self.out.flush_if_full();
    }
}

/// Fields printed before the text of a line: path, line number, column and byte offset.
#[derive(Clone, Copy)]
struct Prelude<'a> {
    path: Option<&'a [u8]>,
    /// The hyperlink that the fields are the text of, if there is one.
    link: Option<&'a FileLink>,
    line: Line<'a>,
    role: Role,
    /// Matches in the line, if their places are printed.
    spans: &'a [Match],
}

impl Prelude<'_> {
    /// Writes the fields. Returns the number of bytes in colour escapes.
    fn write(&self, style: &Style, offset: u64, column: Option<u64>, out: &mut Vec<u8>) -> u64 {
        let mut colors = 0;
        let Style { options, paint, .. } = style;
        let separator = match self.role {
            _ if options.ackmate => return self.write_for_ackmate(out),
            Role::Match => &options.field_match_separator,
            Role::Context => &options.field_context_separator,
            Role::Definition => DEFINITION_SEPARATOR,
        };
        let link = self.link.filter(|link| link.has_line || !options.heading);
        if let Some(link) = link {
            colors += link.open(options.line_number.then_some(self.line.number), column, out);
        }
        // What follows the last field is not part of the link.
        let mut end: &[u8] = b"";
        if let Some(path) = self.path.filter(|_| !options.heading) {
            colors += style.write_colored_path(path, out);
            end = if options.null_after_path { b"\0" } else { separator };
        }
        let mut field = |color: &[u8], number: u64| {
            out.extend_from_slice(mem::replace(&mut end, separator));
            colors += paint.write(color, itoa::Buffer::new().format(number).as_bytes(), out);
        };
        if options.line_number {
            field(&paint.line, self.line.number);
        }
        if let Some(column) = column.filter(|_| options.column) {
            field(&paint.column, column);
        }
        if options.byte_offset {
            field(&paint.column, offset);
        }
        if link.is_some() {
            FileLink::close(out);
        }
        out.extend_from_slice(end);
        colors
    }

    /// Writes the line number and, for a matching line, the offset and length of each match. Returns 0, as there are no colours.
    fn write_for_ackmate(&self, out: &mut Vec<u8>) -> u64 {
        let _ = write!(out, "{}", self.line.number);
        for (number, found) in self.spans.iter().enumerate() {
            let before = if number == 0 { ';' } else { ',' };
            let _ = write!(out, "{before}{} {}", found.start(), found.len());
        }
        out.push(b':');
        0
    }
}

/// Writes the text of a line.
struct Painter<'a> {
    style: &'a Style,
    role: Role,
    /// Number of matches in the line, before replacement.
    match_count: usize,
    /// Number of bytes written in colour escapes.
    color_bytes: u64,
    out: &'a mut Vec<u8>,
}

impl Painter<'_> {
    fn end_line(&mut self) {
        self.out.extend_from_slice(self.style.terminator.as_bytes());
    }

    /// Writes a line without colours. `matches` are counted in the note on a line that is too long.
    fn write_plain(&mut self, bytes: &[u8], matches: &[Match]) {
        let blanks = self.style.leading_blanks(bytes);
        let bytes = &bytes[blanks..];
        if self.style.is_too_long(bytes) {
            if self.style.options.compact {
                if self.role == Role::Context {
                    // A replacement may contain line terminators. Context is cut at the end of each line.
                    let lines = bytes.split_inclusive(|&byte| byte == self.style.terminator.as_byte());
                    return lines.for_each(|line| write_excerpt(self.style, line, 0, self.out));
                }
                // With -o, the text is the match.
                let is_around = self.role == Role::Match && !self.style.options.only_matching;
                let first = matches.first().filter(|_| is_around);
                let from = first.map_or(0, |first| first.start().saturating_sub(blanks));
                return write_excerpt(self.style, bytes, from, self.out);
            }
            return self.write_omitted(bytes, 0..bytes.len(), matches);
        }
        self.out.extend_from_slice(bytes);
        if !self.style.terminator.is_suffix(bytes) {
            self.end_line();
        }
    }

    /// Writes a line with `matches` in colour. Without colours, the note on a line that is too long counts `all`.
    fn write_line(&mut self, bytes: &[u8], matches: &[Match], all: &[Match]) {
        if !self.style.paint.colors_matches || matches.is_empty() {
            return self.write_plain(bytes, all);
        }
        let from = self.style.leading_blanks(bytes);
        if self.style.is_too_long(bytes) {
            return self.write_omitted(bytes, from..bytes.len(), matches);
        }
        self.write_colored(bytes, from..bytes.len(), matches);
        self.end_line();
    }

    /// Writes one of several lines with the parts of `matches` in it in colour.
    fn write_part(&mut self, bytes: &[u8], line: Range<usize>, matches: &[Match]) {
        let part = line.start + self.style.leading_blanks(&bytes[line.clone()])..line.end;
        if self.style.is_too_long(&bytes[part.clone()]) {
            return self.write_omitted(bytes, part, matches);
        }
        self.write_colored(bytes, part, matches);
        self.end_line();
    }

    /// Writes part of a line with the part of it at `matched` in colour.
    fn write_matched(&mut self, bytes: &[u8], part: Range<usize>, matched: Range<usize>, matches: &[Match]) {
        if self.style.is_too_long(&bytes[part.clone()]) {
            if self.style.options.compact {
                return write_excerpt(self.style, &bytes[part], 0, self.out);
            }
            return self.write_omitted(bytes, part, matches);
        }
        self.out.extend_from_slice(&bytes[part.start..matched.start]);
        if !matched.is_empty() {
            let paint = &self.style.paint;
            self.color_bytes += paint.write(&paint.matched, &bytes[matched.clone()], self.out);
        }
        self.out.extend_from_slice(&bytes[matched.end..part.end]);
        self.end_line();
    }

    /// Writes part of a line with its matches in colour, without the line terminator.
    fn write_colored(&mut self, bytes: &[u8], part: Range<usize>, matches: &[Match]) {
        let end = part.start + without_terminator(&bytes[part.clone()], self.style.terminator).len();
        let Paint { matched, highlight, reset, colors_matches, .. } = &self.style.paint;
        if !colors_matches || matches.is_empty() {
            return self.out.extend_from_slice(&bytes[part.start..end]);
        }
        let highlight: &[u8] = if self.role == Role::Match { highlight } else { &[] };
        let after_match = if highlight.is_empty() { reset } else { highlight };
        self.out.extend_from_slice(highlight);
        let mut colors = highlight.len();
        let mut at = part.start;
        let mut in_match = false;
        let first = matches.partition_point(|found| found.end() <= part.start);
        for found in matches[first..].iter().take_while(|found| found.start() < end) {
            let (start, stop) = (found.start().max(at), found.end().min(end));
            if stop <= start {
                continue;
            }
            // Adjacent matches share one pair of escapes.
            if in_match && start > at {
                self.out.extend_from_slice(after_match);
                colors += after_match.len();
                in_match = false;
            }
            self.out.extend_from_slice(&bytes[at..start]);
            if !mem::replace(&mut in_match, true) {
                self.out.extend_from_slice(matched);
                colors += matched.len();
            }
            self.out.extend_from_slice(&bytes[start..stop]);
            at = stop;
        }
        if in_match {
            self.out.extend_from_slice(after_match);
            colors += after_match.len();
        }
        self.out.extend_from_slice(&bytes[at..end]);
        if !highlight.is_empty() {
            self.out.extend_from_slice(reset);
            colors += reset.len();
        }
        self.color_bytes += colors as u64;
    }

    /// Writes the preview of, or the note on, a line that is too long.
    fn write_omitted(&mut self, bytes: &[u8], part: Range<usize>, matches: &[Match]) {
        let options = &self.style.options;
        if options.max_columns_preview {
            let columns = usize::try_from(options.max_columns.unwrap_or(0)).unwrap_or(usize::MAX);
            let shown = bytes[part.clone()].grapheme_indices().take(columns).last();
            let hidden = part.start + shown.map_or(0, |(_, end, _)| end)..part.end;
            self.write_colored(bytes, part.start..hidden.start, matches);
            let _ = match matches {
                [] => write!(self.out, " [... omitted end of long line]"),
                _ => {
                    let more = matches.iter().filter(|found| hidden.contains(&found.start())).count();
                    let noun = if more == 1 { "match" } else { "matches" };
                    write!(self.out, " [... {more} more {noun}]")
                }
            };
        } else if self.match_count > 0 && !options.only_matching {
            let _ = write!(self.out, "[Omitted long line with {} matches]", self.match_count);
        } else {
            let kind = match self.role {
                Role::Match => "matching",
                Role::Context => "context",
                Role::Definition => "definition",
            };
            let _ = write!(self.out, "[Omitted long {kind} line]");
        }
        self.end_line();
    }
}

/// Writes a line, or the part of it around the match that begins at the offset `from` if it is long.
pub(crate) fn write_excerpt(style: &Style, line: &[u8], from: usize, out: &mut Vec<u8>) {
    let text = without_terminator(line, style.terminator);
    let most =
        style.options.max_columns.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let part = excerpt(text, from, most);
    if part.len() == text.len() {
        out.extend_from_slice(line);
        if style.terminator.is_suffix(line) {
            return;
        }
    } else {
        let mark = |is_cut| if is_cut { CUT.as_bytes() } else { b"" };
        out.extend_from_slice(mark(part.start > 0));
        out.extend_from_slice(&text[part.clone()]);
        out.extend_from_slice(mark(part.end < text.len()));
    }
    out.extend_from_slice(style.terminator.as_bytes());
}
