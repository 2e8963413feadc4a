//! Natural numbers of any size, with the operations that the computation of pi needs.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Shl, Shr, Sub};

use crate::multiply::{add_wrapping, multiply, multiply_by_word, subtract};

/// A natural number, as limbs with the least significant first. The last limb is not 0; zero has no limbs.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Natural(Vec<u64>);

impl Natural {
    pub(crate) fn from_limbs(mut limbs: Vec<u64>) -> Self {
        let used = limbs.iter().rposition(|&limb| limb != 0).map_or(0, |last| last + 1);
        limbs.truncate(used);
        // The result of a shift or a remainder may be much shorter than its operand.
        if limbs.capacity() - used > used / 8 + 64 {
            limbs.shrink_to_fit();
        }
        Self(limbs)
    }

    pub(crate) fn limbs(&self) -> &[u64] {
        &self.0
    }

    pub(crate) fn into_limbs(self) -> Vec<u64> {
        self.0
    }

    pub(crate) fn power_of_2(exponent: u64) -> Self {
        let mut limbs = vec![0; places(exponent) + 1];
        limbs[places(exponent)] = 1 << (exponent % 64);
        Self(limbs)
    }

    /// Number of bits up to and including the highest set bit.
    pub(crate) fn significant_bits(&self) -> u64 {
        self.0.last().map_or(0, |last| 64 * self.0.len() as u64 - u64::from(last.leading_zeros()))
    }

    /// Returns the number modulo 2^`bits`.
    pub(crate) fn modulo_power_of_2(mut self, bits: u64) -> Self {
        let whole = places(bits);
        if whole < self.0.len() {
            self.0.truncate(whole + 1);
            self.0[whole] &= (1 << (bits % 64)) - 1;
        }
        Self::from_limbs(self.0)
    }

    /// Returns the difference, or 0 if it is negative.
    pub(crate) fn saturating_sub(self, other: &Self) -> Self {
        if self <= *other { Self::default() } else { self - other }
    }

    /// Returns the number times 2^`exponent`, rounded down.
    pub(crate) fn scaled(&self, exponent: i64) -> Self {
        if exponent < 0 { self >> exponent.unsigned_abs() } else { self << exponent.unsigned_abs() }
    }
}

/// Number of whole limbs in this number of bits.
fn places(bits: u64) -> usize {
    usize::try_from(bits / 64).unwrap_or(usize::MAX)
}

impl From<u64> for Natural {
    fn from(number: u64) -> Self {
        Self::from_limbs(vec![number])
    }
}

impl From<u128> for Natural {
    fn from(number: u128) -> Self {
        Self::from_limbs(vec![number as u64, (number >> 64) as u64])
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Add for Natural {
    type Output = Self;

    fn add(mut self, mut other: Self) -> Self {
        if self.0.len() < other.0.len() {
            (self, other) = (other, self);
        }
        if add_wrapping(&mut self.0, &other.0) {
            self.0.push(1);
        }
        self
    }
}

impl Sub<&Natural> for Natural {
    type Output = Self;

    /// # Panics
    ///
    /// If the difference is negative.
    fn sub(mut self, other: &Self) -> Self {
        assert!(self.0.len() >= other.0.len() && !subtract(&mut self.0, &other.0), "a negative difference");
        Self::from_limbs(self.0)
    }
}

impl Mul for &Natural {
    type Output = Natural;

    fn mul(self, other: Self) -> Natural {
        if self.0.is_empty() || other.0.is_empty() {
            return Natural::default();
        }
        let mut product = vec![0; self.0.len() + other.0.len()];
        multiply(&mut product, &self.0, &other.0);
        Natural::from_limbs(product)
    }
}

impl Mul<u64> for Natural {
    type Output = Self;

    fn mul(mut self, word: u64) -> Self {
        let carry = multiply_by_word(&mut self.0, word, 0);
        self.0.push(carry);
        Self::from_limbs(self.0)
    }
}

impl Mul<u128> for Natural {
    type Output = Self;

    fn mul(self, words: u128) -> Self {
        match u64::try_from(words) {
            Ok(word) => self * word,
            Err(_) => &self * &Self::from(words),
        }
    }
}

impl Shl<u64> for Natural {
    type Output = Self;

    fn shl(mut self, bits: u64) -> Self {
        if self.0.is_empty() {
            return self;
        }
        let (length, whole, bits) = (self.0.len(), places(bits), bits % 64);
        self.0.resize(length + whole + 1, 0);
        for place in (0..length).rev() {
            let limb = u128::from(self.0[place]) << bits;
            self.0[place + whole + 1] |= (limb >> 64) as u64;
            self.0[place + whole] = limb as u64;
        }
        let below = whole.min(length);
        self.0[..below].fill(0);
        Self::from_limbs(self.0)
    }
}

impl Shl<u64> for &Natural {
    type Output = Natural;

    fn shl(self, bits: u64) -> Natural {
        let mut limbs = Vec::with_capacity(self.0.len() + places(bits) + 1);
        limbs.extend_from_slice(&self.0);
        Natural(limbs) << bits
    }
}

impl Shr<u64> for Natural {
    type Output = Self;

    fn shr(mut self, bits: u64) -> Self {
        let whole = places(bits).min(self.0.len());
        shift_down(&mut self.0, whole, bits);
        Self::from_limbs(self.0)
    }
}

impl Shr<u64> for &Natural {
    type Output = Natural;

    fn shr(self, bits: u64) -> Natural {
        let mut limbs = self.0[places(bits).min(self.0.len())..].to_vec();
        shift_down(&mut limbs, 0, bits);
        Natural::from_limbs(limbs)
    }
}

/// Drops the first `whole` limbs, and then `bits` modulo 64 bits.
fn shift_down(limbs: &mut Vec<u64>, whole: usize, bits: u64) {
    let bits = bits % 64;
    let length = limbs.len() - whole;
    for place in 0..length {
        let next = limbs.get(place + whole + 1).copied().unwrap_or(0);
        let both = u128::from(limbs[place + whole]) | u128::from(next) << 64;
        limbs[place] = (both >> bits) as u64;
    }
    limbs.truncate(length);
}

#[cfg(test)]
pub(crate) mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;

    impl From<&Natural> for BigUint {
        fn from(number: &Natural) -> Self {
            Self::from_bytes_le(&number.0.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
        }
    }

    impl From<BigUint> for Natural {
        fn from(number: BigUint) -> Self {
            Self::from_limbs(number.to_u64_digits())
        }
    }

    fn big(number: &Natural) -> BigUint {
        number.into()
    }

    /// Numbers with many limbs that are 0 or the maximum, so that carries propagate far.
    fn naturals() -> impl Strategy<Value = Natural> {
        prop::collection::vec(prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()], 0..20)
            .prop_map(Natural::from_limbs)
    }

    fn check(number: &Natural, expected: &BigUint) {
        assert_eq!(&big(number), expected);
        assert_ne!(number.0.last(), Some(&0), "no zeros in front");
    }

    proptest! {
        #[test]
        fn arithmetic_equals_that_of_another_library(left in naturals(), right in naturals(), word: u64, words: u128) {
            let (big_left, big_right) = (big(&left), big(&right));
            check(&(left.clone() + right.clone()), &(&big_left + &big_right));
            check(&(&left * &right), &(&big_left * &big_right));
            check(&(left.clone() * word), &(&big_left * word));
            check(&(left.clone() * words), &(&big_left * words));
            prop_assert_eq!(left.cmp(&right), big_left.cmp(&big_right));
            prop_assert_eq!(left.significant_bits(), big_left.bits());
            let (small, large) = if left < right { (&left, &right) } else { (&right, &left) };
            check(&(large.clone() - small), &(big(large) - big(small)));
            check(&large.clone().saturating_sub(small), &(big(large) - big(small)));
            check(&small.clone().saturating_sub(large), &BigUint::ZERO);
        }

        #[test]
        fn shifts_equal_those_of_another_library(number in naturals(), bits in 0..1_500u64) {
            let expected = big(&number);
            check(&(&number << bits), &(&expected << bits));
            check(&(number.clone() << bits), &(&expected << bits));
            check(&(&number >> bits), &(&expected >> bits));
            check(&(number.clone() >> bits), &(&expected >> bits));
            check(&number.scaled(-(bits as i64)), &(&expected >> bits));
            check(&Natural::power_of_2(bits), &(BigUint::from(1u32) << bits));
            check(&number.modulo_power_of_2(bits), &(expected % (BigUint::from(1u32) << bits)));
        }
    }

    #[test]
    #[should_panic = "a negative difference"]
    fn a_negative_difference_panics() {
        let _ = Natural::from(1u64) - &Natural::from(2u64);
    }
}
