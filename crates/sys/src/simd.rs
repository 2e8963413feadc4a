//! Operations on windows of 64 bytes: comparison with a byte into a bit mask, and extraction of words.
//!
//! A [`Kernel`] is a loop written once over any [`Masks`]. [`dispatch`] compiles it for each instruction set and runs
//! it on the best one that the processor has. All implementations give the same bits; `plain` is the reference
//! implementation.
//!
//! Windows of a text are read by [`window_at`] and [`equal_either_at`], also near its end.
//!
//! There is no implementation for AVX-512. On Cascade Lake a count took 340 ms of CPU time with it, and 314 with AVX2: the lower clock
//! frequency outweighs the saved instructions.
#![allow(unsafe_code, reason = "instructions of processors that are found at run time")]

#[cfg(target_arch = "x86_64")]
mod avx2;
pub mod brackets;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg_attr(
    target_arch = "aarch64",
    allow(dead_code, reason = "only some of it, and the tests, are used there")
)]
mod plain;

/// Operations on windows of 64 bytes. Bit `i` of a mask stands for byte `i`.
pub trait Masks: Copy {
    /// Returns the mask of the bytes that equal `byte`.
    fn equal(self, window: &[u8; 64], byte: u8) -> u64;

    /// Returns the mask of the bytes that equal `one` or `other`.
    fn equal_either(self, window: &[u8; 64], one: u8, other: u8) -> u64;

    /// Returns the mask of the bytes that are ASCII digits.
    fn digits(self, window: &[u8; 64]) -> u64;

    /// Returns the mask of the bytes that are the same in both windows.
    fn same(self, one: &[u8; 64], other: &[u8; 64]) -> u64;

    /// Returns the first `length` bytes, at most 64, padded with zeros, as little-endian words.
    fn prefix(self, window: &[u8; 64], length: usize) -> [u64; 8];

    /// Returns the position of the `nth` set bit, counted from 1 for the lowest. The word must have that many.
    fn nth_bit(self, word: u64, nth: u32) -> u32;

    /// Returns a word whose bit `i` says whether the bits 0 to `i` of `word` have an odd number of ones. If these are
    /// the quotes of a text, it is the mask of the bytes in quotes, with the opening quotes.
    fn prefix_xor(self, word: u64) -> u64;
}

/// Ones followed by zeros: the 64 bytes from `64 - length` on mask the first `length` bytes of a window.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static KEEP: [u8; 128] = {
    let mut keep = [0; 128];
    let mut at = 0;
    while at < 64 {
        keep[at] = 0xFF;
        at += 1;
    }
    keep
};

/// Returns the mask of the first `length` bytes of a window.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn keep(length: usize) -> &'static [u8; 64] {
    let masks = KEEP.get(64 - length.min(64)..).and_then(|masks| masks.first_chunk());
    masks.unwrap_or(&[0; 64])
}

/// Returns the 64 bytes of a text from `at` on. Near the end of the text, they are copied to `spare` and padded with zeros.
#[inline(always)]
pub fn window_at<'a>(text: &'a [u8], at: usize, spare: &'a mut Option<[u8; 64]>) -> &'a [u8; 64] {
    match text.get(at..).and_then(|text| text.first_chunk()) {
        Some(window) => window,
        None => spare.insert(last_window(text, at)),
    }
}

#[cold]
#[inline(never)]
fn last_window(text: &[u8], at: usize) -> [u8; 64] {
    let mut window = [0; 64];
    for (byte, &last) in window.iter_mut().zip(text.get(at..).unwrap_or_default()) {
        *byte = last;
    }
    window
}

/// Returns the mask of the bytes that equal `one` or `other`, of the 64 bytes of a text from `at` on. Bits past the end of the text
/// are not set.
#[inline(always)]
pub fn equal_either_at<M: Masks>(masks: M, text: &[u8], at: usize, one: u8, other: u8) -> u64 {
    match text.get(at..).and_then(|text| text.first_chunk()) {
        Some(window) => masks.equal_either(window, one, other),
        None => equal_either_at_end(text, at, one, other),
    }
}

/// Returns the finished mask, not a window, so that loops keep nothing in memory for this case.
#[cold]
#[inline(never)]
fn equal_either_at_end(text: &[u8], at: usize, one: u8, other: u8) -> u64 {
    let rest = text.get(at..).unwrap_or_default().iter().enumerate();
    rest.fold(0, |bits, (index, &byte)| bits | u64::from(byte == one || byte == other) << index)
}

/// A loop over windows. Mark [`Kernel::run`] `#[inline(always)]` in an implementation: only inlined code is compiled
/// for the wider instruction set.
pub trait Kernel {
    /// Result of the loop.
    type Output;

    /// Runs the loop.
    fn run<M: Masks>(self, masks: M) -> Self::Output;
}

/// Runs a kernel with the widest instructions of this processor.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::detect() {
        return avx2.run(kernel);
    }
    #[cfg(target_arch = "aarch64")]
    return match neon::Neon::detect() {
        Some(neon) => neon.run(kernel),
        None => kernel.run(neon::Neon::ALWAYS),
    };
    #[cfg(not(target_arch = "aarch64"))]
    kernel.run(plain::Plain)
}

/// Name of the instruction set that [`dispatch`] uses here: `AVX2`, `NEON`, or `none` for general-purpose registers.
pub fn name() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if avx2::Avx2::detect().is_some() {
        return "AVX2";
    }
    if cfg!(target_arch = "aarch64") { "NEON" } else { "none" }
}

/// Prefetches `target` into the cache, without waiting.
#[inline(always)]
pub fn prefetch<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    avx2::prefetch(target);
    #[cfg(target_arch = "aarch64")]
    neon::prefetch(target);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = target;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::plain::Plain;
    use super::*;

    /// Runs a kernel with each instruction set that this processor has.
    fn run_with_each<K: Kernel + Clone>(kernel: &K) -> Vec<K::Output> {
        let outputs = [kernel.clone().run(Plain), dispatch(kernel.clone())].into_iter();
        #[cfg(target_arch = "aarch64")]
        let outputs = outputs.chain([kernel.clone().run(neon::Neon::ALWAYS)]);
        outputs.collect()
    }

    /// Compares a window with a byte, and with two bytes.
    #[derive(Clone)]
    struct Compare([u8; 64], u8, u8);

    impl Kernel for Compare {
        type Output = (u64, u64);

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> (u64, u64) {
            (masks.equal(&self.0, self.1), masks.equal_either(&self.0, self.1, self.2))
        }
    }

    /// Finds the digits of a window, and the bytes that it shares with another.
    #[derive(Clone)]
    struct Digits([u8; 64], [u8; 64]);

    impl Kernel for Digits {
        type Output = (u64, u64);

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> (u64, u64) {
            (masks.digits(&self.0), masks.same(&self.0, &self.1))
        }
    }

    /// Extracts the first bytes of a window.
    #[derive(Clone)]
    struct Prefix([u8; 64], usize);

    impl Kernel for Prefix {
        type Output = [u64; 8];

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> [u64; 8] {
            masks.prefix(&self.0, self.1)
        }
    }

    /// Finds the position of a bit.
    #[derive(Clone)]
    struct NthBit(u64, u32);

    impl Kernel for NthBit {
        type Output = u32;

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> u32 {
            masks.nth_bit(self.0, self.1)
        }
    }

    /// Sums up bits.
    #[derive(Clone)]
    struct PrefixXor(u64);

    impl Kernel for PrefixXor {
        type Output = u64;

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> u64 {
            masks.prefix_xor(self.0)
        }
    }

    /// Finds bytes from a position of a text on.
    #[derive(Clone)]
    struct CompareAt<'a>(&'a [u8], usize, u8, u8);

    impl Kernel for CompareAt<'_> {
        type Output = u64;

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> u64 {
            equal_either_at(masks, self.0, self.1, self.2, self.3)
        }
    }

    fn byte_by_byte(window: &[u8; 64], hit: impl Fn(u8) -> bool) -> u64 {
        window.iter().enumerate().map(|(index, &byte)| u64::from(hit(byte)) << index).sum()
    }

    proptest! {
        #[test]
        fn every_instruction_set_gives_the_same_bits(
            window in prop::array::uniform32(prop_oneof![0..4_u8, 126..132_u8, any::<u8>()]),
            one in prop_oneof![0..4_u8, 126..132_u8],
            other in prop_oneof![0..4_u8, any::<u8>()],
        ) {
            let mut wide = [0; 64];
            wide[..32].copy_from_slice(&window);
            wide[32..].copy_from_slice(&window);
            wide[40..].rotate_left(5);
            let expected = (
                byte_by_byte(&wide, |byte| byte == one),
                byte_by_byte(&wide, |byte| byte == one || byte == other),
            );
            for found in run_with_each(&Compare(wide, one, other)) {
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn every_instruction_set_finds_the_same_digits(
            one in prop::array::uniform32(prop_oneof![40..64_u8, any::<u8>()]),
            other in prop::array::uniform32(40..64_u8),
            shared in prop::collection::vec(any::<bool>(), 64),
        ) {
            let one: [u8; 64] = std::array::from_fn(|at| one[at % 32]);
            let other = std::array::from_fn(|at| if shared[at] { one[at] } else { other[at % 32] });
            let same = (0..64).filter(|&at| one[at] == other[at]).map(|at| 1 << at).sum();
            let expected = (byte_by_byte(&one, |byte| byte.is_ascii_digit()), same);
            for found in run_with_each(&Digits(one, other)) {
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn a_window_ends_with_zeros_behind_the_text(
            text in prop::collection::vec(0..4_u8, 0..140),
            at in 0..150_usize,
            one in 0..4_u8,
            other in 0..4_u8,
        ) {
            let mut expected = [0; 64];
            let rest = text.get(at..).unwrap_or_default();
            let length = rest.len().min(64);
            expected[..length].copy_from_slice(&rest[..length]);
            let mut spare = None;
            prop_assert_eq!(window_at(&text, at, &mut spare), &expected);
            let within = if length < 64 { (1 << length) - 1 } else { u64::MAX };
            let bits = byte_by_byte(&expected, |byte| byte == one || byte == other) & within;
            for found in run_with_each(&CompareAt(&text, at, one, other)) {
                prop_assert_eq!(found, bits);
            }
        }

        #[test]
        fn every_instruction_set_finds_the_same_bit(word in 1..=u64::MAX, choice in any::<prop::sample::Index>()) {
            let places: Vec<u32> = (0..64).filter(|place| word >> place & 1 == 1).collect();
            let index = choice.index(places.len());
            for found in run_with_each(&NthBit(word, index as u32 + 1)) {
                prop_assert_eq!(found, places[index]);
            }
        }

        #[test]
        fn every_instruction_set_sums_up_the_same_bits(word in any::<u64>()) {
            let is_odd = |place: u32| (word << (63 - place)).count_ones() & 1 == 1;
            let expected = (0..64).filter(|&place| is_odd(place)).map(|place| 1 << place).sum();
            for found in run_with_each(&PrefixXor(word)) {
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn every_instruction_set_takes_the_same_prefix(
            window in prop::array::uniform32(any::<u8>()),
            length in 0..=64_usize,
        ) {
            let mut wide = [0xFF; 64];
            wide[..32].copy_from_slice(&window);
            wide[32..].copy_from_slice(&window);
            let mut expected = wide;
            expected[length..].fill(0);
            let expected: Vec<u64> =
                expected.chunks(8).map(|word| word.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))).collect();
            for found in run_with_each(&Prefix(wide, length)) {
                prop_assert_eq!(found.to_vec(), expected.clone());
            }
        }
    }
}
