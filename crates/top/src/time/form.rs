//! How times are written: in any usual form, or as a format says.

use jiff::civil::{Time, date};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use thiserror::Error;

use super::calendar;
use super::kind::TimeKind;
use super::written::{self, Moment};

/// How times are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeForm {
    /// In any usual form.
    #[default]
    Usual,
    /// As this format of `strptime` says.
    Format(String),
}

/// A format of times that is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("invalid format of times '{format}': {reason}")]
pub struct TimeFormError {
    format: String,
    reason: String,
}

impl TimeForm {
    /// A format of `strptime`, such as `%Y-%m-%d %H:%M:%S`. It has a date, or `%s` for seconds since 1970.
    ///
    /// # Errors
    /// Returns an error if the format has an unknown directive or no date.
    pub fn format(format: &str) -> Result<Self, TimeFormError> {
        // A format can be checked by writing a time, and reading that.
        let error =
            |reason: &str| TimeFormError { format: format.to_owned(), reason: reason.replace('\n', " ") };
        let write_and_read = || {
            let some = date(2011, 11, 11).at(11, 11, 11, 0).to_zoned(TimeZone::UTC)?;
            BrokenDownTime::parse(format, BrokenDownTime::from(&some).to_string(format)?)
        };
        let read = write_and_read().map_err(|reason: jiff::Error| error(&reason.to_string()))?;
        if moment(&read).is_none() {
            return Err(error("expected a month and a day, or %s for seconds since 1970"));
        }
        Ok(Self::Format(format.to_owned()))
    }

    /// Reads a value that is a time and nothing else.
    #[inline]
    pub(crate) fn read_value(&self, value: &[u8]) -> Option<Moment> {
        match self {
            Self::Usual => written::read_value(value).map(|found| found.moment),
            Self::Format(format) => moment(&BrokenDownTime::parse(format, value).ok()?),
        }
    }

    /// Reads a value that is a time of this kind and nothing else.
    pub(crate) fn read_kind(&self, kind: TimeKind, value: &[u8]) -> Option<Moment> {
        match kind {
            TimeKind::First | TimeKind::WithYear => self.read_value(value),
            TimeKind::OfDay => written::read_time_of_day(value),
        }
    }

    /// Finds the time of a kind in a line. One of a format is at the beginning.
    pub(crate) fn find(&self, kind: TimeKind, line: &[u8]) -> Option<Moment> {
        match (self, kind) {
            (Self::Format(format), _) => Self::find_format(format, line),
            (Self::Usual, TimeKind::First) => written::find(line),
            (Self::Usual, TimeKind::WithYear) => written::find_with_year(line),
            (Self::Usual, TimeKind::OfDay) => written::find_time_of_day(line).map(|(moment, _)| moment),
        }
    }

    /// Why a format reads no time at the beginning of a line, or in a value that is nothing else. `None` for usual forms.
    pub(crate) fn mismatch(&self, text: &[u8], is_value: bool) -> Option<String> {
        let Self::Format(format) = self else { return None };
        let read = match is_value {
            true => BrokenDownTime::parse(format, text).map(drop),
            false => BrokenDownTime::parse_prefix(format, text).map(drop),
        };
        let reason = match read {
            Err(error) => error.to_string().replace('\n', " ").replacen("strptime parsing failed: ", "", 1),
            Ok(()) => "the date does not exist, or more of the same word follows".to_owned(),
        };
        Some(format!("not '{format}': {reason}"))
    }

    /// Reads the time at the beginning of a line by a format. More of the same word may not follow, such as the month of
    /// `2026-03-01` after `%Y`.
    #[inline]
    pub(super) fn find_format(format: &str, line: &[u8]) -> Option<Moment> {
        let (time, length) = BrokenDownTime::parse_prefix(format, line).ok()?;
        let goes_on = match line.get(length..)? {
            [next, ..] if next.is_ascii_alphanumeric() => true,
            [b'-' | b':', next, ..] => next.is_ascii_digit(),
            [b'/', next, ..] => next.is_ascii_alphanumeric(),
            _ => false,
        };
        if goes_on { None } else { moment(&time) }
    }
}

fn moment(time: &BrokenDownTime) -> Option<Moment> {
    if let Some(timestamp) = time.timestamp() {
        let second = timestamp.as_second();
        let sign = if second < 0 { -1 } else { 1 };
        let fraction = sign * i64::from(time.subsec_nanosecond().unwrap_or(0));
        return calendar::nanoseconds(second, fraction).map(Moment::Instant);
    }
    let time_of_day = time.to_time().ok()?;
    let nanoseconds = time_of_day.duration_since(Time::midnight()).as_nanos();
    let nanoseconds = i64::try_from(nanoseconds).ok()?;
    let (year, month, day) = match (time.month(), time.day(), time.to_date()) {
        (Some(month), Some(day), _) => (time.year().map(i64::from), month, day),
        (_, _, Ok(date)) => (Some(date.year().into()), date.month(), date.day()),
        _ => return None,
    };
    let offset = time.offset().map(|offset| offset.seconds());
    written::civil(year, month as u8, day.into(), nanoseconds, offset).map(Moment::Civil)
}
