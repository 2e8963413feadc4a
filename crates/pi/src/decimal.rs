//! Decimal digits of a binary fraction.
//!
//! After Daniel Bernstein, "Scaled remainder trees" (2004): the first half of the d digits of a fraction x is that of
//! x, and the second half that of the fraction of 10^(d/2) x. Either needs only half of the precision, so both are
//! computed recursively from half as many bits.

use crate::Error;
use crate::multiply::multiply_by_word;
use crate::natural::Natural;
use crate::team::Team;

/// Maximum number of digits that are computed one word at a time.
const LEAF_DIGITS: usize = 1_500;

/// Minimum number of digits of a fraction that is split between threads.
const SHARED_DIGITS: usize = 10_000;

/// 2^64 log2(10), rounded up.
const LOG2_10: u128 = 61_278_757_397_652_712_442;

/// Minimum number of guard bits: see [`Decimal`].
#[cfg(test)]
pub(crate) const MIN_GUARD: u64 = 57;

/// Guard bits lost to inexact arithmetic: see [`Decimal`].
const LOST_GUARD: u64 = 56;

/// Number of bits that hold `digits` decimal digits: at least `digits` times log2(10), and less than 1 more. For fewer
/// than 2^60 digits.
pub(crate) fn bits_of_digits(digits: u64) -> u64 {
    ((u128::from(digits) * LOG2_10) >> 64) as u64 + 1
}

/// Reason why there are no digits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoDigits {
    /// The computation was stopped.
    Stopped(Error),
    /// A fraction is so close to the next value of a digit that its error matters: more guard bits are needed.
    Uncertain,
}

impl From<Error> for NoDigits {
    fn from(error: Error) -> Self {
        Self::Stopped(error)
    }
}

/// Converts fractions into digits.
///
/// A fraction of d digits has [`bits_of_digits`]\(d) bits and some guard bits, and may be a few units of its last bit
/// too small. Each truncation of a fraction makes it at most 1 unit smaller. With 3 units initially, at most 34 levels
/// of halving and [`LEAF_DIGITS`] / 19 steps in a leaf, it is less than 2^7 units too small in the end. Each level
/// loses at most one guard bit. So the rest of the fraction of a leaf after its last digit is less than 2^(7 + 34 -
/// guard) too small. If its first guard - [`LOST_GUARD`] bits are not all ones, the exact fraction has the same digits
/// before it.
pub(crate) struct Decimal<'t, 'a> {
    team: &'t Team<'a>,
    guard: u64,
    /// Digits per leaf.
    leaf: usize,
    /// 5 to the power of the digits of a leaf, of twice as many, and so on.
    powers: Vec<Natural>,
}

impl<'t, 'a> Decimal<'t, 'a> {
    /// A converter of fractions of `digits` digits and `guard` more bits, which must be more than [`LOST_GUARD`].
    pub(crate) fn new(team: &'t Team<'a>, digits: usize, guard: u64) -> Result<Self, Error> {
        let levels = digits.div_ceil(LEAF_DIGITS).next_power_of_two().trailing_zeros();
        let leaf = digits.div_ceil(1 << levels);
        let mut powers = Vec::with_capacity(levels as usize);
        for _ in 0..levels {
            powers.push(match powers.last() {
                None => power_of_5(leaf),
                Some(last) => team.square(last)?,
            });
        }
        Ok(Self { team, guard, leaf, powers })
    }

    /// Writes the digits of a fraction, which is in units of 2^-(bits of the digits and guard).
    pub(crate) fn write(&self, fraction: Natural, digits: &mut [u8]) -> Result<(), NoDigits> {
        let bits = bits_of_digits(digits.len() as u64) + self.guard;
        self.halve(fraction, bits, &self.powers, digits)
    }

    fn halve(
        &self,
        fraction: Natural,
        bits: u64,
        powers: &[Natural],
        digits: &mut [u8],
    ) -> Result<(), NoDigits> {
        let Some((power, powers)) = powers.split_last() else {
            return self.write_leaf(&fraction, bits, digits);
        };
        let half = self.leaf << powers.len();
        if digits.len() <= half {
            return self.halve(fraction, bits, powers, digits);
        }
        let shared = digits.len() >= SHARED_DIGITS;
        let guard = bits - bits_of_digits(digits.len() as u64);
        let (first, second) = digits.split_at_mut(half);
        let half_bits = bits_of_digits(half as u64);
        let first_bits = half_bits + guard;
        let head = &fraction >> (bits - first_bits);
        let find_first = || self.halve(head, first_bits, powers, first);
        // 10^half times the first half bits of x is an integer. Without them, 5^half x in units of 2^-bits is 10^half x
        // in units of 2^-(bits - half).
        let point = bits - half as u64;
        let tail = fraction.modulo_power_of_2(point);
        let find_second = || {
            let product = self.team.multiply(&tail, power)?;
            drop(tail);
            let second_bits = bits - half_bits;
            let rest = product.modulo_power_of_2(point) >> (point - second_bits);
            self.halve(rest, second_bits, powers, second)
        };
        let (found_first, found_second) =
            if shared { self.team.join(find_first, find_second) } else { (find_first(), find_second()) };
        found_first.and(found_second)
    }

    fn write_leaf(&self, fraction: &Natural, bits: u64, digits: &mut [u8]) -> Result<(), NoDigits> {
        let mut limbs = aligned_limbs(fraction, bits);
        let mut dropped = 0;
        for (step, chunk) in digits.chunks_mut(19).enumerate() {
            // The 19 digits of each previous step are worth more than 63 bits, so the dropped limbs are less than 1
            // unit.
            dropped = step * 63 / 64;
            let mut word = multiply_by_word(&mut limbs[dropped..], 10u64.pow(chunk.len() as u32), 0);
            for digit in chunk.iter_mut().rev() {
                *digit = b'0' + (word % 10) as u8;
                word /= 10;
            }
        }
        if leading_ones(&limbs[dropped..]) >= self.guard - LOST_GUARD {
            Err(NoDigits::Uncertain)
        } else {
            Ok(())
        }
    }
}

/// Returns the limbs of a fraction of `bits` bits, least significant first, aligned so that the binary point precedes
/// the highest bit of the last limb.
fn aligned_limbs(fraction: &Natural, bits: u64) -> Vec<u64> {
    let count = bits.div_ceil(64);
    let mut limbs = (fraction << (64 * count - bits)).into_limbs();
    limbs.resize(count as usize, 0);
    limbs
}

/// Returns 5 to the power of `exponent`, multiplied by 27 factors at a time: that many fit a word.
fn power_of_5(exponent: usize) -> Natural {
    let words = std::iter::repeat_n(5u64.pow(27), exponent / 27);
    words.fold(Natural::from(5u64.pow((exponent % 27) as u32)), |power, word| power * word)
}

/// Number of leading ones of a fraction.
fn leading_ones(limbs: &[u64]) -> u64 {
    let mut ones = 0;
    for limb in limbs.iter().rev() {
        ones += u64::from(limb.leading_ones());
        if *limb != u64::MAX {
            break;
        }
    }
    ones
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::team::single_threaded;

    /// Computes the digits of a fraction given by its exact digits, with `guard` more bits and 3 units subtracted.
    fn digits_of(exact: &str, count: usize, guard: u64) -> Result<String, NoDigits> {
        let bits = bits_of_digits(count as u64) + guard;
        let numerator: BigUint = exact.parse().unwrap();
        let fraction = (numerator << bits) / BigUint::from(10u32).pow(exact.len() as u32);
        let mut digits = vec![0; count];
        let team = single_threaded();
        let three = BigUint::from(3u32);
        let fraction =
            if fraction < three { (BigUint::from(1u32) << bits) + fraction } else { fraction } - three;
        Decimal::new(&team, count, guard).unwrap().write(fraction.into(), &mut digits)?;
        Ok(String::from_utf8(digits).unwrap())
    }

    #[test]
    fn bits_of_digits_are_exact() {
        for (digits, bits) in [(0, 1), (1, 4), (3, 10), (28, 94), (1_000, 3_322), (1_000_000, 3_321_929)] {
            assert_eq!(bits_of_digits(digits), bits);
        }
    }

    #[test]
    fn fractions_are_converted_to_their_digits() {
        let exact: String = (0..40_000u64).map(|i| char::from(b'0' + (i * i * i / 7 % 10) as u8)).collect();
        for count in [1, 2, 18, 19, 20, 600, 1_499, 1_500, 1_501, 2_999, 3_001, 12_345, 30_000] {
            assert_eq!(digits_of(&exact, count, 128).unwrap(), exact[..count], "{count} digits");
        }
    }

    #[test]
    fn nines_and_zeros_after_the_last_digit_need_more_guard_bits() {
        for after in ["9", "0"] {
            for count in (1..200).chain([1_215, 1_216, 1_217, 1_500, 4_000]) {
                let exact = "7".repeat(count) + &after.repeat(60) + "5";
                let uncertain = digits_of(&exact, count, 128);
                if after == "0" {
                    // 3 units below a round fraction, the last digit is the previous one.
                    assert!(matches!(uncertain, Err(NoDigits::Uncertain)), "{count} digits");
                }
                assert_eq!(digits_of(&exact, count, 300).unwrap(), exact[..count]);
            }
        }
    }

    #[test]
    fn a_round_fraction_is_never_certain_from_below() {
        for guard in [MIN_GUARD, 64, 128, 512] {
            assert!(matches!(digits_of("25", 2, guard), Err(NoDigits::Uncertain)));
            assert!(matches!(digits_of("00", 2, guard), Err(NoDigits::Uncertain)));
        }
    }

    #[test]
    fn ones_are_counted_from_the_point() {
        assert_eq!(leading_ones(&[]), 0);
        assert_eq!(leading_ones(&[u64::MAX, 0]), 0);
        assert_eq!(leading_ones(&[u64::MAX << 60, u64::MAX]), 68);
        assert_eq!(leading_ones(&[u64::MAX, u64::MAX]), 128);
    }
}
