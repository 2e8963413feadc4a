//! The result of a count.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use finecomb_scan::{Place, Problem, Report};
use finecomb_sys::units::counted;

use crate::key::between_fields::{Joint, split};
use crate::measure::quantity::Quantity;
use crate::query::options::SortBy;
use crate::records::absent_fields::AbsentField;
use crate::time::{Buckets, Labels, Zone};

/// A key and its count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyCount {
    /// The key. It need not be UTF-8.
    pub key: Vec<u8>,
    /// Number of records with this key.
    pub count: u64,
    /// The fields of a key of several named fields; otherwise empty.
    pub fields: Vec<Vec<u8>>,
    /// Value of each measure of the query.
    pub values: Vec<Quantity>,
    /// Maximum number of records with this key beyond the count: 0 unless counts are approximate.
    pub error: u64,
    /// Whether the key may be there by mistake: counts are approximate, and others may be more frequent.
    pub is_uncertain: bool,
}

impl KeyCount {
    /// The columns of the key, as many as an answer has names for.
    pub fn columns(&self) -> impl Iterator<Item = &[u8]> {
        let whole = self.fields.is_empty().then_some(&self.key);
        self.fields.iter().chain(whole).map(Vec::as_slice)
    }

    /// Splits the key into the fields that were joined, and makes it readable.
    pub(crate) fn split(&mut self, joint: Joint) {
        if joint == Joint::Separator {
            self.fields = split(&self.key);
            self.key = self.fields.join(&b' ');
        }
    }

    /// A key and its count, without measures.
    pub fn new(key: Vec<u8>, count: u64) -> Self {
        Self { key, count, ..Self::default() }
    }
}

/// Orders by descending count, then by the bytes of the key: the order of an answer.
impl Ord for KeyCount {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |this: &Self| Reverse(this.count);
        rank(self).cmp(&rank(other)).then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialOrd for KeyCount {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The counts of a query.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The first keys in the order of the query. By default this is descending count, then the bytes of the key.
    pub top: Vec<KeyCount>,
    /// Number of distinct keys.
    pub distinct: u64,
    /// Number of records counted. A record with several keys counts once for each.
    pub records: u64,
    /// Number of records read that the filters select, counted or not.
    pub examined: u64,
    /// Selected records without a key, if any. A record with several keys counts once for each key that lacks a field.
    pub skipped: Option<Skipped>,
    /// Records that do not have the format of their file, if any.
    pub malformed: Option<Skipped>,
    /// Records that no expression for keys matches, if any.
    pub unmatched: Option<Skipped>,
    /// Records without a time, if it is needed and any lack it.
    pub untimed: Option<Skipped>,
    /// The earliest and latest times of the records in the zone of the query, if all records with a time are outside its window.
    pub outside: Option<[String; 2]>,
    /// Values that are measured but are no numbers, if any. They are left out of the measures.
    pub not_numbers: Option<Skipped>,
    /// Numbers without a unit, if any are measured and others of their field have one. They are left out of the measures.
    pub without_unit: Option<Skipped>,
    /// Measured numbers of 10^20 or more, or -10^20 or less, if any. They are left out of the measures.
    pub out_of_range: Option<Skipped>,
    /// Measured numbers of more than 18 decimal places, if any. They are rounded.
    pub rounded: Option<Skipped>,
    /// Fields that no record has, if the count is complete and there are records.
    pub absent: Vec<AbsentField>,
    /// Names of the fields that form the key; empty if they have only numbers, or if the key is the whole record.
    pub key_fields: Vec<String>,
    /// Names of the columns of the key: of its fields if it has several with names, else a single one, and none if all
    /// records have the same key.
    pub key_names: Vec<String>,
    /// Names of the measures, such as `sum(bytes)`; those of the columns of the values of a field, if keys are counted by them.
    pub measure_names: Vec<String>,
    /// The columns of the values of a field, if keys are counted by them.
    pub pivot: Option<PivotColumns>,
    /// The numbers of new and gone keys, if the counts of two parts of the records are compared.
    pub changes: Option<Changes>,
    /// Criterion of the order of the keys.
    pub sort_by: SortBy,
    /// The counts by bucket, if keys are counted by buckets of time.
    pub series: Option<Series>,
    /// Start of the bucket of each row, or of each bucket of the series, in seconds since 1970, if there are buckets.
    pub starts: Vec<i64>,
    /// Zone of the buckets, whose starts are the first column of the key; `None` without buckets.
    pub bucket_zone: Option<Zone>,
    /// The rows of each bucket in the order of `top`, if keys are counted by buckets of time.
    pub bucket_rows: Vec<BucketRows>,
    /// Number of gaps between buckets that are too long to be filled with empty ones.
    pub long_gaps: u64,
    /// Set if counts may be approximate.
    pub approximation: Option<Approximation>,
    /// Whether the count was interrupted, so that the answer is incomplete.
    pub partial: bool,
}

/// Numbers of records and keys of two parts of the records that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Number of records of the first part.
    pub before: u64,
    /// Number of keys that are only in the second part.
    pub new: u64,
    /// Number of keys that are only in the first part.
    pub gone: u64,
}

/// The columns of an answer for the values of a field. They take the places of the measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PivotColumns {
    /// The field.
    pub field: String,
    /// The measure in the columns; `None` for counts.
    pub measure: Option<String>,
    /// Number of values with a column.
    pub values: usize,
    /// Number of values without a column.
    pub left_out: u64,
    /// Number of records with these values.
    pub records: u64,
}

/// The rows of a bucket of time, which follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketRows {
    /// Number of rows.
    pub rows: usize,
    /// Number of records counted in the bucket, also of keys without a row.
    pub records: u64,
}

/// The counts of the most frequent keys by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// The buckets in the order of time, each by its start.
    pub buckets: Vec<String>,
    /// The keys in the order of the answer, each with its count in all buckets.
    pub keys: Vec<KeyCount>,
    /// The counts above 0, by bucket and then by key: most keys are in few buckets.
    pub counts: Vec<SeriesCount>,
}

/// The count of a key in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesCount {
    /// Index of the bucket.
    pub bucket: usize,
    /// Index of the key.
    pub key: usize,
    /// Number of records.
    pub count: u64,
}

impl Series {
    pub(crate) fn new(
        buckets: &Buckets,
        starts: &[i64],
        keys: Vec<KeyCount>,
        mut counts: Vec<SeriesCount>,
    ) -> Self {
        let mut labels = Labels::new(buckets);
        let label = |&start: &i64| String::from_utf8_lossy(labels.label(start)).into_owned();
        counts.sort_unstable();
        Self { buckets: starts.iter().map(label).collect(), keys, counts }
    }

    /// The series with only the keys of a range of places.
    ///
    /// # Panics
    /// If there are fewer keys.
    #[must_use]
    pub fn part(&self, places: Range<usize>) -> Self {
        let counts = self.counts.iter().filter(|known| places.contains(&known.key));
        Self {
            buckets: self.buckets.clone(),
            counts: counts.map(|&known| SeriesCount { key: known.key - places.start, ..known }).collect(),
            keys: self.keys[places.clone()].to_vec(),
        }
    }

    /// The counts of each of the first `number` keys, at most, by bucket.
    pub fn counts_of_first(&self, number: usize) -> Vec<Vec<u64>> {
        let mut counts = vec![vec![0; self.buckets.len()]; number.min(self.keys.len())];
        for known in &self.counts {
            if let Some(of_key) = counts.get_mut(known.key) {
                of_key[known.bucket] = known.count;
            }
        }
        counts
    }
}

impl Answer {
    /// Start of the bucket of each row, in seconds since 1970. Empty without buckets.
    pub fn row_starts(&self) -> Vec<i64> {
        match &self.series {
            // The counts of a series are those of the rows, in their order.
            Some(series) => series.counts.iter().map(|count| self.starts[count.bucket]).collect(),
            None => self.starts.clone(),
        }
    }

    /// Whether there was no memory for all keys.
    pub(crate) fn is_approximate(&self) -> bool {
        self.approximation.is_some_and(|approximation| approximation.bound > 0)
    }

    /// The number of distinct keys for people, such as `3 distinct keys`.
    pub fn distinct_keys(&self) -> String {
        let keys = counted(self.distinct, "distinct key");
        if self.is_approximate() { format!("at least {keys}") } else { keys }
    }
}

/// Bounds of the unknown counts, if counts may be approximate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Approximation {
    /// Maximum count of a key for which there was no memory. If it is 0, all counts are exact, and so is the number of distinct
    /// keys; otherwise that is only known to be at least [`Answer::distinct`].
    pub bound: u64,
    /// Whether the inputs changed between the two passes: the second one counted another number of records, or a count that is
    /// impossible after the first.
    pub has_changed: bool,
}

/// Records or values that are not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Their number.
    pub count: u64,
    /// The first of them. `None` if the counts were stored, which leaves it out.
    pub first: Option<FirstSkipped>,
}

/// The first of some records or values that are not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSkipped {
    /// Place of the record.
    pub place: Place,
    /// Beginning of the record or value, at most 256 bytes.
    pub record: Vec<u8>,
    /// The reason, if it is not that a field is missing.
    pub cause: Option<Cause>,
}

/// Reason why a record or value is not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Column in the record, in bytes, counted from 1.
    pub column: usize,
    /// The reason, or the name of the measured field.
    pub reason: String,
}

impl Skipped {
    /// Maximum length of `record`, in bytes.
    pub(crate) const MAX_RECORD: usize = 256;

    /// `count` records without a key; `record` is the first of them.
    pub(crate) fn new(count: u64, place: Place, record: &[u8]) -> Self {
        let record = record[..record.len().min(Self::MAX_RECORD)].to_vec();
        Self { count, first: Some(FirstSkipped { place, record, cause: None }) }
    }

    /// The same with the reason, and the column in the record, counted from 1.
    pub(crate) fn because(mut self, column: usize, reason: String) -> Self {
        if let Some(first) = &mut self.first {
            first.cause = Some(Cause { column, reason });
        }
        self
    }

    /// The number alone, if it is not 0.
    pub(crate) fn number(count: u64) -> Option<Self> {
        (count > 0).then_some(Self { count, first: None })
    }

    /// Merges the skipped records of two workers.
    pub(crate) fn merge(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (one, other) = match (one, other) {
            (Some(one), Some(other)) => (one, other),
            (one, other) => return one.or(other),
        };
        let count = one.count + other.count;
        let first = one.first.into_iter().chain(other.first).min_by(|one, other| one.place.cmp(&other.place));
        Some(Self { count, first })
    }
}

/// An answer, and the circumstances of the count.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The answer.
    pub answer: Answer,
    /// Problems with inputs, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Number of input bytes.
    pub bytes: u64,
    /// Bytes of memory of the workers' tables at the end.
    pub memory: u64,
    /// Bytes written to temporary files.
    pub spilled: u64,
    /// The reason why there is no answer, if memory is bounded and a temporary file could not be written or read.
    pub failure: Option<String>,
    /// Profile, if it was requested.
    pub report: Option<Report>,
}

impl From<Answer> for Outcome {
    /// The outcome of a count that read nothing.
    fn from(answer: Answer) -> Self {
        let (problems, bytes, memory, spilled, failure, report) = Default::default();
        Self { answer, problems, bytes, memory, spilled, failure, report }
    }
}
