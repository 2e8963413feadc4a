//! The answer to "what is in it?".

use finecomb_scan::{Problem, Report};

use crate::count::answer::Skipped;
use crate::measure::quantity::Quantity;

/// The contents of some inputs.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// Number of records.
    pub records: u64,
    /// Number of all records that `grep` and `vgrep` select, also of those that are left out.
    pub examined: u64,
    /// Number of records by format, in the order of the names.
    pub formats: Vec<(String, u64)>,
    /// Records that do not have the format of their file, if any. They are not among the records.
    pub malformed: Option<Skipped>,
    /// Records without a time, if times are bounded and any lack it. They are not among the records.
    pub untimed: Option<Skipped>,
    /// Times of the records, if any has one.
    pub times: Option<Times>,
    /// The fields, in the order in which they come first.
    pub fields: Vec<FieldOverview>,
    /// Number of fields that are left out: exact up to 4,096, with a standard error of 0.81 % beyond.
    pub fields_left_out: u64,
    /// Whether the job was interrupted, so that the answer is incomplete.
    pub partial: bool,
}

/// The values of a field.
#[derive(Clone, Debug)]
pub struct FieldOverview {
    /// Name of the field, as it is written in a query.
    pub name: String,
    /// Number of records with a value. An empty text or a hyphen is none.
    pub values: u64,
    /// Number of distinct values.
    pub distinct: u64,
    /// Whether all distinct values were counted. Otherwise their number has a standard error of 0.81 %, and the counts of values are
    /// estimates from a sample.
    pub is_exact: bool,
    /// Up to three of the most frequent values, by descending count. If they are not exact, each is in about 1 % of the values.
    pub top: Vec<ValueCount>,
    /// Distribution of the values, if they are numbers.
    pub numbers: Option<Numbers>,
    /// Whether the field has the times of the records, in some file. Their distribution is that of the overview.
    pub is_time: bool,
    /// Distribution of the values, if they are times.
    pub times: Option<Times>,
}

/// A frequent value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueCount {
    /// The value, or its first 240 bytes.
    pub value: Vec<u8>,
    /// Whether the value is longer.
    pub is_cut: bool,
    /// Number of records with it.
    pub count: u64,
}

/// The numbers of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Number of numbers.
    pub count: u64,
    /// Number of values that are something else.
    pub others: u64,
    /// The least number.
    pub min: Quantity,
    /// The median by nearest rank: exact if the distinct values are, else with a relative error of at most 2^-8.
    pub median: Quantity,
    /// The 95th percentile, likewise.
    pub p95: Quantity,
    /// The greatest number.
    pub max: Quantity,
}

/// Times, in RFC 3339.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Number of times.
    pub count: u64,
    /// Number of values that are something else.
    pub others: u64,
    /// The first.
    pub first: String,
    /// The last.
    pub last: String,
    /// From the first to the last.
    pub nanoseconds: i128,
    /// Up to three of the longest intervals without a time, in their order. Each is at least a second and a hundredth of all, and as
    /// long as 20 times take on average.
    pub gaps: Vec<Gap>,
    /// The number of times by interval.
    pub bars: Bars,
}

impl Times {
    /// Times per second, if they are not all the same.
    pub fn rate(&self) -> Option<f64> {
        (self.nanoseconds > 0).then(|| self.count as f64 / (self.nanoseconds as f64 / 1e9))
    }
}

/// An interval without a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last time before it.
    pub after: String,
    /// The first time after it.
    pub before: String,
    /// Its length.
    pub nanoseconds: i128,
}

/// Counts in at most 60 intervals of equal length, without a gap between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bars {
    /// Start of the first interval.
    pub start: String,
    /// Length of an interval.
    pub seconds: u64,
    /// The counts.
    pub counts: Vec<u64>,
}

/// An overview, and the circumstances of the job.
#[derive(Debug)]
#[non_exhaustive]
pub struct OverviewOutcome {
    /// The overview.
    pub overview: Overview,
    /// Problems with inputs, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Number of input bytes.
    pub bytes: u64,
    /// Profile, if it was requested.
    pub report: Option<Report>,
}
