//! Places in the text of a block, and the values of fields of its records, by column.

use std::mem;

/// Evaluates an expression for the contents of an enum with variants `Narrow` and `Wide`.
macro_rules! either {
    ($kind:ident, $value:expr, $contents:ident => $result:expr) => {
        match $value {
            $kind::Narrow($contents) => $result,
            $kind::Wide($contents) => $result,
        }
    };
}
pub(crate) use either;

/// Start and end of a record or a key in a text.
pub(crate) type Span = (usize, usize);

/// Returns the bytes of a span.
#[inline(always)]
pub(crate) fn bytes_of(text: &[u8], (start, end): Span) -> &[u8] {
    &text[start..end]
}

/// The value of a field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// The record has no such field.
    Missing,
    /// Start and end of the value in the block.
    Raw(u32, u32),
    /// Start and end of a value that differs from its bytes in the block, such as a string with escapes, in the decoded
    /// text of the cells.
    Decoded(u32, u32),
}

/// Origin of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnOrigin {
    /// The field of the format with this index.
    Format(usize),
    /// The group with this index of the expression for keys.
    Group(usize),
    /// The name of the input.
    Input,
}

/// A record that does not have the format of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Index of the record.
    pub(crate) record: u32,
    /// Position in the block at which the format is violated.
    pub(crate) at: u32,
    /// The reason, such as "expected ':' after the key".
    pub(crate) reason: &'static str,
}

/// A violation of a format: its position in the block, and the reason.
pub(crate) type Violation = (usize, &'static str);

/// Values of the wanted fields of the records of a block. The memory is reused from block to block.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// Only the first `used` columns are valid. The others keep their memory for a block with more.
    columns: Vec<Vec<Cell>>,
    used: usize,
    decoded: Vec<u8>,
    malformed: Vec<Malformed>,
}

impl Cell {
    /// A value at this place of the block.
    #[inline(always)]
    pub(crate) fn raw((start, end): Span) -> Self {
        Self::Raw(start as u32, end as u32)
    }

    /// The value at a place of the block, or a missing one.
    #[inline(always)]
    pub(crate) fn at(place: Option<Span>) -> Self {
        place.map_or(Self::Missing, Self::raw)
    }
}

impl Cells {
    /// Makes room for the values of `fields` fields, without any record.
    pub(crate) fn reset(&mut self, fields: usize) {
        self.used = fields;
        self.columns.resize_with(fields.max(self.columns.len()), Vec::new);
        self.columns.iter_mut().for_each(Vec::clear);
        self.decoded.clear();
        self.malformed.clear();
    }

    /// Adds columns up to a number of fields, without a value for each of `records` records.
    pub(crate) fn widen(&mut self, fields: usize, records: usize) {
        self.columns.resize_with(fields.max(self.columns.len()), Vec::new);
        for column in self.columns.iter_mut().take(fields).skip(self.used) {
            column.clear();
            column.resize(records, Cell::Missing);
        }
        self.used = self.used.max(fields);
    }

    /// Number of fields.
    pub(crate) fn width(&self) -> usize {
        self.used
    }

    /// The values of a field, one for each record.
    pub(crate) fn column(&self, field: usize) -> &[Cell] {
        &self.columns[..self.used][field]
    }

    /// The columns of all fields. An extractor appends exactly one cell to each for each record.
    pub(crate) fn columns_mut(&mut self) -> &mut [Vec<Cell>] {
        &mut self.columns[..self.used]
    }

    /// Sets the value of a field of a record, whose cell was appended before.
    pub(crate) fn set(&mut self, field: usize, record: usize, cell: Cell) {
        self.columns_mut()[field][record] = cell;
    }

    /// Appends [`Cell::Missing`] to each column, for one record.
    pub(crate) fn push_missing(&mut self) {
        self.columns_mut().iter_mut().for_each(|column| column.push(Cell::Missing));
    }

    /// Stores a decoded value.
    pub(crate) fn decode(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Cell {
        let start = self.decoded.len();
        write(&mut self.decoded);
        Cell::Decoded(start as u32, self.decoded.len() as u32)
    }

    /// The decoded values of all columns.
    pub(crate) fn decoded(&self) -> &[u8] {
        &self.decoded
    }

    /// Reports that a record is malformed. Its cells must all be missing.
    pub(crate) fn report(&mut self, record: usize, (at, reason): Violation) {
        self.malformed.push(Malformed { record: record as u32, at: at as u32, reason });
    }

    /// Appends missing cells for a malformed record.
    pub(crate) fn push_malformed(&mut self, record: usize, violation: Violation) {
        self.push_missing();
        self.report(record, violation);
    }

    /// The malformed records, in order.
    pub(crate) fn malformed(&self) -> &[Malformed] {
        &self.malformed
    }

    /// Keeps the values of these records.
    pub(crate) fn keep(&mut self, records: &[u32]) {
        self.columns_mut().iter_mut().for_each(|column| keep_rows(column, records));
    }

    /// Repeats records: `rows` has the index of the record of each row, in order.
    pub(crate) fn repeat(&mut self, rows: &[u32]) {
        for column in self.columns_mut() {
            *column = rows.iter().map(|&record| column[record as usize]).collect();
        }
        let all = mem::take(&mut self.malformed);
        let mut rest = all.iter().peekable();
        for (row, &record) in (0..).zip(rows) {
            while rest.next_if(|malformed| malformed.record < record).is_some() {}
            if let Some(&&malformed) = rest.peek().filter(|malformed| malformed.record == record) {
                self.malformed.push(Malformed { record: row, ..malformed });
            }
        }
    }

    /// Whether all values of a field are in the block or missing.
    pub(crate) fn is_raw(&self, field: usize) -> bool {
        !self.column(field).iter().any(|cell| matches!(cell, Cell::Decoded(..)))
    }

    /// Replaces the columns by columns of this or of `groups`, or the name of the input in each of `rows`.
    pub(crate) fn arrange(&mut self, groups: &Self, origins: &[ColumnOrigin], (input, rows): (&[u8], usize)) {
        let has_input = origins.contains(&ColumnOrigin::Input);
        let input = if has_input { self.decode(|out| out.extend_from_slice(input)) } else { Cell::Missing };
        let column = |origin: &ColumnOrigin| match *origin {
            ColumnOrigin::Format(field) => self.column(field).to_vec(),
            ColumnOrigin::Group(group) => groups.column(group).to_vec(),
            ColumnOrigin::Input => vec![input; rows],
        };
        self.columns = origins.iter().map(column).collect();
        self.used = self.columns.len();
    }

    /// Returns the bytes of a value of the block `text`; `None` if it is missing.
    #[inline(always)]
    pub(crate) fn bytes<'a>(&'a self, text: &'a [u8], cell: Cell) -> Option<&'a [u8]> {
        match cell {
            Cell::Missing => None,
            Cell::Raw(start, end) => Some(bytes_of(text, (start as usize, end as usize))),
            Cell::Decoded(start, end) => Some(bytes_of(&self.decoded, (start as usize, end as usize))),
        }
    }
}

/// Keeps the values of these rows, which are in order.
pub(crate) fn keep_rows<T: Copy>(values: &mut Vec<T>, rows: &[u32]) {
    for (kept, &row) in rows.iter().enumerate() {
        values[kept] = values[row as usize];
    }
    values.truncate(rows.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keep_their_memory_from_block_to_block() {
        let mut cells = Cells::default();
        cells.reset(2);
        (0..1000).for_each(|_| cells.push_missing());
        let memory =
            |cells: &Cells| -> Vec<_> { cells.columns.iter().map(|column| column.as_ptr()).collect() };
        let before = memory(&cells);
        // The key has no fields, the condition one, and the measures two.
        for fields in [0, 1, 2] {
            cells.reset(fields);
            assert_eq!(cells.columns_mut().len(), fields);
            (0..1000).for_each(|_| cells.push_missing());
        }
        assert_eq!(memory(&cells), before);
    }
}
