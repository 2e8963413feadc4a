//! An answer as a table, from which most formats are written.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::count::answer::{Answer, KeyCount, Series};
use crate::measure::quantity::{Quantity, percent};
use crate::query::options::SortBy;

/// An output format.
pub trait Format {
    /// Writes the whole answer.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()>;
}

/// Columns beside the count, the measures and the key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// Share of the records; with keys by bucket of time, of those of the bucket.
    pub percent: bool,
    /// Sum of the counts, or of the shares, up to the row; with keys by bucket of time, within the bucket.
    pub cumulative: bool,
    /// A last line with the number of records and keys.
    pub totals: bool,
    /// Omit the names of the columns, because the rows continue another answer.
    pub no_header: bool,
}

/// An answer as a table with named columns.
pub(super) struct AnswerTable<'a> {
    answer: &'a Answer,
    /// The keys of the rows.
    keys: &'a [KeyCount],
    layout: Layout,
}

/// A value of a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Count(u64),
    /// A share: a part and the whole.
    Share(u64, u64),
    Measure(&'a Quantity),
    Flag(bool),
    Key(&'a [u8]),
}

impl<'a> AnswerTable<'a> {
    pub(super) fn new(answer: &'a Answer, layout: Layout) -> Self {
        Self { answer, keys: &answer.top, layout }
    }

    /// The same with a row for each key of a series.
    pub(super) fn of_series(answer: &'a Answer, series: &'a Series, layout: Layout) -> Self {
        Self { answer, keys: &series.keys, layout }
    }

    /// Whether there are only counts and keys.
    pub(super) fn is_plain(&self) -> bool {
        !self.layout.percent && !self.layout.cumulative && self.answer.measure_names.is_empty()
    }

    /// Names of the columns. The columns of the key come last.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let Layout { percent, cumulative, .. } = self.layout;
        let mut names = vec!["count"];
        names.extend(self.answer.approximation.iter().flat_map(|_| ["error", "certain"]));
        names.extend(percent.then_some("percent"));
        names.extend(cumulative.then_some("cumulative"));
        names.extend((cumulative && percent).then_some("cumulative_percent"));
        names.extend(self.answer.measure_names.iter().map(String::as_str));
        names.extend(self.answer.key_names.iter().map(String::as_str));
        names
    }

    /// Names of the columns for people: `≈` marks measures with values that are not exact.
    pub(super) fn titles(&self) -> Vec<Cow<'a, str>> {
        let names = self.names();
        let first = names.len() - self.key_columns() - self.answer.measure_names.len();
        let is_estimate = |measure: usize| {
            self.keys.iter().any(|key| matches!(key.values.get(measure), Some(Quantity::Estimate(_))))
        };
        let title = |(index, name): (usize, &'a str)| match index.checked_sub(first) {
            Some(measure) if is_estimate(measure) => Cow::Owned(format!("≈{name}")),
            _ => Cow::Borrowed(name),
        };
        names.into_iter().enumerate().map(title).collect()
    }

    /// Names of the columns by what their numbers are: columns of the values of a field have the name of their measure.
    pub(super) fn kinds(&self) -> Vec<&'a str> {
        let mut names = self.names();
        if let Some(pivot) = &self.answer.pivot {
            let kind = pivot.measure.as_deref().unwrap_or("count");
            let first = names.len() - self.key_columns() - pivot.values;
            names[first..first + pivot.values].fill(kind);
        }
        names
    }

    /// Number of columns of the values of a field.
    pub(super) fn pivot_columns(&self) -> usize {
        self.answer.pivot.as_ref().map_or(0, |pivot| pivot.values)
    }

    /// Number of columns of the key.
    pub(super) fn key_columns(&self) -> usize {
        self.answer.key_names.len()
    }

    /// Index of the column of numbers that the keys are sorted by: the count if that is the key.
    pub(super) fn criterion(&self) -> usize {
        match self.answer.sort_by {
            SortBy::Count | SortBy::Key => 0,
            SortBy::Measure(number) => {
                let measures = self.answer.measure_names.len();
                self.names().len() - self.key_columns() - measures + number
            }
        }
    }

    /// The rows, in order. Shares and sums of keys by bucket of time are those within the bucket.
    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<Value<'a>>> {
        let mut buckets = self.answer.bucket_rows.iter();
        let (mut sum, mut rows, mut all) = (0, 0, self.answer.records);
        self.keys.iter().map(move |key| {
            if rows == 0
                && let Some(bucket) = buckets.next()
            {
                (sum, rows, all) = (0, bucket.rows, bucket.records);
            }
            rows = rows.saturating_sub(1);
            sum += key.count;
            self.row(key, sum, all)
        })
    }

    fn row(&self, key: &'a KeyCount, sum: u64, all: u64) -> Vec<Value<'a>> {
        let Layout { percent, cumulative, .. } = self.layout;
        let mut row = vec![Value::Count(key.count)];
        let limits = [Value::Count(key.error), Value::Flag(!key.is_uncertain)];
        row.extend(self.answer.approximation.iter().flat_map(|_| limits));
        row.extend(percent.then_some(Value::Share(key.count, all)));
        row.extend(cumulative.then_some(Value::Count(sum)));
        row.extend((cumulative && percent).then_some(Value::Share(sum, all)));
        row.extend(key.values.iter().map(Value::Measure));
        match &key.fields[..] {
            [] => row.extend((self.key_columns() > 0).then_some(Value::Key(&key.key))),
            fields => row.extend(fields.iter().map(|field| Value::Key(field))),
        }
        row
    }
}

impl<'a> Value<'a> {
    /// The bytes of a key, or the text of a number, which is empty for a measure without a value.
    pub(super) fn bytes(self) -> Cow<'a, [u8]> {
        match self {
            Self::Key(key) => Cow::Borrowed(key),
            number => Cow::Owned(number.number("").unwrap_or_default().into_bytes()),
        }
    }

    /// The text of a number; `none` for a measure without a value. The bytes of a key are not text.
    pub(super) fn number(self, none: &str) -> Option<String> {
        match self {
            Self::Count(count) => Some(count.to_string()),
            Self::Flag(flag) => Some(flag.to_string()),
            Self::Share(part, whole) => Some(percent(part, whole)),
            Self::Measure(Quantity::None) => Some(none.to_owned()),
            Self::Measure(quantity) => Some(quantity.to_string()),
            Self::Key(_) => None,
        }
    }
}
