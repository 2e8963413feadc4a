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
    /// Drops all but the first `bits` bits of the mantissa: the number gets smaller by less than 2^(1 - `bits`) of it.
    pub(crate) fn truncated(self, bits: u64) -> Self {
        let excess = self.mantissa.significant_bits().saturating_sub(bits);
        Self { mantissa: self.mantissa >> excess, exponent: self.exponent + excess as i64 }
    }

    /// The number in units of 2^-`bits`, without the fraction of a unit.
    pub(crate) fn floor_of_units(self, bits: u64) -> Natural {
        self.mantissa.scaled(self.exponent + bits as i64)
    }
}

/// The `count` highest bits of `number`, as if zeros followed its last bit.
pub(crate) fn leading_bits(number: &Natural, count: u64) -> Natural {
    number.scaled(count as i64 - number.significant_bits() as i64)
}
