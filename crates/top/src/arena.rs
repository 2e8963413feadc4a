//! Keys one behind another in a few large pieces of memory.

use finecomb_scan::simd::prefetch;

/// Keys in chunks that are never moved.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// Where `store` writes: keys of another arena may lie behind.
    open: usize,
}

/// The first chunk is small, for a table may hold few keys; each is twice the one before, up to the largest.
const FIRST_CHUNK: usize = 1 << 9;
const LARGEST_CHUNK: usize = 1 << 20;

/// Where a key begins: the chunk in the high half, the byte in the low half.
pub(crate) type Address = u64;

impl Arena {
    /// Stores a key and gives its address.
    pub(crate) fn store(&mut self, key: &[u8]) -> Address {
        let fits = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= key.len();
        if !self.chunks.get(self.open).is_some_and(fits) {
            let size = (FIRST_CHUNK << self.chunks.len().min(20)).min(LARGEST_CHUNK);
            self.open = self.chunks.len();
            self.chunks.push(Vec::with_capacity(size.max(key.len())));
        }
        let chunk = &mut self.chunks[self.open];
        let address = (self.open as u64) << 32 | chunk.len() as u64;
        chunk.extend_from_slice(key);
        address
    }

    /// The key of `length` bytes at an address that this arena gave.
    #[inline(always)]
    pub(crate) fn key(&self, address: Address, length: u32) -> &[u8] {
        let start = address as u32 as usize;
        &self.chunks[(address >> 32) as usize][start..start + length as usize]
    }

    /// Asks for the first and the last byte of a key, of which most lie in one cache line or two.
    #[inline(always)]
    pub(crate) fn prefetch(&self, address: Address, length: u32) {
        if let [first, .., last] = self.key(address, length) {
            prefetch(first);
            prefetch(last);
        }
    }

    /// Takes over another arena's keys and gives what to add to their addresses.
    pub(crate) fn adopt(&mut self, mut other: Self) -> Address {
        let shift = (self.chunks.len() as u64) << 32;
        self.chunks.append(&mut other.chunks);
        shift
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.chunks.capacity() * size_of::<Vec<u8>>() + self.chunks.iter().map(Vec::capacity).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_where_they_are_also_when_adopted() {
        let keys: Vec<Vec<u8>> = (0..5000_usize).map(|length| vec![length as u8; length % 700]).collect();
        let mut one = Arena::default();
        let mut two = Arena::default();
        let addresses: Vec<_> = keys.iter().map(|key| (one.store(key), two.store(key))).collect();
        let shift = one.adopt(two);
        let large = vec![7; 3 << 20];
        let large_address = one.store(&large);
        for (key, (first, second)) in keys.iter().zip(addresses) {
            assert_eq!(one.key(first, key.len() as u32), key);
            assert_eq!(one.key(second + shift, key.len() as u32), key);
        }
        assert_eq!(one.key(large_address, large.len() as u32), large);
    }
}
