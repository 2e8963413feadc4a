//! The extraction of the fields of a query from the records of a file.

use std::sync::Arc;

use finecomb_scan::{
    LineEnds, MemberPath, ObjectSpans, Pieces, ProblemKind, Reason, Recognize, Recognized, RecordEnds,
    Records, Source,
};

use crate::cells::{Span, bytes_of};
use crate::overview::source::{self, AllFields};
use crate::query::field::Field;
use crate::query::input_format::{FormatError, InputFormat};
use crate::query::record_begin::RecordBegin;
use crate::query::row_query::RowQuery;
use crate::records::format::Extractor;
use crate::records::format::access::{AccessFormat, AccessLog};
use crate::records::format::csv::{CsvRecords, Dialect, Header};
use crate::records::format::detect::documents::detect_documents;
use crate::records::format::detect::{Detected, detect};
use crate::records::format::json::Json;
use crate::records::format::lines::LineFields;
use crate::records::format::logfmt::Logfmt;
use crate::records::format::named::recognise::faults;
use crate::records::format::named::{Base, NamedFormat, Reader};
use crate::records::format::regex::RegexRecords;
use crate::records::format::syslog::Syslog;
use crate::records::format::w3c;
use crate::records::format::w3c::W3cRecords;
use crate::records::named_fields::named_fields;
use crate::records::nearest;
use crate::records::row_time::{EXAMINED, FirstRecords, TimePlan};
use crate::records::split::without_carriage_return;
use crate::records::unwrap::{UnwrappedFields, Unwrapping};

mod unwrapped;

/// How the fields of a query are extracted from the records of a file. Attached to the source of its blocks.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Name of the format, as shown to people.
    pub(crate) format: String,
    /// Position of the first record after the header in the text of a file, without a byte order mark; 0 without a header.
    pub(crate) header_end: u64,
    /// Whether empty records are no records.
    pub(crate) skips_empty: bool,
    /// Whether lines that begin with `#` are no records.
    pub(crate) skips_comments: bool,
    /// Finds the records if they are in a field of others.
    pub(crate) unwrapping: Option<Unwrapping>,
    /// Where times are, if the query needs them.
    pub(crate) time: Option<TimePlan>,
    /// An error in the definition of a format, if the file is in no known one.
    fault: Option<String>,
    pub(crate) condition: Extractor,
    pub(crate) values: Extractor,
    /// All fields, if they are described.
    pub(crate) all: Option<AllFields>,
}

/// A format with what is known about it from the file.
enum FileFormat<'a> {
    Known(&'a InputFormat),
    /// Lines in no known format, whose fields have no names.
    Unknown,
    /// CSV with its delimiter, or TSV without one, as the base of a named format if it is one.
    Table {
        named: Option<&'a NamedFormat>,
        delimiter: Option<u8>,
        header: Option<Header>,
    },
    /// JSON whose objects may span lines, or are elements of arrays.
    Documents {
        array: MemberPath,
    },
    /// Records in the text of this field of other records.
    Unwrapped {
        field: &'a Field,
        outer: Box<FileFormat<'a>>,
        inner: Box<FileFormat<'a>>,
    },
}

impl Plan {
    /// The plan of all files; `None` if it depends on the file.
    ///
    /// # Errors
    /// Returns a message if the format lacks a wanted field.
    pub(crate) fn of_all_files(query: &RowQuery) -> Result<Option<Self>, FormatError> {
        let format = match query.input.plain() {
            _ if query.unwrapped_field(&query.input).is_some() => return Ok(None),
            InputFormat::Auto => return Ok(None),
            _ if query.input.has_headings() || query.input.named().is_some_and(NamedFormat::has_header) => {
                return Ok(None);
            }
            InputFormat::Csv | InputFormat::Tsv if query.has_header => return Ok(None),
            InputFormat::Csv => FileFormat::table(query.input.named(), Some(query.delimiter), None),
            InputFormat::Tsv => FileFormat::table(query.input.named(), None, None),
            _ => FileFormat::Known(&query.input),
        };
        if let Some(columns) = query.time.as_ref().and_then(|time| time.columns.as_ref()) {
            format.extractor(query, &columns.fields)?;
        }
        let plan = Self::new(query, &format, 0)?;
        // The time depends on when a file was changed, and mostly on its fields.
        Ok(query.time.is_none().then_some(plan))
    }

    fn new(query: &RowQuery, format: &FileFormat<'_>, header_end: u64) -> Result<Self, FormatError> {
        let extractor = |fields: &[Field]| format.extractor(query, fields);
        Ok(Self {
            format: format.name(),
            header_end,
            skips_empty: format.skips_empty(),
            skips_comments: format.has_headings(),
            unwrapping: format.unwrapping(query).transpose()?,
            time: None,
            fault: matches!(format, FileFormat::Unknown).then(fault).flatten(),
            condition: extractor(&query.condition_columns.fields)?,
            values: extractor(&query.value_columns.fields)?,
            all: None,
        })
    }

    fn skipped(&self) -> Skipped {
        Skipped { header_end: self.header_end, comments: self.skips_comments }
    }

    /// Adds where times are. `None` if more of the text is needed.
    fn with_time(
        mut self,
        query: &RowQuery,
        format: &FileFormat<'_>,
        source: &Source,
        (head, by, is_all): (&[u8], &Records, bool),
    ) -> Option<Result<Self, FormatError>> {
        let Some(time) = &query.time else { return Some(Ok(self)) };
        let (mut records, is_all) = first_records(head, self.skipped(), by, is_all);
        let mut unwrapped = Vec::new();
        let text = match &self.unwrapping {
            Some(unwrapping) => {
                unwrapping.unwrap((head, &None), &mut unwrapped, &mut records, &mut Vec::new());
                &unwrapped
            }
            None => head,
        };
        let first = FirstRecords { text, records: &records, is_all };
        let extractor = |fields: &[Field]| format.extractor(query, fields);
        self.time = match (&time.columns, &self.values) {
            (Some(columns), _) => match extractor(&columns.fields) {
                Ok(extractor) => Some(TimePlan::named(time, source, first, columns.clone(), extractor)?),
                Err(reason) => return Some(Err(reason)),
            },
            (None, Extractor::Lines(_)) => Some(TimePlan::anywhere(time, source, first)?),
            (None, _) if !is_all => return None,
            (None, Extractor::Syslog(_)) if let Some(plan) = TimePlan::with_year(time, source, first) => {
                Some(plan)
            }
            (None, Extractor::Regex(_))
                if query.has_only_times()
                    && let Some(field) = format.time()
                    && let Ok(extractor) = extractor(std::slice::from_ref(field))
                    && let Some(plan) = TimePlan::at_start(time, source, first, (field, &extractor)) =>
            {
                Some(plan)
            }
            (None, values) => {
                let usual =
                    TimePlan::usual(time, source, first, format.time(), |fields| extractor(fields).ok());
                match values {
                    Extractor::Unwrapped(fields)
                        if usual.is_none() && matches!(fields.inner(), Extractor::Lines(_)) =>
                    {
                        Some(TimePlan::anywhere(time, source, first)?)
                    }
                    _ => usual,
                }
            }
        };
        if self.time.is_some() || time.is_optional {
            return Some(Ok(self));
        }
        let mismatch = TimePlan::mismatch(time, first, format.time(), |fields| extractor(fields).ok());
        Some(Err(mismatch.map_or(FormatError::NoTime, FormatError::Other)))
    }
}

impl<'a> FileFormat<'a> {
    fn table(named: Option<&'a NamedFormat>, delimiter: Option<u8>, header: Option<Header>) -> Self {
        Self::Table { named, delimiter, header }
    }

    fn extractor(&self, query: &RowQuery, fields: &[Field]) -> Result<Extractor, FormatError> {
        let access = |format: &AccessFormat| AccessLog::new(format, fields).map(Extractor::Access);
        let lines = || LineFields::new(query.splitter.clone(), fields).map(Box::new);
        Ok(match self {
            Self::Table { delimiter, header, .. } => {
                Extractor::Csv(CsvRecords::new(dialect(*delimiter)?, header.as_ref(), fields)?)
            }
            Self::Documents { .. } => Extractor::Json(Json::new(fields)?),
            Self::Unwrapped { outer, inner, .. } => {
                let of_outer = |fields: &[Field]| outer.extractor(query, fields);
                let of_inner = |fields: &[Field]| inner.extractor(query, fields);
                Extractor::Unwrapped(Box::new(UnwrappedFields::new(fields, of_inner, of_outer)?))
            }
            Self::Unknown => Extractor::Lines(lines().map_err(|_| unknown())?),
            Self::Known(format) => match format.plain() {
                InputFormat::Clf => access(&AccessFormat::clf())?,
                InputFormat::Combined => access(&AccessFormat::combined())?,
                InputFormat::VhostCombined => access(&AccessFormat::vhost_combined())?,
                InputFormat::Nginx(format) => access(&AccessFormat::nginx(format)?)?,
                InputFormat::Json => Extractor::Json(Json::new(fields)?),
                InputFormat::Logfmt => Extractor::Logfmt(Logfmt::new(fields)?),
                InputFormat::Syslog => Extractor::Syslog(Syslog::new(fields)?),
                InputFormat::Regex(pattern) => Self::regex(RegexRecords::new(pattern, fields)?),
                InputFormat::Named(named) => match &named.reader {
                    Reader::Template(_, format) => access(format)?,
                    Reader::Pattern(pattern) => Self::regex(pattern.records(fields)?),
                    Reader::Base(Base::W3c) => Extractor::W3c(Box::new(W3cRecords::new(fields))),
                    // Its plain format is another one.
                    Reader::Base(_) => Extractor::Lines(lines()?),
                },
                InputFormat::Lines | InputFormat::Auto | InputFormat::Csv | InputFormat::Tsv => {
                    Extractor::Lines(lines()?)
                }
            },
        })
    }

    fn regex(records: RegexRecords) -> Extractor {
        Extractor::Regex(Box::new(records))
    }

    /// The field that a definition of the format names as that of the time.
    fn time(&self) -> Option<&Field> {
        match self {
            Self::Known(format) => format.named().and_then(NamedFormat::time),
            Self::Table { named, .. } => named.and_then(NamedFormat::time),
            Self::Unwrapped { outer, .. } => outer.time(),
            Self::Documents { .. } | Self::Unknown => None,
        }
    }

    /// Whether lines among the records name their columns.
    fn has_headings(&self) -> bool {
        match self {
            Self::Known(format) => format.has_headings(),
            Self::Unwrapped { outer, .. } => outer.has_headings(),
            _ => false,
        }
    }

    /// All fields of the format. `None` if more of the text is needed.
    fn all_fields(
        &self,
        plan: &Plan,
        query: &RowQuery,
        (head, by, is_all): (&[u8], &Records, bool),
    ) -> Option<Result<AllFields, FormatError>> {
        let fields = match self {
            Self::Table { header: Some(header), .. } => source::columns(header.names()),
            Self::Table { delimiter, header: None, .. } => {
                let (record, _) = first_record(head, *delimiter, is_all)?;
                let header = dialect(*delimiter).and_then(|dialect| Header::parse(dialect, record));
                match header {
                    Ok(header) => source::columns(header.names().map(|_| "")),
                    Err(error) => return Some(Err(error)),
                }
            }
            Self::Documents { .. } => return Some(Ok(AllFields::Members)),
            Self::Known(format) if *format.plain() == InputFormat::Json => {
                return Some(Ok(AllFields::Members));
            }
            Self::Known(format) if *format.plain() == InputFormat::Logfmt => {
                return Some(Ok(AllFields::Pairs));
            }
            Self::Known(InputFormat::Lines) | Self::Unknown => {
                let (lines, true) = first_records(head, plan.skipped(), by, is_all) else { return None };
                match source::positions(&query.splitter, head, &lines) {
                    fields if fields.is_empty() => return Some(Ok(AllFields::Messages)),
                    fields => fields,
                }
            }
            // The records of an overview are not in a field.
            Self::Unwrapped { outer, .. } if query.is_overview => {
                return outer.all_fields(plan, query, (head, by, is_all));
            }
            Self::Unwrapped { inner, .. } => match **inner {
                Self::Known(InputFormat::Lines) | Self::Unknown => return Some(Ok(AllFields::Messages)),
                ref inner => return inner.all_fields(plan, query, (head, by, is_all)),
            },
            Self::Known(format) => match named_fields(format, query.delimiter, head) {
                // The line that names the columns may still come.
                fields if fields.is_empty() && !is_all => return None,
                fields => source::without_wholes(fields),
            },
        };
        Some(AllFields::named(fields, |fields| self.extractor(query, fields)))
    }

    /// How a text is divided into records by its format alone.
    fn own_records(&self) -> Records {
        match *self {
            Self::Table { delimiter: Some(delimiter), .. } => Records::Quoted { delimiter },
            Self::Documents { array } => Records::Objects { array },
            Self::Unwrapped { ref outer, .. } => outer.own_records(),
            Self::Table { delimiter: None, .. } | Self::Known(_) | Self::Unknown => Records::Lines,
        }
    }

    /// Whether empty records are no records.
    fn skips_empty(&self) -> bool {
        match self {
            Self::Table { .. } => true,
            Self::Unwrapped { outer, .. } => outer.skips_empty(),
            Self::Known(_) | Self::Unknown | Self::Documents { .. } => self.has_headings(),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Unwrapped { field, outer, inner } => {
                format!("{} in the field {field} of {}", inner.name(), outer.name())
            }
            Self::Known(format) => format.to_string(),
            Self::Documents { .. } => InputFormat::Json.to_string(),
            Self::Unknown => InputFormat::Lines.to_string(),
            Self::Table { named: Some(named), .. } => named.name().to_owned(),
            Self::Table { delimiter: Some(b','), .. } => "csv".to_owned(),
            Self::Table { delimiter: Some(delimiter), .. } => {
                format!("csv with the delimiter '{}'", char::from(*delimiter))
            }
            Self::Table { delimiter: None, .. } => "tsv".to_owned(),
        }
    }
}

/// The error about a file in no known format. It may be in one whose definition is wrong.
fn unknown() -> FormatError {
    fault().map_or_else(|| FormatError::Unknown(String::new()), FormatError::Other)
}

/// That a file is in no known format, and the first definition that is wrong.
fn fault() -> Option<String> {
    faults().next().map(|fault| format!("{}; {fault}", FormatError::Unknown(String::new())))
}

pub(crate) fn dialect(delimiter: Option<u8>) -> Result<Dialect, FormatError> {
    delimiter.map_or(Ok(Dialect::TSV), Dialect::csv)
}

impl RowQuery {
    /// How files of a format are divided into records.
    fn records(&self, format: &FileFormat<'_>) -> Result<Records, FormatError> {
        match (&self.start, format) {
            (_, FileFormat::Unwrapped { outer, .. }) => self.records(outer),
            (Some(_), FileFormat::Table { .. } | FileFormat::Documents { .. }) => {
                Err(FormatError::OwnRecords(format.name()))
            }
            (Some(_), format) if format.has_headings() => Err(FormatError::OwnRecords(format.name())),
            (Some(start), _) => Ok(Records::Started(start.clone())),
            (None, FileFormat::Known(known)) if known.record().is_some() => {
                let start = known.record().map(RecordBegin::start).transpose();
                let start = start.map_err(|error| FormatError::Other(error.to_string()))?;
                Ok(start.map_or(Records::Lines, Records::Started))
            }
            (None, format) => Ok(format.own_records()),
        }
    }
}

/// Makes the plan of each file by its beginning.
pub(crate) struct Recognizer(pub(crate) Arc<RowQuery>);

impl Recognize for Recognizer {
    fn recognize(&self, source: &Source, head: &[u8], is_all: bool) -> Result<Option<Recognized>, Reason> {
        if head.is_empty() {
            // An empty file lacks nothing.
            return Ok(None);
        }
        let with_nearest = |error| match error {
            FormatError::Unknown(_) => FormatError::Unknown(self.nearest(head)),
            error => error,
        };
        let format = self.format(head, is_all).transpose().map_err(with_nearest)?;
        let Some((format, header_end)) = format else { return Ok(None) };
        let mut plan = Plan::new(&self.0, &format, header_end).map_err(with_nearest)?;
        let records = self.0.records(&format)?;
        let text = (head, &records, is_all);
        if self.0.lists_fields {
            let Some(all) = format.all_fields(&plan, &self.0, text).transpose()? else {
                return Ok(None);
            };
            plan.all = Some(all);
        }
        let plan = plan.with_time(&self.0, &format, source, text).transpose()?;
        let heading = format.has_headings().then_some(w3c::FIELDS);
        Ok(plan.map(|plan| Recognized { records, heading, details: Arc::new(plan) }))
    }

    fn examine(&self, source: &Source, pieces: Option<Pieces<'_>>) -> Option<ProblemKind> {
        let plan = source.details()?.downcast_ref::<Plan>()?;
        if let Some(fault) = &plan.fault {
            return Some(ProblemKind::Assumed(fault.clone()));
        }
        let (query, time) = (self.0.time.as_ref()?, plan.time.as_ref()?);
        let header_end = source.text_start() + plan.header_end;
        // Large members of archives are streams, and texts in fields are not those of the file.
        let pieces = pieces.filter(|_| source.file_path() == source.path() && plan.unwrapping.is_none());
        let assumed = || ProblemKind::Assumed(time.date_records(query, header_end, pieces));
        time.lacks_dates().then(assumed)
    }
}

impl Recognizer {
    /// The formats that are nearest to a text in no known one.
    fn nearest(&self, head: &[u8]) -> String {
        nearest::describe(head, |format, fields| FileFormat::Known(format).extractor(&self.0, fields).ok())
    }

    /// The format of a file, and the end of its header. `None` if more of the text is needed.
    fn format_of_file(
        &self,
        head: &[u8],
        is_all: bool,
    ) -> Option<Result<(FileFormat<'_>, u64), FormatError>> {
        let query = &*self.0;
        let detected = match &query.input {
            _ if let Some(array) = query.array => return documents_with(array, head, is_all),
            InputFormat::Auto => detect(head, is_all, &query.field_names())?,
            InputFormat::Json => match detect_documents(head, is_all)? {
                true => Detected::Documents,
                false => Detected::Known(&query.input),
            },
            known => Detected::Known(known),
        };
        match detected {
            Detected::Known(format) => match format.plain() {
                InputFormat::Csv => self.table(head, format.named(), Some(query.delimiter), is_all),
                InputFormat::Tsv => self.table(head, format.named(), None, is_all),
                _ => {
                    let header = format.named().map_or(Some(0), |named| named.header_length(head, is_all))?;
                    Some(Ok((FileFormat::Known(format), header as u64)))
                }
            },
            Detected::Table { delimiter } => self.table(head, None, delimiter, is_all),
            Detected::Documents => Some(Ok((FileFormat::Documents { array: MemberPath::default() }, 0))),
            Detected::Unknown => Some(Ok((FileFormat::Unknown, 0))),
        }
    }

    /// The format of a table and the end of its header, the first record that is not empty. `None` if more is needed.
    fn table<'f>(
        &self,
        head: &[u8],
        named: Option<&'f NamedFormat>,
        delimiter: Option<u8>,
        is_all: bool,
    ) -> Option<Result<(FileFormat<'f>, u64), FormatError>> {
        if !self.0.has_header {
            return Some(Ok((FileFormat::table(named, delimiter, None), 0)));
        }
        let (record, end) = first_record(head, delimiter, is_all)?;
        let header = dialect(delimiter).and_then(|dialect| Header::parse(dialect, record));
        let format = |header| (FileFormat::table(named, delimiter, Some(header)), end as u64);
        Some(header.map(format))
    }
}

/// The format of documents that have an array with the records. In an array around them, a comma could as well be one of theirs.
/// `None` if more is needed.
fn documents_with<'a>(
    array: MemberPath,
    head: &[u8],
    is_all: bool,
) -> Option<Result<(FileFormat<'a>, u64), FormatError>> {
    match head.trim_ascii_start().first() {
        None if !is_all => None,
        Some(b'[') => Some(Err(FormatError::Other(
            "--records leads from documents that are objects; found an array".to_owned(),
        ))),
        _ => Some(Ok((FileFormat::Documents { array }, 0))),
    }
}

/// Returns the first record of a table that is not empty, and the position after its line end. `None` if it may continue after
/// `head`; if that is all, it ends there.
pub(crate) fn first_record(head: &[u8], delimiter: Option<u8>, is_all: bool) -> Option<(&[u8], usize)> {
    let mut found = None;
    let by = delimiter.map_or(Records::Lines, |delimiter| Records::Quoted { delimiter });
    visit_records(head, &by, is_all, |start, end, next| {
        let record = without_carriage_return(head, (start, end));
        let is_first = record.0 < record.1 || end == head.len();
        found = is_first.then(|| (bytes_of(head, record), next));
        !is_first
    });
    found
}

/// Parts of a text that are no records.
#[derive(Clone, Copy, Debug)]
struct Skipped {
    header_end: u64,
    /// Whether lines that begin with `#` are none.
    comments: bool,
}

/// Returns the first whole records after the header, and whether they are as many as are examined.
fn first_records(head: &[u8], skipped: Skipped, by: &Records, is_all: bool) -> (Vec<Span>, bool) {
    if let Records::Objects { array } | Records::Unclosed { array } = *by {
        return first_objects(head, array, is_all);
    }
    let mut records = Vec::new();
    visit_records(head, by, is_all, |start, end, _| {
        let is_comment = skipped.comments && head[start..].starts_with(b"#");
        if start as u64 >= skipped.header_end && start < end && !is_comment {
            records.push(without_carriage_return(head, (start, end)));
        }
        records.len() < EXAMINED
    });
    let is_all = is_all || records.len() == EXAMINED;
    (records, is_all)
}

/// Returns the first whole objects, and whether they are as many as are examined.
fn first_objects(head: &[u8], array: MemberPath, is_all: bool) -> (Vec<Span>, bool) {
    let mut spans = ObjectSpans::default();
    let found = spans.find(head, array);
    // The last one may continue.
    let whole = if is_all { found.len() } else { found.len().saturating_sub(1) };
    (found[..whole.min(EXAMINED)].to_vec(), is_all || whole >= EXAMINED)
}

/// Calls `visit` with the start and the end of each record and the position after its line end, until it returns
/// `false`. If `head` is all, the last record ends there.
fn visit_records(
    head: &[u8],
    by: &Records,
    is_all: bool,
    mut visit: impl FnMut(usize, usize, usize) -> bool,
) {
    let (mut ends, mut lines) = (RecordEnds::default(), LineEnds::default());
    let ends = match by {
        Records::Quoted { delimiter } => ends.find(head, *delimiter),
        // Objects are found by other means.
        Records::Lines | Records::Objects { .. } | Records::Unclosed { .. } => lines.find(head),
        // The last one may continue.
        Records::Started(start) => match ends.find_started(head, start) {
            [known @ .., _] if !is_all => known,
            ends => ends,
        },
    };
    let ends = ends.iter().map(|&end| end as usize).chain(is_all.then_some(head.len()));
    let mut start = 0;
    for end in ends {
        let next = (end + 1).min(head.len());
        if !visit(start, end, next) {
            return;
        }
        start = next;
    }
}
