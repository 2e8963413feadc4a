//! Splitting blocks at overlong lines and records.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use memchr::memchr_iter;

use super::bounds::{Bounds, LONG_LINE};
use crate::records::Records;
use crate::records::started::{LineCursor, Started};

/// Repeats a call that was interrupted by a signal.
pub(crate) fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Reads a file from an offset on, without moving its shared position.
pub(crate) struct FileFrom {
    pub(crate) file: Arc<File>,
    pub(crate) offset: u64,
}

impl Read for FileFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(buffer, self.offset)?;
        self.offset += got as u64;
        Ok(got)
    }
}

/// Fills the whole buffer unless the input ends. For files, whose reads do not block.
pub(crate) struct FullReads<R>(pub(crate) R);

impl<R: Read> Read for FullReads<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match retry(|| self.0.read(&mut buffer[filled..])) {
                Ok(0) => break,
                Ok(got) => filled += got,
                // The next read returns the error again.
                Err(_) if filled > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Returns the length of the first part, with the terminator of its last record, and whether it is an overlong one.
/// `prefix` is the length of the part of the first line before `bytes`.
fn first_part(bytes: &[u8], mut prefix: usize, bounds: &Bounds) -> (usize, bool) {
    let max_line = bounds.max_line;
    if bytes.len() <= max_line {
        return (bytes.len(), false);
    }
    if let Some(started) = bounds.started() {
        return first_started_part(bytes, max_line, started);
    }
    let mut record = 0;
    while record < bytes.len() {
        let length = bounds.first_record_end(&bytes[record..], prefix);
        prefix = length.map_or(0, |length| bounds.prefix_after(bytes[record + length]));
        let next = length.map_or(bytes.len(), |length| record + length + 1);
        if length.unwrap_or(bytes.len() - record) > max_line {
            return if record == 0 { (next, true) } else { (record, false) };
        }
        record = next;
    }
    (bytes.len(), false)
}

/// Returns the length of the first part, and whether it is an overlong record, if certain lines begin records.
fn first_started_part(bytes: &[u8], max_line: usize, started: Started<'_>) -> (usize, bool) {
    let mut cursor = LineCursor::at(0, Some(false));
    let mut record = 0;
    loop {
        let next = started.next(&mut cursor, bytes, true);
        let end = next.unwrap_or(bytes.len());
        if started.length(&bytes[record..end]) > max_line {
            return if record == 0 { (end, true) } else { (record, false) };
        }
        record = end;
        if next.is_none() {
            return (bytes.len(), false);
        }
    }
}

/// Part of a block: whole records, or an overlong one.
pub(crate) struct BlockPart<'a> {
    /// Position in the block.
    pub(crate) start: usize,
    pub(crate) bytes: &'a mut [u8],
    /// Length within the block, if it is an overlong record.
    pub(crate) too_long: Option<usize>,
    /// How it is divided into records.
    pub(crate) records: Records,
    /// Set if it begins within a long line that NULs split.
    pub(crate) in_long_line: bool,
}

/// Splits a run of whole records into parts. The last `unclosed` bytes are a record with a quote or bracket that is not
/// closed: they are divided by [`Records::when_unclosed`].
pub(crate) fn parts_of_records<'a>(
    bytes: &'a mut [u8],
    unclosed: usize,
    in_long_line: bool,
    bounds: &Bounds,
) -> impl Iterator<Item = BlockPart<'a>> + use<'a> {
    let begin = bytes.len() - unclosed;
    let (closed, unclosed) = bytes.split_at_mut(begin);
    let lines = parts(unclosed, false, &Bounds { records: bounds.records.when_unclosed(), ..*bounds });
    parts(closed, in_long_line, bounds)
        .chain(lines.map(move |part| BlockPart { start: begin + part.start, ..part }))
}

/// Advances the number of a line, if it is known, past `bytes`.
pub(crate) fn add_lines(line: Option<&mut u64>, bytes: &[u8], bounds: &Bounds) {
    if let Some(line) = line {
        *line += memchr_iter(bounds.line_end, bytes).count() as u64;
    }
}

/// Splits a run of whole records into parts. An empty run has none.
pub(crate) fn parts<'a>(
    mut bytes: &'a mut [u8],
    mut in_long_line: bool,
    bounds: &Bounds,
) -> impl Iterator<Item = BlockPart<'a>> + use<'a> {
    let bounds = bounds.clone();
    let mut next = 0;
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let (length, too_long) = first_part(bytes, if in_long_line { LONG_LINE } else { 0 }, &bounds);
        let (part, rest) = mem::take(&mut bytes).split_at_mut(length);
        bytes = rest;
        let start = next;
        next += length;
        let begins_in = in_long_line;
        in_long_line = bounds.prefix_after(part[length - 1]) > 0;
        let too_long = too_long.then_some(length);
        let records = bounds.records.clone();
        Some(BlockPart { start, bytes: part, too_long, records, in_long_line: begins_in })
    })
}

/// Splits a part of more than twice the block size into slices of whole records.
pub(crate) fn slices<'a>(
    part: BlockPart<'a>,
    bounds: &Bounds,
) -> impl Iterator<Item = BlockPart<'a>> + use<'a> {
    let BlockPart { mut start, bytes, too_long, records, in_long_line } = part;
    let bounds = Bounds { records, ..*bounds };
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest.take()?;
        let is_one = too_long.is_some() || matches!(bounds.records, Records::Unclosed { .. });
        let is_large = !is_one && bytes.len() / 2 > bounds.block_size;
        let end = if is_large { bounds.record_end_from(bytes, bounds.block_size) } else { None };
        let records = bounds.records.clone();
        let Some(end) = end else { return Some(BlockPart { start, bytes, too_long, records, in_long_line }) };
        let (slice, after) = bytes.split_at_mut(end + 1);
        rest = Some(after).filter(|after| !after.is_empty());
        let at = start;
        start += slice.len();
        Some(BlockPart { start: at, bytes: slice, too_long, records, in_long_line })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ScanOptions;
    use crate::source::bounds::NulEnds;

    /// The parts of a text, with overlong ones in brackets.
    fn cut(text: &str, max_line: usize) -> Vec<(usize, String)> {
        let bounds = ScanOptions { block_size: 1, max_line, ..ScanOptions::default() }.bounds();
        let mut bytes = text.as_bytes().to_vec();
        let shown = |part: BlockPart<'_>| {
            let text = String::from_utf8_lossy(part.bytes).into_owned();
            (part.start, if part.too_long.is_some() { format!("[{text}]") } else { text })
        };
        parts(&mut bytes, false, &bounds).map(shown).collect()
    }

    #[test]
    fn overlong_lines_are_separate_parts_at_any_position() {
        let expect = |text, max_line, expected: &[(usize, &str)]| {
            let expected: Vec<_> = expected.iter().map(|&(start, text)| (start, text.to_owned())).collect();
            assert_eq!(cut(text, max_line), expected);
        };
        expect("", 3, &[]);
        expect("abc\nd\n", 3, &[(0, "abc\nd\n")]);
        expect("abcd\nd\n", 3, &[(0, "[abcd\n]"), (5, "d\n")]);
        expect("a\nabcd\nd\n", 3, &[(0, "a\n"), (2, "[abcd\n]"), (7, "d\n")]);
        expect("a\nabcd", 3, &[(0, "a\n"), (2, "[abcd]")]);
        expect("abcd\nabcd", 3, &[(0, "[abcd\n]"), (5, "[abcd]")]);
        expect("\n\n", 0, &[(0, "\n\n")]);
    }

    #[test]
    fn the_part_after_a_piece_of_a_long_line_begins_within_that_line() {
        let bounds = ScanOptions { block_size: 1, max_line: LONG_LINE, ..ScanOptions::default() }.bounds();
        let bounds = bounds.with_ends(NulEnds::LongLines);
        let mut bytes = [&vec![b'x'; LONG_LINE + 1][..], b"\0y\0\nz\n"].concat();
        let parts: Vec<_> = parts(&mut bytes, false, &bounds)
            .map(|part| (part.start, part.too_long.is_some(), part.in_long_line))
            .collect();
        assert_eq!(parts, [(0, true, false), (LONG_LINE + 2, false, true)]);
    }
}
