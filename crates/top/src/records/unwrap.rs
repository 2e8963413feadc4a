//! Records in the text of a field of other records, as the lines of programs in the logs of Docker.
//!
//! The text of a block is extended by the inner records. Each has the span of its outer record before it, so that the fields of
//! the outer record are found as well.

use std::borrow::Cow;

use finecomb_scan::Heading;

use crate::cells::{Cell, Cells, Malformed, Span, bytes_of};
use crate::query::field::Field;
use crate::query::input_format::FormatError;
use crate::records::format::{Extractor, Scratch};
use crate::records::split::first_line;

/// Length of the span of the outer record.
const SPAN: usize = 8;

/// Finds inner records.
#[derive(Debug)]
pub(crate) struct Unwrapping {
    /// Extracts the field with the inner record.
    field: Extractor,
}

impl Unwrapping {
    pub(crate) fn new(field: Extractor) -> Self {
        Self { field }
    }

    /// Copies a block that follows a heading to `text` and appends the inner records. `records` are the outer records, and become the
    /// inner ones. Records without an inner one are added to `malformed`.
    pub(crate) fn unwrap(
        &self,
        (block, heading): (&[u8], &Option<Heading>),
        text: &mut Vec<u8>,
        records: &mut Vec<Span>,
        malformed: &mut Vec<(Span, Malformed)>,
    ) {
        text.clear();
        text.extend_from_slice(block);
        let mut cells = Cells::default();
        cells.reset(1);
        let outer = std::mem::take(records);
        let lines = lines_for(&self.field, block, &outer);
        self.field.extract(&mut self.field.scratch().after(heading), block, &lines, &mut cells);
        let mut violations = cells.malformed().iter().peekable();
        for (number, &record) in (0..).zip(&outer) {
            if let Some(violation) = violations.next_if(|violation| violation.record == number) {
                malformed.push((record, *violation));
                continue;
            }
            let value = cells.bytes(block, cells.column(0)[number as usize]);
            let reason = match value.map(without_line_end) {
                None => "the field with the record is missing",
                Some(value) if text.len() + SPAN + value.len() > u32::MAX as usize => {
                    "the record is too long"
                }
                Some(value) => {
                    text.extend_from_slice(&(record.0 as u32).to_le_bytes());
                    text.extend_from_slice(&(record.1 as u32).to_le_bytes());
                    text.extend_from_slice(value);
                    records.push((text.len() - value.len(), text.len()));
                    continue;
                }
            };
            malformed.push((record, Malformed { record: number, at: record.0 as u32, reason }));
        }
    }
}

/// The span of the outer record of an inner one.
pub(crate) fn outer_record(text: &[u8], (start, _): Span) -> Span {
    let number = |from: usize| {
        text.get(from..).and_then(|text| text.first_chunk()).map(|&four| u32::from_le_bytes(four))
    };
    let span = start.checked_sub(SPAN).and_then(|at| Some((number(at)? as usize, number(at + 4)? as usize)));
    span.unwrap_or_default()
}

/// The part of each record that an extractor reads.
fn lines_for<'r>(extractor: &Extractor, text: &[u8], records: &'r [Span]) -> Cow<'r, [Span]> {
    match extractor.reads_first_line() {
        true => records.iter().map(|&record| first_line(text, record)).collect(),
        false => records.into(),
    }
}

fn without_line_end(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Extracts fields of inner records, and those that an inner record lacks from its outer record.
#[derive(Debug)]
pub(crate) struct UnwrappedFields {
    inner: Part,
    outer: Part,
}

/// The fields that are extracted from the inner or the outer record.
#[derive(Debug)]
struct Part {
    extractor: Extractor,
    /// The column of each field.
    columns: Vec<usize>,
}

/// Scratch memory of [`UnwrappedFields`].
#[derive(Debug)]
pub(crate) struct UnwrappedScratch {
    inner: (Scratch, Cells),
    outer: (Scratch, Cells),
}

impl UnwrappedScratch {
    /// Prepares for a block that follows this heading.
    pub(crate) fn follow(&mut self, heading: &Option<Heading>) {
        let outer = std::mem::replace(&mut self.outer.0, Scratch::None);
        self.outer.0 = outer.after(heading);
    }
}

impl Part {
    /// The fields that a format may have.
    fn new(
        fields: &[Field],
        extractor: &impl Fn(&[Field]) -> Result<Extractor, FormatError>,
    ) -> Result<Self, FormatError> {
        let columns: Vec<usize> =
            (0..fields.len()).filter(|&column| extractor(&fields[column..=column]).is_ok()).collect();
        let found: Vec<Field> = columns.iter().map(|&column| fields[column].clone()).collect();
        Ok(Self { extractor: extractor(&found)?, columns })
    }

    fn scratch(&self) -> (Scratch, Cells) {
        (self.extractor.scratch(), Cells::default())
    }

    fn extract(&self, (scratch, cells): &mut (Scratch, Cells), text: &[u8], records: &[Span]) {
        cells.reset(self.columns.len());
        self.extractor.extract(scratch, text, records, cells);
    }
}

impl UnwrappedFields {
    /// `inner` and `outer` make extractors of the formats of the records.
    pub(crate) fn new(
        fields: &[Field],
        inner: impl Fn(&[Field]) -> Result<Extractor, FormatError>,
        outer: impl Fn(&[Field]) -> Result<Extractor, FormatError>,
    ) -> Result<Self, FormatError> {
        let (inner_part, outer_part) = (Part::new(fields, &inner)?, Part::new(fields, &outer)?);
        let known =
            |column: &usize| inner_part.columns.contains(column) || outer_part.columns.contains(column);
        if let Some(column) = (0..fields.len()).find(|column| !known(column)) {
            // Its message has the nearest names.
            outer(&fields[column..=column])?;
        }
        Ok(Self { inner: inner_part, outer: outer_part })
    }

    /// Extracts from inner records only.
    pub(crate) fn inner(&self) -> &Extractor {
        &self.inner.extractor
    }

    /// Extracts from outer records only.
    pub(crate) fn outer(&self) -> &Extractor {
        &self.outer.extractor
    }

    pub(crate) fn scratch(&self) -> UnwrappedScratch {
        UnwrappedScratch { inner: self.inner.scratch(), outer: self.outer.scratch() }
    }

    /// Appends a cell for each wanted field and each record. A malformed record, inner or outer, is reported only if a field is missing
    /// then; of two, the inner one.
    pub(crate) fn extract(
        &self,
        scratch: &mut UnwrappedScratch,
        text: &[u8],
        records: &[Span],
        cells: &mut Cells,
    ) {
        let first = cells.columns_mut().first().map_or(0, Vec::len);
        records.iter().for_each(|_| cells.push_missing());
        self.inner.extract(&mut scratch.inner, text, records);
        let found = &scratch.inner.1;
        for (field, &column) in self.inner.columns.iter().enumerate() {
            copy(found, field, cells, (column, first), records.len());
        }
        let mut malformed = scratch.inner.1.malformed().to_vec();
        let is_complete = |column: &usize| !cells.column(*column)[first..].contains(&Cell::Missing);
        if !self.outer.columns.iter().all(is_complete) {
            let outer: Vec<Span> = records.iter().map(|&record| outer_record(text, record)).collect();
            let outer = lines_for(&self.outer.extractor, text, &outer);
            self.outer.extract(&mut scratch.outer, text, &outer);
            for (field, &column) in self.outer.columns.iter().enumerate() {
                copy(&scratch.outer.1, field, cells, (column, first), records.len());
            }
            malformed.extend_from_slice(scratch.outer.1.malformed());
            malformed.sort_by_key(|malformed| malformed.record);
            malformed.dedup_by_key(|malformed| malformed.record);
        }
        for Malformed { record, at, reason } in malformed {
            let row = first + record as usize;
            let columns = 0..cells.columns_mut().len();
            if columns.clone().any(|column| cells.column(column)[row] == Cell::Missing) {
                columns.for_each(|column| cells.set(column, row, Cell::Missing));
                cells.report(row, (at as usize, reason));
            }
        }
    }
}

/// Sets the missing values of a column from a row on to those that were found.
fn copy(found: &Cells, field: usize, cells: &mut Cells, (column, first): (usize, usize), records: usize) {
    for record in 0..records {
        if cells.column(column)[first + record] != Cell::Missing {
            continue;
        }
        let cell = match found.column(field)[record] {
            Cell::Decoded(start, end) => {
                let value = bytes_of(found.decoded(), (start as usize, end as usize));
                cells.decode(|out| out.extend_from_slice(value))
            }
            cell => cell,
        };
        cells.set(column, first + record, cell);
    }
}
