//! Recognises named formats by the first lines of a file.
//!
//! A line has a format if its expression `recognised` matches, and its template or pattern as well, if it has one. Without that expression,
//! the line must have a time where the format has it: many lines have words, quotes and brackets in the same places.
//!
//! All lines must have the format, as for other [formats](crate::records::format::detect). If records may have several lines, or have a
//! header, the first line decides; then another line that begins a record of another kind, with a time, excludes the format.

use std::sync::{Arc, OnceLock};

use super::directory::{ReadFormat, formats_where, named_formats};
use super::{Base, FormatFileError, NamedFormat, Reader};
use crate::cells::Cells;
use crate::key::expression::{Case, Expression};
use crate::query::field::Field;
use crate::query::input_format::InputFormat;
use crate::records::format::Extractor;
use crate::records::format::access::AccessLog;
use crate::records::format::w3c;
use crate::time::{TimeForm, TimeKind};

/// A format that may be recognised.
struct Candidate {
    format: Arc<NamedFormat>,
    /// The same, as it is detected.
    input: InputFormat,
    deciding: Deciding,
    /// `None` if the format cannot be recognised. Most inputs have a format that is found before.
    means: OnceLock<Option<Means>>,
}

/// The means to recognise a format.
struct Means {
    recognised: Option<Expression>,
    /// Extracts the time, or any field if that does not matter. `None` if the records name their fields.
    time: Option<Extractor>,
}

/// Lines that decide whether a file has a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deciding {
    /// All lines, except one.
    All,
    /// The first line, if no other begins a record of another kind.
    First,
    /// The first line, which precedes the records.
    Header,
    /// The same, if one of the lines names columns.
    Names,
}

/// Returns the first named format that the lines have. `is_wanted` selects formats, and `is_enough` says whether as many of all lines
/// suffice.
pub(crate) fn recognise(
    lines: &[&[u8]],
    is_wanted: impl Fn(&NamedFormat) -> bool,
    is_enough: impl Fn(usize, usize) -> bool,
) -> Option<&'static InputFormat> {
    known().recognise(lines, is_wanted, is_enough)
}

/// The same for the formats whose records are those of `base`.
pub(crate) fn recognise_base(
    lines: &[&[u8]],
    base: Base,
    is_enough: impl Fn(usize, usize) -> bool,
) -> Option<&'static InputFormat> {
    static BASES: OnceLock<Known> = OnceLock::new();
    // Records in JSON and CSV are common, so that the other definitions are not even parsed.
    let bases = BASES.get_or_init(|| Known::of(formats_where(|text| text.contains("base"))));
    bases.recognise(lines, |format| format.reader == Reader::Base(base), is_enough)
}

/// The errors in files of a user.
pub(crate) fn faults() -> &'static [FormatFileError] {
    &known().faults
}

/// The formats that can be recognised, and the files that define none.
struct Known {
    candidates: Vec<Candidate>,
    faults: Vec<FormatFileError>,
}

/// Reads all formats once: the files of a user do not change while inputs are read.
fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| Known::of(named_formats()))
}

impl Known {
    fn of(formats: Vec<ReadFormat>) -> Self {
        let mut known = Self { candidates: Vec::new(), faults: Vec::new() };
        for format in formats {
            match format {
                Ok(format) => known.candidates.push(Candidate::new(format)),
                Err(fault) => known.faults.push(fault),
            }
        }
        known
    }

    fn recognise(
        &self,
        lines: &[&[u8]],
        is_wanted: impl Fn(&NamedFormat) -> bool,
        is_enough: impl Fn(usize, usize) -> bool,
    ) -> Option<&InputFormat> {
        let has_lines = |candidate: &Candidate| match candidate.deciding {
            Deciding::All => {
                is_enough(lines.iter().filter(|line| candidate.has_line(line)).count(), lines.len())
            }
            Deciding::Header => lines.first().is_some_and(|line| candidate.has_line(line)),
            Deciding::Names => {
                let has_names = lines.iter().any(|line| line.starts_with(w3c::FIELDS));
                has_names && lines.first().is_some_and(|line| candidate.has_line(line))
            }
            Deciding::First => lines.split_first().is_some_and(|(first, rest)| {
                let may_follow = |line: &&[u8]| {
                    candidate.has_line(line) || TimeForm::Usual.find(TimeKind::First, line).is_none()
                };
                candidate.has_line(first) && rest.iter().all(may_follow)
            }),
        };
        let mut candidates = self.candidates.iter();
        let found = candidates.find(|candidate| is_wanted(&candidate.format) && has_lines(candidate));
        found.map(|candidate| &candidate.input)
    }
}

impl Candidate {
    fn new(format: Arc<NamedFormat>) -> Self {
        let deciding = match format.reader {
            Reader::Base(Base::Csv | Base::Tsv) => Deciding::Header,
            Reader::Base(Base::W3c) => Deciding::Names,
            _ if format.record.is_some() => Deciding::First,
            _ => Deciding::All,
        };
        let input = InputFormat::Named(Arc::clone(&format));
        Self { format, input, deciding, means: OnceLock::new() }
    }

    fn has_line(&self, line: &[u8]) -> bool {
        let means = self.means.get_or_init(|| Means::new(&self.format));
        means.as_ref().is_some_and(|means| means.has_line(line))
    }
}

impl Means {
    /// `None` if the format cannot be recognised.
    fn new(format: &NamedFormat) -> Option<Self> {
        let recognised =
            format.recognised.as_ref().map(|text| Expression::new(text, Case::Distinct)).transpose();
        let recognised = recognised.ok()?;
        let first = || format.reader.names().first().map(|name| Field::named(name));
        let field = format.time.clone().or_else(|| first().filter(|_| recognised.is_some()));
        let time = match &format.reader {
            Reader::Template(_, format) => Some(Extractor::Access(AccessLog::whole(format, &field?).ok()?)),
            Reader::Pattern(pattern) => Some(Extractor::Regex(Box::new(pattern.records(&[field?]).ok()?))),
            Reader::Base(_) if recognised.is_none() => return None,
            Reader::Base(_) => None,
        };
        Some(Self { recognised, time })
    }

    fn has_line(&self, line: &[u8]) -> bool {
        let is_recognised = self
            .recognised
            .as_ref()
            .is_none_or(|expression| expression.is_match(&mut expression.cache(), line));
        is_recognised && self.time.as_ref().is_none_or(|extractor| self.has_time(extractor, line))
    }

    /// Whether a line is a record of the format; without an expression for its lines, one with a time.
    fn has_time(&self, extractor: &Extractor, line: &[u8]) -> bool {
        let mut cells = Cells::default();
        cells.reset(1);
        extractor.extract(&mut extractor.scratch(), line, &[(0, line.len())], &mut cells);
        let is_time = |value: &[u8]| TimeForm::Usual.read_value(value).is_some();
        let value = cells.column(0).first().and_then(|&cell| cells.bytes(line, cell));
        cells.malformed().is_empty() && (self.recognised.is_some() || value.is_some_and(is_time))
    }
}
