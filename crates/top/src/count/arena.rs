//! Arena of keys in a few large chunks of memory.

use finecomb_sys::memory::FixedVec;
use finecomb_sys::simd::prefetch;

/// Keys in chunks that never move.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    chunks: Vec<FixedVec<u8>>,
}

/// Size of the first chunk: small, as there may be few keys. Each chunk is twice as large as the one before.
const FIRST_CHUNK: usize = 1 << 16;
/// Maximum size of a chunk, except for a longer key: four huge pages.
const MAX_CHUNK: usize = 8 << 20;

/// Start of a key: the number of the chunk in the high half, the offset in the low half.
pub(crate) type Address = u64;

impl Arena {
    /// Stores a key and returns its address.
    pub(crate) fn store(&mut self, key: &[u8]) -> Address {
        let has_room = |chunk: &&mut FixedVec<u8>| chunk.capacity() - chunk.len() >= key.len();
        if self.chunks.last_mut().filter(has_room).is_none() {
            let size = (FIRST_CHUNK << self.chunks.len().min(20)).min(MAX_CHUNK);
            self.chunks.push(FixedVec::with_capacity(size.max(key.len())));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let address = (number as u64) << 32 | chunk.len() as u64;
        chunk.extend_from_slice(key);
        address
    }

    /// Returns the key of `length` bytes at an address of this arena.
    #[inline(always)]
    pub(crate) fn key(&self, address: Address, length: u32) -> &[u8] {
        let start = address as u32 as usize;
        &self.chunks[(address >> 32) as usize][start..start + length as usize]
    }

    /// Prefetches the first and the last byte of a key. Most keys lie in one or two cache lines.
    #[inline(always)]
    pub(crate) fn prefetch(&self, address: Address, length: u32) {
        if let [first, .., last] = self.key(address, length) {
            prefetch(first);
            prefetch(last);
        }
    }

    /// Allocated memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.chunks.iter().map(FixedVec::capacity).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_addresses() {
        let keys: Vec<Vec<u8>> = (0..5000_usize).map(|length| vec![length as u8; length % 700]).collect();
        let large = vec![7; 9 << 20];
        let mut arena = Arena::default();
        let addresses: Vec<_> = keys.iter().chain([&large, &large]).map(|key| arena.store(key)).collect();
        for (key, address) in keys.iter().chain([&large, &large]).zip(addresses) {
            assert_eq!(arena.key(address, key.len() as u32), key);
        }
    }
}
