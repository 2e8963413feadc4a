//! Fields that no record has, such as those whose names are misspelt.

use finecomb_sys::varint;

use crate::cells::{Cell, Cells, ColumnOrigin};
use crate::query::field::Field;
use crate::query::row_query::{KeySource, RowQuery};

/// A field of a query that no record has. Its conditions are false, and its measures have no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentField {
    /// The field, as written in the part of the query.
    pub field: String,
    /// The part of the query.
    pub part: QueryPart,
}

/// A part of a query that uses a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryPart {
    /// The condition.
    Condition {
        /// Whether the field may be a text that lacks its quotes, as in `level == error`.
        may_be_text: bool,
    },
    /// The key.
    Key,
    /// The measure with this index, and perhaps later ones.
    Measure(usize),
}

/// The columns that have a value in some record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Presence {
    has_records: bool,
    /// Whether a value has been found, by column.
    found: Vec<bool>,
}

impl Presence {
    pub(crate) fn new(columns: usize) -> Self {
        Self { has_records: false, found: vec![false; columns] }
    }

    /// Examines the rows of a block. A column is examined only until it has had a value.
    pub(crate) fn add(&mut self, cells: &Cells, rows: usize) {
        self.has_records |= rows > cells.malformed().len();
        for (column, found) in self.found.iter_mut().enumerate().filter(|(_, found)| !**found) {
            *found = cells.column(column).iter().any(|&cell| cell != Cell::Missing);
        }
    }

    /// Merges the columns of two workers.
    pub(crate) fn merge(mut self, other: &Self) -> Self {
        self.has_records |= other.has_records;
        self.found.resize(self.found.len().max(other.found.len()), false);
        for (found, &other) in self.found.iter_mut().zip(&other.found) {
            *found |= other;
        }
        self
    }

    /// Appends whether there are records, and by column whether a value was found.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.has_records.into());
        varint::put(out, self.found.len() as u64);
        out.extend(self.found.iter().map(|found| u8::from(*found)));
    }

    /// Takes what [`Presence::encode`] has written from the beginning of `bytes`. `None` if there is something else.
    pub(crate) fn decode(bytes: &mut &[u8]) -> Option<Self> {
        let has_records = take_flag(bytes)?;
        let columns = varint::take(bytes)?;
        let found = (0..columns).map(|_| take_flag(bytes)).collect::<Option<_>>()?;
        Some(Self { has_records, found })
    }

    /// Whether there are well-formed records, and none has a value in this column.
    pub(crate) fn lacks(&self, column: usize) -> bool {
        self.has_records && self.found.get(column) == Some(&false)
    }
}

impl RowQuery {
    /// The fields that no record has, by what was found of those of the condition, and of those of the key and the
    /// measures.
    pub(crate) fn absent(&self, condition: &Presence, values: &Presence) -> Vec<AbsentField> {
        let of_condition = self.condition.iter().flat_map(|parsed| {
            let fields = parsed.fields().iter().enumerate();
            fields.filter(|&(column, _)| condition.lacks(column)).map(|(column, field)| AbsentField {
                field: match field {
                    Field::Position(number) => format!("${number}"),
                    Field::Named(name) => name.text.clone(),
                },
                part: QueryPart::Condition { may_be_text: parsed.may_be_text(column) },
            })
        });
        let name = |column: usize| self.name_of(&self.value_columns, column);
        // Records without a field of the key are skipped and reported, unless a text takes its place.
        let key_columns = match self.key {
            KeySource::Columns(count) if self.missing.is_some() => count,
            _ => 0,
        };
        let origins = &self.value_columns.origins;
        let is_named_once = |column: usize| {
            let origin = origins[column];
            matches!(origin, ColumnOrigin::Format(_)) && !origins[..column].contains(&origin)
        };
        let of_key = (0..key_columns).filter(|&column| values.lacks(column) && is_named_once(column));
        let of_key = of_key.map(|column| AbsentField { field: name(column), part: QueryPart::Key });
        let is_first = |at: usize, column: usize| self.measures[..at].iter().all(|other| other.1 != column);
        let measured = self.measures.iter().enumerate().map(|(at, &(_, column))| (at, column));
        let of_measures = measured
            .filter(|&(at, column)| values.lacks(column) && is_first(at, column))
            .map(|(at, column)| AbsentField { field: name(column), part: QueryPart::Measure(at) });
        of_condition.chain(of_key).chain(of_measures).collect()
    }
}

/// Takes a byte that is 0 or 1.
pub(crate) fn take_flag(bytes: &mut &[u8]) -> Option<bool> {
    let flag;
    (flag, *bytes) = bytes.split_first()?;
    match flag {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The presence of two columns in rows of `1` and `.` for each, after a number of malformed ones.
    fn presence(rows: &[&str], malformed: u32) -> Presence {
        let mut cells = Cells::default();
        cells.reset(2);
        for record in 0..malformed {
            cells.push_missing();
            cells.report(record as usize, (0, "bad"));
        }
        for row in rows {
            for (column, byte) in cells.columns_mut().iter_mut().zip(row.bytes()) {
                column.push(if byte == b'1' { Cell::Raw(0, 1) } else { Cell::Missing });
            }
        }
        let mut presence = Presence::new(2);
        presence.add(&cells, rows.len() + malformed as usize);
        presence
    }

    #[test]
    fn a_column_without_a_value_in_any_block_of_any_worker_is_lacking() {
        let workers =
            [presence(&["1.", ".."], 0), Presence::default(), presence(&[".."], 1), presence(&[], 0)];
        for first in 0..workers.len() {
            let mut workers = workers.clone();
            workers.rotate_left(first);
            let merged = workers.iter().fold(Presence::default(), Presence::merge);
            assert_eq!([0, 1, 2].map(|column| merged.lacks(column)), [false, true, false], "{first}");
        }
    }

    #[test]
    fn nothing_is_lacking_without_a_sound_record() {
        assert!(!presence(&[], 0).lacks(0));
        assert!(!presence(&[], 3).lacks(0));
        assert!(presence(&[".."], 3).lacks(0));
    }
}
