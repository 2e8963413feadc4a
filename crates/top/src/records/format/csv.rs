//! Fields of CSV and TSV records.
//!
//! The syntax is that of RFC 4180, read as leniently as the `csv` crate does:
//! - A field that begins with a double quote is quoted. Up to the closing quote, delimiters and line feeds are data and `""`
//!   is a quote. Text between the closing quote and the next delimiter is part of the value, with its quotes.
//! - A quote anywhere else is data.
//! - Without quoting (TSV), every tab is a delimiter and every other byte is data.
//!
//! A record is examined from its beginning to the end of the last wanted column, or to its own end if a wanted column is
//! counted from there. So the rest of a malformed record goes unnoticed. Malformed is
//! - a record with a quote that is never closed, in the examined columns;
//! - under a header, a record without one of the wanted columns.
//!
//! A record of zero bytes has no fields, and is not malformed: its cells are missing.

use std::cmp::Reverse;

use crate::cells::{Cell, Cells, Span};
use crate::query::field::{Field, Name};
use crate::query::input_format::FormatError;

mod extract;
mod fields;
mod header;
#[cfg(test)]
mod tests;

pub(crate) use fields::{Fields, closing_quote};
pub(crate) use header::Header;

/// Delimiter and quoting of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    delimiter: u8,
    has_quotes: bool,
}

impl Dialect {
    /// Tab-separated values. They have no quotes.
    pub(crate) const TSV: Self = Self { delimiter: b'\t', has_quotes: false };

    /// Values separated by `delimiter`, with quotes.
    pub(crate) fn csv(delimiter: u8) -> Result<Self, FormatError> {
        match delimiter {
            b'"' | b'\n' | b'\r' => {
                Err(FormatError::Other(format!("{:?} cannot be a delimiter", char::from(delimiter))))
            }
            _ => Ok(Self { delimiter, has_quotes: true }),
        }
    }

    pub(crate) fn delimiter(self) -> u8 {
        self.delimiter
    }
}

/// Extracts the wanted fields of records.
#[derive(Clone, Debug)]
pub(crate) struct CsvRecords {
    dialect: Dialect,
    has_header: bool,
    /// The wanted columns, in ascending order of their places, without duplicates.
    wanted: Vec<WantedColumn>,
    /// Pairs of a field and an earlier one in the same column.
    duplicates: Vec<(usize, usize)>,
}

/// A wanted column.
#[derive(Clone, Copy, Debug)]
struct WantedColumn {
    place: ColumnPlace,
    /// Index of the field among the wanted ones.
    field: usize,
}

/// Place of a column in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnPlace {
    /// Number of columns before it.
    Start(usize),
    /// Number of columns from it to the end: 1 for the last. Further ones come first.
    End(Reverse<usize>),
}

impl ColumnPlace {
    /// Returns the index of the column in a record with `columns` columns.
    fn index(self, columns: usize) -> Option<usize> {
        match self {
            Self::Start(index) => Some(index),
            Self::End(Reverse(back)) => columns.checked_sub(back),
        }
        .filter(|&index| index < columns)
    }
}

impl CsvRecords {
    /// Prepares the extraction of `fields` from records below `header`, or from records of a file without a header.
    ///
    /// Under a header, a negative position counts from the last column of the header; without one, from the last column
    /// of each record. A name that several columns have is that of the first.
    ///
    /// # Errors
    /// Returns an error if the header lacks a column, or if there is no header and a field has a name.
    pub(crate) fn new(
        dialect: Dialect,
        header: Option<&Header>,
        fields: &[Field],
    ) -> Result<Self, FormatError> {
        let mut wanted: Vec<WantedColumn> = Vec::with_capacity(fields.len());
        let mut duplicates = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let place = match header {
                Some(header) => ColumnPlace::Start(header.column(field)?),
                None => place_without_header(field)?,
            };
            match wanted.iter().find(|wanted| wanted.place == place) {
                Some(first) => duplicates.push((index, first.field)),
                None => wanted.push(WantedColumn { place, field: index }),
            }
        }
        wanted.sort_by_key(|wanted| wanted.place);
        Ok(Self { dialect, has_header: header.is_some(), wanted, duplicates })
    }

    /// Appends a cell for each wanted field and each record.
    pub(crate) fn extract(&self, text: &[u8], records: &[Span], cells: &mut Cells) {
        let take = |wanted: &WantedColumn| std::mem::take(&mut cells.columns_mut()[wanted.field]);
        let mut columns: Vec<Vec<Cell>> = self.wanted.iter().map(take).collect();
        extract::extract(self, text, records, &mut columns, cells);
        for (wanted, column) in self.wanted.iter().zip(columns) {
            cells.columns_mut()[wanted.field] = column;
        }
        for &(duplicate, first) in &self.duplicates {
            // The first is the earlier of the two.
            let (before, from) = cells.columns_mut().split_at_mut(duplicate);
            let new = from[0].len();
            from[0].extend_from_slice(&before[first][new..]);
        }
    }

    /// Whether a wanted column is counted from the end of a record.
    fn counts_from_end(&self) -> bool {
        matches!(self.wanted.last(), Some(WantedColumn { place: ColumnPlace::End(_), .. }))
    }
}

/// Returns the place of a field in a file without a header.
fn place_without_header(field: &Field) -> Result<ColumnPlace, FormatError> {
    match field {
        Field::Position(number @ 1..) => Ok(ColumnPlace::Start(number.unsigned_abs() as usize - 1)),
        Field::Position(number) => Ok(ColumnPlace::End(Reverse(number.unsigned_abs() as usize))),
        Field::Named(Name { text, .. }) => Err(FormatError::Other(format!(
            "no column '{text}'; without a header, columns have only numbers"
        ))),
    }
}
