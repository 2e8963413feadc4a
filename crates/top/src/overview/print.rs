//! Output of an overview: as text, JSON and Markdown.

mod json;
mod markdown;
mod text;

use std::io::{self, Write};

use finecomb_sys::units::{Count, counted};

use crate::count::answer::Skipped;
use crate::overview::answer::{FieldOverview, Overview, Times};

/// An output format that has a form for an overview.
pub trait OverviewFormat {
    /// Writes the whole overview.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    fn write_overview(&self, overview: &Overview, out: &mut dyn Write) -> io::Result<()>;
}

/// The number of records and their formats, such as `1,000 records of combined, 2 malformed`.
fn records(overview: &Overview) -> String {
    let all = counted(overview.records, "record");
    let mut line = match &overview.formats[..] {
        [] => all,
        [(format, _)] => format!("{all} of {format}"),
        formats => {
            let formats = formats.iter().map(|(format, count)| format!("{} of {format}", Count(*count)));
            format!("{all}: {}", formats.collect::<Vec<_>>().join(", "))
        }
    };
    for (left_out, what) in [(&overview.malformed, "malformed"), (&overview.untimed, "without a time")] {
        if let Some(Skipped { count, .. }) = left_out {
            line.push_str(&format!(", {} {what}", Count(*count)));
        }
    }
    line
}

/// First and last time and the rate.
fn span(times: &Times) -> String {
    let Some(rate) = times.rate() else { return format!("{}, all at the same time", times.first) };
    const RATES: [(f64, &str); 4] = [(1.0, "second"), (60.0, "minute"), (3600.0, "hour"), (86_400.0, "day")];
    let (rate, unit) = RATES
        .into_iter()
        .map(|(seconds, unit)| (rate * seconds, unit))
        .find(|(rate, _)| *rate >= 1.0)
        .unwrap_or((rate * 86_400.0, "day"));
    format!(
        "{} to {}: {}, {} per {unit}",
        times.first,
        times.last,
        duration(times.nanoseconds),
        three_digits(rate)
    )
}

/// A number with three significant digits.
fn three_digits(number: f64) -> String {
    match number {
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => Count(number.round() as u64).to_string(),
    }
}

/// A duration in the largest unit that fits twice, or in seconds.
fn duration(nanoseconds: i128) -> String {
    const UNITS: [(f64, &str); 3] = [(86_400.0, "d"), (3600.0, "h"), (60.0, "min")];
    let seconds = nanoseconds as f64 / 1e9;
    let (length, unit) = UNITS.into_iter().find(|(length, _)| seconds >= 2.0 * length).unwrap_or((1.0, "s"));
    format!("{} {unit}", three_digits(seconds / length))
}

/// Length of an interval that is a whole number of units.
fn interval(seconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3600, "h"), (60, "min")];
    let (length, unit) =
        UNITS.into_iter().find(|(length, _)| seconds.is_multiple_of(*length)).unwrap_or((1, "s"));
    format!("{} {unit}", seconds / length)
}

/// The number of distinct values in words.
fn distinct(field: &FieldOverview) -> String {
    format!("{}{} distinct", if field.is_exact { "" } else { "≈" }, Count(field.distinct))
}

/// A share in percent: at least one decimal place, and never rounded to zero.
fn percent(count: u64, all: u64) -> String {
    let share = 100.0 * count as f64 / all.max(1) as f64;
    if share > 0.0 && share < 0.05 { "<0.1 %".to_owned() } else { format!("{share:.1} %") }
}

/// Whether the most frequent values say nothing: each occurs once.
fn is_each_once(field: &FieldOverview) -> bool {
    field.is_exact && field.distinct > 1 && field.distinct == field.values
}
