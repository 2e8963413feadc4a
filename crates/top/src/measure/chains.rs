//! Lists of many groups in few allocations, which grow without being copied.

/// Lists in blocks: a list has a block of each size 1, 2, 4, … up to the one that its last value is in. Block `n` of size 2^c is a
/// range of the vector of class c. Freed blocks are used again.
#[derive(Debug)]
pub(super) struct Chains<T> {
    classes: Vec<Class<T>>,
}

#[derive(Clone, Debug)]
struct Class<T> {
    elements: Vec<T>,
    /// The block of the class below that precedes each block in its list.
    before: Vec<u32>,
    free: Vec<u32>,
}

impl<T> Default for Chains<T> {
    fn default() -> Self {
        Self { classes: Vec::new() }
    }
}

/// Class of the block of the value with this number, from 1.
#[inline(always)]
fn class(number: u32) -> u32 {
    number.ilog2()
}

impl<T: Copy + Default> Chains<T> {
    /// Appends a value to a list of `count` values whose last block is `last`; any number for an empty list. Returns the last block.
    #[inline(always)]
    pub(super) fn push(&mut self, count: u32, last: u32, value: T) -> u32 {
        let number = count + 1;
        let class = class(number);
        let last = if number.is_power_of_two() { self.allocate(class, last) } else { last };
        let at = ((last as usize) << class) + number as usize - (1 << class);
        self.classes[class as usize].elements[at] = value;
        last
    }

    /// Returns the number of a new block, which follows the block `before` of the class below.
    #[inline(never)]
    fn allocate(&mut self, class: u32, before: u32) -> u32 {
        while self.classes.len() <= class as usize {
            self.classes.push(Class { elements: Vec::new(), before: Vec::new(), free: Vec::new() });
        }
        let Class { elements, before: all_before, free } = &mut self.classes[class as usize];
        if let Some(block) = free.pop() {
            if class > 0 {
                all_before[block as usize] = before;
            }
            return block;
        }
        let (size, end) = (1 << class, elements.len());
        if end == elements.capacity() {
            // A quarter more: twice as much would be too much memory.
            elements.reserve_exact((end / 4).next_multiple_of(size).max(size));
        }
        elements.resize(end + size, T::default());
        if class > 0 {
            all_before.push(before);
        }
        (end / size) as u32
    }

    /// The values of a list, in parts: the last ones first.
    fn parts(&self, count: u32, last: u32) -> impl Iterator<Item = &[T]> + Clone {
        let (mut end, mut block) = (count, last);
        std::iter::from_fn(move || {
            let class = class(Some(end).filter(|end| *end > 0)?);
            let Class { elements, before, .. } = &self.classes[class as usize];
            let (size, start) = (1 << class, (block as usize) << class);
            let part = &elements[start..start + (end + 1 - size) as usize];
            end = size - 1;
            block = before.get(block as usize).copied().unwrap_or_default();
            Some(part)
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
        let mut block = last;
        for class in (0..count.checked_ilog2().map_or(0, |class| class + 1)).rev() {
            let Class { before, free, .. } = &mut self.classes[class as usize];
            free.push(block);
            block = before.get(block as usize).copied().unwrap_or_default();
        }
    }

    /// Replaces all elements, also those of free blocks.
    pub(super) fn map<U>(&self, mut convert: impl FnMut(T) -> U) -> Chains<U> {
        let class = |class: &Class<T>| Class {
            elements: class.elements.iter().map(|element| convert(*element)).collect(),
            before: class.before.clone(),
            free: class.free.clone(),
        };
        Chains { classes: self.classes.iter().map(class).collect() }
    }

    pub(super) fn memory(&self) -> usize {
        let class = |class: &Class<T>| {
            class.elements.capacity() * size_of::<T>() + (class.before.capacity() + class.free.capacity()) * 4
        };
        self.classes.iter().map(class).sum()
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
