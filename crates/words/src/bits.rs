//! Approximate sets of hashes, and exact sets of pairs of bytes.

/// A set of hashes as a bitmap. It contains every hash that was added, and others with a small probability.
#[derive(Clone, Debug)]
pub(crate) struct HashBitmap {
    words: Vec<u64>,
    /// Number of the lower bits of a hash that do not choose a bit.
    shift: u32,
}

impl HashBitmap {
    /// Maximum number of bits as a power of two: 256 KiB, so that several fit into the second-level cache.
    const MAX: u32 = 21;

    /// Makes an empty set for a number of hashes.
    pub(crate) fn for_hashes(count: usize) -> Self {
        Self::with_bits((count.saturating_mul(16)).next_power_of_two().trailing_zeros().clamp(6, Self::MAX))
    }

    /// Makes an empty set for the hashes of whole words.
    pub(crate) fn for_words(count: usize) -> Self {
        Self::with_bits(
            (count.saturating_mul(16)).next_power_of_two().trailing_zeros().clamp(6, Self::MAX + 3),
        )
    }

    fn with_bits(power: u32) -> Self {
        Self { words: vec![0; 1 << (power - 6)], shift: 64 - power }
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) {
        let bit = hash >> self.shift;
        if let Some(word) = self.words.get_mut((bit >> 6) as usize) {
            *word |= 1 << (bit & 63);
        }
    }

    #[inline(always)]
    pub(crate) fn has(&self, hash: u64) -> bool {
        let bit = hash >> self.shift;
        self.words.get((bit >> 6) as usize).is_some_and(|word| word >> (bit & 63) & 1 == 1)
    }
}

/// A set of pairs of bytes, given as the lower 16 bits of a number.
#[derive(Clone, Debug)]
pub(crate) struct BytePairs(Box<[u64; 1 << 10]>);

impl Default for BytePairs {
    fn default() -> Self {
        Self(Box::new([0; 1 << 10]))
    }
}

impl BytePairs {
    pub(crate) fn insert(&mut self, pair: u64) {
        self.0[(pair >> 6 & 0x3FF) as usize] |= 1 << (pair & 63);
    }

    /// Adds all pairs with this first byte.
    pub(crate) fn insert_all_from(&mut self, first: u64) {
        (0..1 << 8).for_each(|second| self.insert(first & 0xFF | second << 8));
    }

    #[inline(always)]
    pub(crate) fn has(&self, pair: u64) -> bool {
        self.0[(pair >> 6 & 0x3FF) as usize] >> (pair & 63) & 1 == 1
    }
}

/// Spreads the first bytes of a word over the upper bits, which [`HashBitmap`] reads.
#[inline(always)]
pub(crate) fn spread(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
