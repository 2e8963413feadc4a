//! Numbers of more than 128 bits, which only sums have.

use std::cmp::Ordering;
use std::fmt;

use crate::measure::number::{Decimal, MAX_PLACES, small_power};

/// The number (`high` · 2^64 + `low`) / 10^`places`. With 18 places, it fits into 192 bits if it is a sum of 2^64 numbers.
#[derive(Clone, Copy, Debug)]
pub struct WideDecimal {
    pub(crate) high: i128,
    pub(crate) low: u64,
    pub(crate) places: u8,
}

impl WideDecimal {
    /// The magnitude of its units in words, from the most significant one.
    pub(super) fn magnitude(self) -> [u64; 3] {
        let (mut high, mut low) = (self.high, self.low);
        if high < 0 {
            let carries;
            (low, carries) = (!low).overflowing_add(1);
            high = !high + i128::from(carries);
        }
        [(high >> 64) as u64, high as u64, low]
    }

    /// The units of 10^-18 in two parts.
    fn finest(self) -> (i128, u64) {
        let factor = small_power(MAX_PLACES - self.places);
        let low = u128::from(self.low) * factor as u128;
        (self.high * i128::from(factor) + (low >> 64) as i128, low as u64)
    }
}

impl From<Decimal> for WideDecimal {
    fn from(Decimal { units, places }: Decimal) -> Self {
        Self { high: units >> 64, low: units as u64, places }
    }
}

impl Ord for WideDecimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.finest().cmp(&other.finest())
    }
}

impl PartialOrd for WideDecimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for WideDecimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for WideDecimal {}

/// The digits without zeros at the end of the decimal places, as of [`Decimal`].
impl fmt::Display for WideDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.magnitude();
        let mut digits = Vec::new();
        while words != [0; 3] || digits.len() <= usize::from(self.places) {
            digits.push(b'0' + divide(&mut words, 10) as u8);
        }
        digits.reverse();
        let text = String::from_utf8_lossy(&digits);
        let (whole, fraction) = text.split_at(digits.len() - usize::from(self.places));
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        f.pad_integral(self.high >= 0, "", &format!("{whole}{point}{fraction}"))
    }
}

/// Divides a number in words, from the most significant one, and returns the rest.
pub(super) fn divide(words: &mut [u64], divisor: u64) -> u64 {
    words.iter_mut().fold(0, |rest, word| {
        let part = u128::from(rest) << 64 | u128::from(*word);
        *word = (part / u128::from(divisor)) as u64;
        (part % u128::from(divisor)) as u64
    })
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wide_numbers_are_those_of_big_integers(
            high in prop_oneof![any::<i64>().prop_map(i128::from), -(1_i128 << 126)..1 << 126],
            low: u64,
            other: i128,
            places in 0..=18_u8,
        ) {
            // No sum has more than 192 bits with 18 places.
            let high = high / i128::from(small_power(MAX_PLACES - places));
            let wide = WideDecimal { high, low, places };
            let units: BigInt = (BigInt::from(high) << 64) + low;
            let sign = if units < BigInt::ZERO { "-" } else { "" };
            let digits = format!("{:0>width$}", units.magnitude().to_string(), width = usize::from(places) + 1);
            let (whole, fraction) = digits.split_at(digits.len() - usize::from(places));
            let text = format!("{sign}{whole}.{fraction}");
            prop_assert_eq!(wide.to_string(), text.trim_end_matches('0').trim_end_matches('.'));
            let one = Decimal::new(other >> 20, 3);
            let in_finest = |units: BigInt, places: u8| units * BigInt::from(10).pow(u32::from(18 - places));
            let expected = in_finest(units, places).cmp(&in_finest(BigInt::from(one.units), 3));
            prop_assert_eq!(wide.cmp(&one.into()), expected);
            prop_assert_eq!(WideDecimal::from(one).to_string(), one.to_string());
        }
    }
}
