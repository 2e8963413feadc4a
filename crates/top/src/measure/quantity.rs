//! Results of measures, and how their states are written.

use std::cmp::Ordering;
use std::fmt;

use finecomb_sys::varint;

use crate::measure::number::Decimal;
use crate::measure::wide::WideDecimal;

/// A result. In descending order, [`Quantity::None`] is last.
#[derive(Clone, Copy, Debug)]
pub enum Quantity {
    /// The group has no values.
    None,
    /// The result.
    Number(Decimal),
    /// The result within the error of the measure, without digits that would be false.
    Estimate(Decimal),
    /// A part of the records, which is printed in percent.
    Share {
        /// Number of records in the part.
        part: u64,
        /// Number of records, at least 1.
        whole: u64,
    },
    /// A sum that needs more than 128 bits.
    Wide(WideDecimal),
}

impl Quantity {
    /// The number as units and decimal places: it is units / 10^places. A share is in percent, with two places. `None` if the units need
    /// more than 128 bits.
    pub fn to_decimal(&self) -> Option<(i128, u8)> {
        match self {
            Self::Number(Decimal { units, places }) | Self::Estimate(Decimal { units, places }) => {
                Some((*units, *places))
            }
            Self::Share { part, whole } => Some((hundredths(*part, *whole) as i128, 2)),
            Self::None | Self::Wide(_) => None,
        }
    }

    /// The nearest number of binary digits. A share is in percent, without rounding to decimal places.
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Self::Number(_) | Self::Estimate(_) | Self::Wide(_) => self.to_string().parse().ok(),
            Self::Share { part, whole } => Some(100.0 * *part as f64 / *whole as f64),
            Self::None => None,
        }
    }

    /// The number, unless it is none or a share.
    fn number(&self) -> Option<WideDecimal> {
        match self {
            Self::Number(number) | Self::Estimate(number) => Some((*number).into()),
            Self::Wide(number) => Some(*number),
            Self::None | Self::Share { .. } => None,
        }
    }
}

/// Shares are compared exactly, also if they are printed alike.
impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        let kind = |quantity: &Self| match quantity {
            Self::None => 0,
            Self::Number(_) | Self::Estimate(_) | Self::Wide(_) => 1,
            Self::Share { .. } => 2,
        };
        match (self, other) {
            // To compare wide numbers takes longer.
            (Self::Number(one) | Self::Estimate(one), Self::Number(other) | Self::Estimate(other)) => {
                one.cmp(other)
            }
            (Self::Share { part, whole }, Self::Share { part: other_part, whole: other_whole }) => {
                let product = |part: u64, whole: u64| u128::from(part) * u128::from(whole);
                product(*part, *other_whole).cmp(&product(*other_part, *whole))
            }
            _ => match (self.number(), other.number()) {
                (Some(one), Some(other)) => one.cmp(&other),
                _ => kind(self).cmp(&kind(other)),
            },
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

/// A share in hundredths of a percent, a half rounded up.
fn hundredths(part: u64, whole: u64) -> u128 {
    let whole = u128::from(whole.max(1));
    (u128::from(part) * 20_000 + whole) / (2 * whole)
}

/// A share in percent with two decimal places, such as `8.00`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let hundredths = hundredths(part, whole);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// The number, a share in percent, or a hyphen for none.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.pad("-"),
            Self::Number(number) | Self::Estimate(number) => number.fmt(f),
            Self::Share { part, whole } => f.pad(&percent(*part, *whole)),
            Self::Wide(number) => number.fmt(f),
        }
    }
}

/// Maximum number of records or values of a key in stored counts.
pub(crate) const MAX_COUNT: u64 = 1 << 56;

/// How states are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are in memory.
    AsHeld,
    /// In the same bytes for the same values, however these were added and merged.
    Canonical,
}

/// Takes the encoded units of a number with this number of places. `None` if there are none, or they are beyond those of any number.
pub(super) fn take_units(places: u8, bytes: &mut &[u8]) -> Option<i128> {
    varint::take_signed(bytes).filter(|units| Decimal::new(*units, places).is_in_range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_two_decimals() {
        assert_eq!(percent(0, 0), "0.00");
        assert_eq!(percent(1, 3), "33.33");
        assert_eq!(percent(2, 3), "66.67");
        assert_eq!(percent(1, 20_000), "0.01");
        assert_eq!(percent(1, 20_001), "0.00");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.00");
    }

    #[test]
    fn shares_are_compared_exactly() {
        let share = |part, whole| Quantity::Share { part, whole };
        assert_eq!(share(1, 2), share(2, 4));
        assert!(share(1, 30_001) < share(1, 30_000));
        assert!(share(u64::MAX - 1, u64::MAX) < share(u64::MAX, u64::MAX));
        assert!(Quantity::None < share(0, 1));
    }
}
