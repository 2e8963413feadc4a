//! Four registers of 16 bytes, on AArch64, where every processor has NEON.

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vcleq_u8, vdupq_n_u8, vgetq_lane_u64, vld1q_u8, vmull_p64, vorrq_u8,
    vpaddq_u8, vreinterpretq_u64_u8, vst1q_u8, vsubq_u8,
};
use std::arch::{asm, is_aarch64_feature_detected};

use super::plain::Plain;
use super::{Kernel, Masks, keep};

const _: () = assert!(cfg!(target_feature = "neon"), "NEON is not looked for at run time");

/// Masks of NEON. A value of this type with `MULTIPLIES` proves that the processor multiplies without carries (PMULL).
#[derive(Clone, Copy)]
pub(super) struct Neon<const MULTIPLIES: bool>(());

/// The place of each byte in its eight.
static PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Neon<true> {
    pub(super) fn detect() -> Option<Self> {
        is_aarch64_feature_detected!("pmull").then_some(Self(()))
    }

    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // The feature `aes` has PMULL.
        #[target_feature(enable = "neon,aes")]
        fn compiled_for_pmull<K: Kernel>(kernel: K, masks: Neon<true>) -> K::Output {
            kernel.run(masks)
        }
        // SAFETY: `self` proves that the processor has these features.
        unsafe { compiled_for_pmull(kernel, self) }
    }
}

impl Neon<false> {
    pub(super) const ALWAYS: Self = Self(());
}

#[inline(always)]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: the load is within the bytes, and needs no alignment; the target has NEON.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline(always)]
fn quarters(window: &[u8; 64]) -> [uint8x16_t; 4] {
    let (quarters, _) = window.as_chunks::<16>();
    [load(&quarters[0]), load(&quarters[1]), load(&quarters[2]), load(&quarters[3])]
}

/// Packs bytes of zeros or ones into a bit for each: adds up the places of eight bytes, in pairs, three times.
#[inline(always)]
fn bits([a, b, c, d]: [uint8x16_t; 4]) -> u64 {
    let places = load(&PLACES);
    // SAFETY: the target has NEON.
    unsafe {
        let low = vpaddq_u8(vandq_u8(a, places), vandq_u8(b, places));
        let high = vpaddq_u8(vandq_u8(c, places), vandq_u8(d, places));
        let sums = vpaddq_u8(low, high);
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}

/// Multiplies by all ones without carries. A function of its own, which is inlined where the kernel was compiled for PMULL.
#[inline]
#[target_feature(enable = "neon,aes")]
fn multiply(word: u64) -> u64 {
    vmull_p64(word, u64::MAX) as u64
}

impl<const MULTIPLIES: bool> Masks for Neon<MULTIPLIES> {
    #[inline(always)]
    fn equal(self, window: &[u8; 64], byte: u8) -> u64 {
        let [a, b, c, d] = quarters(window);
        // SAFETY: the target has NEON.
        unsafe {
            let byte = vdupq_n_u8(byte);
            bits([vceqq_u8(a, byte), vceqq_u8(b, byte), vceqq_u8(c, byte), vceqq_u8(d, byte)])
        }
    }

    #[inline(always)]
    fn equal_either(self, window: &[u8; 64], one: u8, other: u8) -> u64 {
        let [a, b, c, d] = quarters(window);
        // SAFETY: the target has NEON.
        unsafe {
            let (one, other) = (vdupq_n_u8(one), vdupq_n_u8(other));
            let a = vorrq_u8(vceqq_u8(a, one), vceqq_u8(a, other));
            let b = vorrq_u8(vceqq_u8(b, one), vceqq_u8(b, other));
            let c = vorrq_u8(vceqq_u8(c, one), vceqq_u8(c, other));
            bits([a, b, c, vorrq_u8(vceqq_u8(d, one), vceqq_u8(d, other))])
        }
    }

    /// Bytes are digits if they are at most 9 after `'0'` was subtracted.
    #[inline(always)]
    fn digits(self, window: &[u8; 64]) -> u64 {
        let [a, b, c, d] = quarters(window);
        // SAFETY: the target has NEON.
        unsafe {
            let (zero, nine) = (vdupq_n_u8(b'0'), vdupq_n_u8(9));
            let (a, b) = (vcleq_u8(vsubq_u8(a, zero), nine), vcleq_u8(vsubq_u8(b, zero), nine));
            bits([a, b, vcleq_u8(vsubq_u8(c, zero), nine), vcleq_u8(vsubq_u8(d, zero), nine)])
        }
    }

    #[inline(always)]
    fn same(self, one: &[u8; 64], other: &[u8; 64]) -> u64 {
        let ([a, b, c, d], [e, f, g, h]) = (quarters(one), quarters(other));
        // SAFETY: the target has NEON.
        unsafe { bits([vceqq_u8(a, e), vceqq_u8(b, f), vceqq_u8(c, g), vceqq_u8(d, h)]) }
    }

    #[inline(always)]
    fn prefix(self, window: &[u8; 64], length: usize) -> [u64; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (quarters(window), quarters(keep(length)));
        let mut words = [0_u64; 8];
        let start = words.as_mut_ptr().cast::<u8>();
        // SAFETY: the stores are within the 64 bytes of `words`, and need no alignment; the target has NEON.
        unsafe {
            vst1q_u8(start, vandq_u8(a, e));
            vst1q_u8(start.add(16), vandq_u8(b, f));
            vst1q_u8(start.add(32), vandq_u8(c, g));
            vst1q_u8(start.add(48), vandq_u8(d, h));
        }
        words.map(u64::from_le)
    }

    /// No instruction deposits bits.
    #[inline(always)]
    fn nth_bit(self, word: u64, nth: u32) -> u32 {
        Plain.nth_bit(word, nth)
    }

    /// Multiplies, or adds up in six steps.
    #[inline(always)]
    fn prefix_xor(self, word: u64) -> u64 {
        if !MULTIPLIES {
            return Plain.prefix_xor(word);
        }
        // SAFETY: `self` proves that the processor has PMULL.
        unsafe { multiply(word) }
    }
}

#[inline(always)]
pub(super) fn prefetch<T>(target: &T) {
    // SAFETY: a prefetch of any address only affects the cache.
    unsafe {
        asm!("prfm pldl1keep, [{target}]", target = in(reg) target, options(nostack, preserves_flags, readonly));
    }
}
