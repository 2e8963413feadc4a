//! Quotients and inverse square roots by Newton's iteration.
//!
//! Richard Brent and Paul Zimmermann, "Modern Computer Arithmetic" (2010), sections 3.4 and 3.5: each step doubles the
//! precision, so all steps together cost about twice as much as the last one. Errors of the steps here are one-sided:
//! an approximation is never too large, so the remainder is never negative.

use crate::Error;
use crate::float::{Float, leading_bits};
use crate::natural::Natural;
use crate::team::Team;

/// Maximum precision of a quotient or root that is computed with machine words, in bits.
const DIRECT_BITS: u64 = 56;

/// Returns 2^`bits` / sqrt(`radicand`), less than 2 too small and never too large, for `radicand` < 2^14.
///
/// For y with y^2 d = 1 - e, 1 / sqrt(d) = y / sqrt(1 - e) >= y (1 + e / 2), with a difference of less than y e^2 (for
/// e < 1/2). An error of 2 units at h bits makes e < 4 sqrt(d) 2^-h < 2^(9 - h), so the step to at most 2h - 15 bits
/// adds less than 2^(bits + 18 - 2h) / sqrt(d) < 1/10 unit for d > 100, and rounding less than 1.
pub(crate) fn inverse_square_root(team: &Team<'_>, radicand: u64, bits: u64) -> Result<Natural, Error> {
    if bits <= DIRECT_BITS {
        return Ok(Natural::from(((1u128 << (2 * bits)) / u128::from(radicand)).isqrt()));
    }
    let half = bits / 2 + 12;
    let root = inverse_square_root(team, radicand, half)?;
    let remainder = Natural::power_of_2(2 * half) - &(team.square(&root)? * radicand);
    let correction = team.multiply(&root, &remainder)? >> (3 * half + 1 - bits);
    Ok((root << (bits - half)) + correction)
}

/// Returns 2^`bits` / x for the x in 1/2..1 that has the bits of `number`, less than 2 too small and never too large.
///
/// For r = (1 - e) / x, 1 / x >= r (1 + e) = (1 - e^2) / x. An error of 2 units at h bits makes e < 2^(1 - h), so the
/// step to at most 2h - 8 bits adds less than 2^(bits + 3 - 2h) <= 1/32 unit. Rounding x up to 4 more bits than
/// required adds at most 1/4, truncating e adds 1/16, and rounding less than 1.
fn reciprocal(team: &Team<'_>, number: &Natural, bits: u64) -> Result<Natural, Error> {
    let precision = bits + 4;
    let above = leading_bits(number, precision) + Natural::from(1u64);
    if bits <= DIRECT_BITS {
        let above = above.limbs().first().copied().unwrap_or(1);
        return Ok(Natural::from((1u128 << (bits + precision)) / u128::from(above)));
    }
    let half = bits / 2 + 5;
    let inverse = reciprocal(team, number, half)?;
    // The correction may be zero, and e may even be negative, as x is rounded up.
    let remainder = Natural::power_of_2(half + precision).saturating_sub(&team.multiply(&inverse, &above)?);
    let cut = precision + half - bits - 5;
    let correction = team.multiply(&inverse, &(remainder >> cut))? >> (half + 5);
    Ok((inverse << (bits - half)) + correction)
}

/// Returns `dividend` / `divisor`, with a relative error of less than 2^(3 - `bits`), and never too large.
///
/// The last step is done for the quotient instead of the reciprocal (Alan Karp and Peter Markstein, "High-precision
/// division and square root", 1997). With h bits, a little more than half of the required ones, the first half of the
/// quotient is less than 5 units of 2^-h too small, so the remainder of the dividend is small: its quotient by the
/// reciprocal of h bits has an error of less than 10 * 2^(-2h) < 2^-`bits`.
pub(crate) fn quotient(
    team: &Team<'_>,
    dividend: &Float,
    divisor: &Float,
    bits: u64,
) -> Result<Float, Error> {
    let half = bits / 2 + 8;
    let divisor_bits = divisor.mantissa.significant_bits();
    let dividend_bits = dividend.mantissa.significant_bits();
    let inverse = reciprocal(team, &divisor.mantissa, half)?;
    let first = team.multiply(&leading_bits(&dividend.mantissa, half), &inverse)? >> half;
    let covered = team.multiply(&first, &divisor.mantissa)?;
    let scaled = dividend.mantissa.scaled(half as i64 + divisor_bits as i64 - dividend_bits as i64);
    // In units of 2^-(half + divisor_bits), and then of 2^-(bits + 8).
    let rest = (scaled - &covered).scaled(bits as i64 + 8 - half as i64 - divisor_bits as i64);
    let second = team.multiply(&rest, &inverse)? >> (half + 8);
    let mantissa = (first << (bits - half)) + second;
    let scale = dividend_bits as i64 - divisor_bits as i64 - bits as i64;
    Ok(Float { mantissa, exponent: dividend.exponent - divisor.exponent + scale })
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::team::single_threaded;

    fn near(approximation: &Natural, exact: &BigUint, most: u32) {
        let approximation = BigUint::from(approximation);
        assert!(&approximation <= exact, "too large");
        let remainder = exact - approximation;
        assert!(remainder <= BigUint::from(most), "{remainder} too small");
    }

    fn float(number: BigUint) -> Float {
        Natural::from(number).into()
    }

    #[test]
    fn the_inverse_square_root_is_at_most_two_units_too_small() {
        for bits in [1, 55, 56, 57, 63, 64, 65, 113, 1_999, 4_000, 10_007, 70_001, 400_000] {
            let scaled: BigUint = BigUint::from(1u32) << (2 * bits);
            let exact = BigUint::sqrt(&(scaled / 10_005u32));
            near(&inverse_square_root(&single_threaded(), 10_005, bits).unwrap(), &exact, 2);
        }
    }

    #[test]
    fn the_reciprocal_is_at_most_two_units_too_small() {
        let powers = [
            BigUint::from(3u32).pow(100_000),
            BigUint::from(1u32) << 9_000,
            (BigUint::from(1u32) << 9_000) - 1u32,
        ];
        for number in powers {
            for bits in [8, 55, 56, 57, 64, 113, 2_001, 4_013, 10_007, 70_001] {
                let exact = (BigUint::from(1u32) << (bits + number.bits())) / &number;
                near(&reciprocal(&single_threaded(), &number.clone().into(), bits).unwrap(), &exact, 2);
            }
        }
    }

    #[test]
    fn the_quotient_is_at_most_eight_units_too_small() {
        for (up, down) in [(3u32, 7u32), (7, 3), (5, 5), (2, 3), (3, 2)] {
            for bits in [100, 2_000, 5_001, 33_333, 150_001] {
                let (dividend, divisor) = (BigUint::from(up).pow(60_000), BigUint::from(down).pow(50_000));
                let got =
                    quotient(&single_threaded(), &float(dividend.clone()), &float(divisor.clone()), bits)
                        .unwrap();
                let exact = (dividend << -got.exponent.min(0)) / (divisor << got.exponent.max(0));
                near(&got.mantissa, &exact, 8);
            }
        }
    }
}
