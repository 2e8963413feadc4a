//! Hash function for keys: 64 bytes at a time, with the same number of steps for all keys of up to 64 bytes.
//!
//! Most keys are shorter than 64 bytes and their lengths vary, so a hash that branches on the length mispredicts at
//! every other key. This one multiplies all eight words of a zero-padded window in pairs and folds the products (the
//! step of wyhash, by Wang Yi, <https://github.com/wangyi-fudan/wyhash>).

use std::hash::{BuildHasher, RandomState};

use finecomb_sys::simd::{Kernel, Masks, dispatch, window_at};

/// Hash function with random seeds per process, so that an attacker cannot prepare colliding keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    seeds: [u64; 9],
    /// The part of the last six words of a window in its hash if they are zero.
    zeros: u64,
}

/// Length of a short key in bytes.
pub(crate) const SHORT: usize = 16;

impl Hasher {
    /// Makes a hasher with random seeds.
    pub(crate) fn random() -> Self {
        let random = RandomState::new();
        let seeds: [u64; 9] = std::array::from_fn(|index| random.hash_one(index));
        let [_, _, three, four, five, six, seven, eight, _] = seeds;
        let zeros = fold(three, four) ^ (fold(five, six) ^ fold(seven, eight)).rotate_left(32);
        Self { seeds, zeros }
    }

    /// Returns the same hash as [`Hasher::hash`] for a key of at most [`SHORT`] bytes, and its words, padded with zeros. The
    /// key is at the beginning of the window.
    #[inline(always)]
    pub(crate) fn hash_short(&self, window: &[u8; SHORT], length: usize) -> (u64, [u64; 2]) {
        let [one, two, .., nine] = self.seeds;
        let words = short_prefix(window, length);
        let near = fold(words[0] ^ one, words[1] ^ two);
        let state = fold(length as u64 ^ near ^ self.zeros, nine | 1);
        (state, words)
    }

    /// Returns the hash of the key `text[start..end]` and its first 64 bytes as little-endian words, padded with zeros.
    #[inline(always)]
    pub(crate) fn hash<M: Masks>(&self, masks: M, text: &[u8], start: usize, end: usize) -> (u64, [u64; 8]) {
        let length = end - start;
        let mut spare = None;
        let first = masks.prefix(window_at(text, start, &mut spare), length.min(64));
        let mut state = self.mix(length as u64, &first);
        let mut at = start + 64;
        while at < end {
            let words = masks.prefix(window_at(text, at, &mut spare), (end - at).min(64));
            state = self.mix(state, &words);
            at += 64;
        }
        (state, first)
    }

    /// Returns the hash of a key.
    pub(crate) fn hash_of(&self, key: &[u8]) -> u64 {
        dispatch(HashKey { hasher: self, text: key, start: 0, end: key.len() }).0
    }

    #[inline(always)]
    fn mix(&self, state: u64, words: &[u64; 8]) -> u64 {
        let [a, b, c, d, e, f, g, h] = *words;
        let [one, two, three, four, five, six, seven, eight, nine] = self.seeds;
        let near = fold(a ^ one, b ^ two) ^ fold(c ^ three, d ^ four);
        let far = fold(e ^ five, f ^ six) ^ fold(g ^ seven, h ^ eight);
        fold(state ^ near ^ far.rotate_left(32), nine | 1)
    }
}

/// The hash of a key in a text.
struct HashKey<'a> {
    hasher: &'a Hasher,
    text: &'a [u8],
    start: usize,
    end: usize,
}

impl Kernel for HashKey<'_> {
    type Output = (u64, [u64; 8]);

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> Self::Output {
        self.hasher.hash(masks, self.text, self.start, self.end)
    }
}

/// Combines both halves of the product. Each half depends on all bits of both factors.
#[inline(always)]
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// Returns the first `length` bytes of a window, padded with zeros.
#[inline(always)]
pub(crate) fn short_prefix(window: &[u8; SHORT], length: usize) -> [u64; 2] {
    const KEEP: [u8; 2 * SHORT] = {
        let mut keep = [0; 2 * SHORT];
        let (kept, _) = keep.split_at_mut(SHORT);
        kept.copy_from_slice(&[0xFF; SHORT]);
        keep
    };
    let words = |bytes: &[u8; SHORT]| {
        let bits = u128::from_le_bytes(*bytes);
        [bits as u64, (bits >> 64) as u64]
    };
    let keep = KEEP.get(SHORT.saturating_sub(length)..).and_then(|keep| keep.first_chunk());
    let (own, keep) = (words(window), words(keep.unwrap_or(&[0; SHORT])));
    [own[0] & keep[0], own[1] & keep[1]]
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn hash(hasher: &Hasher, key: &[u8]) -> (u64, [u64; 8]) {
        dispatch(HashKey { hasher, text: key, start: 0, end: key.len() })
    }

    proptest! {
        #[test]
        fn the_hash_of_a_key_does_not_depend_on_its_place(
            key in prop::collection::vec(any::<u8>(), 0..300),
            before in prop::collection::vec(any::<u8>(), 0..70),
            after in prop::collection::vec(any::<u8>(), 0..70),
        ) {
            let hasher = Hasher::random();
            let text = [&before[..], &key, &after].concat();
            let (start, end) = (before.len(), before.len() + key.len());
            let inside = dispatch(HashKey { hasher: &hasher, text: &text, start, end });
            prop_assert_eq!(inside, hash(&hasher, &key));
            let mut first = key;
            first.resize(64, 0);
            prop_assert_eq!(inside.1.map(u64::to_le_bytes).concat(), first);
        }

        #[test]
        fn a_short_key_has_the_same_hash_as_among_long_ones(window in any::<[u8; SHORT]>(), length in 0..=SHORT) {
            let hasher = Hasher::random();
            let (expected, words) = hash(&hasher, &window[..length]);
            prop_assert_eq!(hasher.hash_short(&window, length), (expected, [words[0], words[1]]));
        }
    }

    /// The expected number of collisions among 200,000 hashes of 32 bits is 4.7.
    #[test]
    fn similar_keys_have_different_hashes() {
        let hasher = Hasher::random();
        let numbers = (0..100_000).map(|number| format!("/page/{number}").into_bytes());
        let bits = (0..100_000_usize).map(|bit| {
            let mut key = vec![0; 64 + bit / 512];
            key[bit / 8 % 64] ^= 1 << (bit % 8);
            key
        });
        let hashes: HashSet<u32> =
            numbers.chain(bits).map(|key| (hash(&hasher, &key).0 >> 32) as u32).collect();
        assert!(hashes.len() > 200_000 - 40, "{} collide", 200_000 - hashes.len());
        for region in 0..64 {
            let share = hashes.iter().filter(|&&hash| hash >> 26 == region).count();
            assert!((2_800..3_450).contains(&share), "{share} of 3,125 in region {region}");
        }
    }
}
