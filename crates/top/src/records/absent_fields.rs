//! Fields that no record has, such as those whose names are misspelt.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use finecomb_scan::{Block, Source, last_heading};
use finecomb_sys::varint;

use crate::cells::{Cell, Cells, ColumnOrigin, Span};
use crate::query::field::Field;
use crate::query::near_names::{field_meant, quoted};
use crate::query::row_query::{KeySource, RowQuery};
use crate::records::format::Extractor;
use crate::records::format::w3c;
use crate::records::named_fields::names_in_record;
use crate::records::unwrap::outer_record;

/// Bytes at the beginning of a source in which names of fields are collected, from records of at most as many bytes.
const HEAD: u64 = 16 << 10;

/// Maximum number of fields that are listed.
const LISTED: usize = 12;

/// A field of a query that no record has. Its conditions are false, and its measures have no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentField {
    /// The field, as written in the part of the query.
    pub field: String,
    /// The part of the query.
    pub part: QueryPart,
    /// Names of fields that records have, in words, with those that are near to the field. `None` if no names are known.
    pub hint: Option<String>,
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
    Key {
        /// Whether all records are skipped, as no text takes the place of the field.
        skips_all: bool,
    },
    /// The measure with this index, and perhaps later ones.
    Measure(usize),
}

/// The columns that have a value in some record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Presence {
    has_records: bool,
    /// Whether a value has been found, by column.
    found: Vec<bool>,
    /// The fields at the beginning of the first source, if a column had no value there.
    names: Option<FirstNames>,
}

/// The names of the fields of the records at the beginning of a source. They do not depend on its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FirstNames {
    source: Source,
    /// Each name with the offset of the first record that has it, and its number there.
    names: BTreeMap<String, (u64, usize)>,
}

impl FirstNames {
    /// Merges the names of the same source, or returns those of the first.
    fn merge(mut self, other: Self) -> Self {
        match self.source.cmp(&other.source) {
            Ordering::Less => self,
            Ordering::Greater => other,
            Ordering::Equal => {
                for (name, place) in other.names {
                    let first = self.names.entry(name).or_insert(place);
                    *first = place.min(*first);
                }
                self
            }
        }
    }

    /// The names in the order in which they come first.
    fn in_order(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|&(_, place)| place);
        names.into_iter().map(|(name, _)| name.as_str()).collect()
    }
}

/// The rows of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockRows<'a> {
    pub(crate) block: &'a Block<'a>,
    /// The text of the rows, which is that of the block unless they are in a field.
    pub(crate) text: &'a [u8],
    pub(crate) records: &'a [Span],
    pub(crate) extractor: &'a Extractor,
}

impl Presence {
    pub(crate) fn new(columns: usize) -> Self {
        Self { has_records: false, found: vec![false; columns], names: None }
    }

    /// Examines the rows of a block, whose values are in `cells`. A column is examined only until it has had a value.
    pub(crate) fn add(&mut self, cells: &Cells, rows: BlockRows<'_>) {
        self.has_records |= rows.records.len() > cells.malformed().len();
        for (column, found) in self.found.iter_mut().enumerate().filter(|(_, found)| !**found) {
            *found = cells.column(column).iter().any(|&cell| cell != Cell::Missing);
        }
        if self.found.contains(&false) {
            self.note_names(rows);
        }
    }

    /// Keeps the names of the fields of a block at the beginning of a source, unless those of a source before it are known.
    fn note_names(&mut self, BlockRows { block, text, records, extractor }: BlockRows<'_>) {
        let is_later = |known: &FirstNames| known.source < *block.source;
        if block.source_offset() >= HEAD || self.names.as_ref().is_some_and(is_later) {
            return;
        }
        let mut names = BTreeMap::new();
        for &record in records {
            // Records in a field have the place of the record around them.
            let at = if record.0 >= block.bytes.len() { outer_record(text, record).0 } else { record.0 };
            let offset = block.source_offset() + at as u64;
            if offset >= HEAD {
                break;
            }
            if (record.1 - record.0) as u64 > HEAD {
                // A message lists a few names, and to read all of a large record takes long.
                continue;
            }
            let heading = last_heading(&block.bytes[..at], w3c::FIELDS, usize::MAX);
            let heading = heading.or_else(|| block.heading.clone());
            let fields = names_in_record(extractor, (text, &heading), record);
            for (number, field) in fields.iter().enumerate() {
                names.entry(field.written()).or_insert((offset, number));
            }
        }
        if !names.is_empty() {
            let found = FirstNames { source: block.source.clone(), names };
            self.names = Some(match self.names.take() {
                Some(known) => known.merge(found),
                None => found,
            });
        }
    }

    /// Merges the columns of two workers.
    pub(crate) fn merge(mut self, other: &Self) -> Self {
        self.has_records |= other.has_records;
        self.found.resize(self.found.len().max(other.found.len()), false);
        for (found, &other) in self.found.iter_mut().zip(&other.found) {
            *found |= other;
        }
        self.names = self.names.into_iter().chain(other.names.clone()).reduce(FirstNames::merge);
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
        Some(Self { has_records, found, names: None })
    }

    /// Whether there are well-formed records, and none has a value in this column.
    pub(crate) fn lacks(&self, column: usize) -> bool {
        self.has_records && self.found.get(column) == Some(&false)
    }

    /// The names that are near to a field that no record has, or else the first of all names.
    fn hint(&self, field: &str) -> Option<String> {
        let names = self.names.as_ref()?.in_order();
        let list = || {
            let first: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name)).collect();
            let dots = if names.len() > LISTED { ", ..." } else { "" };
            format!("the fields are {}{dots}", first.join(", "))
        };
        Some(field_meant(field, names.iter().copied()).unwrap_or_else(list))
    }
}

impl RowQuery {
    /// The fields that no record has, by what was found of those of the condition, and of those of the key and the
    /// measures.
    pub(crate) fn absent(&self, condition: &Presence, values: &Presence) -> Vec<AbsentField> {
        let of_condition = self.condition.iter().flat_map(|parsed| {
            let fields = parsed.fields().iter().enumerate();
            fields.filter(|&(column, _)| condition.lacks(column)).map(|(column, field)| {
                let field = match field {
                    Field::Position(number) => format!("${number}"),
                    Field::Named(name) => name.text.clone(),
                };
                let part = QueryPart::Condition { may_be_text: parsed.may_be_text(column) };
                AbsentField { hint: condition.hint(&field), field, part }
            })
        });
        let name = |column: usize| self.name_of(&self.value_columns, column);
        let key_columns = match self.key {
            KeySource::Columns(count) => count,
            _ => 0,
        };
        let skips_all = self.missing.is_none();
        let absent = |column: usize, part: QueryPart| {
            let field = name(column);
            AbsentField { hint: values.hint(&field), field, part }
        };
        let origins = &self.value_columns.origins;
        let is_named_once = |column: usize| {
            let origin = origins[column];
            matches!(origin, ColumnOrigin::Format(_)) && !origins[..column].contains(&origin)
        };
        let pivot = self.pivot.iter().map(|&(_, column)| column).filter(|&column| column >= key_columns);
        let of_key =
            (0..key_columns).chain(pivot).filter(|&column| values.lacks(column) && is_named_once(column));
        let of_key = of_key.map(|column| absent(column, QueryPart::Key { skips_all }));
        let measured = self.measures.iter().enumerate().flat_map(|(at, (_, column))| {
            self.columns_of_measure(column).iter().map(move |&column| (column, at))
        });
        let mut known = HashSet::new();
        let of_measures = measured
            .filter(|&(column, _)| values.lacks(column) && known.insert(column))
            .map(|(column, at)| absent(column, QueryPart::Measure(at)));
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
    use crate::records::format::json::Json;

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
        let records = vec![(0, 0); rows.len() + malformed as usize];
        added(&cells, 0, b"", &records)
    }

    /// The presence of two columns in the records of the first block of a file of JSON.
    fn added(cells: &Cells, file: usize, text: &[u8], records: &[Span]) -> Presence {
        let source = Source::named(file, None);
        let mut text = text.to_vec();
        let block = Block::new(&source, 0, &mut text);
        let extractor = Extractor::Json(Json::new(&[]).expect("no fields"));
        let mut presence = Presence::new(2);
        presence.add(cells, BlockRows { block: &block, text: block.bytes, records, extractor: &extractor });
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

    #[test]
    fn hints_are_about_the_fields_of_the_first_file() {
        let file = |file: usize, text: &str| {
            let mut cells = Cells::default();
            cells.reset(2);
            cells.push_missing();
            added(&cells, file, text.as_bytes(), &[(0, text.len())])
        };
        let many: String = (0..20).map(|number| format!("\"f{number:02}\":1,")).collect();
        let files = [
            file(3, "{\"pat\":1}"),
            file(0, "{"),
            file(1, "{\"a\":{\"path\":1,\"b c.d\":2}}"),
            file(2, &format!("{{{many}\"z\":1}}")),
        ];
        for first in 0..files.len() {
            let mut files = files.clone();
            files.rotate_left(first);
            let merged = files.iter().fold(Presence::default(), Presence::merge);
            assert_eq!(merged.hint("path").as_deref(), Some("did you mean 'a.path'?"), "{first}");
            assert_eq!(
                merged.hint("x").as_deref(),
                Some("the fields are 'a.\"b c.d\"', 'a.path'"),
                "{first}"
            );
        }
        assert_eq!(files[1].hint("path"), None);
        let listed = files[3].hint("x").expect("names");
        assert!(listed.starts_with("the fields are 'f00', ") && listed.ends_with(", 'f11', ..."), "{listed}");
    }
}
