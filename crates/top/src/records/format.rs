//! Formats of records.
//!
//! # Adding a format
//!
//! Most logs need only a file in `crates/top/formats`, and its name in the list of [`named`]. Where records are cut in another way: a module here with an extractor, and a variant of [`InputFormat`](crate::query::input_format::InputFormat) with its name in `NAMES` and `PLAIN`. The compiler
//! then asks [`layout`](crate::records::layout) for the extractor, and [`named_fields`](crate::records::named_fields) for the names of its
//! fields. [`detect`] recognises it. Tests write and read it: `tests/table/style.rs`, and an oracle in the module. `fuzz/hunt_formats.py` has a
//! table of each, and `fuzz/sample_records.py` its records. These places decide silently: `PLAIN` of `InputFormat` (what can be typed), `check_format` and `definition` in the options of `top` (separator,
//! header), `Recognizer::format` and the matches for CSV in `layout` (header, records of several lines), `Scratch` here (an extractor with a
//! state), `USUAL_NAMES` in `row_time` (the field of the time), and `LINES` in `python/finecomb/spark/hadoop.py`. For users: `--input` in the arguments and completions of `finecomb-command`, the tool `top` of `comb-serve`,
//! docs/records.md, docs/commands/top.md, docs/faq.md, samples/README.md, and a sample that `bench/corpus` writes.

pub(crate) mod access;
pub(crate) mod csv;
pub(crate) mod detect;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod logfmt;
pub(crate) mod named;
pub(crate) mod regex;
pub(crate) mod syslog;
pub(crate) mod w3c;

use finecomb_scan::Heading;

use crate::cells::{Cells, Span};
use crate::records::format::access::AccessLog;
use crate::records::format::csv::CsvRecords;
use crate::records::format::json::{Json, JsonScratch};
use crate::records::format::lines::{LineFields, LineScratch};
use crate::records::format::logfmt::Logfmt;
use crate::records::format::regex::{RegexCache, RegexRecords};
use crate::records::format::syslog::Syslog;
use crate::records::format::w3c::{W3cRecords, W3cScratch};
use crate::records::unwrap::{UnwrappedFields, UnwrappedScratch};

/// Extracts fields from records of one format.
#[derive(Debug)]
pub(crate) enum Extractor {
    Lines(Box<LineFields>),
    Access(AccessLog),
    Csv(CsvRecords),
    Json(Json),
    Logfmt(Logfmt),
    Syslog(Syslog),
    Regex(Box<RegexRecords>),
    W3c(Box<W3cRecords>),
    Unwrapped(Box<UnwrappedFields>),
}

/// Scratch memory of an extractor.
#[derive(Debug)]
pub(crate) enum Scratch {
    None,
    Lines(Box<LineScratch>),
    Json(JsonScratch),
    Regex(Box<RegexCache>),
    W3c(Box<W3cScratch>),
    Unwrapped(Box<UnwrappedScratch>),
}

impl Scratch {
    /// Returns the scratch memory for a block that follows this heading.
    pub(crate) fn after(mut self, heading: &Option<Heading>) -> Self {
        match &mut self {
            Self::W3c(scratch) => scratch.heading.clone_from(heading),
            Self::Unwrapped(scratch) => scratch.follow(heading),
            _ => {}
        }
        self
    }

    /// Moves past a text whose records have been extracted.
    pub(crate) fn pass(&mut self, text: &[u8]) {
        if let Self::W3c(scratch) = self {
            scratch.pass(text);
        }
    }
}

impl Extractor {
    pub(crate) fn scratch(&self) -> Scratch {
        match self {
            Self::Lines(lines) => Scratch::Lines(Box::new(lines.scratch())),
            Self::Json(_) => Scratch::Json(JsonScratch::default()),
            Self::Regex(regex) => Scratch::Regex(Box::new(regex.cache())),
            Self::W3c(_) => Scratch::W3c(Box::default()),
            Self::Unwrapped(fields) => Scratch::Unwrapped(Box::new(fields.scratch())),
            _ => Scratch::None,
        }
    }

    /// Whether records are objects of JSON.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Json(_) => true,
            Self::Unwrapped(fields) => fields.inner().is_json(),
            _ => false,
        }
    }

    /// Whether it extracts only from the first line of a record of several lines.
    pub(crate) fn reads_first_line(&self) -> bool {
        match self {
            Self::Lines(_) | Self::Access(_) | Self::Logfmt(_) => true,
            Self::Unwrapped(fields) => fields.inner().reads_first_line(),
            Self::Csv(_) | Self::Json(_) | Self::Syslog(_) | Self::Regex(_) | Self::W3c(_) => false,
        }
    }

    /// Appends a cell for each wanted field and each record to `cells`. `scratch` is that of this extractor.
    pub(crate) fn extract(&self, scratch: &mut Scratch, text: &[u8], records: &[Span], cells: &mut Cells) {
        match (self, scratch) {
            (Self::Lines(lines), Scratch::Lines(scratch)) => lines.extract(scratch, text, records, cells),
            (Self::Json(json), Scratch::Json(scratch)) => json.extract(scratch, text, records, cells),
            (Self::Regex(regex), Scratch::Regex(scratch)) => regex.extract(scratch, text, records, cells),
            (Self::W3c(w3c), Scratch::W3c(scratch)) => w3c.extract(scratch, text, records, cells),
            (Self::Unwrapped(fields), Scratch::Unwrapped(scratch)) => {
                fields.extract(scratch, text, records, cells)
            }
            (Self::Access(access), _) => access.extract(text, records, cells),
            (Self::Csv(csv), _) => csv.extract(text, records, cells),
            (Self::Logfmt(logfmt), _) => logfmt.extract(text, records, cells),
            (Self::Syslog(syslog), _) => syslog.extract(text, records, cells),
            (Self::Lines(_) | Self::Json(_) | Self::Regex(_) | Self::W3c(_) | Self::Unwrapped(_), _) => {}
        }
    }
}
