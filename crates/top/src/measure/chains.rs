//! Lists of many groups in few allocations, which grow without being copied.

use crate::measure::slab::Slab;

/// Lists in blocks: a list has a block of each class from 0 up to the one that its last value is in.
#[derive(Debug)]
pub(super) struct Chains<T> {
    blocks: Slab<T>,
    /// By class, the block of the class below that precedes each block in its list. Class 0 has none.
    before: Vec<Vec<u32>>,
}

impl<T> Default for Chains<T> {
    fn default() -> Self {
        Self { blocks: Slab::default(), before: Vec::new() }
    }
}

impl<T: Copy + Default> Chains<T> {
    /// Appends a value to a list of `count` values whose last block is `last`; any number for an empty list. Returns the last block.
    #[inline(always)]
    pub(super) fn push(&mut self, count: u32, last: u32, value: T) -> u32 {
        let number = count + 1;
        let class = number.ilog2();
        let last = if number.is_power_of_two() { self.allocate(class, last) } else { last };
        self.blocks.block_mut(class, last)[number as usize - (1 << class)] = value;
        last
    }

    /// Returns the number of a new block, which follows the block `before` of the class below.
    #[inline(never)]
    fn allocate(&mut self, class: u32, before: u32) -> u32 {
        let block = self.blocks.allocate(class);
        while self.before.len() <= class as usize {
            self.before.push(Vec::new());
        }
        let of_class = &mut self.before[class as usize];
        match of_class.get_mut(block as usize) {
            Some(known) => *known = before,
            // Blocks are numbered in order.
            None if class > 0 => of_class.push(before),
            None => {}
        }
        block
    }

    /// The blocks of a list, each with its class: that of the last values first.
    fn blocks(&self, count: u32, last: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
        let mut block = last;
        (0..count.checked_ilog2().map_or(0, |class| class + 1)).rev().map(move |class| {
            let own = block;
            block = self.before[class as usize].get(own as usize).copied().unwrap_or_default();
            (class, own)
        })
    }

    /// The values of a list, in parts: the last ones first.
    fn parts(&self, count: u32, last: u32) -> impl Iterator<Item = &[T]> + Clone {
        self.blocks(count, last).map(move |(class, block)| {
            let part = self.blocks.block(class, block);
            &part[..part.len().min(count as usize + 1 - part.len())]
        })
    }

    /// The values of a list, in any order.
    pub(super) fn values(&self, count: u32, last: u32) -> impl Iterator<Item = T> + Clone {
        self.parts(count, last).flatten().copied()
    }

    /// The values of a list, in any order.
    pub(super) fn to_vec(&self, count: u32, last: u32) -> Vec<T> {
        let mut all = Vec::with_capacity(count as usize);
        self.parts(count, last).for_each(|part| all.extend_from_slice(part));
        all
    }

    /// Frees the blocks of a list.
    pub(super) fn free(&mut self, count: u32, last: u32) {
        let blocks: Vec<(u32, u32)> = self.blocks(count, last).collect();
        blocks.into_iter().for_each(|(class, block)| self.blocks.free(class, block));
    }

    /// Replaces all elements, also in free blocks.
    pub(super) fn map<U>(&self, convert: impl FnMut(T) -> U) -> Chains<U> {
        Chains { blocks: self.blocks.map(convert), before: self.before.clone() }
    }

    pub(super) fn memory(&self) -> usize {
        self.blocks.memory()
            + self.before.iter().map(|class| class.capacity() * size_of::<u32>()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_have_what_was_pushed(steps in prop::collection::vec((0..4_usize, any::<u8>()), 0..400)) {
            let (mut chains, mut lists) = (Chains::default(), [(0, 0); 4]);
            let mut expected: [Vec<u8>; 4] = Default::default();
            for (list, value) in steps {
                let (count, last) = &mut lists[list];
                if value == 0 {
                    chains.free(*count, *last);
                    *count = 0;
                    expected[list].clear();
                } else {
                    *last = chains.push(*count, *last, value);
                    *count += 1;
                    expected[list].push(value);
                }
                for (&(count, last), expected) in lists.iter().zip(&expected) {
                    let mut parts: Vec<&[u8]> = chains.parts(count, last).collect();
                    parts.reverse();
                    prop_assert_eq!(&parts.concat(), expected);
                }
            }
        }
    }
}
