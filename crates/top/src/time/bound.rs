//! The ends of a window of time, as people write them: `2h`, `yesterday 09:00`, `2026-03-01 06:20`.

use std::fmt;

use jiff::civil::{Date, Time};
use jiff::{Timestamp, ToSpan};
use thiserror::Error;

use super::calendar::{DAY, SECOND};
use super::written::read_value;
use super::zone::{Clock, ClockCache, Zone};

/// An instant at an end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound {
    pub(crate) nanoseconds: i64,
}

/// The instant in UTC, to the nanosecond: a text that [`Bound::parse`] reads in any zone.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Timestamp::from_nanosecond(self.nanoseconds.into()).unwrap_or_default().fmt(f)
    }
}

/// A text that is no instant.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "expected a time such as 2026-03-01, '2026-03-01 06:20', 06:20, 'yesterday 09:00', 2h or 15m (ago), or now; found '{0}'"
)]
pub struct BoundError(String);

impl Bound {
    /// Nanoseconds since 1970.
    pub fn nanoseconds(self) -> i64 {
        self.nanoseconds
    }

    /// Parses an end of a window. `now` is in nanoseconds since 1970. Times without a zone are in `zone`.
    ///
    /// - a duration such as `90s`, `15m`, `2h`, `3d`, `1w` or `1h30m`, optionally with `ago`: that long before now;
    /// - `now`, `today`, `yesterday`, optionally followed by a time of day, such as `yesterday 09:00`; a time of day alone means
    ///   today;
    /// - a time in any form that is recognised in logs.
    ///
    /// # Errors
    /// Returns an error if the text is something else.
    pub fn parse(text: &str, zone: &Zone, now: i64) -> Result<Self, BoundError> {
        let trimmed = text.trim();
        let found = duration(trimmed)
            .and_then(|before| now.checked_sub(before))
            .or_else(|| day_and_time(trimmed, zone, now).filter(|_| !trimmed.is_empty()))
            .or_else(|| {
                let clock = Clock::new(zone.clone(), now);
                clock.instant(&mut ClockCache::default(), read_value(trimmed.as_bytes())?.moment)
            });
        found.map(|nanoseconds| Self { nanoseconds }).ok_or_else(|| BoundError(text.to_owned()))
    }
}

/// The length of a duration such as `1h30m` or `2h ago`, in nanoseconds. For jiff, `06:20:09` is a duration, too.
pub(super) fn duration(text: &str) -> Option<i64> {
    let mut rest = text.strip_suffix("ago").map_or(text, str::trim_end);
    let mut sum = 0_i64;
    loop {
        let end = rest.find(|char: char| !char.is_ascii_digit()).filter(|&end| end > 0)?;
        let count: i64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "ms" => SECOND / 1000,
            "s" | "sec" => SECOND,
            "m" | "min" => 60 * SECOND,
            "h" => 3600 * SECOND,
            "d" => DAY * SECOND,
            "w" => 7 * DAY * SECOND,
            _ => return None,
        };
        sum = sum.checked_add(count.checked_mul(unit)?)?;
        rest = &rest[end..];
        if rest.is_empty() {
            return Some(sum);
        }
    }
}

/// The instant of `now`, `today`, `yesterday 09:00` or `06:20`.
fn day_and_time(text: &str, zone: &Zone, now: i64) -> Option<i64> {
    if text == "now" {
        return Some(now);
    }
    let today: Date = Timestamp::from_nanosecond(now.into()).ok()?.to_zoned(zone.inner().clone()).date();
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (day, time) = match word {
        "today" => (today, rest),
        "yesterday" => (today.checked_sub(1.day()).ok()?, rest),
        "tomorrow" => (today.checked_add(1.day()).ok()?, rest),
        _ => (today, text),
    };
    let time = match time.trim() {
        "" => Time::midnight(),
        time if time.contains(':') && time.len() <= 12 => time.parse().ok()?,
        _ => return None,
    };
    let instant = zone.inner().to_timestamp(day.to_datetime(time)).ok()?;
    i64::try_from(instant.as_nanosecond()).ok()
}
