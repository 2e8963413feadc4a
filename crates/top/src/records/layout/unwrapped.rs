//! The format of records in the text of a field.

use std::slice;

use super::{FileFormat, Recognizer, Skipped, first_records};
use crate::cells::{Span, bytes_of};
use crate::query::field::Field;
use crate::query::input_format::{FormatError, InputFormat};
use crate::query::row_query::RowQuery;
use crate::records::format::detect::{Detected, detect, is_json};
use crate::records::unwrap::Unwrapping;

impl FileFormat<'_> {
    /// Finds the records, if they are in a field of others.
    pub(super) fn unwrapping(&self, query: &RowQuery) -> Option<Result<Unwrapping, FormatError>> {
        let Self::Unwrapped { field, outer, .. } = self else { return None };
        Some(outer.unwrapping_of(query, field))
    }

    fn unwrapping_of(&self, query: &RowQuery, field: &Field) -> Result<Unwrapping, FormatError> {
        self.extractor(query, slice::from_ref(field)).map(Unwrapping::new)
    }
}

impl Recognizer {
    /// The format of a file, with that of the records in a field if they are there, and the end of its header. `None` if more of
    /// the text is needed.
    pub(super) fn format(
        &self,
        head: &[u8],
        is_all: bool,
    ) -> Option<Result<(FileFormat<'_>, u64), FormatError>> {
        let query = &*self.0;
        let (outer, header_end) = match self.format_of_file(head, is_all)? {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        let of_format = match outer {
            FileFormat::Known(format) => query.unwrapped_field(format),
            _ => query.unwrapped_field(&InputFormat::Lines),
        };
        let (Some(field), Some(unwrap)) = (of_format, &query.unwrap) else {
            return Some(Ok((outer, header_end)));
        };
        let inner = match &unwrap.format {
            InputFormat::Auto => {
                let unwrapping = outer.unwrapping_of(query, field);
                let (by, unwrapping) = match query.records(&outer).and_then(|by| Ok((by, unwrapping?))) {
                    Ok(found) => found,
                    Err(error) => return Some(Err(error)),
                };
                let skipped = Skipped { header_end, comments: outer.has_headings() };
                let (records, true) = first_records(head, skipped, &by, is_all) else { return None };
                self.inner_format(head, records, &unwrapping)
            }
            known => FileFormat::Known(known),
        };
        let (outer, inner) = (Box::new(outer), Box::new(inner));
        Some(Ok((FileFormat::Unwrapped { field, outer, inner }, header_end)))
    }

    /// The format of the records in a field of the first records. Programs that write JSON often write lines of their own between
    /// it, so more than half of the records suffice: the others are reported as malformed.
    fn inner_format(&self, head: &[u8], mut records: Vec<Span>, unwrapping: &Unwrapping) -> FileFormat<'_> {
        let mut text = Vec::new();
        unwrapping.unwrap((head, &None), &mut text, &mut records, &mut Vec::new());
        let lines: Vec<&[u8]> = records.iter().map(|&record| bytes_of(&text, record)).collect();
        if lines.iter().filter(|line| is_json(line)).count() * 2 > lines.len() {
            return FileFormat::Known(&InputFormat::Json);
        }
        match detect(&lines.join(&b'\n'), true, &self.0.field_names()) {
            Some(Detected::Known(format)) if !format.needs_header() => FileFormat::Known(format),
            Some(Detected::Documents) => FileFormat::Known(&InputFormat::Json),
            _ => FileFormat::Unknown,
        }
    }
}
