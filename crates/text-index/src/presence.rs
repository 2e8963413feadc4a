//! In which parts of the text the suffixes of a stretch of the suffix array begin: what finds the earliest occurrence at or
//! after a position without looking at all occurrences.
//!
//! The text is cut into groups of positions, the suffix array into blocks of entries; about the square root of the length
//! each. For every block there is a bitmap with a bit for each group, set if a suffix of the block begins in the group. Above the
//! blocks stands a tree, whose nodes hold the union of sixteen bitmaps below them. A range of the suffix array is some nodes of that tree and
//! two cut blocks: the first group with an occurrence is the lowest bit of the nodes, and where in the group the occurrence is, a
//! scan of the group finds. All of it takes time in proportion to the square root of the text's length, whatever the pattern. It
//! takes between a quarter of a bit and one bit an entry: 1 to 3 % of the suffix array.

use std::ops::Range;

use finecomb_sys::threads::map;

/// How many nodes are united in the one above them, as a power of two.
const FAN_OUT_SHIFT: u32 = 4;

/// Groups are no smaller, nor are blocks: scanning that much is as quick as looking it up. As a power of two.
const SMALLEST_SHIFT: u32 = 10;

/// How the bitmaps of a text are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    symbols: u64,
    /// Positions in a group, as a power of two.
    shift: u32,
}

impl Shape {
    /// The layout for a text of so many symbols.
    pub(crate) fn new(symbols: u64) -> Self {
        Self { symbols, shift: (symbols.max(1).ilog2() / 2 + 1).max(SMALLEST_SHIFT) }
    }

    /// Positions in a group of them.
    pub(crate) fn group(self) -> u64 {
        1 << self.shift
    }

    /// Entries in a block of them; as many as positions in a group, so that both scans cost about the same.
    pub(crate) fn block(self) -> u64 {
        1 << self.shift
    }

    /// The group of a position.
    pub(crate) fn group_of(self, position: u64) -> u64 {
        position >> self.shift
    }

    fn groups(self) -> u64 {
        self.symbols.div_ceil(self.group())
    }

    /// Bytes of a bitmap: whole words of 64 bits.
    fn bitmap(self) -> usize {
        self.groups().div_ceil(64) as usize * 8
    }

    /// Nodes of each level, the blocks first.
    fn levels(self) -> impl Iterator<Item = u64> {
        let blocks = self.symbols.div_ceil(self.block());
        let mut next = Some(blocks);
        std::iter::from_fn(move || {
            let nodes = next?;
            next = (nodes > 1).then(|| nodes.div_ceil(1 << FAN_OUT_SHIFT));
            Some(nodes)
        })
    }

    /// Bytes of all bitmaps.
    pub(crate) fn len(self) -> u64 {
        self.levels().sum::<u64>() * self.bitmap() as u64
    }
}

/// The bitmaps of a text.
#[derive(Clone, Copy)]
pub(crate) struct Presence<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) shape: Shape,
}

impl Presence<'_> {
    /// The first group from one on in which a suffix of these blocks begins.
    pub(crate) fn first_group(&self, blocks: Range<u64>, from: u64) -> Option<u64> {
        let mut first: Option<u64> = None;
        self.each_node(blocks, |bitmap| {
            let below = first.unwrap_or(u64::MAX);
            first = lowest(bitmap, from, below).or(first);
        });
        first
    }

    /// The last group before another in which a suffix of these blocks begins.
    pub(crate) fn last_group(&self, blocks: Range<u64>, before: u64) -> Option<u64> {
        let mut last: Option<u64> = None;
        self.each_node(blocks, |bitmap| {
            let from = last.map_or(0, |last| last + 1);
            last = highest(bitmap, from, before).or(last);
        });
        last
    }

    /// Visits the fewest nodes that have all of these blocks below them, and no others.
    fn each_node(&self, blocks: Range<u64>, mut visit: impl FnMut(&[u8])) {
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

/// The lowest bit from one on and below another.
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

/// The highest bit from one on and below another.
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

/// Makes the bitmaps of a suffix array, of which `positions` gives the entries of a range. Those that are no positions of the text are
/// passed over.
pub(crate) fn build<P>(positions: impl Fn(Range<u64>) -> P + Sync, shape: Shape, threads: usize) -> Vec<u8>
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
fn mark(positions: impl Iterator<Item = u64>, shape: Shape, bitmap: &mut [u8]) {
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
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn groups_are_found_as_by_looking_at_all_entries(
            seed in any::<u64>(), symbols in 0..60_000_u64, threads in 1..4_usize,
            queries in prop::collection::vec((0..64_u64, 0..64_u64, 0..64_u64), 20),
        ) {
            let shape = Shape::new(symbols);
            // Any permutation will do; this one leaves gaps in most blocks.
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
}
