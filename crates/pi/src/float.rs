//! Numbers with a binary exponent.

use crate::natural::Natural;

/// The number `mantissa` * 2^`exponent`.
#[derive(Clone, Debug)]
pub(crate) struct Float {
    pub(crate) mantissa: Natural,
    pub(crate) exponent: i64,
}

impl From<Natural> for Float {
    fn from(mantissa: Natural) -> Self {
        Self { mantissa, exponent: 0 }
    }
}

impl Float {
    /// Truncates the mantissa to its first `bits` bits: the relative error is less than 2^(1 - `bits`), downwards.
    pub(crate) fn truncated(self, bits: u64) -> Self {
        let excess = self.mantissa.significant_bits().saturating_sub(bits);
        Self { mantissa: self.mantissa >> excess, exponent: self.exponent + excess as i64 }
    }

    /// Returns the number in units of 2^-`bits`, rounded down.
    pub(crate) fn floor_of_units(self, bits: u64) -> Natural {
        self.mantissa.scaled(self.exponent + bits as i64)
    }
}

/// Returns the `count` highest bits of `number`, padded with zeros at the end.
pub(crate) fn leading_bits(number: &Natural, count: u64) -> Natural {
    number.scaled(count as i64 - number.significant_bits() as i64)
}
