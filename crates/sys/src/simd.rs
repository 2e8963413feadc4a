//! Operations on windows of 64 bytes: comparison with a byte into a bit mask, and extraction of words.
//!
//! A [`Kernel`] is a loop written once over any [`Masks`]. [`dispatch`] compiles it for each instruction set and runs
//! it on the best one that the processor has. All implementations give the same bits; `Plain` is the reference
//! implementation.
//!
//! Windows of a text are read by [`window_at`] and [`equal_either_at`], also near its end.
//!
//! There is no implementation for AVX-512. It was slower on Cascade Lake: the lower clock frequency outweighs the saved
//! instructions.
#![allow(unsafe_code, reason = "instructions of processors that are found at run time")]

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
#[inline(always)]
fn keep(length: usize) -> &'static [u8; 64] {
    let masks = KEEP.get(64 - length.min(64)..).and_then(|masks| masks.first_chunk());
    masks.unwrap_or(&[0; 64])
}

/// Returns the 64 bytes of a text from `at` on. Near the end of the text, they are copied to `spare`, with zeros behind the
/// text.
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

/// Returns the mask of the bytes that equal `one` or `other`, of the 64 bytes of a text from `at` on. Bits behind the text
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
    if let Some(avx2) = x86_64::Avx2::detect() {
        return avx2.run(kernel);
    }
    kernel.run(Plain)
}

/// Name of the instruction set that [`dispatch`] uses here: `AVX2`, or `none` for general-purpose registers.
pub fn name() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if x86_64::Avx2::detect().is_some() {
        return "AVX2";
    }
    "none"
}

/// Prefetches `target` into the cache, without waiting.
#[inline(always)]
pub fn prefetch<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    x86_64::prefetch(target);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}

/// Eight bytes at a time in general-purpose registers.
#[derive(Clone, Copy)]
struct Plain;

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
        let mut kept = [0; 64];
        kept[..length].copy_from_slice(&window[..length]);
        words(&kept)
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

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m256i, _MM_HINT_T0, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_prefetch, _mm_set_epi64x,
        _mm_set1_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_storeu_si256, _mm256_sub_epi8,
        _pdep_u64,
    };

    use super::{Kernel, Masks, keep};

    /// Two registers of 32 bytes. A value of this type proves that the processor has AVX2, BMI1, BMI2, LZCNT,
    /// PCLMULQDQ and POPCNT.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(());

    impl Avx2 {
        pub(super) fn detect() -> Option<Self> {
            let all = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("pclmulqdq")
                && is_x86_feature_detected!("popcnt");
            all.then_some(Self(()))
        }

        pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,pclmulqdq,popcnt")]
            fn compiled_for_avx2<K: Kernel>(kernel: K, masks: Avx2) -> K::Output {
                kernel.run(masks)
            }
            // SAFETY: `self` proves that the processor has these features.
            unsafe { compiled_for_avx2(kernel, self) }
        }

        #[inline(always)]
        fn halves(window: &[u8; 64]) -> [__m256i; 2] {
            let at = window.as_ptr().cast::<__m256i>();
            // SAFETY: both loads are within the 64 bytes of `window` and need no alignment; AVX2 is available.
            unsafe { [_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))] }
        }

        #[inline(always)]
        fn bits(low: __m256i, high: __m256i) -> u64 {
            // SAFETY: AVX2 is available.
            let (low, high) = unsafe { (_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)) };
            u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
        }
    }

    // No closures here: a closure is compiled separately, without AVX2, and each instruction in it becomes a call.
    impl Masks for Avx2 {
        #[inline(always)]
        fn equal(self, window: &[u8; 64], byte: u8) -> u64 {
            let [low, high] = Self::halves(window);
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe {
                let byte = _mm256_set1_epi8(byte.cast_signed());
                Self::bits(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
            }
        }

        #[inline(always)]
        fn equal_either(self, window: &[u8; 64], one: u8, other: u8) -> u64 {
            let [low, high] = Self::halves(window);
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe {
                let one = _mm256_set1_epi8(one.cast_signed());
                let other = _mm256_set1_epi8(other.cast_signed());
                let low = _mm256_or_si256(_mm256_cmpeq_epi8(low, one), _mm256_cmpeq_epi8(low, other));
                let high = _mm256_or_si256(_mm256_cmpeq_epi8(high, one), _mm256_cmpeq_epi8(high, other));
                Self::bits(low, high)
            }
        }

        /// Bytes are digits if they are at most 9 after `'0'` was subtracted.
        #[inline(always)]
        fn digits(self, window: &[u8; 64]) -> u64 {
            let [low, high] = Self::halves(window);
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe {
                let zero = _mm256_set1_epi8(b'0'.cast_signed());
                let nine = _mm256_set1_epi8(9);
                let (low, high) = (_mm256_sub_epi8(low, zero), _mm256_sub_epi8(high, zero));
                let low = _mm256_cmpeq_epi8(_mm256_min_epu8(low, nine), low);
                Self::bits(low, _mm256_cmpeq_epi8(_mm256_min_epu8(high, nine), high))
            }
        }

        #[inline(always)]
        fn same(self, one: &[u8; 64], other: &[u8; 64]) -> u64 {
            let ([low, high], [other_low, other_high]) = (Self::halves(one), Self::halves(other));
            // SAFETY: `self` proves that the processor has AVX2.
            unsafe { Self::bits(_mm256_cmpeq_epi8(low, other_low), _mm256_cmpeq_epi8(high, other_high)) }
        }

        #[inline(always)]
        fn prefix(self, window: &[u8; 64], length: usize) -> [u64; 8] {
            let ([low, high], [keep_low, keep_high]) = (Self::halves(window), Self::halves(keep(length)));
            let mut kept = [0; 8];
            let at = kept.as_mut_ptr().cast::<__m256i>();
            // SAFETY: both stores are within the 64 bytes of `kept` and need no alignment; `self` proves that the
            // processor has AVX2, and it is little-endian.
            unsafe {
                _mm256_storeu_si256(at, _mm256_and_si256(low, keep_low));
                _mm256_storeu_si256(at.add(1), _mm256_and_si256(high, keep_high));
            }
            kept
        }

        /// Deposits a single bit at the nth one. This needs no loop, whose end is hard to predict.
        #[inline(always)]
        fn nth_bit(self, word: u64, nth: u32) -> u32 {
            // SAFETY: `self` proves that the processor has BMI2.
            unsafe { _pdep_u64(1 << (nth - 1), word) }.trailing_zeros()
        }

        /// Multiplies by all ones without carries.
        #[inline(always)]
        fn prefix_xor(self, word: u64) -> u64 {
            // SAFETY: `self` proves that the processor has PCLMULQDQ and SSE2.
            unsafe {
                let product =
                    _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, word.cast_signed()), _mm_set1_epi8(-1));
                _mm_cvtsi128_si64(product).cast_unsigned()
            }
        }
    }

    #[inline(always)]
    pub(super) fn prefetch<T>(target: &T) {
        // SAFETY: a prefetch of any address only affects the cache.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compares a window with a byte, and with two bytes.
    struct Compare([u8; 64], u8, u8);

    impl Kernel for Compare {
        type Output = (u64, u64);

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> (u64, u64) {
            (masks.equal(&self.0, self.1), masks.equal_either(&self.0, self.1, self.2))
        }
    }

    /// Finds the digits of a window, and the bytes that it shares with another.
    struct Digits([u8; 64], [u8; 64]);

    impl Kernel for Digits {
        type Output = (u64, u64);

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> (u64, u64) {
            (masks.digits(&self.0), masks.same(&self.0, &self.1))
        }
    }

    /// Extracts the first bytes of a window.
    struct Prefix([u8; 64], usize);

    impl Kernel for Prefix {
        type Output = [u64; 8];

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> [u64; 8] {
            masks.prefix(&self.0, self.1)
        }
    }

    /// Finds the position of a bit.
    struct NthBit(u64, u32);

    impl Kernel for NthBit {
        type Output = u32;

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> u32 {
            masks.nth_bit(self.0, self.1)
        }
    }

    /// Sums up bits.
    struct PrefixXor(u64);

    impl Kernel for PrefixXor {
        type Output = u64;

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> u64 {
            masks.prefix_xor(self.0)
        }
    }

    /// Finds bytes from a position of a text on.
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
            prop_assert_eq!(Compare(wide, one, other).run(Plain), expected);
            prop_assert_eq!(dispatch(Compare(wide, one, other)), expected);
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
            prop_assert_eq!(Digits(one, other).run(Plain), expected);
            prop_assert_eq!(dispatch(Digits(one, other)), expected);
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
            prop_assert_eq!(CompareAt(&text, at, one, other).run(Plain), bits);
            prop_assert_eq!(dispatch(CompareAt(&text, at, one, other)), bits);
        }

        #[test]
        fn every_instruction_set_finds_the_same_bit(word in 1..=u64::MAX, choice in any::<prop::sample::Index>()) {
            let places: Vec<u32> = (0..64).filter(|place| word >> place & 1 == 1).collect();
            let index = choice.index(places.len());
            prop_assert_eq!(NthBit(word, index as u32 + 1).run(Plain), places[index]);
            prop_assert_eq!(dispatch(NthBit(word, index as u32 + 1)), places[index]);
        }

        #[test]
        fn every_instruction_set_sums_up_the_same_bits(word in any::<u64>()) {
            let is_odd = |place: u32| (word << (63 - place)).count_ones() & 1 == 1;
            let expected = (0..64).filter(|&place| is_odd(place)).map(|place| 1 << place).sum();
            prop_assert_eq!(PrefixXor(word).run(Plain), expected);
            prop_assert_eq!(dispatch(PrefixXor(word)), expected);
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
            prop_assert_eq!(Prefix(wide, length).run(Plain).to_vec(), expected.clone());
            prop_assert_eq!(dispatch(Prefix(wide, length)).to_vec(), expected);
        }
    }
}
