//! A whole text in pieces of whole lines, to be examined before it is scanned.

use std::fs::File;
use std::ops::Range;

use finecomb_sys::ReadBuffer;
use memchr::memrchr;

use crate::source::bounds::Bounds;

/// Bytes that are read at a time, unless a line is longer.
const READ: usize = 1 << 20;

/// Growth of a read without a whole line.
const GROWTH: usize = 4;

/// The lines of a text in order, in pieces that are each read when they are asked for. Lines that the scan skips as too long are
/// left out.
pub struct Pieces<'t>(Text<'t>);

enum Text<'t> {
    /// A text in memory, and its offset in the source.
    Whole(Option<(u64, &'t [u8])>),
    /// The rest of a file.
    File { file: &'t File, rest: Range<u64>, line_end: u8, max_line: usize },
}

impl<'t> Pieces<'t> {
    pub(crate) fn of_text(offset: u64, text: &'t [u8]) -> Self {
        Self(Text::Whole(Some((offset, text))))
    }

    pub(crate) fn of_file(file: &'t File, range: Range<u64>, bounds: &Bounds) -> Self {
        Self(Text::File { file, rest: range, line_end: bounds.line_end, max_line: bounds.max_line })
    }
}

/// Each piece with its offset in the source.
impl Iterator for Pieces<'_> {
    type Item = (u64, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Text::Whole(text) => text.take().map(|(offset, text)| (offset, text.to_vec())),
            Text::File { file, rest, line_end, max_line } => next_lines(file, rest, *line_end, *max_line),
        }
    }
}

/// Reads the next lines of a file. A failed read ends them; it fails again when the file is scanned, and is reported then.
fn next_lines(file: &File, rest: &mut Range<u64>, line_end: u8, max_line: usize) -> Option<(u64, Vec<u8>)> {
    let (mut length, mut skips) = (READ, false);
    while rest.start < rest.end {
        let wanted = usize::try_from(rest.end - rest.start).map_or(length, |left| left.min(length));
        let bytes = ReadBuffer::of_file(file, rest.start, wanted).ok()?;
        let is_last = bytes.len() < wanted || rest.start + wanted as u64 == rest.end;
        let lines = match memrchr(line_end, &bytes) {
            _ if is_last => bytes.len(),
            Some(end) => end + 1,
            None if wanted > max_line => {
                (rest.start, skips) = (rest.start + wanted as u64, true);
                continue;
            }
            None => {
                length = length.saturating_mul(GROWTH);
                continue;
            }
        };
        let offset = rest.start;
        rest.start = if bytes.len() < wanted { rest.end } else { offset + lines as u64 };
        let begin = if skips { memchr::memchr(line_end, &bytes).map_or(lines, |end| end + 1) } else { 0 };
        return Some((offset + begin as u64, bytes[begin..lines].to_vec()));
    }
    None
}
