//! A JSON object, described by `docs/overview.schema.json`.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::OverviewFormat;
use crate::count::answer::Skipped;
use crate::measure::quantity::Quantity;
use crate::overview::answer::{Bars, FieldOverview, Gap, Numbers, Overview, Times, ValueCount};
use crate::print::Json;
use crate::print::json::{base64, text};

#[derive(Serialize)]
struct OverviewObject<'a> {
    partial: bool,
    records: u64,
    formats: Vec<FormatObject<'a>>,
    malformed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    untimed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<TimesObject<'a>>,
    fields: Vec<FieldObject<'a>>,
    fields_left_out: u64,
}

#[derive(Serialize)]
struct FormatObject<'a> {
    format: &'a str,
    records: u64,
}

#[derive(Serialize)]
struct FieldObject<'a> {
    name: &'a str,
    values: u64,
    distinct: u64,
    exact: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    time: bool,
    top: Vec<ValueObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<NumbersObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<TimesObject<'a>>,
}

#[derive(Serialize)]
struct ValueObject<'a> {
    value: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_base64: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    count: u64,
}

#[derive(Serialize)]
struct NumbersObject<'a> {
    count: u64,
    others: u64,
    min: Number<'a>,
    median: Number<'a>,
    p95: Number<'a>,
    max: Number<'a>,
}

/// A number with all its digits.
struct Number<'a>(&'a Quantity);

impl Serialize for Number<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

#[derive(Serialize)]
struct TimesObject<'a> {
    count: u64,
    others: u64,
    first: &'a str,
    last: &'a str,
    seconds: f64,
    gaps: Vec<GapObject<'a>>,
    bars: BarsObject<'a>,
}

#[derive(Serialize)]
struct GapObject<'a> {
    after: &'a str,
    before: &'a str,
    seconds: f64,
}

#[derive(Serialize)]
struct BarsObject<'a> {
    start: &'a str,
    seconds: u64,
    counts: &'a [u64],
}

fn seconds(nanoseconds: i128) -> f64 {
    nanoseconds as f64 / 1e9
}

impl<'a> From<&'a Times> for TimesObject<'a> {
    fn from(times: &'a Times) -> Self {
        let gap = |gap: &'a Gap| GapObject {
            after: &gap.after,
            before: &gap.before,
            seconds: seconds(gap.nanoseconds),
        };
        let Bars { start, seconds: width, counts } = &times.bars;
        Self {
            count: times.count,
            others: times.others,
            first: &times.first,
            last: &times.last,
            seconds: seconds(times.nanoseconds),
            gaps: times.gaps.iter().map(gap).collect(),
            bars: BarsObject { start, seconds: *width, counts },
        }
    }
}

impl<'a> From<&'a Numbers> for NumbersObject<'a> {
    fn from(numbers: &'a Numbers) -> Self {
        let Numbers { count, others, min, median, p95, max } = numbers;
        let [min, median, p95, max] = [min, median, p95, max].map(Number);
        Self { count: *count, others: *others, min, median, p95, max }
    }
}

impl<'a> From<&'a FieldOverview> for FieldObject<'a> {
    fn from(field: &'a FieldOverview) -> Self {
        let value = |value: &'a ValueCount| ValueObject {
            value: text(&value.value),
            value_base64: base64(&value.value),
            cut: value.is_cut,
            count: value.count,
        };
        Self {
            name: &field.name,
            values: field.values,
            distinct: field.distinct,
            exact: field.is_exact,
            time: field.is_time,
            top: field.top.iter().map(value).collect(),
            numbers: field.numbers.as_ref().map(NumbersObject::from),
            times: field.times.as_ref().map(TimesObject::from),
        }
    }
}

impl OverviewFormat for Json {
    fn write_overview(&self, overview: &Overview, out: &mut dyn Write) -> io::Result<()> {
        let count = |skipped: &Option<Skipped>| skipped.as_ref().map(|skipped| skipped.count);
        let formats = overview.formats.iter();
        let object = OverviewObject {
            partial: overview.partial,
            records: overview.records,
            formats: formats.map(|(format, records)| FormatObject { format, records: *records }).collect(),
            malformed: count(&overview.malformed).unwrap_or(0),
            untimed: count(&overview.untimed),
            times: overview.times.as_ref().map(TimesObject::from),
            fields: overview.fields.iter().map(FieldObject::from).collect(),
            fields_left_out: overview.fields_left_out,
        };
        serde_json::to_writer_pretty(&mut *out, &object)?;
        out.write_all(b"\n")
    }
}
