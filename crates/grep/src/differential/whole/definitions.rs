//! Definitions around matches in the output of ripgrep's printers, which do not print them.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use finecomb_sys::locks::lock;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};
use memchr::{memchr_iter, memmem};
use serde::Deserialize;

use crate::enclosing::Enclosing;
use crate::file_state::Line;
use crate::print::json::Definition;
use crate::print::lines::{Style, write_definition};

/// Output of a printer, to be read while it prints.
#[derive(Clone, Default)]
pub(super) struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.0))
    }

    fn len(&self) -> usize {
        lock(&self.0).len()
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Part of the output of a file.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) role: Role,
    /// The lines of the file in it.
    pub(super) lines: Range<usize>,
    /// Line number of the first, if lines are numbered.
    number: Option<u64>,
    /// End of the part in the output.
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Match,
    /// Context of the match before it.
    After,
    /// Context of the match after it, or any line of a file that is printed as a whole.
    Before,
    Gap,
}

/// Sink that records which part of the output of another sink is which line.
pub(super) struct Recorder<'a, S> {
    pub(super) sink: S,
    pub(super) buffer: SharedBuffer,
    pub(super) pieces: &'a mut Vec<Piece>,
}

impl<S> Recorder<'_, S> {
    fn record(&mut self, role: Role, start: u64, bytes: &[u8], number: Option<u64>) {
        // The file is in memory.
        let start = start as usize;
        self.pieces.push(Piece { role, lines: start..start + bytes.len(), number, end: self.buffer.len() });
    }
}

impl<S: Sink> Sink for Recorder<'_, S> {
    type Error = S::Error;

    fn matched(&mut self, searcher: &Searcher, matched: &SinkMatch<'_>) -> Result<bool, S::Error> {
        let more = self.sink.matched(searcher, matched)?;
        self.record(Role::Match, matched.absolute_byte_offset(), matched.bytes(), matched.line_number());
        Ok(more)
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, S::Error> {
        let more = self.sink.context(searcher, context)?;
        let role = if *context.kind() == SinkContextKind::After { Role::After } else { Role::Before };
        self.record(role, context.absolute_byte_offset(), context.bytes(), context.line_number());
        Ok(more)
    }

    fn context_break(&mut self, searcher: &Searcher) -> Result<bool, S::Error> {
        let more = self.sink.context_break(searcher)?;
        self.record(Role::Gap, 0, b"", None);
        Ok(more)
    }

    fn binary_data(&mut self, searcher: &Searcher, offset: u64) -> Result<bool, S::Error> {
        self.sink.binary_data(searcher, offset)
    }

    fn begin(&mut self, searcher: &Searcher) -> Result<bool, S::Error> {
        self.sink.begin(searcher)
    }

    fn finish(&mut self, searcher: &Searcher, finish: &SinkFinish) -> Result<(), S::Error> {
        self.sink.finish(searcher, finish)
    }
}

/// Writes the output of a file again, with definitions.
pub(super) struct Inserter<'a> {
    pub(super) style: &'a Style,
    /// The path of the file, if it is printed.
    pub(super) path: Option<&'a [u8]>,
    pub(super) enclosing: Enclosing<'a>,
    printed: &'a [u8],
    out: Vec<u8>,
    /// Offset of the end of the last line written, if there is one.
    written_to: Option<usize>,
}

impl<'a> Inserter<'a> {
    pub(super) fn new(
        style: &'a Style,
        path: Option<&'a [u8]>,
        enclosing: Enclosing<'a>,
        printed: &'a [u8],
    ) -> Self {
        Self { style, path, enclosing, printed, out: Vec::new(), written_to: None }
    }

    /// Returns the output with definitions.
    pub(super) fn insert(mut self, pieces: &[Piece]) -> Vec<u8> {
        let mut at = self.heading_len();
        self.out.extend_from_slice(&self.printed[..at]);
        let mut parts: Vec<(&Piece, Range<usize>)> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push((piece, at..piece.end));
            at = piece.end;
        }
        let mut rest = &parts[..];
        while let Some(matched) = rest.iter().position(|(piece, _)| piece.role == Role::Match) {
            let after = rest.iter().take_while(|(piece, _)| piece.role == Role::After).count();
            self.write(&rest[..after]);
            self.write_to_match(&rest[after..=matched]);
            rest = &rest[matched + 1..];
        }
        self.write(rest);
        self.out.extend_from_slice(&self.printed[at..]);
        self.out
    }

    /// Length of the path above the lines.
    fn heading_len(&self) -> usize {
        let options = &self.style.options;
        let Some(path) = self.path.filter(|_| options.heading) else { return 0 };
        let end = if options.null_after_path { 0 } else { self.enclosing.line_end };
        let in_path = memchr_iter(end, path).count();
        memchr_iter(end, self.printed).nth(in_path).map_or(0, |at| at + 1)
    }

    fn write(&mut self, parts: &[(&Piece, Range<usize>)]) {
        for (Piece { role, lines, .. }, range) in parts {
            self.out.extend_from_slice(&self.printed[range.clone()]);
            if *role != Role::Gap {
                self.mark(lines.clone());
            }
        }
    }

    fn mark(&mut self, lines: Range<usize>) {
        let mut start = lines.start;
        while start < lines.end {
            self.enclosing.mark_printed(start);
            start = self.enclosing.line_at(start).end;
        }
        self.written_to = Some(lines.end);
    }

    /// Writes the lines before a match, the match itself, and the definition around it.
    fn write_to_match(&mut self, parts: &[(&Piece, Range<usize>)]) {
        let Some((matched, before)) = parts.split_last() else { return };
        let line = self.enclosing.line_at(matched.0.lines.start);
        let Some(definition) = self.enclosing.line_to_print(line.clone()) else { return self.write(parts) };
        if let Some(shown) = before.iter().position(|(piece, _)| piece.lines == definition) {
            self.write(&before[..shown]);
            self.write_definition(definition, matched.0);
            return self.write(&parts[shown + 1..]);
        }
        let gaps = before.iter().take_while(|(piece, _)| piece.role == Role::Gap).count();
        if self.written_to.is_some_and(|end| end != definition.start) {
            self.write_gap();
        }
        let end = definition.end;
        self.write_definition(definition, matched.0);
        if parts.get(gaps).is_some_and(|(piece, _)| piece.lines.start != end) {
            self.write_gap();
        }
        self.write(&parts[gaps..]);
    }

    fn write_definition(&mut self, line: Range<usize>, matched: &Piece) {
        let Enclosing { text, line_end, .. } = self.enclosing;
        let lines = memchr_iter(line_end, &text[line.start..matched.lines.start]).count() as u64;
        let number = matched.number.unwrap_or(0).saturating_sub(lines);
        let shown =
            Line { bytes: &text[line.clone()], text, start: line.start, number, offset: line.start as u64 };
        write_definition(self.style, self.path, shown, &mut self.out);
        self.mark(line);
    }

    fn write_gap(&mut self) {
        let options = &self.style.options;
        let has_context = options.before_context > 0 || options.after_context > 0;
        if let Some(separator) =
            options.context_separator.as_ref().filter(|_| has_context && !options.passthru)
        {
            self.out.extend_from_slice(separator);
            self.out.extend_from_slice(self.style.terminator.as_bytes());
        }
    }
}

/// Returns JSON messages with the definition around each match.
pub(super) fn insert_into_json(printed: &[u8], mut enclosing: Enclosing<'_>) -> Vec<u8> {
    #[derive(Deserialize)]
    struct Message {
        data: Match,
    }
    #[derive(Deserialize)]
    struct Match {
        absolute_offset: usize,
        line_number: Option<u64>,
    }
    const END: &[u8] = b"}}\n";
    let (mut out, mut inserted) = (Vec::with_capacity(printed.len()), 0);
    for message in printed.split_inclusive(|&byte| byte == b'\n') {
        let open = message.strip_suffix(END).filter(|open| open.starts_with(br#"{"type":"match","#));
        let data = open.and_then(|_| serde_json::from_slice(message).ok()).map(|Message { data }| data);
        let Some((open, Match { absolute_offset: start, line_number })) = open.zip(data) else {
            write_counted(message, inserted, &mut out);
            continue;
        };
        let line = enclosing.line_at(start);
        let text = &enclosing.text[..start.min(enclosing.text.len())];
        let number = line_number.unwrap_or_else(|| memchr_iter(enclosing.line_end, text).count() as u64 + 1);
        out.extend_from_slice(open);
        let before = out.len();
        out.extend_from_slice(br#","enclosing":"#);
        serde_json::to_writer(&mut out, &enclosing.around(line, number).map(Definition::from)).unwrap();
        inserted += (out.len() - before) as u64;
        out.extend_from_slice(END);
    }
    out
}

/// Writes a message other than a match. The statistics of a file count `inserted` bytes more as printed.
pub(super) fn write_counted(message: &[u8], inserted: u64, out: &mut Vec<u8>) {
    const COUNT: &[u8] = br#""bytes_printed":"#;
    let is_end = message.starts_with(br#"{"type":"end","#);
    let counted = memmem::rfind(message, COUNT).filter(|_| is_end).and_then(|at| {
        let (before, after) = message.split_at(at + COUNT.len());
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let count: u64 = std::str::from_utf8(&after[..digits]).ok()?.parse().ok()?;
        Some((before, count + inserted, &after[digits..]))
    });
    match counted {
        Some((before, count, after)) => {
            out.extend_from_slice(before);
            out.extend_from_slice(itoa::Buffer::new().format(count).as_bytes());
            out.extend_from_slice(after);
        }
        None => out.extend_from_slice(message),
    }
}
