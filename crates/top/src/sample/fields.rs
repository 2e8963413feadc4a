//! All fields of a record, with the kinds of their values.

use std::iter::once;

use finecomb_scan::Heading;

use crate::cells::{Cells, bytes_of};
use crate::measure::number::parse_with_unit;
use crate::overview::source::AllFields;
use crate::overview::time_reader::TimeReader;
use crate::query::field::Field;
use crate::query::input_format::FormatError;
use crate::records::format::Extractor;
use crate::records::format::json::Json;
use crate::records::format::logfmt::Logfmt;
use crate::records::layout::Plan;
use crate::records::named_fields::{keys, members};
use crate::records::split::first_line;

/// The fields of a record of this plan that have a value, each with its name. A malformed record, and one of a format without fields, has none.
pub(super) fn all_values(
    plan: &Plan,
    (record, heading): (&[u8], &Option<Heading>),
) -> Vec<(String, Vec<u8>)> {
    let span = (0, record.len());
    let span = if plan.values.reads_first_line() { first_line(record, span) } else { span };
    let text = bytes_of(record, span);
    let values = match &plan.all {
        Some(AllFields::Fixed { fields, extractor }) => {
            let names = fields.iter().map(|(name, _)| name.clone()).collect();
            Ok(extract(names, extractor, (text, heading)))
        }
        Some(AllFields::Members) => {
            let json = |fields: &[Field]| Json::new(fields).map(Extractor::Json);
            extract_found(members(once(text)), json, text)
        }
        Some(AllFields::Pairs) => {
            let logfmt = |fields: &[Field]| Logfmt::new(fields).map(Extractor::Logfmt);
            extract_found(keys(once(text)), logfmt, text)
        }
        Some(AllFields::Messages) | None => Ok(Vec::new()),
    };
    values.unwrap_or_default()
}

/// The values of fields that were found in the record.
fn extract_found(
    fields: Vec<Field>,
    extractor: impl Fn(&[Field]) -> Result<Extractor, FormatError>,
    text: &[u8],
) -> Result<Vec<(String, Vec<u8>)>, FormatError> {
    let extractor = extractor(&fields)?;
    Ok(extract(fields.iter().map(Field::written).collect(), &extractor, (text, &None)))
}

fn extract(
    names: Vec<String>,
    extractor: &Extractor,
    (text, heading): (&[u8], &Option<Heading>),
) -> Vec<(String, Vec<u8>)> {
    let mut cells = Cells::default();
    cells.reset(names.len());
    extractor.extract(&mut extractor.scratch().after(heading), text, &[(0, text.len())], &mut cells);
    let value = |column: usize| cells.bytes(text, cells.column(column)[0]).map(<[u8]>::to_vec);
    (0..).zip(names).filter_map(|(column, name)| Some((name, value(column)?))).collect()
}

/// Kind of a value, in words.
pub(super) fn kind(value: &[u8], reader: &mut TimeReader) -> &'static str {
    match (parse_with_unit(value, 0, value.len()), value) {
        (Ok((_, true)), _) => "duration",
        (Ok((_, false)), _) => "number",
        (_, b"" | b"-") => "none",
        (_, b"true" | b"false") => "true or false",
        _ if reader.read(value).is_some() => "time",
        _ => "text",
    }
}
