//! Sums and numbers of values.

use crate::measure::number::{Decimal, MAX_PLACES, POWERS, small_power};
use crate::measure::quantity::{MAX_COUNT, Quantity};
use crate::measure::wide::{WideDecimal, divide};
use finecomb_sys::varint;

/// Maximum magnitude of a stored sum / 2^64 in the finest units: that of [`MAX_COUNT`] values.
const MAX_HIGH: u128 = MAX_COUNT as u128 * (POWERS[38] as u128 >> 64);

/// Exact sums of all groups: 192 bits; most groups need 64. No sum of 2^64 values overflows, because a value has less than 2^127
/// units.
#[derive(Debug, Default)]
pub(super) struct ExactSums {
    sums: Vec<Sum>,
    /// The rest of each sum / 2^64, once it does not fit into 64 bits for a group. Empty until then.
    high: Vec<i128>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    low: i64,
}

impl ExactSums {
    pub(super) fn resize(&mut self, count: usize) {
        self.sums.resize(count, Sum::default());
        if !self.high.is_empty() {
            self.high.resize(count, 0);
        }
    }

    pub(super) fn add(&mut self, groups: &[u32], units: &[i64]) {
        for (&group, &units) in groups.iter().zip(units) {
            let sum = &mut self.sums[group as usize];
            sum.count += 1;
            let (low, overflows) = sum.low.overflowing_add(units);
            sum.low = low;
            if overflows {
                self.add_high(group as usize, if units < 0 { -1 } else { 1 });
            }
        }
    }

    pub(super) fn add_wide(&mut self, groups: &[u32], units: &[i128]) {
        for (&group, &units) in groups.iter().zip(units) {
            let low = units as i64;
            self.add_parts(group as usize, 1, low, (units - i128::from(low)) >> 64);
        }
    }

    fn add_parts(&mut self, group: usize, count: u64, low: i64, high: i128) {
        let sum = &mut self.sums[group];
        sum.count += count;
        let (own, overflows) = sum.low.overflowing_add(low);
        sum.low = own;
        let carry = if !overflows {
            0
        } else if low < 0 {
            -1
        } else {
            1
        };
        if high + carry != 0 {
            self.add_high(group, high + carry);
        }
    }

    #[cold]
    fn add_high(&mut self, group: usize, high: i128) {
        self.high.resize(self.sums.len(), 0);
        self.high[group] += high;
    }

    /// Multiplies all units by a power of ten.
    pub(super) fn raise(&mut self, exponent: u8) {
        let factor = small_power(exponent).into();
        self.high.iter_mut().for_each(|high| *high *= factor);
        for group in 0..self.sums.len() {
            let (low, high) = product(self.sums[group].low, factor);
            self.sums[group].low = low;
            if high != 0 {
                self.add_high(group, high);
            }
        }
    }

    /// Adds another worker's sums, whose units are multiplied by a power of ten.
    pub(super) fn merge(&mut self, other: &Self, pairs: &[(u32, u32)], exponent: u8) {
        let factor = small_power(exponent).into();
        for &(group, from) in pairs {
            let sum = other.sums[from as usize];
            let (low, high) = product(sum.low, factor);
            let rest = other.high.get(from as usize).map_or(0, |high| high * factor);
            self.add_parts(group as usize, sum.count, low, high + rest);
        }
    }

    /// Appends the state of a group: the number of values and, if there are any, the two parts of their sum.
    pub(super) fn encode(&self, group: usize, out: &mut Vec<u8>) {
        let Sum { count, low } = self.sums[group];
        varint::put(out, count);
        if count > 0 {
            varint::put_signed(out, low.into());
            varint::put_signed(out, self.high.get(group).copied().unwrap_or(0));
        }
    }

    /// Adds an encoded state, whose units have this number of places, to a group.
    pub(super) fn decode(&mut self, group: usize, places: u8, bytes: &mut &[u8]) -> Option<()> {
        let count = varint::take(bytes).filter(|count| *count <= MAX_COUNT)?;
        if count > 0 {
            let low = varint::take_signed(bytes)?.try_into().ok()?;
            let high = varint::take_signed(bytes)?;
            let finest = high.checked_mul(small_power(MAX_PLACES - places).into())?;
            self.add_parts(group, count, low, Some(high).filter(|_| finest.unsigned_abs() <= MAX_HIGH)?);
        }
        Some(())
    }

    pub(super) fn count(&self, group: usize) -> u64 {
        self.sums[group].count
    }

    /// The sum / 2^64, rounded down, and the rest.
    fn parts(&self, group: usize) -> (i128, u64) {
        let low = self.sums[group].low;
        (self.high.get(group).copied().unwrap_or(0) - i128::from(low < 0), low as u64)
    }

    pub(super) fn sum(&self, group: usize, places: u8) -> Quantity {
        if self.count(group) == 0 {
            return Quantity::None;
        }
        let (high, low) = self.parts(group);
        match i64::try_from(high) {
            Ok(high) => Quantity::Number(Decimal::new(i128::from(high) << 64 | i128::from(low), places)),
            Err(_) => Quantity::Wide(WideDecimal { high, low, places }),
        }
    }

    pub(super) fn mean(&self, group: usize, places: u8) -> Quantity {
        let count = self.count(group);
        if count == 0 {
            return Quantity::None;
        }
        let more = MAX_PLACES.min(places + 3) - places;
        let (high, low) = self.parts(group);
        let is_negative = high < 0;
        let [first, second, third] = WideDecimal { high, low, places }.magnitude();
        let mut words = [0, first, second, third];
        let mut carry = 0;
        for word in words.iter_mut().rev() {
            carry += u128::from(*word) * small_power(more) as u128;
            (*word, carry) = (carry as u64, carry >> 64);
        }
        let rest = u128::from(divide(&mut words, count));
        // A mean is less than the greatest value: two words suffice.
        let units = i128::from(words[2]) << 64 | i128::from(words[3]);
        let is_up = 2 * rest > count.into() || 2 * rest == count.into() && units % 2 != 0;
        let units = units + i128::from(is_up);
        Quantity::Number(Decimal::new(if is_negative { -units } else { units }, places + more))
    }

    pub(super) fn memory(&self) -> usize {
        self.sums.capacity() * size_of::<Sum>() + self.high.capacity() * size_of::<i128>()
    }
}

/// Returns the low 64 bits of a product as a signed number, and the rest / 2^64.
fn product(units: i64, factor: i128) -> (i64, i128) {
    let product = i128::from(units) * factor;
    let low = product as i64;
    (low, (product - i128::from(low)) >> 64)
}
