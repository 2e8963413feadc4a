//! Sink that prints the lines of a whole file as records.

use std::io;

use grep_matcher::{Match, Matcher};
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::find::without_terminator;
use crate::options::GrepOptions;
use crate::records::{put_binary, put_path, put_text};

/// Bytes after a match that an expression may look at, as in ripgrep's printers.
const LOOK_AHEAD: usize = 128;

/// Records of one file.
pub(super) struct Recorded {
    pub(super) bytes: Vec<u8>,
    pub(super) any: bool,
}

/// Sink that prints records.
pub(super) struct RecordSink<'a, M> {
    matcher: &'a M,
    options: &'a GrepOptions,
    path: &'a [u8],
    recorded: Recorded,
    found: Vec<Match>,
    /// Offset of the first NUL that was noticed.
    nul: Option<u64>,
}

impl<'a, M: Matcher> RecordSink<'a, M> {
    pub(super) fn new(matcher: &'a M, options: &'a GrepOptions, path: &'a [u8]) -> Self {
        let recorded = Recorded { bytes: Vec::new(), any: false };
        Self { matcher, options, path, recorded, found: Vec::new(), nul: None }
    }

    pub(super) fn finish(self) -> Recorded {
        self.recorded
    }

    /// Finds the matches in the lines of a match, which may look at the text around them.
    fn find(&mut self, searcher: &Searcher, matched: &SinkMatch<'_>) {
        self.found.clear();
        if self.options.invert {
            return;
        }
        let (text, lines) = (matched.buffer(), matched.bytes_range_in_buffer());
        let end = if searcher.multi_line_with_matcher(self.matcher) {
            text.len().min(lines.end + LOOK_AHEAD)
        } else {
            lines.start + without_terminator(matched.bytes(), searcher.line_terminator()).len()
        };
        let found = &mut self.found;
        // The search has found the lines without an error.
        let _ = self.matcher.find_iter_at(&text[..end], lines.start, |here| {
            // An empty match at the very end of the file is in no line.
            let is_inside = here.start() < lines.end;
            if is_inside {
                found.push(Match::new(here.start() - lines.start, here.end() - lines.start));
            }
            is_inside
        });
    }

    fn put(&mut self, (number, offset): (Option<u64>, u64), lines: &[u8], is_match: bool) {
        let out = &mut self.recorded.bytes;
        if out.is_empty() {
            put_path(self.path, out);
        }
        let text = without_terminator(lines, self.options.line_end.terminator());
        put_text((number.unwrap_or(0), offset), text, is_match.then_some(&*self.found), out);
    }

    /// Whether lines are left out, as they are after a NUL.
    fn is_suppressed(&self, searcher: &Searcher) -> bool {
        searcher.binary_detection().convert_byte().is_some() && self.nul.is_some()
    }
}

impl<M: Matcher> Sink for RecordSink<'_, M> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        self.recorded.any = true;
        if self.is_suppressed(searcher) {
            return Ok(false);
        }
        self.find(searcher, matched);
        self.put((matched.line_number(), matched.absolute_byte_offset()), matched.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if self.is_suppressed(searcher) {
            return Ok(false);
        }
        self.put((context.line_number(), context.absolute_byte_offset()), context.bytes(), false);
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, offset: u64) -> io::Result<bool> {
        self.nul = Some(offset);
        Ok(true)
    }

    fn finish(&mut self, searcher: &Searcher, _finish: &SinkFinish) -> io::Result<()> {
        let Some(offset) = self.nul.filter(|_| self.recorded.any) else { return Ok(()) };
        let bytes = &mut self.recorded.bytes;
        if bytes.is_empty() {
            put_path(self.path, bytes);
        }
        put_binary(offset, searcher.binary_detection().quit_byte().is_some(), bytes);
        Ok(())
    }
}
