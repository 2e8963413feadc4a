//! Small arrays of many groups in few allocations.

/// Blocks of elements, with a power of two of them each: block `n` of size 2^c is a range of the vector of class c.
/// Freed blocks are used again.
#[derive(Debug)]
pub(super) struct Slab<T> {
    classes: Vec<Class<T>>,
}

#[derive(Debug)]
struct Class<T> {
    elements: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { classes: Vec::new() }
    }
}

impl<T: Copy + Default> Slab<T> {
    /// Returns the number of a new block of a class, filled with the default.
    pub(super) fn allocate(&mut self, class: u32) -> u32 {
        while self.classes.len() <= class as usize {
            self.classes.push(Class { elements: Vec::new(), free: Vec::new() });
        }
        let Class { elements, free } = &mut self.classes[class as usize];
        if let Some(block) = free.pop() {
            self.block_mut(class, block).fill(T::default());
            return block;
        }
        let end = elements.len();
        if end == elements.capacity() {
            // A quarter more: twice as much would be too much memory.
            elements.reserve_exact((end / 4).next_multiple_of(1 << class).max(1 << class));
        }
        elements.resize(end + (1 << class), T::default());
        (end >> class) as u32
    }

    pub(super) fn free(&mut self, class: u32, block: u32) {
        self.classes[class as usize].free.push(block);
    }

    #[inline(always)]
    pub(super) fn block(&self, class: u32, block: u32) -> &[T] {
        let start = (block as usize) << class;
        &self.classes[class as usize].elements[start..start + (1 << class)]
    }

    #[inline(always)]
    pub(super) fn block_mut(&mut self, class: u32, block: u32) -> &mut [T] {
        let start = (block as usize) << class;
        &mut self.classes[class as usize].elements[start..start + (1 << class)]
    }

    /// Replaces all elements, also the free ones.
    pub(super) fn map<U>(&self, mut convert: impl FnMut(T) -> U) -> Slab<U> {
        let class = |class: &Class<T>| Class {
            elements: class.elements.iter().map(|element| convert(*element)).collect(),
            free: class.free.clone(),
        };
        Slab { classes: self.classes.iter().map(class).collect() }
    }

    pub(super) fn memory(&self) -> usize {
        let class = |class: &Class<T>| class.elements.capacity() * size_of::<T>() + class.free.capacity() * 4;
        self.classes.iter().map(class).sum()
    }
}
