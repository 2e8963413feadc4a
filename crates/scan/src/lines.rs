//! Positions of line ends.

use finecomb_sys::simd::{Kernel, Masks, dispatch};

/// Positions of the line feeds in a text. The memory is reused from text to text.
#[derive(Debug, Default)]
pub struct LineEnds {
    /// Only the first `used` positions are valid. The rest is room that is written without a check.
    positions: Vec<u32>,
    used: usize,
}

impl LineEnds {
    /// Finds every line feed in `text`, whose length must be below 2^32.
    pub fn find(&mut self, text: &[u8]) -> &[u32] {
        dispatch(FindLineFeeds { text, ends: self });
        self.positions()
    }

    /// The positions that were found last.
    pub(crate) fn positions(&self) -> &[u32] {
        &self.positions[..self.used]
    }

    /// Sets the number of positions that were found.
    pub(crate) fn set_used(&mut self, used: usize) {
        self.used = used;
    }

    /// Sets the positions.
    pub(crate) fn set(&mut self, positions: impl Iterator<Item = u32>) {
        self.positions.clear();
        self.positions.extend(positions);
        self.used = self.positions.len();
    }

    /// Returns the memory for positions, with room for at least `more` after the first `used`.
    pub(crate) fn room(&mut self, used: usize, more: usize) -> &mut [u32] {
        if self.positions.len() < used + more {
            self.positions.resize(2 * used + more, 0);
        }
        &mut self.positions
    }
}

/// Number of windows between two checks that there is room for all their line feeds.
pub(crate) const STRIDE: usize = 64;

struct FindLineFeeds<'a> {
    text: &'a [u8],
    ends: &'a mut LineEnds,
}

impl Kernel for FindLineFeeds<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { text, ends } = self;
        let (windows, rest) = text.as_chunks::<64>();
        // A local variable: `ends.used` would be stored and loaded again for every window.
        let mut used = 0;
        let mut base = 0;
        for stride in windows.chunks(STRIDE) {
            let positions = ends.room(used, (STRIDE + 1) * 64);
            for window in stride {
                used += write_positions(&mut positions[used..], base, masks.equal(window, b'\n'));
                base += 64;
            }
        }
        let positions = ends.room(used, 64);
        for (index, &byte) in rest.iter().enumerate() {
            positions[used] = base + index as u32;
            used += usize::from(byte == b'\n');
        }
        ends.used = used;
    }
}

/// Writes `base` plus the index of each set bit, and returns the number of set bits. Most windows have at most one line feed; in a
/// text of short lines they have three to eight. Two are written unconditionally, and then six at once, so that only a third and a
/// ninth cost a branch that is hard to predict (after Langdale and Lemire, Parsing Gigabytes of JSON per Second, 2019, section
/// 3.1.4).
#[inline(always)]
pub(crate) fn write_positions(positions: &mut [u32], base: u32, mut bits: u64) -> usize {
    let count = bits.count_ones() as usize;
    let positions = &mut positions[..64];
    let mut write = |positions: &mut [u32]| {
        for position in positions {
            *position = base + bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
        }
    };
    write(&mut positions[..2]);
    if count > 2 {
        write(&mut positions[2..8]);
        if count > 8 {
            write(&mut positions[8..count]);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn byte_by_byte(text: &[u8]) -> Vec<u32> {
        text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(index, _)| index as u32).collect()
    }

    proptest! {
        #[test]
        fn line_ends_equal_those_found_byte_by_byte(
            texts in prop::collection::vec(
                prop::collection::vec(prop_oneof![3 => Just(b'\n'), 7 => any::<u8>()], 0..9000), 1..4),
        ) {
            let mut ends = LineEnds::default();
            for text in texts {
                prop_assert_eq!(ends.find(&text), byte_by_byte(&text));
            }
        }
    }

    #[test]
    fn a_text_of_line_feeds_only() {
        let mut ends = LineEnds::default();
        for length in [0, 1, 63, 64, 65, 4096, 5000] {
            let text = vec![b'\n'; length];
            assert_eq!(ends.find(&text), byte_by_byte(&text));
        }
    }
}
