//! The series of the Chudnovskys: its terms, the number of terms needed, and pi from their sum.
//!
//! David and Gregory Chudnovsky, "Approximations and complex multiplication according to Ramanujan" (1988):
//!
//! ```text
//! 426880 sqrt(10005) / pi = sum over k >= 0 of (-1)^k (6k)! (13591409 + 545140134 k) / ((3k)! k!^3 640320^(3k))
//! ```
//!
//! The quotient of the factorials and powers at k and at k - 1 is p(k) / (q(k) 2^15), where p(k) is odd:
//!
//! ```text
//! p(k) = (6k - 5) (2k - 1) (6k - 1)        q(k) = k^3 10005^3 / 3        640320^3 / 24 = 2^15 10005^3 / 3
//! ```

use crate::Error;
use crate::factors::Plan;
use crate::float::Float;
use crate::natural::Natural;
use crate::newton::{inverse_square_root, quotient};
use crate::team::Team;

/// Intercept and slope of the linear factor of a term.
const LINEAR: (u64, u64) = (13_591_409, 545_140_134);

/// 10005^3 / 3: the factor of the odd part of each denominator.
pub(crate) const ODD_SCALE: u64 = 333_833_583_375;

/// The primes of [`ODD_SCALE`], with their exponents.
pub(crate) const ODD_SCALE_FACTORS: [(u32, u32); 4] = [(3, 2), (5, 3), (23, 3), (29, 3)];

/// The exponent of two in 640320^3 / 24.
const SCALE_TWOS: u64 = 15;

/// The number under the square root.
const RADICAND: u64 = 10_005;

/// Bits of the working precision beyond the requested ones; see [`fraction`].
const WORKING_GUARD: u64 = 64;

/// Returns the linear factor of term `k`.
pub(crate) fn linear(k: u64) -> u64 {
    LINEAR.0 + LINEAR.1 * k
}

/// Returns the numerator p(k), for k < 2^30.
pub(crate) fn numerator(k: u64) -> u128 {
    if k == 0 { 1 } else { u128::from((6 * k - 5) * (2 * k - 1)) * u128::from(6 * k - 1) }
}

/// Returns the exponent of two in the product of the denominators k^3 2^15 of the terms `start..end`.
pub(crate) fn twos(start: u64, end: u64) -> u64 {
    let (before, last) = (start.max(1) - 1, end.max(1) - 1);
    let in_factorial = |n: u64| n - u64::from(n.count_ones());
    SCALE_TWOS * (last - before) + 3 * (in_factorial(last) - in_factorial(before))
}

/// Number of terms that give pi to `bits` bits after the binary point.
///
/// Each term is smaller than the previous one by a factor of 2^47.11 and has the opposite sign, so the omitted terms
/// are less than the first of them. Two extra terms make that less than 2^-(bits + 47).
pub(crate) fn terms(bits: u64) -> u64 {
    bits * 100 / 4_711 + 2
}

/// Returns the fraction of pi in units of 2^-`bits`, at most 3 units too small and never too large.
///
/// With w = `bits` + 64 working bits, each of these has a relative error of less than 2^(9 - w): the inverse square
/// root (two units of 2^-w, and it is more than 1/128), the four numbers truncated to w bits, and the quotient. The
/// omitted terms matter less. So pi has an error of less than 4 * 7 * 2^(9 - w) < 2^-(bits + 50), and its approximation
/// rounded down, minus one unit, is at most 3 units below pi.
pub(crate) fn fraction(team: &Team<'_>, bits: u64) -> Result<Natural, Error> {
    let working = bits + WORKING_GUARD;
    let terms = terms(working);
    let (plan, denominator) = Plan::new(team, terms)?;
    let (sum, numerator) = team.try_join(
        true,
        || Ok(Float::from(plan.sum(team)?).truncated(working)),
        || scaled_denominator(team, denominator.truncated(working), working),
    )?;
    let pi = quotient(team, &numerator, &sum, working)?;
    let below = pi.floor_of_units(bits);
    Ok(below.modulo_power_of_2(bits) - &Natural::from(1u64))
}

/// Returns 426880 sqrt(10005) times the denominator of the sum.
fn scaled_denominator(team: &Team<'_>, denominator: Float, working: u64) -> Result<Float, Error> {
    // sqrt(10005) = 10005 / sqrt(10005)
    let inverse = inverse_square_root(team, RADICAND, working)?;
    let root = inverse * (RADICAND * 426_880);
    let product = team.multiply(&root, &denominator.mantissa)?;
    let exponent = denominator.exponent - working as i64;
    Ok(Float { mantissa: product, exponent }.truncated(working))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_the_product_of_its_factors() {
        let product: u64 =
            ODD_SCALE_FACTORS.iter().map(|&(prime, exponent)| u64::from(prime).pow(exponent)).product();
        assert_eq!(product, ODD_SCALE);
        assert_eq!(ODD_SCALE << SCALE_TWOS, 640_320u64.pow(3) / 24);
    }

    #[test]
    fn twos_equal_those_of_the_denominators() {
        for (start, end) in [(0u64, 0u64), (0, 1), (0, 2), (1, 2), (4, 5), (3, 40), (64, 65), (100, 1000)] {
            let expected: u64 = (start.max(1)..end).map(|k| 15 + 3 * u64::from(k.trailing_zeros())).sum();
            assert_eq!(twos(start, end), expected, "{start}..{end}");
        }
    }

    #[test]
    fn the_fraction_is_at_most_three_units_below_pi() {
        let team = crate::team::single_threaded();
        let exact = fraction(&team, 9_000).unwrap();
        for bits in (8..200u64).chain([500, 1_000, 3_000, 4_700, 8_000]) {
            let fraction = fraction(&team, bits).unwrap();
            let below = &exact >> (9_000 - bits);
            assert!(fraction <= below && below - &fraction <= Natural::from(3u64), "{bits} bits");
        }
    }
}
