//! The states of a measured field.

use crate::measure::distinct::Distinct;
use crate::measure::extremes::Extremes;
use crate::measure::number::MAX_PLACES;
use crate::measure::percentiles::{Percentile, Percentiles};
use crate::measure::quantity::{Form, Quantity};
use crate::measure::reader::NumberReader;
use crate::measure::shares::Shares;
use crate::measure::sums::ExactSums;
use crate::measure::values::{Parsed, Selected, Values};

/// A kind of measure. Records without a value are ignored: those that lack the field, or in which it is empty or a
/// hyphen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasureKind {
    /// Sum of all values.
    Sum,
    /// Sum divided by the number of values, rounded half to even to three places more than the values of all groups
    /// have, and to at most 18.
    Mean,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// A percentile: exact up to 1,024 values, with a relative error of at most 2^-8 beyond.
    Percentile(Percentile),
    /// Number of distinct texts: exact up to 4,096, with a standard error of 0.81 % beyond.
    Distinct,
    /// Part of all records that have the field. For a condition, that is a column with a value where it holds.
    Share,
}

/// The numbers that states are of: those with a unit if any number of any group has one, otherwise all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Number of decimal places: the most that a number of any group has.
    pub(crate) places: u8,
    pub(crate) have_units: bool,
}

/// The bit of units in a stored scale.
const UNITS: u8 = 1 << 7;

impl Scale {
    /// The scale of the states of both.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self.have_units, other.have_units) {
            (true, false) => self,
            (false, true) => other,
            _ => Self { places: self.places.max(other.places), ..self },
        }
    }

    pub(crate) fn to_byte(self) -> u8 {
        self.places | if self.have_units { UNITS } else { 0 }
    }

    /// `None` if the byte is no scale.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        let scale = Self { places: byte & !UNITS, have_units: byte & UNITS != 0 };
        (scale.places <= MAX_PLACES).then_some(scale)
    }
}

/// The states of a measured field for all groups.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// Index of the field among the columns of the cells.
    pub(super) field: usize,
    reader: NumberReader,
    /// Findings about the last block.
    pub(super) parsed: Parsed,
    groups: usize,
    scale: Scale,
    sums: Option<ExactSums>,
    /// Least and greatest values.
    extremes: [Option<Extremes>; 2],
    percentiles: Option<Percentiles>,
    distinct: Option<Distinct>,
    shares: Option<Shares>,
}

impl Column {
    pub(super) fn new(field: usize, reader: NumberReader) -> Self {
        Self { field, reader, ..Self::default() }
    }

    pub(super) fn reader(&self) -> &NumberReader {
        &self.reader
    }

    /// Adds the state that a kind of measure is computed from.
    pub(super) fn require(&mut self, kind: &MeasureKind) {
        match kind {
            MeasureKind::Sum | MeasureKind::Mean => _ = self.sums.get_or_insert_default(),
            MeasureKind::Min => _ = self.extremes[0].get_or_insert_with(|| Extremes::new(true)),
            MeasureKind::Max => _ = self.extremes[1].get_or_insert_with(|| Extremes::new(false)),
            MeasureKind::Percentile(_) => _ = self.percentiles.get_or_insert_default(),
            MeasureKind::Distinct => _ = self.distinct.get_or_insert_default(),
            MeasureKind::Share => _ = self.shares.get_or_insert_default(),
        }
    }

    fn has_numbers(&self) -> bool {
        self.sums.is_some() || self.extremes.iter().any(Option::is_some) || self.percentiles.is_some()
    }

    /// Makes room for `count` groups.
    pub(super) fn resize(&mut self, count: usize) {
        self.groups = count;
        self.sums.iter_mut().for_each(|sums| sums.resize(count));
        self.extremes.iter_mut().flatten().for_each(|extremes| extremes.resize(count));
        self.percentiles.iter_mut().for_each(|percentiles| percentiles.resize(count));
        self.distinct.iter_mut().for_each(|distinct| distinct.resize(count));
        self.shares.iter_mut().for_each(|shares| shares.resize(count));
    }

    /// Forgets all numbers, as they have no unit and others have.
    #[cold]
    fn forget_numbers(&mut self) {
        self.sums.iter_mut().for_each(|sums| *sums = ExactSums::default());
        for (extremes, is_least) in self.extremes.iter_mut().zip([true, false]) {
            extremes.iter_mut().for_each(|extremes| *extremes = Extremes::new(is_least));
        }
        self.percentiles.iter_mut().for_each(|percentiles| *percentiles = Percentiles::default());
        self.sums.iter_mut().for_each(|sums| sums.resize(self.groups));
        self.extremes.iter_mut().flatten().for_each(|extremes| extremes.resize(self.groups));
        self.percentiles.iter_mut().for_each(|percentiles| percentiles.resize(self.groups));
        self.scale = Scale { places: 0, have_units: true };
    }

    /// Adds the values of a block. If numbers are needed, other values are appended to `bad`.
    pub(super) fn add(&mut self, selected: &Selected<'_>, values: &mut Values, bad: &mut Vec<(u32, usize)>) {
        if let Some(distinct) = &mut self.distinct {
            distinct.add(selected);
        }
        if let Some(shares) = &mut self.shares {
            shares.add(selected);
        }
        if !self.has_numbers() {
            return;
        }
        self.parsed = values.parse(selected, &self.reader, self.scale.have_units, bad);
        self.raise(Scale { places: self.parsed.places, have_units: self.parsed.have_units });
        values.rescale(self.scale.places);
        let Values { groups, units, wide_groups, wide, .. } = values;
        if let Some(sums) = &mut self.sums {
            sums.add(groups, units);
            sums.add_wide(wide_groups, wide);
        }
        for extremes in self.extremes.iter_mut().flatten() {
            extremes.add(groups, units);
            extremes.add_wide(wide_groups, wide);
        }
        if let Some(percentiles) = &mut self.percentiles {
            percentiles.add(groups, units, self.scale.places);
            percentiles.add_wide(wide_groups, wide, self.scale.places);
        }
    }

    /// The numbers that all states are of.
    pub(super) fn scale(&self) -> Scale {
        self.scale
    }

    /// Appends the states of a group.
    pub(super) fn encode(&self, group: usize, form: Form, out: &mut Vec<u8>) {
        let places = self.scale.places;
        self.sums.iter().for_each(|sums| sums.encode(group, out));
        self.extremes.iter().flatten().for_each(|extremes| extremes.encode(group, out));
        self.percentiles.iter().for_each(|percentiles| percentiles.encode(group, places, form, out));
        self.distinct.iter().for_each(|distinct| distinct.encode(group, form, out));
        self.shares.iter().for_each(|shares| shares.encode(group, out));
    }

    /// Adds the states of the next group, which has this number. `None` if they were not encoded.
    pub(super) fn decode(&mut self, group: usize, bytes: &mut &[u8]) -> Option<()> {
        self.resize(group + 1);
        let places = self.scale.places;
        self.sums.iter_mut().try_for_each(|sums| sums.decode(group, places, bytes))?;
        self.extremes.iter_mut().flatten().try_for_each(|extremes| extremes.decode(group, places, bytes))?;
        self.percentiles.iter_mut().try_for_each(|percentiles| percentiles.decode(group, places, bytes))?;
        self.distinct.iter_mut().try_for_each(|distinct| distinct.decode(group, bytes))?;
        self.shares.iter_mut().try_for_each(|shares| shares.decode(group, bytes))
    }

    /// Raises the scale to at least this one.
    pub(super) fn raise(&mut self, scale: Scale) {
        if scale.have_units && !self.scale.have_units {
            self.forget_numbers();
        }
        let exponent = self.scale.join(scale).places - self.scale.places;
        if exponent == 0 {
            return;
        }
        self.scale.places += exponent;
        self.sums.iter_mut().for_each(|sums| sums.raise(exponent));
        self.extremes.iter_mut().flatten().for_each(|extremes| extremes.raise(exponent));
        self.percentiles.iter_mut().for_each(|percentiles| percentiles.raise(exponent));
    }

    /// Merges another worker's groups.
    pub(super) fn merge(&mut self, other: &Self, pairs: &[(u32, u32)]) {
        if let (Some(own), Some(other)) = (&mut self.distinct, &other.distinct) {
            own.merge(other, pairs);
        }
        if let (Some(own), Some(other)) = (&mut self.shares, &other.shares) {
            own.merge(other, pairs);
        }
        self.raise(other.scale);
        if self.scale.have_units != other.scale.have_units {
            return;
        }
        let exponent = self.scale.places - other.scale.places;
        if let (Some(own), Some(other)) = (&mut self.sums, &other.sums) {
            own.merge(other, pairs, exponent);
        }
        for (own, other) in self.extremes.iter_mut().zip(&other.extremes) {
            if let (Some(own), Some(other)) = (own, other) {
                own.merge(other, pairs, exponent);
            }
        }
        if let (Some(own), Some(other)) = (&mut self.percentiles, &other.percentiles) {
            own.merge(other, pairs, exponent, self.scale.places);
        }
    }

    pub(super) fn value(&self, kind: &MeasureKind, group: usize) -> Quantity {
        let places = self.scale.places;
        let value = match kind {
            MeasureKind::Sum => self.sums.as_ref().map(|sums| sums.sum(group, places)),
            MeasureKind::Mean => self.sums.as_ref().map(|sums| sums.mean(group, places)),
            MeasureKind::Min => self.extremes[0].as_ref().map(|min| min.value(group, places)),
            MeasureKind::Max => self.extremes[1].as_ref().map(|max| max.value(group, places)),
            MeasureKind::Percentile(percentile) => {
                self.percentiles.as_ref().map(|values| values.value(group, *percentile, places))
            }
            MeasureKind::Distinct => self.distinct.as_ref().map(|distinct| distinct.value(group)),
            MeasureKind::Share => self.shares.as_ref().map(|shares| shares.value(group)),
        };
        value.unwrap_or(Quantity::None)
    }

    pub(super) fn memory(&self) -> usize {
        self.sums.as_ref().map_or(0, ExactSums::memory)
            + self.extremes.iter().flatten().map(Extremes::memory).sum::<usize>()
            + self.percentiles.as_ref().map_or(0, Percentiles::memory)
            + self.distinct.as_ref().map_or(0, Distinct::memory)
            + self.shares.as_ref().map_or(0, Shares::memory)
    }
}
