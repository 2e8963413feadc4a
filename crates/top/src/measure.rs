//! Measures of groups of records: sums, means, extremes, percentiles, numbers of distinct values, and shares of records.
//!
//! States are stored by column: for each measured field and kind of state, a vector with one state per group. Every
//! state is a function of the multiset of the values of its group, so results depend neither on the order of the values
//! nor on how they are divided among workers.
//!
//! A table numbers the groups of a worker from 0, and values are parsed column by column, once for each field.
//!
//! # Adding a measure
//!
//! A variant of [`MeasureKind`](column::MeasureKind), with its name in the `Display` of [`Measure`](crate::query::options::Measure). The compiler then asks `column` for its state, a type in a
//! module below that takes part in every method there, and `finecomb-command` (`top`, `measures`) for its flag, which `FLAGS` there
//! defines. `tests` compares it with exact arithmetic, `tests/table/question.rs` and the hunts of formats, counts and Spark ask for
//! it. docs/counts-format.md has its stored state. If values of parts cannot be added up, `NOT_SUMS` in `python/finecomb/spark/source.py`
//! must have it: Spark would sum them; counts that cannot be merged are in `NOT_MERGED` of `top/args/saved.rs`. docs/top.schema.json names the
//! columns. docs/commands/top.md, docs/records.md and `python/finecomb/__init__.pyi` list
//! the measures.

mod chains;
pub(crate) mod column;
pub(crate) mod distinct;
mod extremes;
pub(crate) mod histogram;
pub(crate) mod number;
pub(crate) mod percentiles;
pub(crate) mod quantity;
pub(crate) mod reader;
mod shares;
mod slab;
mod sums;
#[cfg(test)]
mod tests;
pub(crate) mod values;
pub(crate) mod wide;

use crate::cells::Cells;
use crate::measure::column::{Column, MeasureKind, Scale};
use crate::measure::quantity::{Form, Quantity};
use crate::measure::reader::NumberReader;
use crate::measure::values::{Parsed, Rows, Selected, Values};

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
        Self::reading(measures, |_| NumberReader::default())
    }

    /// Measures as in [`Measures::new`], with a reader for the numbers of each field.
    pub(crate) fn reading(measures: &[(MeasureKind, usize)], reader: impl Fn(usize) -> NumberReader) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        let with_columns = measures.iter().map(|(kind, field)| {
            let known = columns.iter().position(|column| column.field == *field);
            let index = known.unwrap_or(columns.len());
            if known.is_none() {
                columns.push(Column::new(*field, reader(*field)));
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
        let reader = |field: usize| {
            let column = self.columns.iter().find(|column| column.field == field);
            column.map(|column| column.reader().clone()).unwrap_or_default()
        };
        Self::reading(&self.measures.iter().map(field).collect::<Vec<_>>(), reader)
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

    /// Findings about each measured field of the last block, with the index of the field.
    pub(crate) fn parsed(&self) -> impl Iterator<Item = (usize, Parsed)> {
        self.columns.iter().map(|column| (column.field, column.parsed))
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

    /// The scale of the states of each measured field.
    pub(crate) fn scales(&self) -> Vec<Scale> {
        self.columns.iter().map(Column::scale).collect()
    }

    /// Raises the scale of the states of each measured field to at least these.
    pub(crate) fn raise_to(&mut self, scales: &[Scale]) {
        self.columns.iter_mut().zip(scales).for_each(|(column, scale)| column.raise(*scale));
    }

    /// Appends the states of a group, in the scales of their fields.
    pub(crate) fn encode(&self, group: u32, form: Form, out: &mut Vec<u8>) {
        self.columns.iter().for_each(|column| column.encode(group as usize, form, out));
    }

    /// Adds the next group, with the number `group`, from the output of [`Measures::encode`] for measures with the same scales.
    /// `None` if the bytes are something else: numbers beyond the range of records are refused, so that no later sum overflows.
    pub(crate) fn decode(&mut self, group: usize, bytes: &mut &[u8]) -> Option<()> {
        self.columns.iter_mut().try_for_each(|column| column.decode(group, bytes))
    }

    /// Allocated memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.columns.iter().map(Column::memory).sum::<usize>() + self.values.memory()
    }
}
