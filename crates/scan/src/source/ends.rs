//! Where lines end, also in files of NUL bytes that hold no line feed for gigabytes.

use memchr::{memchr, memchr2, memrchr, memrchr2};

use crate::options::Bounds;

/// Length in bytes from which a line is long: with [`NulEnds::LongLines`], the NULs behind it end lines.
pub const LONG_LINE: usize = 1 << 20;

/// Which NUL bytes end a line, besides the byte that always does.
///
/// Without this, a file of a gigabyte of NULs is one line, which has to be in memory before it can be searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NulEnds {
    /// None of them.
    #[default]
    Nowhere,
    /// Those with no end of a line in the [`LONG_LINE`] bytes before them, whatever the block they are in.
    LongLines,
    /// All of them.
    Everywhere,
}

impl Bounds {
    /// Where the first line in `bytes` ends: at the byte that ends it. `since` is how many bytes before `bytes` the line
    /// has, [`LONG_LINE`] if it has that many or more.
    pub(crate) fn first_end(self, bytes: &[u8], since: usize) -> Option<usize> {
        match self.nul_ends {
            NulEnds::Nowhere => memchr(self.line_end, bytes),
            NulEnds::Everywhere => memchr2(self.line_end, 0, bytes),
            NulEnds::LongLines => {
                let end = memchr(self.line_end, bytes);
                let long = LONG_LINE.saturating_sub(since);
                let behind = bytes[..end.unwrap_or(bytes.len())].get(long..);
                behind.and_then(|behind| memchr(0, behind)).map(|nul| long + nul).or(end)
            }
        }
    }

    /// Where the last line that ends in `bytes` ends. `since` is as in [`Bounds::first_end`].
    pub(crate) fn last_end(self, bytes: &[u8], since: usize) -> Option<usize> {
        match self.nul_ends {
            NulEnds::Nowhere => memrchr(self.line_end, bytes),
            NulEnds::Everywhere => memrchr2(self.line_end, 0, bytes),
            NulEnds::LongLines => {
                let end = memrchr(self.line_end, bytes);
                let long = end.map_or(LONG_LINE.saturating_sub(since), |end| end + 1 + LONG_LINE);
                let behind = bytes.get(long..);
                behind.and_then(|behind| memrchr(0, behind)).map(|nul| long + nul).or(end)
            }
        }
    }

    /// Bytes before the line that begins behind this byte, the last of a line, for [`Bounds::first_end`]: more than none if
    /// both are parts of a long line.
    pub(crate) fn since(self, end: u8) -> usize {
        if self.nul_ends == NulEnds::LongLines && end != self.line_end { LONG_LINE } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bounds(nul_ends: NulEnds) -> Bounds {
        Bounds { block_size: 1, max_line: usize::MAX, line_end: b'\n', nul_ends }
    }

    /// All ends of lines, byte by byte as [`NulEnds`] says it.
    fn plain(bytes: &[u8], nul_ends: NulEnds, since: usize) -> Vec<usize> {
        let mut behind = since;
        let is_end = |(at, &byte): (usize, &u8)| {
            behind += 1;
            let is_end = byte == b'\n'
                || byte == 0 && nul_ends == NulEnds::Everywhere
                || byte == 0 && nul_ends == NulEnds::LongLines && behind > LONG_LINE;
            if byte == b'\n' {
                behind = 0;
            }
            is_end.then_some(at)
        };
        bytes.iter().enumerate().filter_map(is_end).collect()
    }

    proptest! {
        #[test]
        fn first_and_last_ends_are_those_found_byte_by_byte(
            runs in prop::collection::vec(
                (prop::sample::select(b"x\0\n".as_slice()), prop::sample::select(vec![1, 2, 9, LONG_LINE - 1, LONG_LINE, LONG_LINE + 3])),
                0..5,
            ),
            nul_ends in prop::sample::select(vec![NulEnds::Nowhere, NulEnds::LongLines, NulEnds::Everywhere]),
            since in prop::sample::select(vec![0, 1, LONG_LINE - 1, LONG_LINE]),
        ) {
            let bytes: Vec<u8> =
                runs.into_iter().flat_map(|(byte, count)| std::iter::repeat_n(byte, count)).collect();
            let ends = plain(&bytes, nul_ends, since);
            prop_assert_eq!(bounds(nul_ends).first_end(&bytes, since), ends.first().copied());
            prop_assert_eq!(bounds(nul_ends).last_end(&bytes, since), ends.last().copied());
        }
    }
}
