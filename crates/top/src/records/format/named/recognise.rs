//! Recognises named formats by the first lines of a file.
//!
//! A line has a format if its expression `recognised` matches, and its template or pattern as well, if it has one. Without that expression,
//! the line must have a time where the format has it: many lines have words, quotes and brackets in the same places.
//!
//! All lines must have the format, as for other [formats](crate::records::format::detect). If records may have several lines, the first
//! record decides; if they have a header, the first line.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use finecomb_scan::{LineRole, RecordStart};

use super::directory::{Definition, definitions};
use super::{Base, FormatFileError, NamedFormat, Reader};
use crate::cells::Cells;
use crate::key::expression::{Case, Expression, ExpressionCache};
use crate::query::field::Field;
use crate::query::input_format::InputFormat;
use crate::query::record_begin::RecordBegin;
use crate::records::format::access::AccessLog;
use crate::records::format::w3c;
use crate::records::format::{Extractor, Scratch};
use crate::time::{TimeForm, TimeKind, begins_with_time};

/// Named formats that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    All,
    /// Those whose records are in another format.
    Based(Base),
    Templates,
    /// Formats whose records hold others.
    Unwrapping,
}

impl Among {
    /// Whether a definition may be one of these. Records in JSON and CSV and access logs are common, so that other definitions are not
    /// even parsed for them.
    fn may_have(self, definition: &Definition) -> bool {
        match self {
            Self::All => true,
            Self::Based(_) => definition.has("base"),
            Self::Templates => definition.has("template"),
            Self::Unwrapping => definition.has("unwrap"),
        }
    }

    fn has(self, format: &NamedFormat) -> bool {
        match self {
            Self::All => true,
            Self::Based(base) => format.reader == Reader::Base(base),
            Self::Templates => matches!(format.reader, Reader::Template(..)),
            Self::Unwrapping => format.unwrap().is_some(),
        }
    }
}

/// Returns the first named format that the lines have. `is_wanted` selects formats.
pub(crate) fn recognise(
    lines: &[&[u8]],
    among: Among,
    is_wanted: impl Fn(&NamedFormat) -> bool,
) -> Option<&'static InputFormat> {
    let candidates = known().iter().filter(|known| among.may_have(&known.definition));
    let mut candidates = candidates.filter_map(|known| known.candidate().as_ref().ok());
    let is_candidate = |format: &NamedFormat| among.has(format) && is_wanted(format);
    let found = candidates.find(|candidate| is_candidate(&candidate.format) && candidate.has_lines(lines));
    found.map(|candidate| &candidate.input)
}

/// Whether a format is that of all lines if this many of them have it: all, or all but one and at least two. The last line may be cut
/// off, and a program may log a line of its own.
pub(crate) fn is_enough(count: usize, all: usize) -> bool {
    count > 0 && (count == all || (count + 1 == all && count >= 2))
}

/// The errors in files of a user.
pub(crate) fn faults() -> impl Iterator<Item = &'static FormatFileError> {
    known().iter().filter_map(|known| known.candidate().as_ref().err())
}

/// A definition that is parsed when it is first needed.
struct Known {
    definition: Definition,
    candidate: OnceLock<Result<Candidate, FormatFileError>>,
}

impl Known {
    fn candidate(&self) -> &Result<Candidate, FormatFileError> {
        self.candidate.get_or_init(|| self.definition.parse().map(Candidate::new))
    }
}

/// All definitions. They are read once: the files of a user do not change while inputs are read.
fn known() -> &'static [Known] {
    static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let known = |definition| Known { definition, candidate: OnceLock::new() };
        definitions().into_iter().map(known).collect()
    })
}

/// A format that may be recognised.
struct Candidate {
    format: Arc<NamedFormat>,
    /// The format, as it is detected.
    input: InputFormat,
    /// `None` if the format cannot be recognised. Most inputs have a format that is found before.
    means: OnceLock<Option<Means>>,
}

impl Candidate {
    fn new(format: Arc<NamedFormat>) -> Self {
        Self { input: InputFormat::Named(Arc::clone(&format)), format, means: OnceLock::new() }
    }

    fn has_lines(&self, lines: &[&[u8]]) -> bool {
        let Some(means) = self.means.get_or_init(|| Means::new(&self.format)) else { return false };
        let [first, ..] = lines else { return false };
        match (&self.format.reader, &means.start) {
            (Reader::Base(Base::Csv | Base::Tsv), _) => means.has_record(first),
            (Reader::Base(Base::W3c), _) => {
                lines.iter().any(|line| line.starts_with(w3c::FIELDS)) && means.has_record(first)
            }
            (_, Some(start)) => means.has_records(start, lines),
            (_, None) => {
                let has_header = self.format.header_length(first, true) > Some(0);
                let lines = &lines[usize::from(has_header)..];
                // Two others are too many.
                let others = lines.iter().filter(|line| !means.has_record(line)).take(2).count();
                is_enough(lines.len() - others, lines.len()) || has_header && lines.is_empty()
            }
        }
    }
}

/// The means to recognise a format.
struct Means {
    recognised: Option<Expression>,
    /// Extracts the time, or any field if that does not matter. `None` if the records name their fields.
    time: Option<Extractor>,
    /// Says which lines begin a record, if not all do.
    start: Option<RecordStart>,
    /// Scratch memory that no thread uses.
    spare: Mutex<Vec<Searching>>,
}

/// Scratch memory to look at a record.
struct Searching {
    recognised: Option<ExpressionCache>,
    time: Option<Scratch>,
    cells: Cells,
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
            // Old records may lack the last fields.
            Reader::Template(_, format) if recognised.is_some() => {
                Some(Extractor::Access(AccessLog::new(format, &[field?]).ok()?))
            }
            Reader::Template(_, format) => Some(Extractor::Access(AccessLog::whole(format, &field?).ok()?)),
            Reader::Pattern(pattern) => Some(Extractor::Regex(Box::new(pattern.records(&[field?]).ok()?))),
            Reader::Base(_) if recognised.is_none() => return None,
            Reader::Base(_) => None,
        };
        let start = format.record.as_ref().map(RecordBegin::start).transpose().ok()?;
        Some(Self { recognised, time, start, spare: Mutex::default() })
    }

    /// Whether the first record is one of the format, and no other line that begins with a time is a record of another. Before the
    /// first record, a program may write who it is.
    fn has_records(&self, start: &RecordStart, lines: &[&[u8]]) -> bool {
        let begins = |line: &[u8]| start.role_before(b'\n', line) == LineRole::Begins;
        if lines.iter().any(|line| begins_with_time(line) && !begins(line)) {
            return false;
        }
        let before = lines.iter().take_while(|line| !begins(line)).count();
        let mut records =
            lines[before..].chunk_by(|_, next| !begins(next)).map(|lines| lines.join(&b"\n"[..]));
        records.next().is_some_and(|first| self.has_record(&first))
            && records.all(|record| !begins_with_time(&record) || self.has_record(&record))
    }

    fn has_record(&self, record: &[u8]) -> bool {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = spare().pop();
        let mut searching = taken.unwrap_or_else(|| Searching {
            recognised: self.recognised.as_ref().map(Expression::cache),
            time: self.time.as_ref().map(Extractor::scratch),
            cells: Cells::default(),
        });
        let has_record = self.fits(&mut searching, record);
        spare().push(searching);
        has_record
    }

    fn fits(&self, searching: &mut Searching, record: &[u8]) -> bool {
        let Searching { recognised, time, cells } = searching;
        let expression = self.recognised.as_ref().zip(recognised.as_mut());
        let is_recognised = expression.map(|(expression, cache)| expression.is_match(cache, record));
        if is_recognised == Some(false) {
            return false;
        }
        let Some((extractor, scratch)) = self.time.as_ref().zip(time.as_mut()) else { return true };
        cells.reset(1);
        extractor.extract(scratch, record, &[(0, record.len())], cells);
        let value = cells.column(0).first().and_then(|&cell| cells.bytes(record, cell));
        cells.malformed().is_empty() && (is_recognised.is_some() || value.is_some_and(is_time))
    }
}

/// Whether a text is a time and nothing else.
fn is_time(value: &[u8]) -> bool {
    let is_of_kind = |kind| TimeForm::Usual.read_kind(kind, value).is_some();
    is_of_kind(TimeKind::First) || is_of_kind(TimeKind::OfDay)
}
