//! Two registers of 32 bytes, on processors of x86-64.

use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_prefetch, _mm_set_epi64x,
    _mm_set1_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_storeu_si256, _mm256_sub_epi8, _pdep_u64,
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
        let mut bytes = [0; 8];
        let at = bytes.as_mut_ptr().cast::<__m256i>();
        // SAFETY: both stores are within the 64 bytes of `bytes` and need no alignment; `self` proves that the
        // processor has AVX2, and it is little-endian.
        unsafe {
            _mm256_storeu_si256(at, _mm256_and_si256(low, keep_low));
            _mm256_storeu_si256(at.add(1), _mm256_and_si256(high, keep_high));
        }
        bytes
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
            let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, word.cast_signed()), _mm_set1_epi8(-1));
            _mm_cvtsi128_si64(product).cast_unsigned()
        }
    }
}

#[inline(always)]
pub(super) fn prefetch<T>(target: &T) {
    // SAFETY: a prefetch of any address only affects the cache.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast()) }
}
