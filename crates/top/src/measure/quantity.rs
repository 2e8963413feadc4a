//! Results of measures, and how their states are written.

use std::fmt;

use finecomb_sys::varint;

use crate::measure::number::Decimal;

/// A result. In descending order, [`Quantity::None`] is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// The group has no values.
    None,
    /// The result.
    Number(Decimal),
    /// The sum needs more than 128 bits.
    Overflow,
}

impl Quantity {
    /// The number as units and decimal places: it is units / 10^places.
    pub fn to_decimal(&self) -> Option<(i128, u8)> {
        match self {
            Self::Number(Decimal { units, places }) => Some((*units, *places)),
            Self::None | Self::Overflow => None,
        }
    }

    /// The nearest number of binary digits, for pictures.
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.units as f64 / 10_f64.powi(number.places.into())),
            Self::None | Self::Overflow => None,
        }
    }
}

/// The number, a hyphen for none, or `overflow`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.pad("-"),
            Self::Number(number) => number.fmt(f),
            Self::Overflow => f.pad("overflow"),
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
