//! Arithmetic modulo a prime on vectors of `f64`.
//!
//! After the small-prime transforms of FLINT (`fft_small`): the product h + l of two residues is computed exactly as h
//! = ab rounded and l = ab - h by a fused multiply-add; then q = h / p rounded to an integer gives ab - qp = (h - qp) +
//! l, again exactly. Reduction is lazy: a residue represents its class as long as its magnitude stays within a few
//! times p.

use pulp::{Simd, WithSimd};

use super::prime::Prime;

/// Adding and then subtracting this number rounds numbers below 2^51 to integers.
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;

/// 2^27 + 1, which splits a number into two halves of 26 bits.
const SPLITTER: f64 = ((1 << 27) + 1) as f64;

/// Runs `kernel` on the widest vectors with fused multiply-adds of this processor.
///
/// Kernels must be `#[inline(always)]` throughout: only inlined code is compiled for these instructions. Vectors of 8
/// are not used, because a leaf of a transform has 4 residues.
pub(super) fn run<K: WithSimd>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return Simd::vectorize(simd, kernel);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(simd) = pulp::aarch64::Neon::try_new() {
        return Simd::vectorize(simd, kernel);
    }
    Simd::vectorize(pulp::Scalar, kernel)
}

/// Arithmetic modulo a prime p.
#[derive(Clone, Copy)]
pub(super) struct Field<S: Simd> {
    simd: S,
    prime: S::f64s,
    inverse: S::f64s,
    rounding: S::f64s,
}

impl<S: Simd> Field<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, prime: &Prime) -> Self {
        Self {
            simd,
            prime: simd.splat_f64s(prime.value as f64),
            inverse: simd.splat_f64s(1.0 / prime.value as f64),
            rounding: simd.splat_f64s(ROUNDING),
        }
    }

    #[inline(always)]
    pub(super) fn splat(self, number: f64) -> S::f64s {
        self.simd.splat_f64s(number)
    }

    #[inline(always)]
    pub(super) fn add(self, left: S::f64s, right: S::f64s) -> S::f64s {
        self.simd.add_f64s(left, right)
    }

    #[inline(always)]
    pub(super) fn subtract(self, left: S::f64s, right: S::f64s) -> S::f64s {
        self.simd.sub_f64s(left, right)
    }

    #[inline(always)]
    pub(super) fn times2(self, number: S::f64s) -> S::f64s {
        self.add(number, number)
    }

    /// Returns four times a residue of up to 1, reduced to up to 1/2.
    #[inline(always)]
    pub(super) fn times4(self, number: S::f64s) -> S::f64s {
        self.reduce(self.times2(self.times2(number)))
    }

    /// Returns a residue of the product, for factors whose product is at most 2^51 p. If the product is x p^2, the
    /// residue is at most (1/2 + x / 4) p.
    #[inline(always)]
    pub(super) fn multiply(self, left: S::f64s, right: S::f64s) -> S::f64s {
        let high = self.simd.mul_f64s(left, right);
        // The negative of l: there is an instruction for high - left * right, but not for its negative.
        let low = self.minus_product(high, left, right);
        let product = self.subtract(self.remainder(high), low);
        // Without a fused multiply-add the quotient is rounded twice, and the residue may be up to (1/2 + 3x / 8) p.
        if S::IS_SCALAR { self.reduce(product) } else { product }
    }

    /// Returns a residue of at most p / 2 (up to rounding), for numbers below 2^51.
    #[inline(always)]
    pub(super) fn reduce(self, number: S::f64s) -> S::f64s {
        self.remainder(number)
    }

    /// Returns `number` - qp for q near `number` / p, if that is below 2^51.
    #[inline(always)]
    fn remainder(self, number: S::f64s) -> S::f64s {
        let quotient =
            self.subtract(self.simd.mul_add_e_f64s(number, self.inverse, self.rounding), self.rounding);
        self.minus_product(number, quotient, self.prime)
    }

    /// Returns `minuend` - `left` * `right`, exact if it is an integer below 2^53.
    #[inline(always)]
    fn minus_product(self, minuend: S::f64s, left: S::f64s, right: S::f64s) -> S::f64s {
        if S::IS_SCALAR {
            // The library function for a fused multiply-add is slow without the instruction.
            let high = self.simd.mul_f64s(left, right);
            self.subtract(self.subtract(minuend, high), self.rounding_error(left, right, high))
        } else {
            self.simd.negate_mul_add_f64s(left, right, minuend)
        }
    }

    /// Returns `left` * `right` - `product`, where `product` is the rounded product.
    ///
    /// T. J. Dekker, "A floating-point technique for extending the available precision" (1971).
    #[inline(always)]
    fn rounding_error(self, left: S::f64s, right: S::f64s, product: S::f64s) -> S::f64s {
        let simd = self.simd;
        let splitter = self.splat(SPLITTER);
        let split = |number: S::f64s| {
            let large = simd.mul_f64s(splitter, number);
            let high = simd.sub_f64s(large, simd.sub_f64s(large, number));
            (high, simd.sub_f64s(number, high))
        };
        let ((left_high, left_low), (right_high, right_low)) = (split(left), split(right));
        let error = simd.sub_f64s(simd.mul_f64s(left_high, right_high), product);
        let error = simd.add_f64s(error, simd.mul_f64s(left_high, right_low));
        let error = simd.add_f64s(error, simd.mul_f64s(left_low, right_high));
        simd.add_f64s(error, simd.mul_f64s(left_low, right_low))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transform::prime::PRIMES;

    /// Products and remainders of vectors with the same number in all lanes.
    struct Operate(&'static Prime, f64, f64);

    impl WithSimd for Operate {
        type Output = (f64, f64);

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
            let field = Field::new(simd, self.0);
            let (left, right) = (field.splat(self.1), field.splat(self.2));
            let lanes = S::F64_LANES as f64;
            let first = |vector| simd.reduce_sum_f64s(vector) / lanes;
            (first(field.multiply(left, right)), first(field.reduce(left)))
        }
    }

    fn check(prime: &'static Prime, left: i64, right: i64) {
        let modulus = i128::from(prime.value);
        let kernel = || Operate(prime, left as f64, right as f64);
        for (product, remainder) in [run(kernel()), Simd::vectorize(pulp::Scalar, kernel())] {
            assert_eq!((product as i128 - i128::from(left) * i128::from(right)) % modulus, 0);
            assert_eq!((remainder as i128 - i128::from(left)) % modulus, 0);
            let p = prime.value as f64;
            let bound = 0.5 + (left as f64 / p * (right as f64 / p)).abs() / 4.0;
            assert!(product.abs() <= (bound + 1e-6) * p, "{left} * {right} is {product} modulo {p}");
            assert!(remainder.abs() <= 0.500_001 * p, "{left} is {remainder} modulo {p}");
        }
    }

    proptest! {
        #[test]
        fn residues_are_exact_with_and_without_vectors(
            number in 0..PRIMES.len(),
            left in -(1i64 << 52)..1 << 52,
            right in -(1i64 << 49)..1 << 49,
        ) {
            let prime = &PRIMES[number];
            let half = prime.value.cast_signed() / 2;
            // Four primes times half of one is the maximum of a product.
            let left = left.clamp(-4 * half, 4 * half);
            check(prime, left, right.clamp(-half, half));
            check(prime, 4 * half, right.clamp(-half, half));
            check(prime, left, half);
        }
    }
}
