//! Measures of groups of records: sums, means, extremes, percentiles and numbers of distinct values.
//!
//! States are stored by column: for each measured field and kind of state, a vector with one state per group. Every
//! state is a function of the multiset of the values of its group, so results depend neither on the order of the values
//! nor on how they are divided among workers.
//!
//! A table numbers the groups of a worker from 0, and values are parsed column by column, once for each field.
//!
//! # Adding a measure
//!
//! A variant of [`MeasureKind`], with its name in the `Display` of [`Measure`]. The compiler then asks `column` for its state, a type in a
//! module below that takes part in every method there, and `finecomb-command` (`top`, `measures`) for its flag, which `FLAGS` there
//! defines. `tests` compares it with exact arithmetic. docs/commands/top.md, docs/records.md and `python/finecomb/__init__.pyi` list
//! the measures.

mod chains;
mod column;
mod distinct;
mod extremes;
mod histogram;
pub(crate) mod number;
mod percentiles;
mod slab;
mod sums;
#[cfg(test)]
mod tests;
mod values;

use std::fmt;

use finecomb_sys::varint;
use thiserror::Error;

use crate::cells::{Cell, Cells};
use crate::measure::column::Column;
use crate::measure::number::{Decimal, POWERS};
use crate::measure::values::Values;

/// A kind of measure. Records without a value are ignored: the field is missing, empty or a hyphen.
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
}

/// A percentile by the definition of the nearest rank: of n values in ascending order, the one with the number P/100·n,
/// rounded up, and at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile(Decimal);

/// An invalid percentile.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected a percentile from 0 to 100 with at most 15 decimal places; found '{0}'")]
pub struct PercentileError(String);

impl Percentile {
    /// Maximum number of decimal places, so that a rank is computed in 128 bits.
    const MAX_PLACES: u8 = 15;

    /// The median.
    pub const P50: Self = Self(Decimal::new(50, 0));
    /// The 95th percentile.
    pub const P95: Self = Self(Decimal::new(95, 0));
    /// The 99th percentile.
    pub const P99: Self = Self(Decimal::new(99, 0));

    /// Parses a percentile: a number from 0 to 100, such as `99.9`.
    ///
    /// # Errors
    /// Returns an error if the text is something else.
    pub fn parse(text: &str) -> Result<Self, PercentileError> {
        let error = || PercentileError(text.to_owned());
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number = Decimal::parse(text.as_bytes()).map_err(|_| error())?;
        let is_valid = is_plain && number.places <= Self::MAX_PLACES && number <= Decimal::new(100, 0);
        if is_valid { Ok(Self(number)) } else { Err(error()) }
    }

    /// Number of the value among `count` values in ascending order, from 1.
    fn rank(self, count: u64) -> u64 {
        let Self(Decimal { units, places }) = self;
        let all = 100 * POWERS[usize::from(places)].unsigned_abs();
        (units.unsigned_abs() * u128::from(count)).div_ceil(all).max(1) as u64
    }
}

impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

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

/// The records of a block whose values are added.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// All, in order.
    All,
    /// The rows with these indexes.
    Some(&'a [u32]),
}

/// The measures of all groups of a worker.
#[derive(Debug)]
pub(crate) struct Measures {
    /// The kind of each measure and the index of its column.
    measures: Vec<(MeasureKind, usize)>,
    columns: Vec<Column>,
    values: Values,
}

impl Measures {
    /// `measures` are kinds, each with the index of the measured field among the columns of the cells. Measures of a
    /// field share its values and, where possible, their states.
    pub(crate) fn new(measures: &[(MeasureKind, usize)]) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        let with_columns = measures.iter().map(|(kind, field)| {
            let known = columns.iter().position(|column| column.field == *field);
            let index = known.unwrap_or(columns.len());
            if known.is_none() {
                columns.push(Column::new(*field));
            }
            columns[index].require(kind);
            (kind.clone(), index)
        });
        let measures = with_columns.collect();
        Self { measures, columns, values: Values::default() }
    }

    /// The same measures, without any group.
    pub(crate) fn without_groups(&self) -> Self {
        let field = |(kind, column): &(MeasureKind, usize)| (kind.clone(), self.columns[*column].field);
        Self::new(&self.measures.iter().map(field).collect::<Vec<_>>())
    }

    /// The results of all measures for a group.
    pub(crate) fn results(&self, group: u32) -> Vec<Quantity> {
        (0..self.measures.len()).map(|measure| self.value(measure, group)).collect()
    }

    /// Adds the values of a block, from the records `rows` of `cells`. The record with the index `i` belongs to group `groups[i]`.
    /// Groups are dense from 0, and `group_count` in all so far. Appends the values that are no numbers to `bad`, as index of the
    /// record and field, once for each value.
    pub(crate) fn add(
        &mut self,
        groups: &[u32],
        group_count: usize,
        rows: Rows<'_>,
        text: &[u8],
        cells: &Cells,
        bad: &mut Vec<(u32, usize)>,
    ) {
        for column in &mut self.columns {
            column.resize(group_count);
            let selected = Selected { groups, rows, text, cells, field: column.field };
            column.add(&selected, &mut self.values, bad);
        }
    }

    /// Merges groups of another worker with the same measures. `pairs` are own groups, each with the other's group that
    /// belongs to it. There are `group_count` own groups in all; unknown ones are new.
    ///
    /// The number of decimal places is one of all groups of all workers: each must be merged, even if `pairs` is empty.
    pub(crate) fn merge(&mut self, other: &Self, pairs: &[(u32, u32)], group_count: usize) {
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            column.resize(group_count);
            column.merge(other, pairs);
        }
    }

    /// Returns the result of a measure for a group.
    pub(crate) fn value(&self, measure: usize, group: u32) -> Quantity {
        let (kind, column) = &self.measures[measure];
        self.columns[*column].value(kind, group as usize)
    }

    /// Decimal places of the states of each measured field.
    pub(crate) fn places(&self) -> Vec<u8> {
        self.columns.iter().map(Column::places).collect()
    }

    /// Raises the decimal places of the states of each measured field to at least these.
    pub(crate) fn raise_to(&mut self, places: &[u8]) {
        self.columns.iter_mut().zip(places).for_each(|(column, places)| column.raise(*places));
    }

    /// Appends the states of a group, in units of the places of their fields.
    pub(crate) fn encode(&self, group: u32, form: Form, out: &mut Vec<u8>) {
        self.columns.iter().for_each(|column| column.encode(group as usize, form, out));
    }

    /// Adds the next group, with the number `group`, from the output of [`Measures::encode`] for measures with the same places.
    /// `None` if the bytes are something else: numbers beyond the range of records are refused, so that no later sum overflows.
    pub(crate) fn decode(&mut self, group: usize, bytes: &mut &[u8]) -> Option<()> {
        self.columns.iter_mut().try_for_each(|column| column.decode(group, bytes))
    }

    /// Allocated memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.columns.iter().map(Column::memory).sum::<usize>() + self.values.memory()
    }
}

/// Takes the encoded units of a number with this number of places. `None` if there are none, or they are out of range.
fn take_units(places: u8, bytes: &mut &[u8]) -> Option<i128> {
    varint::take_signed(bytes).filter(|units| Decimal::new(*units, places).is_in_range())
}

/// The values of a field in the records of a block, and the groups of the records.
struct Selected<'a> {
    groups: &'a [u32],
    rows: Rows<'a>,
    text: &'a [u8],
    cells: &'a Cells,
    field: usize,
}

impl Selected<'_> {
    /// Calls `visit` with the group, the index and the cell of each record.
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(u32, u32, Cell)) {
        match self.rows {
            Rows::All => self.all().for_each(|(group, row, cell)| visit(group, row, cell)),
            Rows::Some(rows) => self.some(rows).for_each(|(group, row, cell)| visit(group, row, cell)),
        }
    }

    /// The group, the index and the cell of each record, if all are selected.
    #[inline(always)]
    fn all(&self) -> impl Iterator<Item = (u32, u32, Cell)> {
        let column = self.cells.column(self.field);
        self.groups.iter().zip(0..).zip(column).map(|((&group, row), &cell)| (group, row, cell))
    }

    /// The group, the index and the cell of the records `rows`.
    #[inline(always)]
    fn some(&self, rows: &[u32]) -> impl Iterator<Item = (u32, u32, Cell)> {
        let column = self.cells.column(self.field);
        self.groups.iter().zip(rows).map(|(&group, &row)| (group, row, column[row as usize]))
    }
}
