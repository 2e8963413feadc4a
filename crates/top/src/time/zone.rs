//! Time zones, and the instants of times as they are written.

use std::fmt;
use std::ops::Range;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use super::calendar::{self, DAY, SECOND, year_of};
use super::written::{Civil, Moment};

/// The zone of times without one, and of the buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// An unknown time zone.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "unknown time zone '{0}'; expected a name such as Europe/Berlin, an offset such as +01:00, UTC or local"
)]
pub struct ZoneError(String);

impl Zone {
    /// UTC.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// Parses the name of a zone in the database of the system, `UTC`, `local`, or an offset such as `+01:00`.
    ///
    /// # Errors
    /// Returns an error if the zone is unknown.
    pub fn parse(text: &str) -> Result<Self, ZoneError> {
        let error = || ZoneError(text.to_owned());
        if text == "local" {
            return TimeZone::try_system().map(Self).map_err(|_| error());
        }
        if text.eq_ignore_ascii_case("utc") || text == "Z" {
            return Ok(Self::UTC);
        }
        if text.starts_with(['+', '-']) {
            return fixed(text).map(Self).ok_or_else(error);
        }
        TimeZone::get(text).map(Self).map_err(|_| error())
    }

    /// The zone of the system, or UTC if that is unknown.
    pub fn system() -> Self {
        Self(TimeZone::try_system().unwrap_or(TimeZone::UTC))
    }

    /// A name that [`Zone::parse`] reads anywhere. `None` for the zone of a system that has none.
    pub fn name(&self) -> Option<String> {
        let is_named = self.0.iana_name().is_some() || self.0.to_fixed_offset().is_ok();
        is_named.then(|| self.to_string())
    }

    /// An instant for people: date, time, and the offset from UTC.
    pub(crate) fn show(&self, instant: i64) -> String {
        let timestamp = Timestamp::from_nanosecond(instant.into()).unwrap_or_default();
        let shown = timestamp.to_zoned(self.0.clone()).strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string();
        with_z(shown)
    }

    pub(crate) fn inner(&self) -> &TimeZone {
        &self.0
    }

    /// The instants around one at which clocks have the same offset from UTC.
    pub(super) fn stretch(&self, instant: i64) -> Stretch {
        let timestamp = Timestamp::from_nanosecond(instant.into()).unwrap_or_default();
        let after = Timestamp::from_nanosecond(i128::from(instant) + 1).unwrap_or(timestamp);
        let offset = self.0.to_offset(timestamp);
        let nanoseconds = |at: Timestamp, limit: i64| i64::try_from(at.as_nanosecond()).unwrap_or(limit);
        // Some transitions change only the name of the zone's time.
        let from =
            self.0.preceding(after).find(|transition| self.offset_before(transition.timestamp()) != offset);
        let to = self.0.following(timestamp).find(|transition| transition.offset() != offset);
        Stretch {
            from: from.map_or(i64::MIN, |transition| nanoseconds(transition.timestamp(), i64::MIN)),
            to: to.map_or(i64::MAX, |transition| nanoseconds(transition.timestamp(), i64::MAX)),
            offset: i64::from(offset.seconds()) * SECOND,
        }
    }

    /// The offset from UTC until an instant.
    fn offset_before(&self, instant: Timestamp) -> Offset {
        let before = instant.checked_sub(SignedDuration::from_nanos(1));
        self.0.to_offset(before.unwrap_or(instant))
    }

    /// The first second at which clocks show a time in seconds since 1970-01-01T00:00:00, or the one at which they skip
    /// it.
    pub(super) fn first_at(&self, seconds: i64) -> Option<i64> {
        let civil: DateTime = Offset::UTC.to_datetime(Timestamp::from_second(seconds).ok()?);
        let instant = self.0.to_timestamp(civil).ok()?;
        if self.0.to_datetime(instant) == civil {
            return Some(instant.as_second());
        }
        let instant = i64::try_from(instant.as_nanosecond()).ok()?;
        Some(self.stretch(instant).from / SECOND)
    }
}

/// A time whose offset is written as `Z` if it is that of UTC, in any zone.
pub(super) fn with_z(mut shown: String) -> String {
    if let Some(local) = shown.strip_suffix("+00:00") {
        shown.truncate(local.len());
        shown.push('Z');
    }
    shown
}

/// The name in the database, or the offset from UTC.
impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => f.write_str(name),
            (None, Ok(offset)) => {
                write!(f, "{}", Timestamp::UNIX_EPOCH.display_with_offset(offset).to_string().split_off(19))
            }
            (None, Err(_)) => f.write_str("local time"),
        }
    }
}

/// An offset such as `+01:00`, `-0330` or `+5`.
fn fixed(text: &str) -> Option<TimeZone> {
    let (sign, digits) = (if text.starts_with('-') { -1 } else { 1 }, text.get(1..)?);
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let number = |text: &str, max: i32| {
        let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|&value: &i32| is_short && value <= max)
    };
    let seconds = sign * (3600 * number(hours, 23)? + 60 * number(minutes, 59)?);
    Some(TimeZone::fixed(Offset::from_seconds(seconds).ok()?))
}

/// Instants from `from` to before `to`, in nanoseconds, with the same offset from UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: i64,
    pub(super) to: i64,
    /// Nanoseconds east of UTC.
    pub(super) offset: i64,
}

impl Stretch {
    pub(super) fn contains(&self, instant: i64) -> bool {
        self.from <= instant && instant < self.to
    }
}

/// Number of years that are tried for a time without one: there are up to eight from one leap day to the next.
const YEARS: i64 = 9;

/// The last record of a file may be later than the file's last change by this, in nanoseconds.
const MAX_SKEW: i64 = 60 * SECOND;

/// Converts times as they are written to instants.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    zone: Zone,
    /// A time without a year is in the latest year in which it is at most one day after this instant: when the file was
    /// changed last, or now.
    latest: i64,
}

/// Memory of a clock from one time to the next.
#[derive(Debug, Default)]
pub(crate) struct ClockCache {
    /// Civil seconds, and the offset that all of them have.
    known: Option<(Range<i64>, i64)>,
}

impl Clock {
    pub(crate) fn new(zone: Zone, latest: i64) -> Self {
        Self { zone, latest }
    }

    /// The instant of a time, in nanoseconds since 1970, or a time of day as it is. `None` before 1677 and after 2262, and for a day that does not
    /// exist.
    ///
    /// A time that clocks skip is moved on by the length of the gap, and one that they show twice is the first, as in
    /// RFC 5545.
    #[inline]
    pub(crate) fn instant(&self, cache: &mut ClockCache, moment: Moment) -> Option<i64> {
        match moment {
            // A time of day is dated when its place in the file is known.
            Moment::OfDay(time) => Some(time),
            Moment::Instant(instant) => Some(instant),
            Moment::Civil(civil) => match civil.year {
                Some(year) => self.in_year(cache, &civil, year),
                None => self.in_latest_year(cache, &civil),
            },
        }
    }

    #[inline]
    fn in_year(&self, cache: &mut ClockCache, civil: &Civil, year: i64) -> Option<i64> {
        let (seconds, nanoseconds) = civil.in_year(year)?;
        let offset = match civil.offset {
            Some(offset) => i64::from(offset),
            None => match &cache.known {
                Some((known, offset)) if known.contains(&seconds) => *offset,
                _ => self.offset(cache, seconds)?,
            },
        };
        calendar::nanoseconds(seconds - offset, nanoseconds)
    }

    /// The offset of civil seconds since 1970-01-01T00:00:00. Remembers it if no change of clocks is near.
    #[inline(never)]
    fn offset(&self, cache: &mut ClockCache, seconds: i64) -> Option<i64> {
        // No offset is greater than a day, and offsets do not change by more.
        const NEAR: i64 = 2 * DAY;
        let utc = Timestamp::from_second(seconds).ok()?;
        let civil: DateTime = Offset::UTC.to_datetime(utc);
        let instant = self.zone.0.to_timestamp(civil).ok()?;
        let offset = seconds - instant.as_second();
        // The first instant is not at a whole second.
        let nanoseconds = instant.as_nanosecond().clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let stretch = self.zone.stretch(nanoseconds);
        let known = stretch.from / SECOND + NEAR..stretch.to / SECOND - NEAR;
        cache.known = known.contains(&seconds).then_some((known, offset));
        Some(offset)
    }

    /// The latest day, in days since 1970, on which a time of day is not after the last change of the file.
    pub(crate) fn latest_day(&self, cache: &mut ClockCache, time: i64) -> Option<i64> {
        // Clocks are at most a day from UTC, and may differ a little between machines.
        let today = self.latest.div_euclid(DAY * SECOND);
        let limit = self.latest.saturating_add(MAX_SKEW);
        (today - 2..=today + 1).rev().find(|&day| self.on_day(cache, day, time).is_some_and(|at| at <= limit))
    }

    /// The instant of a time of day, in nanoseconds, on a day since 1970.
    pub(crate) fn on_day(&self, cache: &mut ClockCache, day: i64, time: i64) -> Option<i64> {
        let seconds = day.checked_mul(DAY)? + time / SECOND;
        let offset = match &cache.known {
            Some((known, offset)) if known.contains(&seconds) => *offset,
            _ => self.offset(cache, seconds)?,
        };
        calendar::nanoseconds(seconds - offset, time % SECOND)
    }

    fn in_latest_year(&self, cache: &mut ClockCache, civil: &Civil) -> Option<i64> {
        self.latest_year(cache, civil).map(|(_, instant)| instant)
    }

    /// The year of a time without one, and the instant.
    fn latest_year(&self, cache: &mut ClockCache, civil: &Civil) -> Option<(i64, i64)> {
        let limit = self.limit();
        let last = year_of(limit.div_euclid(SECOND)) + 1;
        let instants = (last - YEARS..=last).rev();
        let mut instants = instants.filter_map(|year| Some((year, self.in_year(cache, civil, year)?)));
        instants.find(|&(_, instant)| instant <= limit)
    }

    /// The latest instant of a time without a year.
    fn limit(&self) -> i64 {
        self.latest.saturating_add(DAY * SECOND)
    }

    /// The instant at which the day of a time begins, if all times of that day are as long after it as they are after
    /// midnight. `None` if that is not known.
    pub(super) fn start_of_day(&self, cache: &mut ClockCache, civil: &Civil) -> Option<i64> {
        const LENGTH: i64 = DAY * SECOND;
        let (first, last) = (civil.at(0), civil.at(LENGTH - 1));
        let year = match civil.year {
            Some(year) => year,
            None => self.year_of_day(cache, &first, &last)?,
        };
        let (start, end) = (self.in_year(cache, &first, year)?, self.in_year(cache, &last, year)?);
        let (seconds, _) = first.in_year(year)?;
        let is_known = |(known, _): &(Range<i64>, i64)| known.start <= seconds && seconds + DAY <= known.end;
        let is_even = civil.offset.is_some() || cache.known.as_ref().is_some_and(is_known);
        (is_even && end - start == LENGTH - 1).then_some(start)
    }

    /// The year of a day without one, by its first and its last time. `None` if it is not the same for all times between.
    fn year_of_day(&self, cache: &mut ClockCache, first: &Civil, last: &Civil) -> Option<i64> {
        let (year, _) = self.latest_year(cache, first)?;
        let (same, _) = self.latest_year(cache, last)?;
        let next = (year + 1..=year + YEARS).find_map(|year| self.in_year(cache, first, year));
        // No offsets are further apart than this.
        let is_late = |next: i64| next > self.limit().saturating_add(2 * DAY * SECOND);
        (year == same && next.is_none_or(is_late)).then_some(year)
    }
}
