//! Restriction of the part of a file that is read.

use std::fs::File;
use std::io;
use std::ops::Range;

use finecomb_sys::ReadBuffer;
use memchr::{memchr, memrchr};

use crate::block::Source;
use crate::problem::ProblemKind;
use crate::source::bounds::Bounds;

/// Bytes that are read at a time in search of the end of a line.
const STEP: usize = 16 << 10;

/// Chooses the part of each file that is read.
///
/// It is asked after [`Recognize`](crate::Recognize), once about each regular file of several blocks that is neither compressed nor
/// decoded and whose records are lines. All other files are read whole; other files of several blocks are reported by a
/// [`ProblemKind::NotNarrowed`].
pub trait Narrow: Send + Sync {
    /// Chooses the part of a text that is read. It must consist of whole lines.
    fn narrow(&self, source: &Source, lines: &LinesAt<'_>) -> Narrowed;
}

/// Result of [`Narrow`].
#[derive(Debug)]
pub struct Narrowed {
    /// The lines that are read, as offsets in the source.
    pub range: Range<u64>,
    /// A problem to be reported about the file.
    pub problem: Option<ProblemKind>,
}

/// The lines of a text file at any offset.
pub struct LinesAt<'f> {
    file: &'f File,
    range: Range<u64>,
    bounds: Bounds,
}

impl<'f> LinesAt<'f> {
    pub(crate) fn new(file: &'f File, range: Range<u64>, bounds: Bounds) -> Self {
        Self { file, range, bounds }
    }

    /// The text, as offsets in the source. It ends where the file ended when it was opened.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Bytes that are read at a time when the file is scanned. A search for less saves nothing.
    pub fn block_size(&self) -> usize {
        self.bounds.block_size
    }

    /// The lines that begin in a part of the file.
    ///
    /// # Errors
    /// Returns the error of a failed read.
    pub(crate) fn that_begin_in(&self, part: &Range<u64>) -> io::Result<Range<u64>> {
        let end = part.end.min(self.range.end);
        match self.next_line(part.start, end)? {
            Some(start) if start < end => {
                Ok(start..self.next_line(end, self.range.end)?.unwrap_or(self.range.end))
            }
            _ => Ok(self.range.end..self.range.end),
        }
    }

    /// Offset of the first line that begins at `offset` or after it, if the line feed before it is before `limit`.
    fn next_line(&self, offset: u64, limit: u64) -> io::Result<Option<u64>> {
        if offset <= self.range.start {
            return Ok(Some(self.range.start));
        }
        let mut at = offset - 1;
        let mut bytes = ReadBuffer::new();
        while at < limit {
            let wanted = usize::try_from(limit - at).map_or(STEP, |rest| rest.min(STEP));
            bytes.restart(at);
            let got = bytes.fill_at(self.file, 0..wanted, at)?;
            if let Some(end) = memchr(self.bounds.line_end, &bytes[..got]) {
                return Ok(Some(at + end as u64 + 1));
            }
            if got < wanted {
                break;
            }
            at += got as u64;
        }
        Ok(None)
    }

    /// Reads the lines that begin at `offset` or after it and end less than `length` bytes after it. Returns the offset
    /// of the first and all of them, each with its line feed. A last line without one is left out.
    ///
    /// # Errors
    /// Returns the error of a failed read.
    pub fn read(&self, offset: u64, length: usize) -> io::Result<(u64, Vec<u8>)> {
        let Range { start, end } = self.range;
        // A line begins at `offset` if a line feed is before it.
        let is_start = offset <= start;
        let from = if is_start { start } else { offset - 1 };
        let length = usize::try_from(end.saturating_sub(from)).map_or(length, |rest| rest.min(length));
        let bytes = ReadBuffer::of_file(self.file, from, length)?;
        let line_end = self.bounds.line_end;
        let first = if is_start { Some(0) } else { memchr(line_end, &bytes).map(|end| end + 1) };
        let begin = first.unwrap_or(bytes.len());
        let last = memrchr(line_end, &bytes[begin..]).map_or(begin, |last| begin + last + 1);
        Ok((from + begin as u64, bytes[begin..last].to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::options::ScanOptions;

    fn read(text: &[u8], range: Range<u64>, offset: u64, length: usize) -> (u64, String) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let lines = LinesAt::new(&file, range, ScanOptions::default().bounds());
        let (offset, bytes) = lines.read(offset, length).unwrap();
        (offset, String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn lines_are_those_that_begin_at_an_offset_or_after_it() {
        let text = b"ab\ncd\n\nef";
        let from = |offset| read(text, 0..9, offset, 100);
        assert_eq!(from(0), (0, "ab\ncd\n\n".to_owned()));
        assert_eq!(from(1), (3, "cd\n\n".to_owned()));
        assert_eq!(from(3), (3, "cd\n\n".to_owned()));
        assert_eq!(from(4), (6, "\n".to_owned()));
        assert_eq!(from(7), (7, String::new()));
        assert_eq!(from(9).1, "");
    }

    #[test]
    fn lines_behind_the_length_or_the_end_of_the_text_are_left_out() {
        let text = b"ab\ncd\nef\n";
        assert_eq!(read(text, 0..9, 0, 5).1, "ab\n");
        assert_eq!(read(text, 0..9, 0, 2).1, "");
        assert_eq!(read(text, 0..7, 0, 100).1, "ab\ncd\n");
        // The text begins after a byte order mark.
        assert_eq!(read(text, 1..9, 1, 100), (1, "b\ncd\nef\n".to_owned()));
        assert_eq!(read(text, 0..100, 0, 100).1, "ab\ncd\nef\n");
    }
}
