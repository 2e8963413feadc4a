//! The options of a count, and the errors in them.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use finecomb_sys::setters;
use thiserror::Error;

use crate::key::expression::{Case, Expression, PatternError};
use crate::key::normalize::Normalizer;
use crate::measure::column::MeasureKind;
use crate::measure::reader::{NumberFormat, TimeUnit};
use crate::query::compare::Compare;
use crate::query::condition::{Condition, ConditionError};
use crate::query::field::Field;
use crate::query::fields::FieldList;
use crate::query::input_format::{FormatError, InputFormat};
use crate::query::record_begin::RecordBegin;
use crate::query::unwrap::Unwrap;
use crate::time::{Bound, Every, Last, Slack, TimeForm, Zone};

/// Separator of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    /// Runs of spaces and tabs. Those before the first field are skipped.
    #[default]
    Blanks,
    /// Like [`Separator::Blanks`], but a field in double quotes may contain blanks and loses its quotes. `\"` does not
    /// end it.
    Quotes,
    /// Every match of a regular expression.
    Regex(String),
}

/// Compiled separator of fields.
#[derive(Clone, Debug)]
pub(crate) enum Splitter {
    /// Runs of spaces and tabs. Those before the first field are skipped.
    Blanks,
    /// Like [`Splitter::Blanks`], but a field in double quotes may contain blanks and loses its quotes.
    Quotes,
    /// Every match of an expression, which is never empty. A record that begins with a match has an empty first field.
    Regex(Expression),
}

impl Separator {
    pub(crate) fn compile(&self) -> Result<Splitter, PatternError> {
        Ok(match self {
            Self::Blanks => Splitter::Blanks,
            Self::Quotes => Splitter::Quotes,
            Self::Regex(text) => Splitter::Regex(Expression::separator(text)?),
        })
    }
}

/// A measure of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A measure of a field.
    Field {
        /// The kind of measure.
        kind: MeasureKind,
        /// The measured field.
        field: Field,
    },
    /// The part of the records for which a condition holds, in percent.
    Share(String),
}

impl Measure {
    /// The share of a condition.
    ///
    /// # Errors
    /// If the text is no condition.
    pub fn share(condition: &str) -> Result<Self, ConditionError> {
        let condition = condition.trim();
        Condition::new(condition, Case::Distinct)?;
        Ok(Self::Share(condition.to_owned()))
    }

    /// The kind of measure.
    pub fn kind(&self) -> &MeasureKind {
        match self {
            Self::Field { kind, .. } => kind,
            Self::Share(_) => &MeasureKind::Share,
        }
    }

    /// The measured field; `None` for a condition.
    pub(crate) fn field(&self) -> Option<&Field> {
        match self {
            Self::Field { field, .. } => Some(field),
            Self::Share(_) => None,
        }
    }
}

/// The name of the measure's column, such as `sum(bytes)`, `p99.9(time)` and `share(status >= 500)`.
impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            MeasureKind::Sum => f.write_str("sum")?,
            MeasureKind::Mean => f.write_str("mean")?,
            MeasureKind::Min => f.write_str("min")?,
            MeasureKind::Max => f.write_str("max")?,
            MeasureKind::Percentile(percentile) => write!(f, "p{percentile}")?,
            MeasureKind::Distinct => f.write_str("distinct")?,
            MeasureKind::Share => f.write_str("share")?,
        }
        match self {
            Self::Field { field, .. } => write!(f, "({field})"),
            Self::Share(condition) => write!(f, "({condition})"),
        }
    }
}

/// Criterion of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// Descending count.
    #[default]
    Count,
    /// The bytes of the key.
    Key,
    /// Descending value of the measure with this index. Keys without a value come last.
    Measure(usize),
}

/// Bound of the memory of a count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes of memory of all tables.
    pub bytes: usize,
    /// Directory of temporary files.
    pub directory: PathBuf,
}

/// Defines a struct of options by the default of each, and a setter for each.
macro_rules! options {
    (
        $(#[$about:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $kind:ty = $default:expr,)+ }
    ) => {
        $(#[$about])*
        pub struct $name { $($(#[$doc])* pub $field: $kind,)+ }

        setters! { $name { $($field: $kind),+ } }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }
    };
}

options! {
    /// Options of a count. Regular expressions are those of the `regex` crate.
    /// `.` and other classes with U+FFFD also match a byte that is not valid UTF-8.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct QueryOptions {
        /// Number of keys in the answer. Default: 10.
        pub number: usize = 10,
        /// Fields that form the key, joined with a space. Default: none, for the whole record.
        pub fields: FieldList = FieldList::default(),
        /// Separator of fields. Default: blanks.
        pub separator: Separator = Separator::default(),
        /// Expressions that must all match a record. Default: none.
        pub grep: Vec<String> = Vec::new(),
        /// Expressions that must not match a record. Default: none.
        pub vgrep: Vec<String> = Vec::new(),
        /// Edits of keys, in order: an expression and the replacement for each match. Default: none.
        pub sed: Vec<(String, String)> = Vec::new(),
        /// Format of the records. Default: lines if all fields are numbers, and [`InputFormat::Auto`] if some have
        /// names, or if there are none but times are needed.
        pub input: Option<InputFormat> = None,
        /// The lines that begin a record. Default: all.
        pub record: Option<RecordBegin> = None,
        /// Array in documents of JSON whose elements are records. Default: documents are records, and elements of documents that
        /// are arrays.
        pub records: Option<Field> = None,
        /// Field whose text is the record. Default: none. An overview is always of the records themselves.
        pub unwrap: Option<Unwrap> = None,
        /// Delimiter of CSV. Default: a comma.
        pub delimiter: u8 = b',',
        /// Whether CSV and TSV files begin with a header. Default: yes.
        pub has_header: bool = true,
        /// Fields with names that form the key, before `fields`. Default: none.
        pub names: Vec<Field> = Vec::new(),
        /// Expressions whose match is the key. Default: none.
        pub extract: Vec<String> = Vec::new(),
        /// Count all matches of `extract` in a record, not only the first. Default: no.
        pub each: bool = false,
        /// Field whose values are columns of the answer, with the counts of each key or its measure. Default: none.
        pub columns: Option<Field> = None,
        /// Compare the counts of two parts of the records. Then the answer has the changes, and is sorted by [`SortBy::Measure`] with the
        /// index of one of [`CHANGE_COLUMNS`](crate::CHANGE_COLUMNS), by count or by key. Default: none.
        pub compare: Option<Compare> = None,
        /// Counts records without a field of the key, with this text in its place. Default: they are skipped.
        pub missing: Option<String> = None,
        /// Ignore case in expressions and strings, and fold the case of keys. Default: no.
        pub ignore_case: bool = false,
        /// Parts of keys to be replaced by placeholders. Default: none.
        pub normalize: Option<Normalizer> = None,
        /// Condition on fields that a record must meet. Default: none.
        pub condition: Option<String> = None,
        /// Field with the time of a record, or those with its date and its time of day. Default: found for each file, by its name or as
        /// the first time in a line.
        pub time: Vec<Field> = Vec::new(),
        /// How times are written. Default: in any usual form.
        pub time_form: TimeForm = TimeForm::default(),
        /// Zone of times without one, and of the buckets. Default: UTC.
        pub zone: Zone = Zone::UTC,
        /// First instant that is counted. Default: any.
        pub since: Option<Bound> = None,
        /// First instant that is no longer counted. Default: none.
        pub until: Option<Bound> = None,
        /// How far files may be from the order of time, if they are in it: then only the part between `since` and `until` is
        /// read. Default: any order.
        pub sorted: Option<Slack> = None,
        /// Count by buckets of time. Default: no.
        pub every: Option<Every> = None,
        /// While inputs are followed, forget what is older. Default: nothing is forgotten.
        pub last: Option<Last> = None,
        /// Describe all fields of the records instead of counting keys: see [`overview`](crate::overview()). Default: no.
        pub overview: bool = false,
        /// List all fields of the records that [`sample`](crate::sample()) explains. If no key is wanted, their format is recognised. Default: no.
        pub explain: bool = false,
        /// Measures of the records of each key. Default: none.
        pub measures: Vec<Measure> = Vec::new(),
        /// Units of the numbers without one in measured fields. Default: none, and they are left out if other numbers of the field have a unit.
        pub units: Vec<(Field, TimeUnit)> = Vec::new(),
        /// How the numbers of measured fields are written. Default: with a point, and without separators of thousands.
        pub number_format: Option<NumberFormat> = None,
        /// Order of the keys. Default: descending count.
        pub sort_by: SortBy = SortBy::default(),
        /// Reverse the order. Keys that are equal in it remain in the order of their bytes. Default: no.
        pub reverse: bool = false,
        /// Minimum count of a key in the answer. Default: 1.
        pub min_count: u64 = 1,
        /// Count the most frequent keys approximately, in tables of this many bytes. Without measures and buckets, by descending
        /// count. Default: exact counts, in as much memory as they need.
        pub approximate: Option<usize> = None,
        /// Count exactly in bounded memory, with temporary files. Default: in as much memory as needed.
        pub memory: Option<MemoryLimit> = None,
        /// Count the keys of an approximate answer exactly, by reading all inputs a second time. They must be files. Default: no.
        pub recount: bool = false,
    }
}

impl QueryOptions {
    /// The instants that are counted.
    pub(crate) fn window(&self) -> Range<i64> {
        let [since, until] = self.bounds();
        since.saturating_sub(self.shift())..until
    }

    /// The instants between the windows that are compared.
    pub(crate) fn gap(&self) -> Range<i64> {
        let [since, until] = self.bounds();
        if self.shift() == 0 { 0..0 } else { until.saturating_sub(self.shift())..since }
    }

    /// The ends of the window, without one that it is compared with.
    fn bounds(&self) -> [i64; 2] {
        let since = self.since.map_or(i64::MIN, |since| since.nanoseconds);
        [since, self.until.map_or(i64::MAX, |until| until.nanoseconds)]
    }

    /// Distance of the earlier window that this one is compared with; 0 without one.
    fn shift(&self) -> i64 {
        match self.compare {
            Some(Compare::Earlier(shift)) => shift.nanoseconds(),
            Some(Compare::Inputs) | None => 0,
        }
    }
}

/// An error in a query.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// An invalid regular expression.
    #[error("{option}: {error}")]
    Pattern {
        /// Field of [`QueryOptions`] with the expression.
        option: &'static str,
        /// The error.
        #[source]
        error: PatternError,
    },
    /// An invalid condition.
    #[error("condition: {0}")]
    Condition(#[from] ConditionError),
    /// The format does not have a field, or is invalid.
    #[error("format {format}: {error}")]
    Input {
        /// Name of the format.
        format: String,
        /// The error.
        #[source]
        error: FormatError,
    },
    /// No array in documents has this path.
    #[error("records {path}: {reason}")]
    Records {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// These fields cannot form a key of such records.
    #[error("fields {fields}: {reason}")]
    Fields {
        /// The fields.
        fields: String,
        /// The reason.
        reason: String,
    },
    /// A field whose text is a time or a record is in no record.
    #[error("{option}: {} is the name of the input, and no field of a record", Field::INPUT)]
    NotInRecord {
        /// Field of [`QueryOptions`] with the field.
        option: &'static str,
    },
    /// Keys cannot be counted by the values of a field together with other options.
    #[error("columns: {0}")]
    Columns(&'static str),
    /// Counts cannot be compared with these other options.
    #[error("comparison: {0}")]
    Compare(&'static str),
    /// The window of time that is compared with an earlier one has no beginning.
    #[error("comparison: a window of time needs a beginning")]
    ComparedWithoutBeginning,
    /// The field of the time is named, but nothing depends on times.
    #[error("a time field is set, but no time bound or bucket uses it")]
    UnusedTime,
    /// A field has a unit, but is not measured.
    #[error("the field {0} has a unit, but is not measured")]
    UnusedUnit(String),
    /// Files are said to be in the order of time, but all of them is counted.
    #[error("sorted files need a first or a last instant")]
    SortedWithoutWindow,
    /// Files are said to be in the order of time, but the text of a field is the record.
    #[error("sorted files cannot be searched for times in unwrapped records")]
    SortedUnwrapped,
    /// Files are said to be in the order of a time, which is in a group of an expression whose every match is counted.
    #[error("sorted files with a count of each match need the time in a field, not in a group")]
    SortedByGroup,
}
