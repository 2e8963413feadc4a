//! A file in chunks that workers read without coordination; if quotes matter for the ends of records, almost without.
//!
//! Chunks are read with `pread` into a buffer that each worker reuses. A map of the file would save the copy, but with a buffer
//! that is aligned like the file, the copy takes less time than the page faults of a map (docs/experiments.md), unless the file is in huge
//! pages: then each worker shows the chunks where they are.

mod mapped;
mod records;
mod start_states;
mod started;

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use finecomb_meter::{Meter, Phase};
use finecomb_sys::{ReadBuffer, advice};
use memchr::{memchr, memrchr};

use super::TextBlock;
use super::bounds::{Bounds, LONG_LINE, NulEnds};
use crate::block::{FindNul, RereadFile, Source};
use crate::heading::{Heading, last_heading};
use crate::narrow::LinesAt;
use crate::pieces::Pieces;
use crate::problem::{ProblemKind, Problems};
use crate::records::Records;
use crate::schedule::turns::Turns;
use mapped::HugePages;
use start_states::StartStates;

/// Bytes read past the end of a chunk, enough for the end of most last lines. Longer lines take a second read.
const OVERREAD: usize = 1 << 10;

/// Size of the first read in search of the end of a long line, in bytes.
const FIRST_STEP: usize = 64 << 10;

/// Size of a read in search of a NUL after a block, in bytes.
const LOOKAHEAD_STEP: usize = 64 << 10;

/// A file that workers read chunk by chunk, up to its size when it was opened.
///
/// A line belongs to the chunk that holds the line feed before it, and the first line to the first chunk. So every line
/// belongs to exactly one chunk, and a reader finds the lines of its chunk without knowing any other chunk.
pub(crate) struct ChunkedFile {
    pub(crate) source: Source,
    file: Arc<File>,
    /// Offset of the text. A part of it may be read.
    text_start: u64,
    start: u64,
    end: u64,
    next: AtomicU64,
    pub(crate) bounds: Bounds,
    start_states: StartStates,
    /// The last heading before the next chunk.
    heading: Turns<Option<Heading>>,
    huge_pages: HugePages,
    /// A worker has noticed that the file became shorter, and reported it.
    has_shrunk: AtomicBool,
}

impl FindNul for ChunkedFile {
    fn first_nul(&self, Range { start, end }: Range<u64>) -> Option<u64> {
        let (mut at, end) = (self.text_start + start, self.end.min(self.text_start.saturating_add(end)));
        let mut bytes = ReadBuffer::new();
        while at < end {
            let wanted = LOOKAHEAD_STEP.min(usize::try_from(end - at).unwrap_or(usize::MAX));
            bytes.restart(at);
            // A read error here occurs again when the chunk is read, and is reported then.
            let got = bytes.fill_at(&self.file, 0..wanted, at).ok().filter(|&got| got > 0)?;
            if let Some(nul) = memchr(0, &bytes[..got]) {
                return Some(at - self.text_start + nul as u64);
            }
            at += got as u64;
        }
        None
    }
}

impl ChunkedFile {
    /// A reader for the bytes `start..end` of a file.
    pub(crate) fn new(source: Source, file: File, Range { start, end }: Range<u64>, bounds: Bounds) -> Self {
        // Makes the kernel read ahead further with a cold cache: a file of 535 MB took 0.45 s rather than 0.63 s.
        advice::read_in_order(&file, start);
        let start_states = StartStates::default();
        Self {
            source,
            file: Arc::new(file),
            text_start: start,
            start,
            end,
            next: AtomicU64::new(start),
            bounds,
            start_states,
            heading: Turns::new(None),
            huge_pages: HugePages::default(),
            has_shrunk: AtomicBool::new(false),
        }
    }

    /// The file, to be read again.
    pub(crate) fn reread(&self) -> RereadFile {
        RereadFile::new(Arc::clone(&self.file))
    }

    /// Access to the lines of a text file at any offset.
    pub(crate) fn lines_at(&self) -> LinesAt<'_> {
        LinesAt::new(&self.file, self.start..self.end, self.bounds.clone())
    }

    /// The whole text, to be examined before it is read. `None` if its records may span lines.
    pub(crate) fn pieces(&self) -> Option<Pieces<'_>> {
        let are_lines = self.bounds.records == Records::Lines;
        are_lines.then(|| Pieces::of_file(&self.file, self.start..self.end, &self.bounds))
    }

    /// Restricts the file to a range of whole lines. Must precede the first claim.
    pub(crate) fn narrow(&mut self, Range { start, end }: Range<u64>) {
        (self.start, self.end, self.next) = (start, end, AtomicU64::new(start));
    }

    /// Turns the read-ahead of the kernel on or off.
    pub(crate) fn set_read_ahead(&self, is_on: bool) {
        if is_on {
            advice::read_in_order(&self.file, self.start);
        } else {
            advice::read_at_random(&self.file, self.start);
        }
    }

    /// Whether a line says all about itself, so that a part of the file can be read.
    pub(crate) fn has_independent_lines(&self) -> bool {
        !self.bounds.may_span_lines() && self.source.heading().is_none()
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Claims the next chunk and returns its offset; `None` if all are claimed.
    pub(crate) fn claim(&self) -> Option<u64> {
        // Each worker advances the counter past the end at most once, by one block, so it cannot overflow.
        let chunk = self.next.fetch_add(self.bounds.block_size as u64, Ordering::Relaxed);
        (chunk < self.end).then_some(chunk)
    }

    /// Reads the lines of a chunk into `buffer` and returns their range in it. A last line over the limit may be
    /// truncated past the limit.
    pub(crate) fn read(&self, chunk: u64, buffer: &mut ReadBuffer, problems: &mut Problems) -> TextBlock {
        let (range, prefix) = self.read_lines(chunk, buffer, problems);
        let has_long_line = prefix > 0 || range.len() > LONG_LINE;
        if self.bounds.nul_ends == NulEnds::LongLines && has_long_line && buffer.shows() {
            // A visitor may change the NUL that ends it, and a later chunk begins there: it gets a copy.
            self.check(buffer, problems);
            buffer.reserve(range.end, range.end);
        }
        let offset = chunk + range.start as u64;
        TextBlock { offset, range, in_long_line: prefix > 0, ..TextBlock::default() }
    }

    /// Reads the lines of a chunk of a file with headings, like [`ChunkedFile::read`].
    pub(crate) fn read_headed(
        &self,
        prefix: &[u8],
        chunk: u64,
        buffer: &mut ReadBuffer,
        meter: &mut Meter,
        problems: &mut Problems,
    ) -> TextBlock {
        let block = self.read(chunk, buffer, problems);
        let last = last_heading(&buffer[block.range.clone()], prefix, self.bounds.max_line);
        meter.enter(Phase::Wait);
        let mut heading = self.heading.await_turn((chunk - self.start) / self.bounds.block_size as u64);
        let before = heading.clone();
        if last.is_some() {
            *heading = last;
        }
        TextBlock { heading: before, ..block }
    }

    /// Reads the lines of a chunk. Returns their range, and the length of the part of the first line that precedes the
    /// chunk if it is a piece of a long line.
    fn read_lines(
        &self,
        chunk: u64,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> (Range<usize>, usize) {
        const NOTHING: (Range<usize>, usize) = (0..0, 0);
        let rest = self.end - chunk;
        let Some((owned, got)) = self.read_chunk(chunk, buffer, problems) else { return NOTHING };
        let (begin, prefix) = match self.first_end(chunk, &buffer[..owned]) {
            _ if chunk == self.start => (0, 0),
            Some(end) => (end + 1, self.bounds.prefix_after(buffer[end])),
            None => return NOTHING,
        };
        if begin == got || (owned as u64 == rest && buffer[owned - 1] == self.bounds.line_end) {
            return (begin..owned, prefix);
        }
        let end = self.end_of_last_line(chunk, (begin, prefix), owned, got, buffer, problems);
        (begin..end, prefix)
    }

    /// Reads a chunk and a few bytes past its end. Returns the length of the chunk, and the length with these bytes.
    fn read_chunk(
        &self,
        chunk: u64,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> Option<(usize, usize)> {
        let rest = usize::try_from(self.end - chunk).unwrap_or(usize::MAX);
        let usual = self.bounds.block_size + OVERREAD;
        let owned = self.bounds.block_size.min(rest);
        let wanted = usual.min(rest);
        let shown =
            self.is_mapped(chunk, buffer).then(|| buffer.show(&self.file, chunk, wanted).ok()).flatten();
        let got = match shown {
            Some(got) => got,
            None => {
                buffer.restart(chunk);
                buffer.reserve(wanted, usual);
                self.read_at(buffer, 0..wanted, chunk, problems)?
            }
        };
        if got < owned {
            // Some file systems always report a size larger than the file.
            if self.file.metadata().is_ok_and(|now| now.len() < self.end) {
                self.add_shrunk(chunk + got as u64, problems);
            }
            // The chunks after this one are empty.
            self.next.store(self.end, Ordering::Relaxed);
        }
        Some((owned.min(got), got))
    }

    /// Records once that the file has become shorter.
    fn add_shrunk(&self, found: u64, problems: &mut Problems) {
        if !self.has_shrunk.swap(true, Ordering::Relaxed) {
            problems.add(&self.source, ProblemKind::Shrank { expected: self.end, found });
        }
    }

    /// Returns the position of the first line end in a chunk, which may begin anywhere in that line.
    fn first_end(&self, chunk: u64, bytes: &[u8]) -> Option<usize> {
        if self.bounds.nul_ends != NulEnds::LongLines {
            return self.bounds.first_end(bytes, 0);
        }
        let end = memchr(self.bounds.line_end, bytes);
        match memchr(0, &bytes[..end.unwrap_or(bytes.len())]) {
            // The NUL ends the line only if the line is long by then.
            Some(_) => self.bounds.first_end(bytes, self.length_before(chunk)),
            None => end,
        }
    }

    /// Length of the part of the line at `offset` that precedes it, up to [`LONG_LINE`].
    fn length_before(&self, offset: u64) -> usize {
        let mut before = 0;
        for wanted in [4 << 10, 64 << 10, LONG_LINE] {
            let wanted = wanted.min(usize::try_from(offset - self.start).unwrap_or(usize::MAX));
            // The error occurred at the start of the line, too, and was reported there.
            let bytes = ReadBuffer::of_file(&self.file, offset - wanted as u64, wanted).unwrap_or_default();
            if let Some(end) = memrchr(self.bounds.line_end, &bytes) {
                return bytes.len() - end - 1;
            }
            before = wanted;
        }
        before
    }

    /// Returns the end of the last line of the chunk, which reaches past `owned`.
    fn end_of_last_line(
        &self,
        chunk: u64,
        (begin, prefix): (usize, usize),
        owned: usize,
        mut got: usize,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> usize {
        let bounds = &self.bounds;
        let last = bounds.last_end(&buffer[begin..owned], prefix).map(|end| begin + end);
        let (line, prefix) = last.map_or((begin, prefix), |end| (end + 1, bounds.prefix_after(buffer[end])));
        let mut searched = owned;
        loop {
            let before = prefix.saturating_add(searched - line).min(LONG_LINE);
            if let Some(end) = bounds.first_end(&buffer[searched..got], before) {
                return searched + end + 1;
            }
            searched = got;
            match self.read_on(chunk, line, got, buffer, problems) {
                Some(more) => got += more,
                None => return got,
            }
        }
    }

    /// Reads on past the `got` bytes of a chunk for the end of the line at `line`. Returns the number of bytes read;
    /// `None` if the line is too long or there are no more.
    fn read_on(
        &self,
        chunk: u64,
        line: usize,
        got: usize,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> Option<usize> {
        let length = got - line;
        if length > self.bounds.max_line {
            return None;
        }
        let step = length.max(FIRST_STEP).min(self.bounds.max_line - length + 1);
        self.read_step(chunk, got, step, buffer, problems)
    }

    /// Reads up to `step` bytes past the `got` bytes of a chunk. Returns their number; `None` if there are no more.
    fn read_step(
        &self,
        chunk: u64,
        got: usize,
        step: usize,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> Option<usize> {
        let more = if buffer.shows() {
            self.show_on(chunk, got, step, buffer, problems)
        } else {
            self.read_at(buffer, got..got + step, chunk + got as u64, problems)
        };
        more.filter(|&more| more > 0)
    }

    /// Fills a range of the buffer from `offset` on, up to the end of the file. Records an error and returns `None` if that
    /// fails.
    fn read_at(
        &self,
        buffer: &mut ReadBuffer,
        range: Range<usize>,
        offset: u64,
        problems: &mut Problems,
    ) -> Option<usize> {
        let add = |error| problems.add(&self.source, ProblemKind::Read { offset, error });
        buffer.fill_at(&self.file, range, offset).map_err(add).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Lookahead;
    use crate::options::ScanOptions;
    use crate::source::bounds::Mapping;

    #[test]
    fn the_first_nul_behind_a_block_has_its_place_in_the_part_of_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut text = vec![b'x'; 3 * LOOKAHEAD_STEP];
        (text[2 * LOOKAHEAD_STEP + 7], text[5]) = (0, 0);
        std::fs::write(&path, &text).unwrap();
        let source = Source::named(0, Some(path.clone()));
        let end = text.len() as u64;
        let part =
            ChunkedFile::new(source, File::open(&path).unwrap(), 10..end, ScanOptions::default().bounds());
        let nul = 2 * LOOKAHEAD_STEP as u64 + 7 - 10;
        let ahead = Lookahead::in_file(&part);
        assert_eq!(ahead.first_nul(0..end), Some(nul));
        assert_eq!(ahead.first_nul(nul..nul + 1), Some(nul));
        assert_eq!([ahead.first_nul(0..nul), ahead.first_nul(nul + 1..end)], [None, None]);
        // The file has become shorter since it was opened.
        std::fs::write(&path, b"x").unwrap();
        assert_eq!(ahead.first_nul(0..end), None);
    }

    #[test]
    fn a_line_that_is_cut_off_while_it_is_mapped_keeps_its_length() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10_000).unwrap();
        let cut = file.try_clone().unwrap();
        let mut bounds = ScanOptions::default().mapping(Mapping::Always).bounds();
        bounds.block_size = 4000;
        let file = ChunkedFile::new(Source::named(0, None), file, 0..10_000, bounds);
        let (mut buffer, mut problems) = (ReadBuffer::new(), Problems::default());
        assert_eq!(file.read_chunk(0, &mut buffer, &mut problems), Some((4000, 5024)));
        assert_eq!(file.read_on(0, 0, 5024, &mut buffer, &mut problems), Some(4976));
        cut.set_len(50).unwrap();
        assert_eq!(file.read_on(0, 0, 10_000, &mut buffer, &mut problems), None);
        assert!(buffer[..10_000].iter().all(|&byte| byte == 0));
        assert_eq!(problems.into_sorted().count(), 1);
    }

    #[test]
    fn a_chunk_after_a_piece_of_a_long_line_begins_within_that_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        // The first line has a NUL far from its beginning, in the second chunk; the third chunk begins at a new line.
        let mut text = vec![b'x'; LONG_LINE + 200];
        text[LONG_LINE + 50] = 0;
        text[LONG_LINE + 150] = b'\n';
        std::fs::write(&path, &text).unwrap();
        let source = Source::named(0, Some(path.clone()));
        let mut bounds = ScanOptions::default().bounds().with_ends(NulEnds::LongLines);
        bounds.block_size = LONG_LINE / 2 + 50;
        let file = ChunkedFile::new(source, File::open(&path).unwrap(), 0..text.len() as u64, bounds.clone());
        let read = |chunk| {
            let block = file.read(chunk, &mut ReadBuffer::new(), &mut Problems::default());
            (block.offset, block.range.len(), block.in_long_line)
        };
        let (size, piece) = (bounds.block_size as u64, LONG_LINE + 51);
        assert_eq!(read(0), (0, piece, false));
        assert_eq!(read(size), (piece as u64, 100, true));
        assert_eq!(read(2 * size), (piece as u64 + 100, 49, false));
    }
}
