//! Hashes of words, computed in steps of 8 bytes, so that the hashes of several words that begin at one place share their steps.

/// Maximum number of bytes in a step.
pub(crate) const STEP: usize = 8;

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const MULTIPLIER: u64 = 0xA076_1D64_78BD_642F;
const LENGTHS: u64 = 0xE703_7ED1_A0B4_28DB;

/// Returns the 8 bytes of a text from `at` on as a little-endian number, with zeros after the end.
#[inline(always)]
pub(crate) fn load(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => load_last(text, at),
    }
}

#[inline(never)]
fn load_last(text: &[u8], at: usize) -> u64 {
    let mut bytes = [0; STEP];
    bytes.iter_mut().zip(text.get(at..).unwrap_or_default()).for_each(|(byte, &last)| *byte = last);
    u64::from_le_bytes(bytes)
}

/// Returns the first `length` bytes of a loaded number, at most 8.
#[inline(always)]
pub(crate) fn first(loaded: u64, length: usize) -> u64 {
    const KEEP: [u64; 9] = {
        let mut keep = [0; 9];
        let mut length = 1;
        while length <= STEP {
            keep[length] = u64::MAX >> (64 - 8 * length);
            length += 1;
        }
        keep
    };
    loaded & KEEP[length.min(STEP)]
}

#[inline(always)]
fn mix(number: u64) -> u64 {
    let product = u128::from(number) * u128::from(MULTIPLIER);
    (product as u64) ^ (product >> 64) as u64
}

/// Hash of a word of at most 8 bytes that a loaded number begins with.
#[inline(always)]
pub(crate) fn short(loaded: u64, length: usize) -> u64 {
    finish(SEED, first(loaded, length), length)
}

#[inline(always)]
fn finish(state: u64, last: u64, length: usize) -> u64 {
    mix((state ^ last).wrapping_add((length as u64).wrapping_mul(LENGTHS)))
}

/// Hashes of the words that begin at one place of a text, in the order of their lengths.
pub(crate) struct Hasher<'t> {
    text: &'t [u8],
    /// Start of the next step.
    at: usize,
    done: usize,
    state: u64,
}

impl<'t> Hasher<'t> {
    #[inline(always)]
    pub(crate) fn new(text: &'t [u8], start: usize) -> Self {
        Self { text, at: start, done: 0, state: SEED }
    }

    /// Returns the hash of the word of `length` bytes, which is at least as long as those before.
    #[inline(always)]
    pub(crate) fn hash(&mut self, length: usize) -> u64 {
        while length - self.done > STEP {
            self.state = mix(self.state ^ load(self.text, self.at));
            self.at += STEP;
            self.done += STEP;
        }
        finish(self.state, first(load(self.text, self.at), length - self.done), length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_depends_on_the_bytes_of_the_word_only() {
        let text = b"0123456789abcdefghijklmnopqrstuvwxyz";
        for length in 0..=20 {
            let alone = Hasher::new(&text[3..3 + length], 0).hash(length);
            assert_eq!(Hasher::new(text, 3).hash(length), alone);
            let mut after_shorter = Hasher::new(text, 3);
            for shorter in 0..length {
                after_shorter.hash(shorter);
            }
            assert_eq!(after_shorter.hash(length), alone);
            if length <= STEP {
                assert_eq!(short(load(text, 3), length), alone);
            }
        }
        assert_ne!(Hasher::new(b"a\0", 0).hash(1), Hasher::new(b"a\0", 0).hash(2));
    }
}
