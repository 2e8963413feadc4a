//! Chunks of a file in which certain lines begin a record.
//!
//! A record belongs to the chunk that holds the line end before it, and the first record to the first chunk. Only a rule by which a line
//! affects a later one needs more of the file than the lines of the chunk: the last line before it that decides.

use finecomb_sys::ReadBuffer;
use memchr::{memchr, memrchr};

use super::{ChunkedFile, FIRST_STEP};
use crate::problem::Problems;
use crate::records::started::{JUDGED, LineCursor, Started};
use crate::source::TextBlock;

/// Size of the first read in search of the line that decides about the first one of a chunk, in bytes.
const FIRST_LOOK_BACK: usize = 4 << 10;

/// Bytes of a chunk that were read.
struct Got {
    /// Length of the chunk.
    owned: usize,
    /// Length with the bytes past its end.
    length: usize,
    /// Whether the file ends there.
    is_all: bool,
}

impl ChunkedFile {
    /// Reads the records of a chunk into `buffer` and returns their range in it. A last record over the limit may be
    /// truncated past the limit.
    pub(crate) fn read_started(
        &self,
        started: Started<'_>,
        chunk: u64,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> TextBlock {
        let Some((owned, length)) = self.read_chunk(chunk, buffer, problems) else {
            return TextBlock::default();
        };
        let mut got = Got { owned, length, is_all: self.end - chunk <= length as u64 };
        let Some(begin) = self.first_start(started, chunk, &mut got, buffer, problems) else {
            return TextBlock::default();
        };
        let end = if self.end - chunk == owned as u64 {
            owned
        } else {
            self.end_of_last(started, chunk, begin, &mut got, buffer, problems)
        };
        TextBlock { range: begin..end, offset: chunk + begin as u64, ..TextBlock::default() }
    }

    /// Position of the first record of a chunk.
    fn first_start(
        &self,
        started: Started<'_>,
        chunk: u64,
        got: &mut Got,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> Option<usize> {
        if chunk == self.start {
            return Some(0);
        }
        let first = memchr(started.line_end, &buffer[..got.owned])? + 1;
        let is_open = if started.start.may_open() { None } else { Some(false) };
        let mut cursor = LineCursor::at(first, is_open);
        while cursor.line <= got.owned && !cursor.is_judged {
            match started.next(&mut cursor, &buffer[..got.length], got.is_all) {
                Some(start) if start > got.owned => return None,
                Some(start) if cursor.is_open.is_some() => return Some(start),
                Some(start) if !self.is_open_before(started, chunk + first as u64) => return Some(start),
                Some(_) => cursor.is_open = Some(false),
                None if got.is_all => return None,
                None if cursor.line <= got.owned && !cursor.is_judged => {
                    self.read_more(chunk, FIRST_STEP, got, buffer, problems);
                }
                None => {}
            }
        }
        None
    }

    /// Whether the last line before `offset` that decides about the next record lets it continue the one before.
    fn is_open_before(&self, started: Started<'_>, offset: u64) -> bool {
        let mut length = FIRST_LOOK_BACK;
        loop {
            let whole = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
            length = length.min(whole);
            // The error occurs again when that part of the file is read, and is reported there.
            let bytes = ReadBuffer::of_file(&self.file, offset - length as u64, length).unwrap_or_default();
            let is_whole = length == whole || bytes.len() < length;
            let first = if is_whole { Some(0) } else { memchr(started.line_end, &bytes).map(|end| end + 1) };
            let found = first.and_then(|first| started.last(&bytes[first..]).is_open());
            if found.is_some() || is_whole {
                return found.unwrap_or(false);
            }
            length = length.saturating_mul(4);
        }
    }

    /// Returns the end of the last record of a chunk, whose first record is at `begin`.
    fn end_of_last(
        &self,
        started: Started<'_>,
        chunk: u64,
        begin: usize,
        got: &mut Got,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> usize {
        let last_line =
            memrchr(started.line_end, &buffer[begin..got.owned]).map_or(begin, |end| begin + end + 1);
        let (last, is_open) = started.last(&buffer[begin..last_line]).after(false);
        let mut record = begin + last.unwrap_or(0);
        let mut cursor = LineCursor::at(last_line, Some(is_open));
        let max_line = self.bounds.max_line;
        loop {
            match started.next(&mut cursor, &buffer[..got.length], got.is_all) {
                Some(start) if start <= got.owned => record = start,
                Some(start) => return start,
                None if got.is_all => return got.length,
                None if cursor.line > got.owned && cursor.line - record > max_line + 1 => return cursor.line,
                None if cursor.is_judged && got.length - record > max_line => return got.length,
                None => {
                    let known = got.length - record;
                    let needed = (max_line + JUDGED + 2).saturating_sub(known).max(JUDGED);
                    let step = known.max(FIRST_STEP).min(needed);
                    self.read_more(chunk, step, got, buffer, problems);
                }
            }
        }
    }

    /// Reads on past the bytes of a chunk, up to the end of the file.
    fn read_more(
        &self,
        chunk: u64,
        step: usize,
        got: &mut Got,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) {
        let rest = usize::try_from(self.end - chunk - got.length as u64).unwrap_or(usize::MAX);
        let step = step.min(rest);
        let more = self.read_step(chunk, got.length, step, buffer, problems).unwrap_or(0);
        got.length += more;
        got.is_all = more < step || more == rest;
    }
}
