//! A stream: standard input, a pipe, or any other input that can only be read sequentially.
//!
//! Any idle worker reads the next block and then processes it while another worker reads on. So one worker at a time
//! reads, all of them process, and no block moves from the cache of one core to that of another.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use finecomb_meter::Phase;
use finecomb_sys::ReadBuffer;
use finecomb_sys::advice::enlarge_pipe;
use memchr::{memchr, memchr_iter, memrchr};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::TextBlock;
use super::bounds::{Bounds, LONG_LINE, MAX_BLOCK_SIZE};
use super::cut::{FileFrom, retry};
use crate::block::Source;
use crate::problem::{ProblemKind, Problems};
use crate::recognize::{MAX_HEAD, Recognize, Recognized};
use crate::records::rules::{RecordEffect, RecordRules, RecordState};
use crate::records::started::{JUDGED, LastStart, LineCursor};
use crate::stop::Stop;

/// Blocks that are decoded at a time. Another worker takes about 50 µs to wake up and decode on. With a single block it
/// would come too late: the first worker has processed its block and is back by then.
const DECODED_BLOCKS: usize = 8;

/// Origin of the bytes of a stream.
pub(crate) enum ByteSource {
    File(File),
    /// The bytes of a file that may grow.
    Growing(FileFrom),
    /// Bytes decoded from a file.
    Decoded(Box<dyn Read + Send>),
}

/// A stream and its position.
pub(crate) struct Stream {
    pub(crate) source: Source,
    /// Number of the followed input, if it is one.
    pub(crate) number: usize,
    origin: ByteSource,
    pub(crate) bounds: Bounds,
    /// Bytes read past the last whole record.
    tail: Vec<u8>,
    /// State at the end of the bytes that were searched for ends of records, if quotes or brackets matter for them.
    state: RecordState,
    /// Position in the text to be cut, if certain lines begin a record.
    judged: Judged,
    /// Offset of `tail` in the input, in bytes. A byte order mark counts, unless the text is decoded from another encoding.
    pub(crate) offset: u64,
    line: u64,
    /// Set while the rest of an overlong record is being dropped.
    discarding: bool,
    /// Set if `tail` begins within a long line that NULs split.
    in_long_line: bool,
    ended: bool,
    /// Where it pauses, if it is followed.
    pausing: Pausing,
    /// Set if whole lines end a record where the stream pauses.
    lines_end_records: bool,
    /// Set if the last read found that a followed file ends before its limit.
    is_dry: bool,
    /// Interrupts reads that wait for data.
    stop: Option<Arc<Stop>>,
}

/// Where a stream pauses: then it returns no block, but has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pausing {
    /// Nowhere: a read waits for data.
    Never,
    /// At the limit, which is a position in a file that may grow, or at the present end of the file.
    At(u64),
    /// Wherever a read would wait.
    WhenIdle,
}

/// Position after the lines that were judged.
#[derive(Clone, Copy, Debug, Default)]
struct Judged {
    /// Start of the next line.
    line: usize,
    /// Whether it is within a line that was judged, rather than at the start of one.
    is_in_line: bool,
    /// [`LineCursor::is_open`] there.
    is_open: bool,
}

/// Reason why a block is not filled although the stream has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    /// The stream pauses.
    Pause,
    /// The job has been asked to end.
    Stop,
}

impl ByteSource {
    /// Reads once into a range of a buffer, and returns the number of bytes read.
    fn read(&mut self, buffer: &mut ReadBuffer, range: Range<usize>) -> io::Result<usize> {
        match self {
            Self::File(file) => buffer.read(file, range),
            Self::Growing(FileFrom { file, offset }) => {
                let got = buffer.read_at(file, range, *offset)?;
                *offset += got as u64;
                Ok(got)
            }
            Self::Decoded(contents) => retry(|| contents.read(buffer.bytes_mut(range.clone()))),
        }
    }
}

impl Stream {
    /// Creates a stream. `start` holds the bytes read so far, which begin at `offset` in the input; `stop` interrupts reads
    /// that wait for data.
    pub(crate) fn new(
        source: Source,
        origin: ByteSource,
        start: Vec<u8>,
        offset: u64,
        bounds: Bounds,
        stop: Option<Arc<Stop>>,
    ) -> Self {
        if let ByteSource::File(file) = &origin {
            enlarge_pipe(file);
        }
        let factor = if matches!(origin, ByteSource::Decoded(_)) { DECODED_BLOCKS } else { 1 };
        let bounds = Bounds { block_size: (factor * bounds.block_size).min(MAX_BLOCK_SIZE), ..bounds };
        Self {
            source,
            number: 0,
            origin,
            bounds,
            tail: start,
            state: RecordState::Start,
            judged: Judged::default(),
            offset,
            line: 1,
            discarding: false,
            in_long_line: false,
            ended: false,
            pausing: Pausing::Never,
            lines_end_records: false,
            is_dry: false,
            stop,
        }
    }

    /// Sets where it pauses.
    pub(crate) fn set_pausing(&mut self, pausing: Pausing) {
        self.pausing = pausing;
        self.is_dry = false;
        self.lines_end_records = false;
    }

    /// Lets the last record end where the stream pauses, although no line has begun the next one.
    pub(crate) fn end_record_at_pause(&mut self) {
        self.lines_end_records = true;
    }

    /// Whether whole lines wait for one that begins the next record.
    pub(crate) fn has_waiting_lines(&self) -> bool {
        let waits = self.bounds.started().is_some() && !self.discarding;
        waits && memchr(self.bounds.line_end, &self.tail).is_some()
    }

    /// Whether it only pauses when a read returns no block: more may follow.
    pub(crate) fn is_paused(&self) -> bool {
        self.pausing != Pausing::Never && !self.ended
    }

    /// Lets the next read return the rest, also if its last record has no end.
    pub(crate) fn end(&mut self) {
        self.pausing = Pausing::Never;
        self.ended = true;
    }

    /// The pipe or other input that is read.
    pub(crate) fn input(&self) -> Option<BorrowedFd<'_>> {
        match &self.origin {
            ByteSource::File(file) => Some(file.as_fd()),
            ByteSource::Growing(_) | ByteSource::Decoded(_) => None,
        }
    }

    /// Whether nothing more will be read.
    pub(crate) fn has_stopped(&self) -> bool {
        self.ended
    }

    /// Offset after the bytes that were read.
    pub(crate) fn position(&self) -> u64 {
        self.offset + self.tail.len() as u64
    }

    /// Bytes that were read and are in no block so far.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.tail
    }

    /// Reads the beginning, up to where it pauses, and returns it. Call this before the first read.
    pub(crate) fn beginning(&mut self, problems: &mut Problems) -> &[u8] {
        let (mut head, mut filled) = (self.head(), self.tail.len());
        while filled < MAX_HEAD && !self.ended && !self.must_pause(filled) {
            filled += self.read_once(&mut head, filled..MAX_HEAD, problems);
        }
        self.tail = head[..filled].to_vec();
        &self.tail
    }

    /// A buffer for the beginning, with the bytes that are known.
    fn head(&self) -> ReadBuffer {
        let mut head = ReadBuffer::new();
        head.restart(self.offset);
        head.reserve(MAX_HEAD.max(self.tail.len()), MAX_HEAD);
        head.bytes_mut(0..self.tail.len()).copy_from_slice(&self.tail);
        head
    }

    /// Drops a byte order mark of this many bytes from the beginning.
    pub(crate) fn skip_mark(&mut self, length: usize) {
        self.tail.drain(..length);
        self.offset += length as u64;
    }

    fn must_pause(&self, filled: usize) -> bool {
        match self.pausing {
            Pausing::Never => false,
            Pausing::At(limit) => self.is_dry || self.offset + filled as u64 >= limit,
            Pausing::WhenIdle => self.is_idle(),
        }
    }

    /// Phase of the next read.
    pub(crate) fn phase(&self) -> Phase {
        match self.origin {
            ByteSource::File(_) | ByteSource::Growing(_) => Phase::Read,
            ByteSource::Decoded(_) => Phase::Decompress,
        }
    }

    /// Returns `true` if its bytes are decoded, so that their number is not known in advance.
    pub(crate) fn is_decoded(&self) -> bool {
        matches!(self.origin, ByteSource::Decoded(_))
    }

    /// Sets what was found out about the stream. Call this before the first read.
    pub(crate) fn set_recognized(&mut self, recognized: Recognized) {
        self.bounds.records = recognized.records.clone();
        self.source.set_recognized(recognized, self.offset);
    }

    /// Lets the beginning of the stream be recognised. Reads on as long as more is needed.
    ///
    /// # Errors
    /// Returns the problem that makes the stream unusable.
    pub(crate) fn recognize(
        &mut self,
        by: &dyn Recognize,
        problems: &mut Problems,
    ) -> Result<(), ProblemKind> {
        let (mut head, mut filled) = (self.head(), self.tail.len());
        // The beginning of a decoded text has been read.
        let mut is_all = self.is_decoded();
        let recognized = loop {
            is_all |= self.ended || filled >= MAX_HEAD;
            let shown = &head[..filled.min(MAX_HEAD)];
            let recognized = by.recognize(&self.source, shown, is_all).map_err(ProblemKind::Unusable)?;
            if is_all || recognized.is_some() {
                break recognized;
            }
            is_all = self.is_stopped();
            if is_all {
                continue;
            }
            filled += self.read_once(&mut head, filled..MAX_HEAD, problems);
        };
        self.tail = head[..filled].to_vec();
        if let Some(recognized) = recognized {
            self.set_recognized(recognized);
        }
        Ok(())
    }

    /// Reads the next whole records into `buffer`: a full block, or the rest of the stream. Returns `None` at the end. A
    /// last record over the limit may be truncated past the limit. If `eager`, returns whole records as soon as there
    /// are any rather than waiting for a full block.
    pub(crate) fn read(
        &mut self,
        buffer: &mut ReadBuffer,
        eager: bool,
        problems: &mut Problems,
    ) -> Option<TextBlock> {
        let block_size = self.bounds.block_size;
        let mut filled = self.tail.len();
        // Whole blocks are read, so that reads begin at pages of the input.
        // The role of the line after a record decides whether the record ends.
        let ahead = if self.bounds.started().is_some() { JUDGED + 1 } else { 0 };
        let most = self.bounds.max_line.max(block_size) + 1 + ahead;
        let mut wanted = (filled + block_size).min(most).max(filled + 1);
        buffer.restart(self.offset);
        buffer.reserve(wanted, wanted);
        buffer.bytes_mut(0..filled).copy_from_slice(&self.tail);
        self.tail.clear();
        if !self.discarding {
            self.judged = Judged::default();
        }
        let mut searched = 0;
        loop {
            let halt;
            (filled, halt) = self.fill(buffer, (searched, filled, wanted), eager, problems);
            let is_paused = halt == Some(Halt::Pause);
            if self.discarding {
                filled = self.discard(buffer, filled);
                if self.discarding && (self.ended || is_paused) {
                    self.tail.extend_from_slice(&buffer[..filled]);
                    return None;
                }
                if self.discarding || !self.ended && !is_paused && filled < wanted {
                    wanted = wanted.max(filled + block_size);
                    continue;
                }
            }
            if self.ended || is_paused {
                let (cut, unclosed) = self.end_of_text(&buffer[..filled], searched, halt.is_some());
                // The next read searches the record from its beginning.
                self.state = RecordState::Start;
                let block = self.emit(buffer, cut, if is_paused { filled } else { cut });
                return block.map(|block| TextBlock { unclosed, ..block });
            }
            if let Some(end) = self.last_end(&buffer[..filled], searched) {
                self.state = RecordState::Start;
                return self.emit(buffer, end + 1, filled);
            }
            if let Some(cut) = self.end_of_overlong(filled) {
                self.discarding = true;
                return self.emit(buffer, cut, filled);
            }
            searched = filled;
            wanted = (2 * filled).clamp(block_size, most);
        }
    }

    /// Returns the position of the last end of a record in bytes whose first `searched` hold none.
    fn last_end(&mut self, bytes: &[u8], searched: usize) -> Option<usize> {
        if self.bounds.started().is_some() {
            return self.last_start(bytes)?.checked_sub(1);
        }
        let bytes = &bytes[searched..];
        let end = self.last_end_after(bytes, searched)?;
        Some(searched + end)
    }

    /// Returns the position of the last end of a record in bytes that follow `searched` bytes of the first record, unless certain
    /// lines begin a record.
    fn last_end_after(&mut self, bytes: &[u8], searched: usize) -> Option<usize> {
        let Some(rules) = self.bounds.rules() else {
            let prefix = if self.in_long_line { LONG_LINE } else { searched.min(LONG_LINE) };
            return self.bounds.last_end(bytes, prefix);
        };
        let RecordEffect { state, last_record } = rules.pass(bytes, self.state);
        self.state = state;
        last_record.checked_sub(1)
    }

    /// Returns the position of the last record in bytes that begin with a record, if lines that begin one divide them.
    fn last_start(&mut self, bytes: &[u8]) -> Option<usize> {
        let started = self.bounds.started()?;
        let Judged { line, is_in_line, is_open } = self.judged;
        let from = if is_in_line { line + memchr(self.bounds.line_end, &bytes[line..])? + 1 } else { line };
        let last = started.last(&bytes[from..]);
        let (start, is_open) = last.after(is_open);
        let LastStart { rest, ends_in_line: is_in_line, .. } = last;
        self.judged = Judged { line: from + rest, is_in_line, is_open };
        start.map(|start| from + start)
    }

    /// Where the part of an overlong record ends that is reported, if the record that the bytes begin with is known to be too long.
    fn end_of_overlong(&self, filled: usize) -> Option<usize> {
        let max_line = self.bounds.max_line;
        let Judged { line, is_in_line, .. } = self.judged;
        match self.bounds.started() {
            // The next line may begin a record. A line end precedes it.
            Some(_) if !is_in_line => (line > max_line + 1).then_some(line),
            _ => (filled > max_line).then_some(filled),
        }
    }

    /// Returns the length of the last block of a stream that ends with `bytes`, and of its last record if its quotes or
    /// brackets are not closed. The last record is not complete if the stream pauses or the job has been asked to end.
    fn end_of_text(&mut self, bytes: &[u8], searched: usize, is_halted: bool) -> (usize, usize) {
        if self.bounds.started().is_some() && is_halted && !self.lines_end_records {
            return (self.last_start(bytes).unwrap_or(0), 0);
        }
        let Some(rules) = self.bounds.rules() else {
            let whole = || memrchr(self.bounds.line_end, bytes).map_or(0, |line_feed| line_feed + 1);
            return (if is_halted { whole() } else { bytes.len() }, 0);
        };
        let RecordEffect { state, last_record } = rules.pass(&bytes[searched..], self.state);
        let last = if last_record > 0 { searched + last_record } else { 0 };
        if is_halted {
            return (last, 0);
        }
        (bytes.len(), self.bounds.unclosed(bytes.len() - last, state))
    }

    /// Reads until `wanted` bytes are in the buffer or the stream ends; if `eager`, until it holds a line end that was not searched yet,
    /// and a read would block. Returns the filled length, and the reason if it stopped before that.
    fn fill(
        &mut self,
        buffer: &mut ReadBuffer,
        (searched, mut filled, wanted): (usize, usize, usize),
        eager: bool,
        problems: &mut Problems,
    ) -> (usize, Option<Halt>) {
        while filled < wanted && !self.ended {
            if eager
                && filled > 0
                && self.is_idle()
                && memrchr(self.bounds.line_end, &buffer[searched..filled]).is_some()
            {
                break;
            }
            if self.must_pause(filled) {
                return (filled, Some(Halt::Pause));
            }
            if self.is_stopped() {
                self.ended = true;
                return (filled, Some(Halt::Stop));
            }
            filled += self.read_once(buffer, filled..wanted, problems);
        }
        (filled, None)
    }

    /// Reads once into a range of the next block, and returns the number of bytes read. At the end of the stream, and if that
    /// fails, the stream has ended.
    fn read_once(&mut self, buffer: &mut ReadBuffer, range: Range<usize>, problems: &mut Problems) -> usize {
        let mut has_failed = false;
        let offset = self.offset + range.start as u64;
        let read = self.origin.read(buffer, range).unwrap_or_else(|error| {
            has_failed = true;
            let kind = match self.origin {
                ByteSource::File(_) | ByteSource::Growing(_) => ProblemKind::Read { offset, error },
                ByteSource::Decoded(_) => ProblemKind::Decode { error },
            };
            problems.add(&self.source, kind);
            0
        });
        let is_growing = matches!(self.pausing, Pausing::At(_)) && !has_failed;
        self.is_dry = read == 0;
        self.ended |= read == 0 && !is_growing;
        read
    }

    fn is_stopped(&self) -> bool {
        let Some(stop) = &self.stop else { return false };
        match &self.origin {
            ByteSource::File(file) => stop.wait_for(file),
            ByteSource::Growing(_) | ByteSource::Decoded(_) => stop.is_raised(),
        }
    }

    /// Returns `true` if a read would block.
    pub(crate) fn is_idle(&self) -> bool {
        let ByteSource::File(file) = &self.origin else { return false };
        let mut waiting = [PollFd::new(file, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut waiting, Some(&now)).is_ok_and(|ready| ready == 0)
    }

    /// Drops the rest of an overlong record from the front of the buffer, and returns the remaining length.
    fn discard(&mut self, buffer: &mut [u8], filled: usize) -> usize {
        let dropped = match self.bounds.rules() {
            _ if self.bounds.started().is_some() => self.rest_before_start(&buffer[..filled]),
            None => self.rest_of_line(&buffer[..filled]).ok_or(filled),
            Some(rules) => self.rest_of_record(rules, &buffer[..filled]).ok_or(filled),
        };
        self.discarding = dropped.is_err();
        let dropped = dropped.unwrap_or_else(|dropped| dropped);
        self.line += memchr_iter(self.bounds.line_end, &buffer[..dropped]).count() as u64;
        self.offset += dropped as u64;
        buffer.copy_within(dropped..filled, 0);
        filled - dropped
    }

    /// Returns the length of the rest of an overlong line, if `bytes` hold its end.
    fn rest_of_line(&mut self, bytes: &[u8]) -> Option<usize> {
        // An overlong line is a long line.
        let end = self.bounds.first_end(bytes, LONG_LINE)?;
        self.in_long_line = self.bounds.prefix_after(bytes[end]) > 0;
        Some(end + 1)
    }

    /// Returns the length of the rest of an overlong record, if `bytes` hold the line that begins the next one. Otherwise the
    /// error is the length of what is known to belong to it.
    fn rest_before_start(&mut self, bytes: &[u8]) -> Result<usize, usize> {
        let Some(started) = self.bounds.started() else { return Err(0) };
        let Judged { is_in_line, is_open, .. } = self.judged;
        let mut cursor = LineCursor::first(is_in_line, is_open);
        if let Some(start) = started.next(&mut cursor, bytes, self.ended) {
            self.judged = Judged::default();
            return Ok(start);
        }
        self.judged =
            Judged { line: 0, is_in_line: cursor.is_judged, is_open: cursor.is_open.unwrap_or(false) };
        Err(if cursor.is_judged { bytes.len() } else { cursor.line })
    }

    /// Returns the length of the rest of an overlong record, if `bytes` hold its end.
    fn rest_of_record(&mut self, rules: RecordRules, bytes: &[u8]) -> Option<usize> {
        let end = rules.first_end(bytes, self.state);
        self.state = end.err().unwrap_or(RecordState::Start);
        end.ok().map(|end| end + 1)
    }

    /// Returns the first `cut` bytes of the buffer as a block, and keeps those up to `filled`.
    fn emit(&mut self, buffer: &[u8], cut: usize, filled: usize) -> Option<TextBlock> {
        let (first_line, in_long_line) = (Some(self.line), self.in_long_line);
        let (offset, unclosed) = (self.offset, 0);
        let heading = self.source.pass_heading(&buffer[..cut], self.bounds.max_line);
        let block = TextBlock { range: 0..cut, offset, first_line, heading, in_long_line, unclosed };
        if cut > 0 {
            self.in_long_line = self.bounds.prefix_after(buffer[cut - 1]) > 0;
        }
        self.tail.extend_from_slice(&buffer[cut..filled]);
        self.offset += cut as u64;
        self.line += memchr_iter(self.bounds.line_end, &buffer[..cut]).count() as u64;
        (cut > 0).then_some(block)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::options::ScanOptions;
    use crate::records::Records;

    #[test]
    fn only_the_rest_of_an_overlong_line_is_dropped() {
        let text = b"one\nan overlong line of many blocks\ntwo\nthree";
        let bounds = ScanOptions { block_size: 1, max_line: 10, ..ScanOptions::default() }.bounds();
        let origin = ByteSource::Decoded(Box::new(&text[..]));
        let mut stream = Stream::new(Source::named(0, None), origin, Vec::new(), 0, bounds, None);
        let (mut buffer, mut problems) = (ReadBuffer::new(), Problems::default());
        let mut blocks = Vec::new();
        while let Some(block) = stream.read(&mut buffer, false, &mut problems) {
            let bytes = String::from_utf8_lossy(&buffer[block.range]).into_owned();
            blocks.push((block.offset, block.first_line, bytes));
        }
        let beginning = "an overlong".to_owned();
        assert_eq!(blocks[..2], [(0, Some(1), "one\n".to_owned()), (4, Some(2), beginning)]);
        let rest: String = blocks[2..].iter().map(|(.., bytes)| bytes.as_str()).collect();
        assert_eq!((blocks[2].0, blocks[2].1, rest.as_str()), (36, Some(3), "two\nthree"));
        assert!(problems.is_empty());
    }

    #[test]
    fn whole_records_of_a_pipe_are_returned_without_waiting_for_more() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut bounds = ScanOptions::default().bounds();
        bounds.records = Records::Quoted { delimiter: b',' };
        let origin = ByteSource::File(File::from(OwnedFd::from(reader)));
        let mut stream = Stream::new(Source::named(0, None), origin, Vec::new(), 0, bounds, None);
        let (mut buffer, mut problems) = (ReadBuffer::new(), Problems::default());
        let mut read = || {
            let block = stream.read(&mut buffer, true, &mut problems).expect("it has not ended");
            (block.offset, block.first_line, buffer[block.range].to_vec())
        };
        writer.write_all(b"a\n\"b\nc\n").expect("room");
        assert_eq!(read(), (0, Some(1), b"a\n".to_vec()));
        // The line feeds that are there end no record.
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(10));
            writer.write_all(b"d\"\ne").expect("room");
            writer
        });
        assert_eq!(read(), (2, Some(2), b"\"b\nc\nd\"\n".to_vec()));
        drop(writer.join().expect("the writer"));
        assert_eq!(read(), (10, Some(5), b"e".to_vec()));
    }
}
