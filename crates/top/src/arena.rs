//! Keys one behind another in a few large pieces of memory.

use finecomb_sys::memory::FixedVec;
use finecomb_sys::simd::prefetch;

/// Keys in chunks that are never moved.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    chunks: Vec<FixedVec<u8>>,
}

/// The first chunk is small, for there may be few keys; each is twice the one before, up to the largest, which is
/// four huge pages.
const FIRST_CHUNK: usize = 1 << 16;
const LARGEST_CHUNK: usize = 8 << 20;

/// Where a key begins: the chunk in the high half, the byte in the low half.
pub(crate) type Address = u64;

impl Arena {
    /// Stores a key and gives its address.
    pub(crate) fn store(&mut self, key: &[u8]) -> Address {
        let has_room = |chunk: &&mut FixedVec<u8>| chunk.capacity() - chunk.len() >= key.len();
        if self.chunks.last_mut().filter(has_room).is_none() {
            let size = (FIRST_CHUNK << self.chunks.len().min(20)).min(LARGEST_CHUNK);
            self.chunks.push(FixedVec::with_capacity(size.max(key.len())));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let address = (number as u64) << 32 | chunk.len() as u64;
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

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.chunks.iter().map(FixedVec::capacity).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_where_they_are() {
        let keys: Vec<Vec<u8>> = (0..5000_usize).map(|length| vec![length as u8; length % 700]).collect();
        let large = vec![7; 9 << 20];
        let mut arena = Arena::default();
        let addresses: Vec<_> = keys.iter().chain([&large, &large]).map(|key| arena.store(key)).collect();
        for (key, address) in keys.iter().chain([&large, &large]).zip(addresses) {
            assert_eq!(arena.key(address, key.len() as u32), key);
        }
    }
}
