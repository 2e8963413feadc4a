//! Least or greatest values.

use finecomb_sys::varint;

use crate::cells::either;
use crate::measure::number::{Decimal, POWERS, small_power};
use crate::measure::quantity::{Quantity, take_units};

/// The least or the greatest value of each group: its units as they are or, for the least, with all bits flipped, which
/// reverses their order. So both are maxima, and the least number of all is that of a group without values.
#[derive(Debug)]
pub(super) struct Extremes {
    is_min: bool,
    ranks: Ranks,
}

/// Ranks of 64 bits, until a value needs more.
#[derive(Debug)]
enum Ranks {
    Narrow(Vec<i64>),
    Wide(Vec<i128>),
}

impl Extremes {
    pub(super) fn new(is_min: bool) -> Self {
        Self { is_min, ranks: Ranks::Narrow(Vec::new()) }
    }

    pub(super) fn resize(&mut self, count: usize) {
        match &mut self.ranks {
            Ranks::Narrow(ranks) => ranks.resize(count, i64::MIN),
            Ranks::Wide(ranks) => ranks.resize(count, i128::MIN),
        }
    }

    pub(super) fn add(&mut self, groups: &[u32], units: &[i64]) {
        let flip = -i64::from(self.is_min);
        let values = groups.iter().zip(units);
        either!(Ranks, &mut self.ranks, ranks => for (&group, &units) in values {
            raise(&mut ranks[group as usize], units ^ flip);
        });
    }

    pub(super) fn add_wide(&mut self, groups: &[u32], units: &[i128]) {
        if groups.is_empty() {
            return;
        }
        let flip = self.flip();
        let ranks = self.widen();
        for (&group, &units) in groups.iter().zip(units) {
            let rank = &mut ranks[group as usize];
            *rank = (*rank).max(units ^ flip);
        }
    }

    fn flip(&self) -> i128 {
        -i128::from(self.is_min)
    }

    #[cold]
    fn widen(&mut self) -> &mut Vec<i128> {
        if let Ranks::Narrow(ranks) = &self.ranks {
            let wide = |&rank: &i64| if rank == i64::MIN { i128::MIN } else { rank.into() };
            self.ranks = Ranks::Wide(ranks.iter().map(wide).collect());
        }
        match &mut self.ranks {
            Ranks::Wide(ranks) => ranks,
            Ranks::Narrow(_) => unreachable!("widened above"),
        }
    }

    /// Multiplies all units by a power of ten.
    pub(super) fn raise(&mut self, exponent: u8) {
        let flip = self.flip();
        if let Ranks::Narrow(ranks) = &mut self.ranks {
            let flip = flip as i64;
            let is_narrow =
                |&rank: &i64| rank == i64::MIN || (rank ^ flip).checked_mul(small_power(exponent)).is_some();
            if ranks.iter().all(is_narrow) {
                let present = ranks.iter_mut().filter(|rank| **rank != i64::MIN);
                present.for_each(|rank| *rank = ((*rank ^ flip) * small_power(exponent)) ^ flip);
                return;
            }
        }
        let present = self.widen().iter_mut().filter(|rank| **rank != i128::MIN);
        present.for_each(|rank| *rank = ((*rank ^ flip) * POWERS[usize::from(exponent)]) ^ flip);
    }

    /// Merges another worker's extremes, whose units are multiplied by a power of ten.
    pub(super) fn merge(&mut self, other: &Self, pairs: &[(u32, u32)], exponent: u8) {
        for &(group, from) in pairs {
            let Some(units) = other.units(from as usize) else { continue };
            self.add_one(group, units * POWERS[usize::from(exponent)]);
        }
    }

    fn add_one(&mut self, group: u32, units: i128) {
        match i64::try_from(units) {
            Ok(units) if units.unsigned_abs() < i64::MAX as u64 => self.add(&[group], &[units]),
            _ => self.add_wide(&[group], &[units]),
        }
    }

    /// Appends the state of a group: whether there is a value, and its units.
    pub(super) fn encode(&self, group: usize, out: &mut Vec<u8>) {
        let units = self.units(group);
        varint::put(out, units.is_some().into());
        units.iter().for_each(|units| varint::put_signed(out, *units));
    }

    /// Adds an encoded state, whose units have this number of places, to a group.
    pub(super) fn decode(&mut self, group: usize, places: u8, bytes: &mut &[u8]) -> Option<()> {
        if varint::take(bytes)? > 0 {
            self.add_one(group as u32, take_units(places, bytes)?);
        }
        Some(())
    }

    fn units(&self, group: usize) -> Option<i128> {
        let rank = match &self.ranks {
            Ranks::Narrow(ranks) => Some(ranks[group]).filter(|rank| *rank != i64::MIN).map(i128::from),
            Ranks::Wide(ranks) => Some(ranks[group]).filter(|rank| *rank != i128::MIN),
        };
        rank.map(|rank| rank ^ self.flip())
    }

    pub(super) fn value(&self, group: usize, places: u8) -> Quantity {
        self.units(group).map_or(Quantity::None, |units| Quantity::Number(Decimal::new(units, places)))
    }

    pub(super) fn memory(&self) -> usize {
        match &self.ranks {
            Ranks::Narrow(ranks) => ranks.capacity() * 8,
            Ranks::Wide(ranks) => ranks.capacity() * 16,
        }
    }
}

#[inline(always)]
fn raise<T: Copy + Ord + From<i64>>(rank: &mut T, other: i64) {
    *rank = (*rank).max(other.into());
}
