//! The reference implementation: general-purpose registers.

use super::Masks;

/// Eight bytes at a time in general-purpose registers.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Plain {
    /// Returns the high bit of each zero byte of `word`. Exact: no carry crosses a byte (Warren, Hacker's Delight, 2nd
    /// ed., section 6-1).
    #[inline(always)]
    fn zero_bytes(word: u64) -> u64 {
        const LOW_BITS: u64 = 0x7F7F_7F7F_7F7F_7F7F;
        !(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS)
    }

    /// Packs the high bits of eight bytes.
    #[inline(always)]
    fn gather(high_bits: u64) -> u64 {
        (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    #[inline(always)]
    fn mask(window: &[u8; 64], hit: impl Fn(u64) -> u64) -> u64 {
        let (words, _) = window.as_chunks::<8>();
        words
            .iter()
            .enumerate()
            .fold(0, |mask, (index, word)| mask | Self::gather(hit(u64::from_le_bytes(*word))) << (8 * index))
    }
}

const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

impl Masks for Plain {
    #[inline(always)]
    fn equal(self, window: &[u8; 64], byte: u8) -> u64 {
        Self::mask(window, |word| Self::zero_bytes(word ^ repeat(byte)))
    }

    #[inline(always)]
    fn equal_either(self, window: &[u8; 64], one: u8, other: u8) -> u64 {
        Self::mask(window, |word| {
            Self::zero_bytes(word ^ repeat(one)) | Self::zero_bytes(word ^ repeat(other))
        })
    }

    #[inline(always)]
    fn digits(self, window: &[u8; 64]) -> u64 {
        // A digit has 3 as its high half, and after adding 6 still.
        Self::mask(window, |word| {
            let high = repeat(0xF0);
            let above = (word & repeat(0x7F)) + repeat(6);
            Self::zero_bytes((word ^ repeat(b'0')) & high) & Self::zero_bytes((above ^ repeat(b'0')) & high)
        })
    }

    #[inline(always)]
    fn same(self, one: &[u8; 64], other: &[u8; 64]) -> u64 {
        let (one, other) = (words(one), words(other));
        let pairs = one.into_iter().zip(other).enumerate();
        pairs.fold(0, |mask, (index, (one, other))| {
            mask | Self::gather(Self::zero_bytes(one ^ other)) << (8 * index)
        })
    }

    #[inline(always)]
    fn prefix(self, window: &[u8; 64], length: usize) -> [u64; 8] {
        let mut bytes = [0; 64];
        bytes[..length].copy_from_slice(&window[..length]);
        words(&bytes)
    }

    #[inline(always)]
    fn nth_bit(self, mut word: u64, nth: u32) -> u32 {
        for _ in 1..nth {
            word &= word.wrapping_sub(1);
        }
        word.trailing_zeros()
    }

    #[inline(always)]
    fn prefix_xor(self, mut word: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            word ^= word << shift;
        }
        word
    }
}

/// A window as little-endian words.
#[inline(always)]
fn words(window: &[u8; 64]) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(window.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}
