//! Fields of plain lines by position.

use crate::cells::{Cell, Cells, Span, bytes_of};
use crate::query::field::Field;
use crate::query::fields::index_of;
use crate::query::input_format::FormatError;
use crate::query::options::Splitter;
use crate::records::split::{OpenQuote, SplitCache, nth_blank_field};

/// Extracts fields of lines by position.
#[derive(Debug)]
pub(crate) struct LineFields {
    splitter: Splitter,
    positions: Vec<i32>,
    /// Number of leading fields that a record must be split into; `usize::MAX` for all.
    needed: usize,
}

/// Scratch memory of an extraction.
#[derive(Debug)]
pub(crate) struct LineScratch {
    split: SplitCache,
    fields: Vec<Span>,
    missing: Vec<u32>,
}

impl LineFields {
    pub(crate) fn new(splitter: Splitter, fields: &[Field]) -> Result<Self, FormatError> {
        let position = |field: &Field| match field {
            Field::Position(position) => Ok(*position),
            Field::Named(name) => Err(FormatError::NoNames(name.text.clone())),
        };
        let positions = fields.iter().map(position).collect::<Result<Vec<_>, _>>()?;
        let needed = |&position: &i32| usize::try_from(position).unwrap_or(usize::MAX);
        let needed = positions.iter().map(needed).max().unwrap_or(0);
        Ok(Self { splitter, positions, needed })
    }

    pub(crate) fn scratch(&self) -> LineScratch {
        LineScratch { split: self.splitter.cache(), fields: Vec::new(), missing: Vec::new() }
    }

    /// Appends the fields of records to `cells`. A record is split only up to the last wanted field.
    pub(crate) fn extract(
        &self,
        scratch: &mut LineScratch,
        text: &[u8],
        records: &[Span],
        cells: &mut Cells,
    ) {
        match (&self.splitter, &self.positions[..]) {
            // One field is the most frequent question; no list of fields has to be made for it.
            (Splitter::Blanks, &[position]) if position > 0 => {
                extract_one(scratch, text, records, position.unsigned_abs(), &mut cells.columns_mut()[0]);
            }
            _ => self.extract_one_by_one(scratch, text, records, cells),
        }
    }

    fn extract_one_by_one(
        &self,
        LineScratch { split, fields, .. }: &mut LineScratch,
        text: &[u8],
        records: &[Span],
        cells: &mut Cells,
    ) {
        for (index, &record) in records.iter().enumerate() {
            let outcome = self.splitter.split(split, bytes_of(text, record), self.needed, fields);
            if outcome == Err(OpenQuote) {
                let at = record.0 + fields.last().map_or(0, |field| field.1);
                cells.push_malformed(index, (at, "unclosed quote"));
                continue;
            }
            for (&position, column) in self.positions.iter().zip(cells.columns_mut()) {
                let field = index_of(position, fields.len()).map(|index| fields[index]);
                column.push(Cell::at(field.map(|(start, end)| (record.0 + start, record.0 + end))));
            }
        }
    }
}

/// Extracts a single field that is separated by blanks.
fn extract_one(
    LineScratch { fields, missing, .. }: &mut LineScratch,
    text: &[u8],
    records: &[Span],
    number: u32,
    column: &mut Vec<Cell>,
) {
    nth_blank_field(text, records, number, fields, missing);
    if missing.is_empty() {
        return column.extend(fields.iter().copied().map(Cell::raw));
    }
    let (mut fields, mut missing) = (fields.iter(), missing.iter().peekable());
    for index in 0..records.len() as u32 {
        if missing.next_if(|&&missing| missing == index).is_some() {
            column.push(Cell::Missing);
        } else {
            column.extend(fields.next().copied().map(Cell::raw));
        }
    }
}
