//! Lines that a search finds, as data for programs.
//!
//! With [`Mode::Records`](crate::Mode::Records) a search writes records instead of text: the same lines in the same order. Each write
//! to the output consists of whole records, which [`Records`] reads. Their form in memory is not a format for files.

use std::iter::FusedIterator;
use std::ops::Range;

use finecomb_sys::ByteReader;
use grep_matcher::Match;

/// Kinds of records, in their first byte.
const PATH: u8 = 0;
const MATCH: u8 = 1;
const CONTEXT: u8 = 2;
const BINARY: u8 = 3;

/// A line, or a fact about the file of the lines before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'b> {
    /// The path of the file of the records that follow. It may be repeated.
    Path(&'b [u8]),
    /// A line that was found.
    Line(FoundText<'b>),
    /// The file is binary, and has a match: not all of its lines were printed.
    Binary {
        /// Offset of a NUL.
        offset: u64,
        /// Whether the search ended there.
        is_end: bool,
    },
}

/// A line, or the lines of one match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundText<'b> {
    /// Number of the first line, from 1; `None` if lines are not numbered.
    pub number: Option<u64>,
    /// Offset of the first line in the text of the file.
    pub offset: u64,
    /// The text, without the end of the last line.
    pub text: &'b [u8],
    /// Position of the text in the records, in bytes.
    pub position: usize,
    /// The matches; `None` in a line of context.
    pub spans: Option<Spans<'b>>,
}

/// The matches in a text, as ranges of its bytes, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spans<'b>(&'b [[u8; SPAN]]);

/// Bytes of a span: two numbers.
const SPAN: usize = 2 * size_of::<u32>();

impl Iterator for Spans<'_> {
    type Item = Range<u32>;

    fn next(&mut self) -> Option<Range<u32>> {
        let (span, rest) = self.0.split_first()?;
        self.0 = rest;
        let [a, b, c, d, e, f, g, h] = *span;
        Some(u32::from_le_bytes([a, b, c, d])..u32::from_le_bytes([e, f, g, h]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl ExactSizeIterator for Spans<'_> {}
impl FusedIterator for Spans<'_> {}

/// Reads records.
#[derive(Clone, Debug)]
pub struct Records<'b>(ByteReader<'b>);

impl<'b> Records<'b> {
    /// The records in the output of a search.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(ByteReader::new(bytes))
    }

    /// Number of bytes of the records that were read.
    pub fn position(&self) -> usize {
        self.0.position()
    }

    fn text(&mut self, is_match: bool) -> Option<FoundText<'b>> {
        let Self(bytes) = self;
        let (number, offset) = (bytes.long()?, bytes.long()?);
        let (length, count) = (bytes.short()? as usize, bytes.short()? as usize);
        let spans = bytes.take(count * SPAN)?.as_chunks().0;
        let position = bytes.position();
        let text = bytes.take(length)?;
        let number = (number > 0).then_some(number);
        Some(FoundText { number, offset, text, position, spans: is_match.then_some(Spans(spans)) })
    }
}

impl<'b> Iterator for Records<'b> {
    type Item = Record<'b>;

    fn next(&mut self) -> Option<Record<'b>> {
        Some(match self.0.byte()? {
            PATH => {
                let length = self.0.short()? as usize;
                Record::Path(self.0.take(length)?)
            }
            BINARY => Record::Binary { is_end: self.0.byte()? != 0, offset: self.0.long()? },
            kind => Record::Line(self.text(kind == MATCH)?),
        })
    }
}

/// The notice that not all lines of a file with a match were printed, as it is binary.
pub fn binary_notice(offset: u64, is_end: bool) -> String {
    let text =
        if is_end { "WARNING: stopped searching binary file after match" } else { "binary file matches" };
    format!("{text} (found \"\\0\" byte around offset {offset})")
}

/// Appends the path of the file of the records that follow.
pub(crate) fn put_path(path: &[u8], out: &mut Vec<u8>) {
    out.push(PATH);
    // No path comes near 4 GiB: the kernel limits paths to 4 KiB.
    out.extend_from_slice(&(path.len() as u32).to_le_bytes());
    out.extend_from_slice(path);
}

/// Appends the fact that a file with a match is binary.
pub(crate) fn put_binary(offset: u64, is_end: bool, out: &mut Vec<u8>) {
    out.push(BINARY);
    out.push(is_end.into());
    out.extend_from_slice(&offset.to_le_bytes());
}

/// Appends a text without the end of its last line, with its matches, or as context. The number 0 stands for none. Matches are cut at the
/// end of the text.
pub(crate) fn put_text(
    (number, offset): (u64, u64),
    text: &[u8],
    matches: Option<&[Match]>,
    out: &mut Vec<u8>,
) {
    out.push(if matches.is_some() { MATCH } else { CONTEXT });
    let matches = matches.unwrap_or_default();
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&offset.to_le_bytes());
    // Lines are at most 2 GiB long, so all of these fit in 32 bits.
    for number in [text.len(), matches.len()] {
        out.extend_from_slice(&(number as u32).to_le_bytes());
    }
    for found in matches {
        for end in [found.start(), found.end()] {
            out.extend_from_slice(&(end.min(text.len()) as u32).to_le_bytes());
        }
    }
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let mut out = Vec::new();
        put_path(b"a/b", &mut out);
        put_text((3, 17), b"one two", Some(&[Match::new(0, 3), Match::new(7, 9)]), &mut out);
        let position = out.len() - 7;
        put_text((0, 25), b"", None, &mut out);
        put_binary(90, true, &mut out);
        let records: Vec<Record<'_>> = Records::new(&out).collect();
        let Record::Line(line) = &records[1] else { panic!("{records:?}") };
        assert_eq!(line.spans.clone().unwrap().collect::<Vec<_>>(), [0..3, 7..7]);
        assert_eq!(
            (line.number, line.offset, line.text, line.position),
            (Some(3), 17, &b"one two"[..], position)
        );
        let context =
            FoundText { number: None, offset: 25, text: b"", position: position + 7 + 25, spans: None };
        assert_eq!(records[0], Record::Path(b"a/b"));
        assert_eq!(records[2..], [Record::Line(context), Record::Binary { offset: 90, is_end: true }]);
    }

    #[test]
    fn a_record_whose_end_is_missing_is_left_out() {
        let mut out = Vec::new();
        put_path(b"a", &mut out);
        let first = out.len();
        put_text((1, 0), b"text", Some(&[Match::new(0, 1)]), &mut out);
        for length in first..out.len() {
            assert_eq!(Records::new(&out[..length]).count(), 1);
        }
    }
}
