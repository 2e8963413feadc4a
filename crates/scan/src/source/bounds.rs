//! Bounds on blocks and lines, and the ends of lines, also in files with gigabytes of NULs and no line feed, and of records.

use memchr::{memchr, memchr2, memrchr, memrchr2};

use crate::records::Records;
use crate::records::rules::{RecordEffect, RecordRules, RecordState};
use crate::records::started::Started;

/// Maximum block size, in bytes. Together with [`MAX_LINE_LIMIT`] it keeps every position within a block below 2^32.
pub const MAX_BLOCK_SIZE: usize = 1 << 30;

/// Maximum value of the limit on the length of a line, in bytes.
pub const MAX_LINE_LIMIT: usize = 1 << 31;

/// Minimum length of a long line, in bytes. With [`NulEnds::LongLines`], NULs past this length end lines.
pub const LONG_LINE: usize = 1 << 20;

/// The NUL bytes that end a line, besides the line terminator.
///
/// Without them, a file of a gigabyte of NULs is a single line, which must fit in memory before it can be searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NulEnds {
    /// No NUL.
    #[default]
    Never,
    /// NULs without a line end in the [`LONG_LINE`] bytes before them, independent of blocks.
    LongLines,
    /// All NULs.
    Always,
}

/// How large files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    /// Parts in huge pages of the page cache are mapped, the rest is copied.
    #[default]
    Auto,
    /// They are mapped.
    Always,
    /// They are copied.
    Never,
}

/// Numeric options within their bounds, and what ends lines and records.
#[derive(Clone)]
pub(crate) struct Bounds {
    pub(crate) block_size: usize,
    pub(crate) max_line: usize,
    pub(crate) line_end: u8,
    pub(crate) mapping: Mapping,
    pub(crate) nul_ends: NulEnds,
    pub(crate) records: Records,
}

impl Bounds {
    /// The rules, if quotes or brackets matter for the ends of records.
    pub(crate) fn rules(&self) -> Option<RecordRules> {
        RecordRules::new(&self.records, self.line_end)
    }

    /// The rule, if lines that begin a record divide the text.
    pub(crate) fn started(&self) -> Option<Started<'_>> {
        match &self.records {
            Records::Started(start) => Some(Started { start, line_end: self.line_end }),
            _ => None,
        }
    }

    /// Whether records may span lines.
    pub(crate) fn may_span_lines(&self) -> bool {
        self.records != Records::Lines
    }

    /// Returns these bounds with other line ends. Cutting long lines has no effect if no line may become that long. A NUL ends no line of
    /// records that begin with certain lines.
    pub(crate) fn with_ends(self, nul_ends: NulEnds) -> Self {
        let cuts_nothing =
            nul_ends == NulEnds::LongLines && self.max_line < LONG_LINE || self.started().is_some();
        Self { nul_ends: if cuts_nothing { NulEnds::Never } else { nul_ends }, ..self }
    }

    /// Returns the position of the first line end in `bytes`. `prefix` is the length of the part of the line before
    /// `bytes`, capped at [`LONG_LINE`].
    pub(crate) fn first_end(&self, bytes: &[u8], prefix: usize) -> Option<usize> {
        match self.nul_ends {
            NulEnds::Never => memchr(self.line_end, bytes),
            NulEnds::Always => memchr2(self.line_end, 0, bytes),
            NulEnds::LongLines => {
                let end = memchr(self.line_end, bytes);
                let long = LONG_LINE.saturating_sub(prefix);
                let after = bytes[..end.unwrap_or(bytes.len())].get(long..);
                after.and_then(|after| memchr(0, after)).map(|nul| long + nul).or(end)
            }
        }
    }

    /// Returns the position of the last line end in `bytes`. `prefix` is as in [`Bounds::first_end`].
    pub(crate) fn last_end(&self, bytes: &[u8], prefix: usize) -> Option<usize> {
        match self.nul_ends {
            NulEnds::Never => memrchr(self.line_end, bytes),
            NulEnds::Always => memrchr2(self.line_end, 0, bytes),
            NulEnds::LongLines => {
                let end = memrchr(self.line_end, bytes);
                let long = end.map_or(LONG_LINE.saturating_sub(prefix), |end| end + 1 + LONG_LINE);
                let after = bytes.get(long..);
                after.and_then(|after| memrchr(0, after)).map(|nul| long + nul).or(end)
            }
        }
    }

    /// Returns the position of the end of the first record in `bytes`, which begin with a record. `prefix` is as in
    /// [`Bounds::first_end`], for lines.
    pub(crate) fn first_record_end(&self, bytes: &[u8], prefix: usize) -> Option<usize> {
        match self.rules() {
            None => self.first_end(bytes, prefix),
            Some(rules) => rules.first_end(bytes, RecordState::Start).ok(),
        }
    }

    /// Length of the last record of a text, if its quotes or brackets are not closed and it is not too long; otherwise 0.
    /// `state` is that at the end of the text.
    pub(crate) fn unclosed(&self, length: usize, state: RecordState) -> usize {
        if state.is_open() && length <= self.max_line { length } else { 0 }
    }

    /// The same for a text that begins with a record.
    pub(crate) fn unclosed_in(&self, text: &[u8]) -> usize {
        self.rules().map_or(0, |rules| {
            let RecordEffect { state, last_record } = rules.pass(text, RecordState::Start);
            self.unclosed(text.len() - last_record, state)
        })
    }

    /// Returns the position of the first end of a record in `bytes` from a position on. `bytes` begin with a record.
    pub(crate) fn record_end_from(&self, bytes: &[u8], position: usize) -> Option<usize> {
        if let Some(started) = self.started() {
            return started.first_from(bytes, position).map(|start| start - 1);
        }
        let (before, after) = bytes.split_at(position);
        let end = match self.rules() {
            None => memchr(self.line_end, after),
            Some(rules) => rules.first_end(after, rules.pass(before, RecordState::Start).state).ok(),
        };
        end.map(|end| position + end)
    }

    /// Returns the `prefix` for the bytes after a line that ends with this byte: nonzero if both are pieces of a long
    /// line.
    pub(crate) fn prefix_after(&self, end: u8) -> usize {
        if self.nul_ends == NulEnds::LongLines && end != self.line_end { LONG_LINE } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::options::ScanOptions;

    fn bounds(nul_ends: NulEnds) -> Bounds {
        Bounds { block_size: 1, max_line: usize::MAX, nul_ends, ..ScanOptions::default().bounds() }
    }

    /// All line ends, found byte by byte according to the definition of [`NulEnds`].
    fn byte_by_byte(bytes: &[u8], nul_ends: NulEnds, prefix: usize) -> Vec<usize> {
        let mut length = prefix;
        let is_end = |(at, &byte): (usize, &u8)| {
            length += 1;
            let is_end = byte == b'\n'
                || byte == 0 && nul_ends == NulEnds::Always
                || byte == 0 && nul_ends == NulEnds::LongLines && length > LONG_LINE;
            if byte == b'\n' {
                length = 0;
            }
            is_end.then_some(at)
        };
        bytes.iter().enumerate().filter_map(is_end).collect()
    }

    #[test]
    fn nuls_cut_long_lines_only_where_lines_may_become_long() {
        let ends = |max_line, nul_ends| {
            let options = ScanOptions { max_line, ..ScanOptions::default() };
            options.bounds().with_ends(nul_ends).nul_ends
        };
        assert_eq!(ends(LONG_LINE, NulEnds::LongLines), NulEnds::LongLines);
        assert_eq!(ends(LONG_LINE - 1, NulEnds::LongLines), NulEnds::Never);
        assert_eq!(ends(LONG_LINE - 1, NulEnds::Always), NulEnds::Always);
    }

    #[test]
    fn only_quotes_that_are_not_closed_leave_a_record_open() {
        let records = Records::Quoted { delimiter: b',' };
        let bounds = Bounds { records, max_line: 7, ..bounds(NulEnds::Never) };
        let unclosed = |text: &[u8]| bounds.unclosed_in(text);
        assert_eq!(unclosed(b""), 0);
        assert_eq!(unclosed(b"a\nb,\"c\n\"\nd,\"e\""), 0);
        assert_eq!(unclosed(b"a\nb,\"c\nd\n"), 7);
        assert_eq!(unclosed(b"a\nb,\"c\nd\n\n"), 0, "it is too long");
        assert_eq!(unclosed(b"\""), 1);
        assert_eq!(unclosed(b"a\nb\"\n"), 0);
        assert_eq!(Bounds { records: Records::Lines, ..bounds }.unclosed_in(b"\""), 0);
    }

    proptest! {
        #[test]
        fn first_and_last_ends_equal_those_found_byte_by_byte(
            runs in prop::collection::vec(
                (prop::sample::select(b"x\0\n".as_slice()), prop::sample::select(vec![1, 2, 9, LONG_LINE - 1, LONG_LINE, LONG_LINE + 3])),
                0..5,
            ),
            nul_ends in prop::sample::select(vec![NulEnds::Never, NulEnds::LongLines, NulEnds::Always]),
            prefix in prop::sample::select(vec![0, 1, LONG_LINE - 1, LONG_LINE]),
        ) {
            let bytes: Vec<u8> =
                runs.into_iter().flat_map(|(byte, count)| std::iter::repeat_n(byte, count)).collect();
            let ends = byte_by_byte(&bytes, nul_ends, prefix);
            prop_assert_eq!(bounds(nul_ends).first_end(&bytes, prefix), ends.first().copied());
            prop_assert_eq!(bounds(nul_ends).last_end(&bytes, prefix), ends.last().copied());
        }
    }
}
