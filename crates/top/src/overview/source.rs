//! All fields of the records of a file.

use crate::cells::{Cells, ColumnOrigin, Span, bytes_of};
use crate::key::normalize::Normalizer;
use crate::query::field::Field;
use crate::query::input_format::FormatError;
use crate::query::options::Splitter;
use crate::query::row_query::Columns;
use crate::records::format::Extractor;
use crate::records::row_time::TimePlan;

/// Maximum number of fields of lines by position.
const MAX_POSITIONS: usize = 32;

/// Minimum number of lines by which fields by position are recognised.
const MIN_LINES: usize = 3;

/// Fields whose parts are fields as well.
const WHOLES: [(&str, &str); 2] = [("request", "path"), ("url", "path")];

/// All fields of a format.
#[derive(Debug)]
pub(crate) enum AllFields {
    /// These, with their names.
    Fixed { fields: Vec<(String, Field)>, extractor: Extractor },
    /// The members of objects of JSON.
    Members,
    /// The pairs of logfmt.
    Pairs,
    /// Nothing but text.
    Messages,
}

impl AllFields {
    /// Fields with these names. `extractor` makes an extractor of fields.
    pub(crate) fn named(
        fields: Vec<(String, Field)>,
        extractor: impl FnOnce(&[Field]) -> Result<Extractor, FormatError>,
    ) -> Result<Self, FormatError> {
        let wanted: Vec<Field> = fields.iter().map(|(_, field)| field.clone()).collect();
        Ok(Self::Fixed { fields, extractor: extractor(&wanted)? })
    }

    /// The column of the field with the times of a file, if it is one of these fields.
    pub(crate) fn column_of(&self, time: &TimePlan) -> Option<usize> {
        let Self::Fixed { fields, .. } = self else { return None };
        let (Columns { fields: wanted, origins }, _) = time.columns()?;
        let ([field], [ColumnOrigin::Format(0)]) = (&wanted[..], &origins[..]) else { return None };
        fields.iter().position(|(_, known)| known == field)
    }
}

/// The fields of a format with these names, without those whose parts are among them.
pub(crate) fn without_wholes(fields: Vec<Field>) -> Vec<(String, Field)> {
    let named: Vec<(String, Field)> = fields.into_iter().map(|field| (field.written(), field)).collect();
    let has = |name: &str| named.iter().any(|(known, _)| known == name);
    let is_whole = |name: &str| WHOLES.iter().any(|&(whole, part)| whole == name && has(part));
    let kept: Vec<bool> = named.iter().map(|(name, _)| !is_whole(name)).collect();
    named.into_iter().zip(kept).filter_map(|(field, is_kept)| is_kept.then_some(field)).collect()
}

/// The columns of a table with these names, each by its first column. A column without a name has its number.
pub(crate) fn columns<'n>(names: impl Iterator<Item = &'n str>) -> Vec<(String, Field)> {
    let mut columns: Vec<(String, Field)> = Vec::new();
    for (number, name) in (1..).zip(names) {
        let name = if name.is_empty() { number.to_string() } else { Field::named(name).written() };
        if !columns.iter().any(|(known, _)| *known == name) {
            columns.push((name, Field::Position(number)));
        }
    }
    columns
}

/// The fields by position that all of some lines have. Empty if the lines have different numbers of fields, or there are too few lines.
pub(crate) fn positions(splitter: &Splitter, text: &[u8], lines: &[Span]) -> Vec<(String, Field)> {
    let (mut cache, mut fields) = (splitter.cache(), Vec::new());
    let mut count = |&line: &Span| {
        let split = splitter.split(&mut cache, bytes_of(text, line), usize::MAX, &mut fields);
        split.map_or(0, |()| fields.len())
    };
    let counts: Vec<usize> = lines.iter().map(&mut count).collect();
    match counts[..] {
        [first, ..]
            if counts.len() >= MIN_LINES
                && (2..=MAX_POSITIONS).contains(&first)
                && counts.iter().all(|count| *count == first) =>
        {
            (1..=first as i32).map(|number| (number.to_string(), Field::Position(number))).collect()
        }
        _ => Vec::new(),
    }
}

/// Names of the columns of messages.
pub(super) const OF_MESSAGES: [&str; 2] = ["message", "length"];

/// Appends the kinds and the lengths of messages. The variable parts of a kind are placeholders.
pub(super) fn add_messages(text: &[u8], records: &[Span], cells: &mut Cells) {
    let normalizer = Normalizer::all();
    for &record in records {
        let kind = cells.decode(|out| normalizer.apply(bytes_of(text, record), out));
        let length = cells.decode(|out| out.extend_from_slice((record.1 - record.0).to_string().as_bytes()));
        cells.columns_mut()[0].push(kind);
        cells.columns_mut()[1].push(length);
    }
}
