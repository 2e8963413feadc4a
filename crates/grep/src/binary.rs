//! Determines how far a binary file is searched, as ripgrep does.

use std::ops::Range;

use finecomb_scan::{Block, HEAD_SIZE, LONG_LINE, Medium};
use memchr::{memchr, memchr_iter, memrchr};

/// Initial size of ripgrep's read buffer.
const BUFFER_SIZE: u64 = HEAD_SIZE as u64;

/// Size of ripgrep's first read from standard input.
const FIRST_STDIN_READ: u64 = 8 << 10;

/// Point at which a NUL ends the search of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// File offset of the first line that is not searched.
    pub(crate) from: u64,
    /// File offset of the first known NUL.
    pub(crate) nul: u64,
}

/// Position in a file, in terms of the pieces that ripgrep reads it in.
///
/// A piece that contains a NUL is not searched, nor is anything after it. A piece begins at the last, incomplete line of the
/// piece before and is as long as ripgrep's buffer, which triples when a line does not fit. The first piece of standard input
/// is shorter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pieces {
    begin: u64,
    /// `None` before the first piece.
    length: Option<u64>,
    /// File offset up to which blocks have been passed. Lines that are too long are in no block.
    passed: u64,
}

impl Pieces {
    /// Advances past a text without a NUL.
    pub(crate) fn skip_to(&mut self, offset: u64) {
        self.passed = offset;
    }

    /// Advances past a block. `nul` is the offset in the block of the file's first NUL, if it is in this block. Returns the
    /// point at which the search ends, if it is known; if `wanted`, the file is read ahead past the block to determine it.
    pub(crate) fn advance(
        &mut self,
        block: &Block<'_>,
        line_end: u8,
        nul: Option<usize>,
        wanted: bool,
    ) -> Option<Cut> {
        let nul = nul.map(|nul| block.offset + nul as u64);
        match block.source.medium() {
            Medium::File => self.advance_in_file(block, line_end, nul, wanted),
            Medium::Transcoded(first) => {
                let end = block.offset + block.bytes.len() as u64;
                let (piece, nul) = first.get().filter(|&(piece, _)| piece < end)?;
                Some(Cut { from: line_start(block, line_end, piece), nul })
            }
            // Decompressed data arrives in pieces of any length. As with a pipe, all lines before the NUL are searched,
            // unless the NUL is in the first piece of a file.
            Medium::Decompressed => nul.map(|nul| Cut {
                from: if nul < BUFFER_SIZE { 0 } else { line_start(block, line_end, nul) },
                nul,
            }),
            Medium::Pipe => nul.map(|nul| Cut { from: line_start(block, line_end, nul), nul }),
        }
    }

    fn advance_in_file(
        &mut self,
        block: &Block<'_>,
        line_end: u8,
        nul: Option<u64>,
        wanted: bool,
    ) -> Option<Cut> {
        let end = block.offset + block.bytes.len() as u64;
        let skipped = self.passed..block.offset;
        let nul = block.lookahead.first_nul(skipped).or(nul);
        self.passed = end;
        loop {
            let first = if block.source.path().is_none() { FIRST_STDIN_READ } else { BUFFER_SIZE };
            let length = self.length.unwrap_or(first);
            let read = self.begin.saturating_add(length);
            if let Some(nul) = nul.filter(|&nul| nul < read) {
                return Some(Cut { from: self.begin, nul });
            }
            if read > end {
                let ahead = if wanted { block.lookahead.first_nul(end..read) } else { None };
                return ahead.map(|nul| Cut { from: self.begin, nul });
            }
            // A block begins at the start of a line.
            let from = self.begin.max(block.offset);
            let piece =
                &block.bytes[(from - block.offset) as usize..(read.max(from) - block.offset) as usize];
            match memrchr(line_end, piece) {
                Some(last) => {
                    (self.begin, self.length) = (from + last as u64 + 1, Some(length.max(BUFFER_SIZE)))
                }
                None if self.begin < from => {
                    (self.begin, self.length) = (from, Some(length.max(BUFFER_SIZE)))
                }
                None if length < BUFFER_SIZE => self.length = Some(BUFFER_SIZE),
                None => self.length = Some(length.saturating_mul(3)),
            }
        }
    }
}

/// Returns the start of the line that contains file offset `at`, or the start of the block if `at` is before it.
fn line_start(block: &Block<'_>, line_end: u8, at: u64) -> u64 {
    let before = &block.bytes[..at.saturating_sub(block.offset) as usize];
    block.offset + memrchr(line_end, before).map_or(0, |end| end as u64 + 1)
}

/// The part in a block of a long line that NULs split into several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LongLine {
    /// Its range in the block, without the terminator.
    pub(crate) range: Range<usize>,
    /// Offset in the block of the first NUL in it. `None` only in the rest of a line that was split in an earlier block.
    pub(crate) nul: Option<usize>,
}

/// Replaces the NULs that split long lines by line terminators, and returns these lines; see
/// [`NulEnds::LongLines`](finecomb_scan::NulEnds::LongLines).
pub(crate) fn split_long_lines(block: &mut Block<'_>, line_end: u8) -> Vec<LongLine> {
    let mut lines = Vec::new();
    let (mut line, mut long) = (0, if block.in_long_line { 0 } else { LONG_LINE });
    while let Some(near) = block.bytes.get(line..line + long) {
        if let Some(last) = memrchr(line_end, near) {
            (line, long) = (line + last + 1, LONG_LINE);
            continue;
        }
        let begin = line + long;
        let end = memchr(line_end, &block.bytes[begin..]).map_or(block.bytes.len(), |length| begin + length);
        let splits = memchr(0, &block.bytes[begin..end]).map(|first| begin + first);
        let nul = if splits.is_some() {
            memchr(0, &block.bytes[line..end]).map(|first| line + first)
        } else {
            None
        };
        if let Some(first) = splits {
            block.bytes[first..end].iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = line_end);
        }
        // The rest of a line that was split in an earlier block belongs to that line, with or without a NUL. A long line without a
        // NUL is a line like any other.
        if nul.is_some() || long == 0 {
            lines.push(LongLine { range: line..end, nul });
        }
        (line, long) = (end + 1, LONG_LINE);
    }
    lines
}

/// Counts the line terminators in a part of a block, except terminators that replaced NULs in the long `lines`.
pub(crate) fn count_line_ends(bytes: &[u8], part: Range<usize>, line_end: u8, lines: &[LongLine]) -> u64 {
    let count =
        |part: Range<usize>| memchr_iter(line_end, bytes.get(part).unwrap_or_default()).count() as u64;
    let inside = lines.iter().map(|line| line.range.start.max(part.start)..line.range.end.min(part.end));
    count(part.clone()) - inside.map(count).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use finecomb_scan::Source;

    use super::*;

    fn searched_before(nul: usize, bytes: &[u8]) -> Option<u64> {
        let source = Source::found(0, "file".into());
        let mut bytes = bytes.to_vec();
        let block = Block { is_whole: true, ..Block::new(&source, 0, &mut bytes) };
        Pieces::default().advance(&block, b'\n', Some(nul), true).map(|cut| cut.from)
    }

    #[test]
    fn a_piece_with_a_nul_is_not_searched() {
        const BUFFER_SIZE: usize = super::BUFFER_SIZE as usize;
        let lines = "x".repeat(99) + "\n";
        let bytes = lines.repeat(3000).into_bytes();
        let searched = |nul| searched_before(nul, &bytes);
        assert_eq!([searched(0), searched(BUFFER_SIZE - 1)], [Some(0), Some(0)]);
        assert_eq!([searched(BUFFER_SIZE), searched(65_500 + BUFFER_SIZE - 1)], [Some(65_500), Some(65_500)]);
        assert_eq!(searched(65_500 + BUFFER_SIZE), Some(131_000));
    }

    #[test]
    fn a_line_that_does_not_fit_is_read_in_larger_pieces() {
        const BUFFER_SIZE: usize = super::BUFFER_SIZE as usize;
        let mut bytes = vec![b'x'; 3 * BUFFER_SIZE];
        bytes[3 * BUFFER_SIZE - 10] = b'\n';
        assert_eq!(searched_before(2 * BUFFER_SIZE, &bytes), Some(0));
        bytes.extend(vec![b'y'; 4 * BUFFER_SIZE]);
        assert_eq!(searched_before(3 * BUFFER_SIZE + 5, &bytes), Some(3 * BUFFER_SIZE as u64 - 9));
    }

    #[test]
    fn pieces_of_standard_input_are_the_same_in_blocks_of_a_line_as_in_one() {
        let source = Source::named(0, None);
        let lines = "x".repeat(109) + "\n";
        for nul in [8191, 8192, 70_000, 73_725, 73_726, 73_727, 139_300] {
            let mut bytes = lines.repeat(2000).into_bytes();
            bytes[nul] = 0;
            let block = Block::new(&source, 0, &mut bytes);
            let whole = Pieces::default().advance(&block, b'\n', Some(nul), true);
            assert!(whole.is_some());
            let (mut pieces, mut offset) = (Pieces::default(), 0);
            let cut = bytes.chunks_mut(110).find_map(|line| {
                let at = line.iter().position(|&byte| byte == 0);
                let block = Block::new(&source, offset, line);
                offset += 110;
                pieces.advance(&block, b'\n', at, true)
            });
            assert_eq!(cut, whole, "{nul}");
        }
    }

    #[test]
    fn nuls_end_lines_after_the_first_mebibyte_of_a_line() {
        let ended = |parts: &[(u8, usize)], in_long_line| {
            let mut bytes: Vec<u8> =
                parts.iter().flat_map(|&(byte, count)| std::iter::repeat_n(byte, count)).collect();
            let source = Source::named(0, None);
            let before: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == 0).collect();
            let mut block = Block { in_long_line, ..Block::new(&source, 0, &mut bytes) };
            let lines = split_long_lines(&mut block, b'\n');
            let count = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            let ended: Vec<usize> = before.into_iter().filter(|&at| bytes[at] == b'\n').collect();
            assert_eq!(count_line_ends(&bytes, 0..bytes.len(), b'\n', &lines), count - ended.len() as u64);
            ended
        };
        const LONG: usize = LONG_LINE;
        assert_eq!(ended(&[(0, 2), (b'x', LONG - 3), (0, 2), (b'\n', 1), (0, 5)], false), [LONG]);
        assert_eq!(ended(&[(0, 2), (b'x', 3), (0, 1), (b'\n', 1), (0, 5)], true), [0, 1, 5]);
        assert_eq!(
            ended(&[(b'\n', 1), (b'x', LONG), (0, 1), (b'x', 1), (0, 1)], false),
            [LONG + 1, LONG + 3]
        );
        assert_eq!(ended(&[(0, LONG)], false), [0; 0]);
    }

    #[test]
    fn a_long_line_that_no_nul_cuts_is_a_line_like_any_other() {
        let source = Source::named(0, None);
        let text = [&[b'x'; LONG_LINE + 5][..], b"\nline\n", &[b'y'; LONG_LINE + 5], b"\0\n"].concat();
        let lines = |in_long_line| {
            let mut bytes = text.clone();
            let mut block = Block { in_long_line, ..Block::new(&source, 0, &mut bytes) };
            split_long_lines(&mut block, b'\n')
        };
        let cut = LongLine { range: LONG_LINE + 11..2 * LONG_LINE + 17, nul: Some(2 * LONG_LINE + 16) };
        assert_eq!(lines(false), std::slice::from_ref(&cut));
        // The rest of one that was cut.
        assert_eq!(lines(true), [LongLine { range: 0..LONG_LINE + 5, nul: None }, cut]);
    }
}
