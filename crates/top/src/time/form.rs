//! How times are written: in any usual form, or as a format says.

use jiff::civil::Time;
use jiff::fmt::strtime::BrokenDownTime;
use thiserror::Error;

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
    /// Returns an error if the format has an unknown directive.
    pub fn format(format: &str) -> Result<Self, TimeFormError> {
        // A format can be checked by writing a time.
        let some = jiff::Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
        let result = BrokenDownTime::from(&some).to_string(format);
        match result {
            Ok(_) => Ok(Self::Format(format.to_owned())),
            Err(error) => {
                Err(TimeFormError { format: format.to_owned(), reason: error.to_string().replace('\n', " ") })
            }
        }
    }

    /// Reads a value that is a time and nothing else.
    #[inline]
    pub(crate) fn read_value(&self, value: &[u8]) -> Option<Moment> {
        match self {
            Self::Usual => written::read_value(value).map(|found| found.moment),
            Self::Format(format) => moment(&BrokenDownTime::parse(format, value).ok()?),
        }
    }

    /// Finds the first time in a line. One of a format is at the beginning.
    pub(crate) fn find(&self, line: &[u8]) -> Option<Moment> {
        match self {
            Self::Usual => written::find(line),
            Self::Format(format) => Self::find_format(format, line),
        }
    }

    /// Reads the time at the beginning of a line by a format.
    #[inline]
    pub(super) fn find_format(format: &str, line: &[u8]) -> Option<Moment> {
        moment(&BrokenDownTime::parse_prefix(format, line).ok()?.0)
    }
}

fn moment(time: &BrokenDownTime) -> Option<Moment> {
    if let Some(timestamp) = time.timestamp() {
        return Some(Moment::Instant(i64::try_from(timestamp.as_nanosecond()).ok()?));
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
