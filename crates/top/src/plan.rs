//! The extraction of the fields of a query from the records of a file.

use std::sync::Arc;

use finecomb_scan::{LineEnds, Recognize, Recognized, RecordEnds, Records, Source};

use crate::Span;
use crate::cells::Cells;
use crate::field::Field;
use crate::format::access::{AccessFormat, AccessLog};
use crate::format::csv::{Csv, CsvError, Dialect, Header};
use crate::format::detect::{Detected, detect};
use crate::format::json::{Json, JsonScratch};
use crate::format::lines::{LineFields, LineScratch};
use crate::format::logfmt::Logfmt;
use crate::format::regex::{RegexCache, RegexRecords};
use crate::format::syslog::Syslog;
use crate::input::InputFormat;
use crate::row_query::RowQuery;

/// How the fields of a query are extracted from the records of a file. Attached to the source of its blocks.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Name of the format, as shown to people.
    pub(crate) format: String,
    /// Position of the first record after the header in the text of a file, without a byte order mark; 0 without a header.
    pub(crate) header_end: u64,
    /// Whether empty records are no records.
    pub(crate) skips_empty: bool,
    pub(crate) condition: Extractor,
    pub(crate) values: Extractor,
}

/// Extracts fields from records of one format.
#[derive(Debug)]
pub(crate) enum Extractor {
    Lines(Box<LineFields>),
    Access(AccessLog),
    Csv(Csv),
    Json(Json),
    Logfmt(Logfmt),
    Syslog(Syslog),
    Regex(Box<RegexRecords>),
}

/// Scratch memory of an extractor.
#[derive(Debug)]
pub(crate) enum Scratch {
    None,
    Lines(Box<LineScratch>),
    Json(JsonScratch),
    Regex(Box<RegexCache>),
}

impl Extractor {
    pub(crate) fn scratch(&self) -> Scratch {
        match self {
            Self::Lines(lines) => Scratch::Lines(Box::new(lines.scratch())),
            Self::Json(_) => Scratch::Json(JsonScratch::default()),
            Self::Regex(regex) => Scratch::Regex(Box::new(regex.cache())),
            _ => Scratch::None,
        }
    }

    /// Appends a cell for each wanted field and each record to `cells`. `scratch` is that of this extractor.
    pub(crate) fn extract(&self, scratch: &mut Scratch, text: &[u8], records: &[Span], cells: &mut Cells) {
        match (self, scratch) {
            (Self::Lines(lines), Scratch::Lines(scratch)) => lines.extract(scratch, text, records, cells),
            (Self::Json(json), Scratch::Json(scratch)) => json.extract(scratch, text, records, cells),
            (Self::Regex(regex), Scratch::Regex(scratch)) => regex.extract(scratch, text, records, cells),
            (Self::Access(access), _) => access.extract(text, records, cells),
            (Self::Csv(csv), _) => csv.extract(text, records, cells),
            (Self::Logfmt(logfmt), _) => logfmt.extract(text, records, cells),
            (Self::Syslog(syslog), _) => syslog.extract(text, records, cells),
            (Self::Lines(_) | Self::Json(_) | Self::Regex(_), _) => {}
        }
    }
}

/// A format with what is known about it from the file.
enum Format<'a> {
    Known(&'a InputFormat),
    /// CSV with its delimiter, or TSV without one.
    Table {
        delimiter: Option<u8>,
        header: Option<Header>,
    },
}

impl Plan {
    /// The plan of all files; `None` if it depends on the beginning of a file.
    ///
    /// # Errors
    /// Returns a message if the format lacks a wanted field.
    pub(crate) fn of_all_files(query: &RowQuery) -> Result<Option<Self>, String> {
        let format = match &query.input {
            InputFormat::Auto => return Ok(None),
            InputFormat::Csv | InputFormat::Tsv if query.has_header => return Ok(None),
            InputFormat::Csv => Format::Table { delimiter: Some(query.delimiter), header: None },
            InputFormat::Tsv => Format::Table { delimiter: None, header: None },
            format => Format::Known(format),
        };
        Self::new(query, &format, 0).map(Some)
    }

    fn new(query: &RowQuery, format: &Format<'_>, header_end: u64) -> Result<Self, String> {
        let extractor = |fields: &[Field]| format.extractor(query, fields);
        Ok(Self {
            format: format.name(),
            header_end,
            skips_empty: matches!(format, Format::Table { .. }),
            condition: extractor(&query.condition_columns.fields)?,
            values: extractor(&query.value_columns.fields)?,
        })
    }
}

impl Format<'_> {
    fn extractor(&self, query: &RowQuery, fields: &[Field]) -> Result<Extractor, String> {
        fn text(error: impl ToString) -> String {
            error.to_string()
        }
        Ok(match self {
            Self::Table { delimiter, header } => {
                let csv = dialect(*delimiter).and_then(|dialect| Csv::new(dialect, header.as_ref(), fields));
                Extractor::Csv(csv.map_err(text)?)
            }
            Self::Known(format) => match format {
                InputFormat::Clf => access(&AccessFormat::clf(), fields)?,
                InputFormat::Combined => access(&AccessFormat::combined(), fields)?,
                InputFormat::Nginx(format) => access(&AccessFormat::nginx(format).map_err(text)?, fields)?,
                InputFormat::Json => Extractor::Json(Json::new(fields).map_err(text)?),
                InputFormat::Logfmt => Extractor::Logfmt(Logfmt::new(fields).map_err(text)?),
                InputFormat::Syslog => Extractor::Syslog(Syslog::new(fields).map_err(text)?),
                InputFormat::Regex(pattern) => {
                    Extractor::Regex(Box::new(RegexRecords::new(pattern, fields).map_err(text)?))
                }
                InputFormat::Lines | InputFormat::Auto | InputFormat::Csv | InputFormat::Tsv => {
                    Extractor::Lines(Box::new(LineFields::new(query.splitter.clone(), fields).map_err(text)?))
                }
            },
        })
    }

    fn name(&self) -> String {
        match self {
            Self::Known(format) => format.to_string(),
            Self::Table { delimiter: Some(b','), .. } => "csv".to_owned(),
            Self::Table { delimiter: Some(delimiter), .. } => {
                format!("csv with the delimiter '{}'", char::from(*delimiter))
            }
            Self::Table { delimiter: None, .. } => "tsv".to_owned(),
        }
    }
}

fn access(format: &AccessFormat, fields: &[Field]) -> Result<Extractor, String> {
    AccessLog::new(format, fields).map(Extractor::Access).map_err(|error| error.to_string())
}

fn dialect(delimiter: Option<u8>) -> Result<Dialect, CsvError> {
    delimiter.map_or(Ok(Dialect::TSV), Dialect::csv)
}

/// Makes the plan of each file by its beginning.
pub(crate) struct Recognizer(pub(crate) Arc<RowQuery>);

impl Recognize for Recognizer {
    fn recognize(&self, _source: &Source, head: &[u8], is_all: bool) -> Result<Option<Recognized>, String> {
        // An empty file lacks nothing.
        let recognized = (!head.is_empty()).then(|| self.plan(head, is_all)).flatten();
        let details = |(records, plan)| Ok(Recognized { records, details: Arc::new(plan?) });
        recognized.map(details).transpose()
    }
}

impl Recognizer {
    /// Makes the plan of a file, or finds the reason why its fields cannot be extracted. `None` if more is needed.
    fn plan(&self, head: &[u8], is_all: bool) -> Option<(Records, Result<Plan, String>)> {
        let query = &*self.0;
        let detected = match &query.input {
            InputFormat::Csv => Detected::Csv { delimiter: query.delimiter },
            InputFormat::Tsv => Detected::Tsv,
            InputFormat::Auto => detect(head, is_all, &query.field_names())?,
            _ => Detected::Unknown,
        };
        let known = |format: InputFormat| Plan::new(query, &Format::Known(&format), 0);
        let plan = match detected {
            Detected::Json => known(InputFormat::Json),
            Detected::Combined => known(InputFormat::Combined),
            Detected::Clf => known(InputFormat::Clf),
            Detected::Syslog => known(InputFormat::Syslog),
            Detected::Logfmt => known(InputFormat::Logfmt),
            Detected::Csv { delimiter } => self.table(head, Some(delimiter), is_all)?,
            Detected::Tsv => self.table(head, None, is_all)?,
            Detected::Unknown => known(InputFormat::Lines).map_err(|_| {
                "unknown format; --input names one of lines, clf, combined, csv, tsv, json, logfmt, syslog, nginx:…, regex:…"
                    .to_owned()
            }),
        };
        let records = match detected {
            Detected::Csv { delimiter } => Records::Quoted { delimiter },
            _ => Records::Lines,
        };
        Some((records, plan))
    }

    /// Makes the plan of a table by its header, the first record that is not empty. `None` if more is needed.
    fn table(&self, head: &[u8], delimiter: Option<u8>, is_all: bool) -> Option<Result<Plan, String>> {
        if !self.0.has_header {
            return Some(Plan::new(&self.0, &Format::Table { delimiter, header: None }, 0));
        }
        let (record, end) = first_record(head, delimiter, is_all)?;
        let header = dialect(delimiter).and_then(|dialect| Header::parse(dialect, record));
        Some(header.map_err(|error| error.to_string()).and_then(|header| {
            Plan::new(&self.0, &Format::Table { delimiter, header: Some(header) }, end as u64)
        }))
    }
}

/// Returns the first record of a table that is not empty, and the position after its line end. `None` if it may go on
/// after `head`; if that is all, it ends there.
fn first_record(head: &[u8], delimiter: Option<u8>, is_all: bool) -> Option<(&[u8], usize)> {
    let mut ends = RecordEnds::default();
    let mut lines = LineEnds::default();
    let ends = match delimiter {
        Some(delimiter) => ends.find(head, delimiter),
        None => lines.find(head),
    };
    let ends = ends.iter().map(|&end| end as usize).chain(is_all.then_some(head.len()));
    let mut start = 0;
    for end in ends {
        let record = &head[start..end];
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        start = (end + 1).min(head.len());
        if !record.is_empty() || end == head.len() {
            return Some((record, start));
        }
    }
    None
}
