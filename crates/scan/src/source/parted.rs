//! A compressed file whose parts decompress independently, so that several workers read it.
//!
//! A [`Splitter`] splits the compressed bytes into parts, in order. Parts are decompressed in parallel. Then they are
//! cut into whole records in turn: each part receives the unterminated last record of the previous part, and passes on
//! its own. The sequential work is small compared to decompressing.
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
use finecomb_sys::ReadBuffer;
use memchr::memchr_iter;

use super::TextBlock;
use super::bounds::{Bounds, LONG_LINE};
use super::cut::{FileFrom, retry};
use super::decompress::format::Compression;
use super::split::{CompressedPart, Restart, Splitter};
use crate::block::Source;
use crate::problem::{ProblemKind, Problems};
use crate::records::rules::{RecordEffect, RecordRules, RecordState, RecordTransition};
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
    format: Compression,
    pub(crate) bounds: Bounds,
    next: AtomicU64,
    ended: AtomicBool,
    /// Set once the rest is read as a stream.
    streams: AtomicBool,
    splitter: Turns<Splitter>,
    text: Turns<CutText>,
}

/// State of the decompressed text that has been cut into blocks so far.
struct CutText {
    mode: CutMode,
    /// The unterminated last record.
    tail: Vec<u8>,
    /// State at its end, if quotes or brackets matter for the ends of records.
    state: RecordState,
    /// Offset of the tail in the text, in bytes.
    offset: u64,
    /// Line number of the tail, counted from 1.
    line: u64,
    /// Set while the rest of an overlong record is being dropped.
    discarding: bool,
    /// Set if the tail begins within a long line that NULs split.
    in_long_line: bool,
}

enum CutMode {
    Parts,
    /// Reading the rest as a stream.
    Stream(Box<dyn Read + Send>),
    Ended,
}

/// Result of decompressing a part.
enum Decoded {
    /// The text is in the buffer between [`HEADROOM`] and `end`.
    Whole { end: usize, ends: Box<PartEnds>, is_last: bool },
    /// The rest must be read as a stream.
    Stream(Restart),
    /// There are no more parts.
    End,
}

/// Ends of lines and records in a part.
struct PartEnds {
    /// Number of line ends.
    lines: u64,
    /// How records end, if quotes or brackets matter for that.
    records: Option<(RecordRules, RecordTransition)>,
}

impl PartEnds {
    fn of(part: &[u8], bounds: &Bounds) -> Self {
        let lines = memchr_iter(bounds.line_end, part).count() as u64;
        let records = bounds.rules().map(|rules| (rules, rules.transition(part)));
        Self { lines, records }
    }
}

impl PartedFile {
    /// A reader for a file; `None` if it cannot be split into several parts.
    pub(crate) fn new(source: Source, file: Arc<File>, format: Compression, bounds: Bounds) -> Option<Self> {
        let size = file.metadata().ok()?.len();
        let splitter = Splitter::new(Arc::clone(&file), size, format)?;
        let text = CutText {
            mode: CutMode::Parts,
            tail: Vec::new(),
            state: RecordState::Start,
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
        buffer: &mut ReadBuffer,
        meter: &mut Meter,
        problems: &mut Problems,
    ) -> TextBlock {
        meter.enter(Phase::Wait);
        let part = {
            let mut splitter = self.splitter.await_turn(number);
            meter.enter(Phase::Read);
            // Parts are useless once the rest is read as a stream.
            if self.streams.load(Ordering::Acquire) { CompressedPart::End } else { splitter.next() }
        };
        meter.enter(Phase::Decompress);
        let decoded = self.decode(part, buffer);
        meter.enter(Phase::Wait);
        let mut text = self.text.await_turn(number);
        match decoded {
            Decoded::Whole { end, ends, is_last } if matches!(text.mode, CutMode::Parts) => {
                if is_last {
                    self.end(&mut text);
                }
                self.with_heading(text.cut(buffer, end, &ends, is_last, &self.bounds), buffer)
            }
            decoded => {
                if let Decoded::Stream(restart) = decoded
                    && matches!(text.mode, CutMode::Parts)
                {
                    self.read_as_stream(&mut text, restart, problems);
                }
                meter.enter(Phase::Decompress);
                self.read_on(&mut text, buffer, problems)
            }
        }
    }

    /// Adds the last heading before a block. Blocks must be passed in order.
    fn with_heading(&self, block: TextBlock, buffer: &[u8]) -> TextBlock {
        let heading = self.source.pass_heading(&buffer[block.range.clone()], self.bounds.max_line);
        TextBlock { heading, ..block }
    }

    fn end(&self, text: &mut CutText) {
        text.mode = CutMode::Ended;
        self.ended.store(true, Ordering::Release);
    }

    /// Decompresses a part into the buffer.
    fn decode(&self, part: CompressedPart, buffer: &mut ReadBuffer) -> Decoded {
        let (compressed, restart, is_last) = match part {
            CompressedPart::Whole { bytes, restart, is_last } => (bytes, restart, is_last),
            CompressedPart::Stream(restart) => return Decoded::Stream(restart),
            CompressedPart::End => return Decoded::End,
        };
        match decompress(self.format, compressed, buffer) {
            Some(end) => {
                let ends = Box::new(PartEnds::of(&buffer[HEADROOM..end], &self.bounds));
                Decoded::Whole { end, ends, is_last }
            }
            None => Decoded::Stream(restart),
        }
    }

    /// Switches to reading as a stream.
    fn read_as_stream(&self, text: &mut CutText, restart: Restart, problems: &mut Problems) {
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
                text.mode = CutMode::Stream(reader);
                self.streams.store(true, Ordering::Release);
            }
            Err(error) => {
                problems.add(&self.source, ProblemKind::Decode { error });
                self.end(text);
            }
        }
    }

    /// Reads the next block of the stream.
    fn read_on(&self, text: &mut CutText, buffer: &mut ReadBuffer, problems: &mut Problems) -> TextBlock {
        let CutMode::Stream(reader) = &mut text.mode else { return TextBlock::default() };
        let limit = HEADROOM + self.bounds.block_size;
        leave_headroom(buffer);
        let mut end = HEADROOM;
        let is_last = loop {
            if end == limit {
                break false;
            }
            match retry(|| reader.read(buffer.bytes_mut(end..limit))) {
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
        let ends = PartEnds::of(&buffer[HEADROOM..end], &self.bounds);
        self.with_heading(text.cut(buffer, end, &ends, is_last, &self.bounds), buffer)
    }
}

impl CutText {
    /// Cuts the bytes between [`HEADROOM`] and `end`, which follow the tail, after the last end of a record.
    fn cut(
        &mut self,
        buffer: &mut ReadBuffer,
        end: usize,
        ends: &PartEnds,
        is_last: bool,
        bounds: &Bounds,
    ) -> TextBlock {
        let mut begin = HEADROOM;
        let mut line_ends = ends.lines;
        if self.discarding {
            let rest = self.discard(&buffer[begin..end], ends, bounds);
            let dropped = rest.unwrap_or(end - begin);
            self.discarding = rest.is_none();
            let dropped_ends = memchr_iter(bounds.line_end, &buffer[begin..begin + dropped]).count() as u64;
            (self.line, line_ends) = (self.line + dropped_ends, line_ends - dropped_ends);
            self.offset += dropped as u64;
            begin += dropped;
        }
        let last = self.last_end(&buffer[HEADROOM..end], begin - HEADROOM, ends, bounds);
        let is_too_long = last.is_none() && self.tail.len() + end - begin > bounds.max_line;
        let cut = match last {
            _ if is_last => end,
            Some(last) => begin + last + 1,
            // The beginning of an overlong record is returned, to be reported.
            None if is_too_long => end,
            None => {
                self.tail.extend_from_slice(&buffer[begin..end]);
                return TextBlock::default();
            }
        };
        self.discarding |= is_too_long && !is_last;
        let last_length = last.map_or(self.tail.len() + end - begin, |last| end - begin - last - 1);
        let unclosed = if is_last { bounds.unclosed(last_length, self.state) } else { 0 };
        let ends_in_long_line = last.map(|last| bounds.prefix_after(buffer[begin + last]) > 0);
        let next_tail = buffer[cut..end].to_vec();
        if ends.records.is_some() {
            // A record that is not complete may have line ends.
            let line_ends_in = |tail: &[u8]| memchr_iter(bounds.line_end, tail).count() as u64;
            line_ends = line_ends + line_ends_in(&self.tail) - line_ends_in(&next_tail);
        }
        let range = self.put_tail_before(buffer, begin..cut);
        let (first_line, in_long_line) = (Some(self.line), self.in_long_line);
        self.in_long_line = ends_in_long_line.unwrap_or(in_long_line);
        let offset = self.offset;
        let block = TextBlock { range, offset, first_line, in_long_line, unclosed, ..TextBlock::default() };
        self.offset += block.range.len() as u64;
        self.line += line_ends;
        self.tail = next_tail;
        block
    }

    /// Returns the length of the rest of an overlong record at the beginning of a part, if the part holds its end.
    fn discard(&mut self, part: &[u8], ends: &PartEnds, bounds: &Bounds) -> Option<usize> {
        if let Some((rules, _)) = ends.records {
            return rules.first_end(part, self.state).ok().map(|end| end + 1);
        }
        let end = bounds.first_end(part, LONG_LINE)?;
        self.in_long_line = bounds.prefix_after(part[end]) > 0;
        Some(end + 1)
    }

    /// Returns the position of the last end of a record in a part from `begin` on, counted from there.
    fn last_end(&mut self, part: &[u8], begin: usize, ends: &PartEnds, bounds: &Bounds) -> Option<usize> {
        let Some((_, transition)) = ends.records else {
            let prefix = if self.in_long_line { LONG_LINE } else { self.tail.len().min(LONG_LINE) };
            return bounds.last_end(&part[begin..], prefix);
        };
        let RecordEffect { state, last_record } = transition.of(part, self.state);
        self.state = state;
        last_record.checked_sub(begin + 1)
    }

    /// Copies the tail in front of a range of the buffer, and returns the range of both.
    fn put_tail_before(&mut self, buffer: &mut ReadBuffer, range: Range<usize>) -> Range<usize> {
        let length = self.tail.len();
        if length <= range.start {
            buffer[range.start - length..range.start].copy_from_slice(&self.tail);
            return range.start - length..range.end;
        }
        buffer.bytes_mut(0..range.end + length).copy_within(range.clone(), range.start + length);
        buffer[range.start..range.start + length].copy_from_slice(&self.tail);
        range.start..range.end + length
    }
}

/// Decompresses all of `compressed` into the buffer after [`HEADROOM`], and returns the end of the text. Returns `None`
/// if the data are damaged, truncated, or too large.
fn decompress(format: Compression, compressed: Vec<u8>, buffer: &mut ReadBuffer) -> Option<usize> {
    let mut reader = format.reader(io::Cursor::new(compressed)).ok()?;
    leave_headroom(buffer);
    let (mut end, mut room) = (HEADROOM, buffer.len().max(HEADROOM + FIRST_STEP));
    loop {
        if end == room {
            room = (2 * end).min(HEADROOM + MAX_PART + 1);
        }
        match reader.read(buffer.bytes_mut(end..room)).ok()? {
            0 => return Some(end),
            got => end += got,
        }
        if end > HEADROOM + MAX_PART {
            return None;
        }
    }
}

/// Makes room in the buffer before the text.
fn leave_headroom(buffer: &mut ReadBuffer) {
    buffer.restart(0);
    buffer.bytes_mut(0..HEADROOM);
}
