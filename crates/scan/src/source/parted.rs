//! A compressed file whose parts decompress independently, so that several workers read it.
//!
//! A [`Splitter`] splits the compressed bytes into parts, in order. Parts are decompressed in parallel. Then they are
//! cut into whole lines in turn: each part receives the unterminated last line of the previous part, and passes on its
//! own. The sequential work is small compared to decompressing.
//!
//! If a part turns out to be wrong (a signature inside compressed data looked like the beginning of the next part),
//! damaged, or too large for memory, the rest of the file is read as a stream, one block per turn. Text and errors are
//! then the same as if the whole file had been read as a stream.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use finecomb_meter::{Meter, Phase};
use memchr::memchr_iter;

use super::cut::{FileFrom, retry};
use super::decompress::Format;
use super::split::{Part, Restart, Splitter};
use super::{LONG_LINE, TextBlock};
use crate::block::Source;
use crate::options::Bounds;
use crate::problem::{ProblemKind, Problems};
use crate::schedule::turns::Turns;

/// Room before decompressed bytes for the beginning of their first line, in bytes.
const HEADROOM: usize = if cfg!(test) { 50 } else { 16 << 10 };

/// Maximum size of a part that is kept in memory, in decompressed bytes. Each worker may hold one.
const MAX_PART: usize = if cfg!(test) { 300_000 } else { 64 << 20 };

/// Size of the first decompression step, before the size of the text is known, in bytes.
const FIRST_STEP: usize = if cfg!(test) { 100 } else { 1 << 20 };

/// A compressed file that workers read part by part.
pub(crate) struct PartedFile {
    pub(crate) source: Source,
    file: Arc<File>,
    format: Format,
    pub(crate) bounds: Bounds,
    next: AtomicU64,
    ended: AtomicBool,
    /// Set once the rest is read as a stream.
    streams: AtomicBool,
    splitter: Turns<Splitter>,
    text: Turns<Text>,
}

/// State of the decompressed text that has been cut into blocks so far.
struct Text {
    mode: Mode,
    /// The unterminated last line.
    tail: Vec<u8>,
    /// Offset of the tail in the text, in bytes.
    offset: u64,
    /// Line number of the tail, counted from 1.
    line: u64,
    /// Set while the rest of an overlong line is being dropped.
    discarding: bool,
    /// Set if the tail begins within a long line that NULs split.
    in_long_line: bool,
}

enum Mode {
    Parts,
    /// Reading the rest as a stream.
    Stream(Box<dyn Read + Send>),
    Ended,
}

/// Result of decompressing a part.
enum Decoded {
    /// The text is in the buffer between [`HEADROOM`] and `end`, with this many line ends.
    Whole { end: usize, line_ends: u64, is_last: bool },
    /// The rest must be read as a stream.
    Stream(Restart),
    /// There are no more parts.
    End,
}

impl PartedFile {
    /// A reader for a file; `None` if it cannot be split into several parts.
    pub(crate) fn new(source: Source, file: Arc<File>, format: Format, bounds: Bounds) -> Option<Self> {
        let size = file.metadata().ok()?.len();
        let splitter = Splitter::new(Arc::clone(&file), size, format)?;
        let text = Text {
            mode: Mode::Parts,
            tail: Vec::new(),
            offset: 0,
            line: 1,
            discarding: false,
            in_long_line: false,
        };
        Some(Self {
            source,
            file,
            format,
            bounds,
            next: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            streams: AtomicBool::new(false),
            splitter: Turns::new(splitter),
            text: Turns::new(text),
        })
    }

    /// Claims the next part, which the caller must then read; `None` if all parts have been read.
    pub(crate) fn claim(&self) -> Option<u64> {
        let ended = self.ended.load(Ordering::Acquire);
        (!ended).then(|| self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Reads the lines of a part into `buffer` and returns their range in it. A part may have no lines.
    pub(crate) fn read(
        &self,
        number: u64,
        buffer: &mut Vec<u8>,
        meter: &mut Meter,
        problems: &mut Problems,
    ) -> TextBlock {
        meter.enter(Phase::Wait);
        let part = {
            let mut splitter = self.splitter.await_turn(number);
            meter.enter(Phase::Read);
            // Parts are useless once the rest is read as a stream.
            if self.streams.load(Ordering::Acquire) { Part::End } else { splitter.next() }
        };
        meter.enter(Phase::Decompress);
        let decoded = self.decode(part, buffer);
        meter.enter(Phase::Wait);
        let mut text = self.text.await_turn(number);
        match decoded {
            Decoded::Whole { end, line_ends, is_last } if matches!(text.mode, Mode::Parts) => {
                if is_last {
                    self.end(&mut text);
                }
                text.cut(buffer, end, line_ends, is_last, self.bounds)
            }
            decoded => {
                if let Decoded::Stream(restart) = decoded
                    && matches!(text.mode, Mode::Parts)
                {
                    self.read_as_stream(&mut text, restart, problems);
                }
                meter.enter(Phase::Decompress);
                self.read_on(&mut text, buffer, problems)
            }
        }
    }

    fn end(&self, text: &mut Text) {
        text.mode = Mode::Ended;
        self.ended.store(true, Ordering::Release);
    }

    /// Decompresses a part into the buffer.
    fn decode(&self, part: Part, buffer: &mut Vec<u8>) -> Decoded {
        let (compressed, restart, is_last) = match part {
            Part::Whole { bytes, restart, is_last } => (bytes, restart, is_last),
            Part::Stream(restart) => return Decoded::Stream(restart),
            Part::End => return Decoded::End,
        };
        match decompress(self.format, compressed, buffer) {
            Some(end) => {
                let line_ends = memchr_iter(self.bounds.line_end, &buffer[HEADROOM..end]).count() as u64;
                Decoded::Whole { end, line_ends, is_last }
            }
            None => Decoded::Stream(restart),
        }
    }

    /// Switches to reading as a stream.
    fn read_as_stream(&self, text: &mut Text, restart: Restart, problems: &mut Problems) {
        let known = text.offset + text.tail.len() as u64;
        let (from, skipped) = match restart {
            Restart::At(offset) => (offset, 0),
            Restart::Beginning => (0, known),
        };
        let input = FileFrom { file: Arc::clone(&self.file), offset: from };
        match self.format.reader_after((from > 0).then_some(known), input) {
            Ok(mut reader) => {
                // If that fails, so does the next read, which reports the error.
                let _ = io::copy(&mut (&mut reader).take(skipped), &mut io::sink());
                text.mode = Mode::Stream(reader);
                self.streams.store(true, Ordering::Release);
            }
            Err(error) => {
                problems.add(&self.source, ProblemKind::Decode { error });
                self.end(text);
            }
        }
    }

    /// Reads the next block of the stream.
    fn read_on(&self, text: &mut Text, buffer: &mut Vec<u8>, problems: &mut Problems) -> TextBlock {
        let Mode::Stream(reader) = &mut text.mode else { return TextBlock::default() };
        let limit = HEADROOM + self.bounds.block_size;
        grow(buffer, limit);
        let mut end = HEADROOM;
        let is_last = loop {
            if end == limit {
                break false;
            }
            match retry(|| reader.read(&mut buffer[end..limit])) {
                Ok(0) => break true,
                Ok(got) => end += got,
                Err(error) => {
                    problems.add(&self.source, ProblemKind::Decode { error });
                    break true;
                }
            }
        };
        if is_last {
            self.end(text);
        }
        let line_ends = memchr_iter(self.bounds.line_end, &buffer[HEADROOM..end]).count() as u64;
        text.cut(buffer, end, line_ends, is_last, self.bounds)
    }
}

impl Text {
    /// Cuts the bytes between [`HEADROOM`] and `end`, which follow the tail, after their last line end.
    fn cut(
        &mut self,
        buffer: &mut Vec<u8>,
        end: usize,
        mut line_ends: u64,
        is_last: bool,
        bounds: Bounds,
    ) -> TextBlock {
        let mut begin = HEADROOM;
        if self.discarding {
            let rest = bounds.first_end(&buffer[begin..end], LONG_LINE).map(|at| at + 1);
            if let Some(rest) = rest {
                self.in_long_line = bounds.prefix_after(buffer[begin + rest - 1]) > 0;
            }
            let dropped = rest.unwrap_or(end - begin);
            self.discarding = rest.is_none();
            let ended = u64::from(rest.is_some());
            (self.line, line_ends) = (self.line + ended, line_ends - ended);
            self.offset += dropped as u64;
            begin += dropped;
        }
        let prefix = if self.in_long_line { LONG_LINE } else { self.tail.len().min(LONG_LINE) };
        let last = bounds.last_end(&buffer[begin..end], prefix);
        let is_too_long = last.is_none() && self.tail.len() + end - begin > bounds.max_line;
        let cut = match last {
            _ if is_last => end,
            Some(line_end) => begin + line_end + 1,
            // The beginning of an overlong line is returned, to be reported.
            None if is_too_long => end,
            None => {
                self.tail.extend_from_slice(&buffer[begin..end]);
                return TextBlock::default();
            }
        };
        self.discarding |= is_too_long && !is_last;
        let ends_in_long_line = last.map(|last| bounds.prefix_after(buffer[begin + last]) > 0);
        let next_tail = buffer[cut..end].to_vec();
        let range = self.put_tail_before(buffer, begin..cut);
        let (first_line, in_long_line) = (Some(self.line), self.in_long_line);
        self.in_long_line = ends_in_long_line.unwrap_or(in_long_line);
        let block = TextBlock { range, offset: self.offset, first_line, in_long_line };
        self.offset += block.range.len() as u64;
        self.line += line_ends;
        self.tail = next_tail;
        block
    }

    /// Copies the tail in front of a range of the buffer, and returns the range of both.
    fn put_tail_before(&mut self, buffer: &mut Vec<u8>, range: Range<usize>) -> Range<usize> {
        let length = self.tail.len();
        if length <= range.start {
            buffer[range.start - length..range.start].copy_from_slice(&self.tail);
            return range.start - length..range.end;
        }
        buffer.splice(range.start..range.start, self.tail.drain(..));
        range.start..range.end + length
    }
}

/// Decompresses all of `compressed` into the buffer after [`HEADROOM`], and returns the end of the text. Returns `None`
/// if the data are damaged, truncated, or too large.
fn decompress(format: Format, compressed: Vec<u8>, buffer: &mut Vec<u8>) -> Option<usize> {
    let mut reader = format.reader(io::Cursor::new(compressed)).ok()?;
    let mut end = HEADROOM;
    loop {
        if end == buffer.len() || end < HEADROOM + FIRST_STEP {
            grow(buffer, (2 * end).clamp(HEADROOM + FIRST_STEP, HEADROOM + MAX_PART + 1));
        }
        match reader.read(&mut buffer[end..]).ok()? {
            0 => return Some(end),
            got => end += got,
        }
        if end > HEADROOM + MAX_PART {
            return None;
        }
    }
}

fn grow(buffer: &mut Vec<u8>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
}
