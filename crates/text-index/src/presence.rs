//! Bitmaps of the parts of the text in which the suffixes of a range of the suffix array begin. They find the earliest occurrence
//! at or after a position without a scan of all occurrences.
//!
//! The text is divided into groups of positions, and the suffix array into blocks of entries, about √n of each. Every block has
//! a bitmap with one bit per group, set if a suffix of the block begins in the group. In the tree above the blocks, each node is
//! the union of sixteen bitmaps. A range of the suffix array consists of some nodes of the tree and two partial blocks. The
//! lowest bit of the nodes is the first group with an occurrence, and a scan of the group finds the occurrence. A query takes
//! O(√n) time for any pattern. The bitmaps take a quarter of a bit to one bit per entry, 1 to 3 % of the suffix array.
//!
//! A scan of all occurrences takes 36 ms for one digit in 100,000,000. A wavelet tree would answer for any range in logarithmic time, but is as
//! large as the suffix array, and takes longer to build than a fifth of the sort.

use std::ops::Range;

use finecomb_sys::threads::map;

/// Binary logarithm of the number of children per node.
const FAN_OUT_SHIFT: u32 = 4;

/// Binary logarithm of the minimum size of groups and blocks. Scanning that many entries takes no longer than a lookup.
const MIN_SHIFT: u32 = 10;

/// Layout of the bitmaps of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitmapLayout {
    symbols: u64,
    /// Binary logarithm of the number of positions in a group.
    shift: u32,
}

impl BitmapLayout {
    /// Layout for a text of `symbols` symbols.
    pub(crate) fn new(symbols: u64) -> Self {
        Self { symbols, shift: (symbols.max(1).ilog2() / 2 + 1).max(MIN_SHIFT) }
    }

    /// Number of positions in a group.
    pub(crate) fn group(self) -> u64 {
        1 << self.shift
    }

    /// Number of entries in a block: the number of positions in a group, so that both scans cost about the same.
    pub(crate) fn block(self) -> u64 {
        1 << self.shift
    }

    /// Group of a position.
    pub(crate) fn group_of(self, position: u64) -> u64 {
        position >> self.shift
    }

    fn groups(self) -> u64 {
        self.symbols.div_ceil(self.group())
    }

    /// Size of a bitmap in bytes, a multiple of 64 bits.
    fn bitmap(self) -> usize {
        self.groups().div_ceil(64) as usize * 8
    }

    /// Number of nodes in each level, starting with the blocks.
    fn levels(self) -> impl Iterator<Item = u64> {
        let blocks = self.symbols.div_ceil(self.block());
        let mut next = Some(blocks);
        std::iter::from_fn(move || {
            let nodes = next?;
            next = (nodes > 1).then(|| nodes.div_ceil(1 << FAN_OUT_SHIFT));
            Some(nodes)
        })
    }

    /// Size of all bitmaps in bytes.
    pub(crate) fn len(self) -> u64 {
        self.levels().sum::<u64>() * self.bitmap() as u64
    }
}

/// Bitmaps of a text.
#[derive(Clone, Copy)]
pub(crate) struct Presence<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) shape: BitmapLayout,
}

impl Presence<'_> {
    /// First group from `from` on in which a suffix of these blocks begins.
    pub(crate) fn first_group(&self, blocks: Range<u64>, from: u64) -> Option<u64> {
        let mut first: Option<u64> = None;
        self.for_each_node(blocks, |bitmap| {
            let below = first.unwrap_or(u64::MAX);
            first = lowest(bitmap, from, below).or(first);
        });
        first
    }

    /// Last group below `before` in which a suffix of these blocks begins.
    pub(crate) fn last_group(&self, blocks: Range<u64>, before: u64) -> Option<u64> {
        let mut last: Option<u64> = None;
        self.for_each_node(blocks, |bitmap| {
            let from = last.map_or(0, |last| last + 1);
            last = highest(bitmap, from, before).or(last);
        });
        last
    }

    /// Visits the smallest set of nodes that covers exactly these blocks.
    fn for_each_node(&self, blocks: Range<u64>, mut visit: impl FnMut(&[u8])) {
        const FAN_OUT: u64 = 1 << FAN_OUT_SHIFT;
        let Range { mut start, mut end } = blocks;
        let length = self.shape.bitmap();
        let mut level_at = 0;
        for nodes in self.shape.levels() {
            let mut visit = |node: u64| {
                let at = (level_at + node) as usize * length;
                visit(&self.bytes[at..at + length]);
            };
            let is_top = nodes <= 1;
            while start < end && (is_top || !start.is_multiple_of(FAN_OUT)) {
                visit(start);
                start += 1;
            }
            while start < end && !end.is_multiple_of(FAN_OUT) {
                end -= 1;
                visit(end);
            }
            if start >= end {
                return;
            }
            (start, end) = (start >> FAN_OUT_SHIFT, end >> FAN_OUT_SHIFT);
            level_at += nodes;
        }
    }
}

fn word(bitmap: &[u8], at: u64) -> Option<u64> {
    let (words, _) = bitmap.as_chunks();
    words.get(at as usize).map(|&word| u64::from_le_bytes(word))
}

/// Lowest set bit from `from` on and below `below`.
fn lowest(bitmap: &[u8], from: u64, below: u64) -> Option<u64> {
    let mut mask = u64::MAX << (from % 64);
    let mut at = from / 64;
    while at * 64 < below {
        let bits = word(bitmap, at)? & mask;
        if bits != 0 {
            return Some(at * 64 + u64::from(bits.trailing_zeros())).filter(|&bit| bit < below);
        }
        mask = u64::MAX;
        at += 1;
    }
    None
}

/// Highest set bit from `from` on and below `below`.
fn highest(bitmap: &[u8], from: u64, below: u64) -> Option<u64> {
    let last = below.min(bitmap.len() as u64 * 8).checked_sub(1)?;
    let mut mask = u64::MAX >> (63 - last % 64);
    for at in (from / 64..=last / 64).rev() {
        let bits = word(bitmap, at)? & mask;
        if bits != 0 {
            return Some(at * 64 + 63 - u64::from(bits.leading_zeros())).filter(|&bit| bit >= from);
        }
        mask = u64::MAX;
    }
    None
}

/// Builds the bitmaps of a suffix array; `positions` returns the entries of a range. Invalid positions are skipped.
pub(crate) fn build<P>(
    positions: impl Fn(Range<u64>) -> P + Sync,
    shape: BitmapLayout,
    threads: usize,
) -> Vec<u8>
where
    P: Iterator<Item = u64>,
{
    let length = shape.bitmap();
    let mut bytes = vec![0; shape.len() as usize];
    if length == 0 {
        return bytes;
    }
    let blocks = shape.symbols.div_ceil(shape.block()) as usize;
    let (mut below, mut above) = bytes.split_at_mut(blocks * length);
    let blocks_for_each = blocks.div_ceil(threads.max(1));
    map(threads, below.chunks_mut(blocks_for_each * length).enumerate(), |(part, bitmaps)| {
        for (block, bitmap) in bitmaps.chunks_mut(length).enumerate() {
            let start = (part * blocks_for_each + block) as u64 * shape.block();
            mark(positions(start..(start + shape.block()).min(shape.symbols)), shape, bitmap);
        }
    });
    for nodes in shape.levels().skip(1) {
        let (level, rest) = above.split_at_mut(nodes as usize * length);
        for (children, node) in below.chunks(length << FAN_OUT_SHIFT).zip(level.chunks_mut(length)) {
            for child in children.chunks(length) {
                node.iter_mut().zip(child).for_each(|(node, child)| *node |= child);
            }
        }
        (below, above) = (level, rest);
    }
    bytes
}

/// Sets the bits of a block's bitmap.
fn mark(positions: impl Iterator<Item = u64>, shape: BitmapLayout, bitmap: &mut [u8]) {
    positions.for_each(|position| {
        let group = shape.group_of(position);
        if let Some(byte) = bitmap.get_mut((group / 8) as usize) {
            *byte |= 1 << (group % 8);
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
        #[test]
        fn groups_equal_those_from_a_scan_of_all_entries(
            seed in any::<u64>(), symbols in 0..60_000_u64, threads in 1..4_usize,
            queries in prop::collection::vec((0..64_u64, 0..64_u64, 0..64_u64), 20),
        ) {
            let shape = BitmapLayout::new(symbols);
            // Any permutation works; this one leaves gaps in most blocks.
            let mut positions: Vec<u64> = (0..symbols).collect();
            positions.sort_by_key(|&position| (position >> 12).wrapping_mul(seed | 1) >> 7);
            let part = |range: Range<u64>| positions[range.start as usize..range.end as usize].iter().copied();
            let bytes = build(part, shape, threads);
            prop_assert_eq!(bytes.len() as u64, shape.len());
            let presence = Presence { bytes: &bytes, shape };
            let blocks = symbols.div_ceil(shape.block());
            for (start, end, group) in queries {
                let (start, end) = (start.min(blocks), end.min(blocks));
                let entries = start * shape.block()..(end * shape.block()).min(symbols);
                let groups = || positions.get(entries.start as usize..entries.end as usize).unwrap_or_default()
                    .iter().map(|&position| shape.group_of(position));
                prop_assert_eq!(presence.first_group(start..end, group), groups().filter(|&at| at >= group).min());
                prop_assert_eq!(presence.last_group(start..end, group), groups().filter(|&at| at < group).max());
            }
        }
    }

    #[test]
    fn blocks_are_covered_by_as_few_nodes_as_possible() {
        let shape = BitmapLayout::new(1 << 26);
        assert_eq!(shape.levels().collect::<Vec<_>>(), [4096, 256, 16, 1]);
        let presence = Presence { bytes: &vec![0; shape.len() as usize], shape };
        let nodes = |blocks| {
            let mut nodes = 0;
            presence.for_each_node(blocks, |_| nodes += 1);
            nodes
        };
        assert_eq!(nodes(0..4096), 1);
        assert_eq!(nodes(256..512), 1);
        assert_eq!(nodes(31..65), 1 + 2 + 1);
        // All but the first and the last child of each of the nodes at both ends.
        assert_eq!(nodes(1..4095), 2 * 15 + 2 * 15 + 14);
        assert_eq!(nodes(7..7), 0);
    }
}
