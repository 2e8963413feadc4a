//! Buckets of time, in a time zone: minutes, hours and others that divide a day, days, months and years.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use thiserror::Error;

use super::calendar::{DAY, SECOND, days_from_epoch, month_of};
use super::zone::{Stretch, Zone, with_z};

/// Maximum number of empty buckets between two others that are shown. A longer gap, such as that after a single time of
/// 1970, is left out.
pub const MAX_GAP: usize = 1000;

/// Number of bytes of a bucket in a key.
const PREFIX: usize = 8;

/// Maximum distance of a bucket from 1970, in seconds: 1,267 years. A bucket of a thousand years may begin that long before a record.
const MAX_START: u64 = 40_000_000_000;

/// Seconds of a month in the mean: a twelfth of 365.2425 days.
pub(super) const MEAN_MONTH: i64 = 2_629_746;

/// Width of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every(pub(super) Width);

/// A width in units of clocks or of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// A divisor of a day, or whole days.
    Seconds(i64),
    /// A divisor of a year, or whole years.
    Months(i64),
}

/// Months of a year.
const YEAR: i64 = 12;

/// Usual widths of at most a day.
const USUAL: [i64; 25] = {
    const M: i64 = 60;
    const H: i64 = 60 * M;
    [
        1,
        2,
        5,
        10,
        15,
        20,
        30,
        M,
        2 * M,
        3 * M,
        4 * M,
        5 * M,
        6 * M,
        10 * M,
        12 * M,
        15 * M,
        20 * M,
        30 * M,
        H,
        2 * H,
        3 * H,
        4 * H,
        6 * H,
        12 * H,
        DAY,
    ]
};

/// An invalid width of buckets.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EveryError {
    /// The text is no duration.
    #[error("expected a duration such as 10s, 5m, 1h, 1d, 1w, 1mo, 1q or 1y; found '{0}'")]
    Syntax(String),
    /// The duration does not divide a day or a year.
    #[error(
        "buckets must divide a {whole} or be whole {whole}s; the next that do are {shorter} and {longer}"
    )]
    Uneven {
        /// `day` or `year`.
        whole: &'static str,
        /// The next shorter width.
        shorter: Every,
        /// The next longer width.
        longer: Every,
    },
}

impl FromStr for Every {
    type Err = EveryError;

    fn from_str(text: &str) -> Result<Self, EveryError> {
        /// A thousand years.
        const MAX_DAYS: i64 = 365_000;
        const MAX_MONTHS: i64 = 12_000;
        let error = || EveryError::Syntax(text.to_owned());
        let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
        let (count, unit) = text.split_at(end);
        let count = if count.is_empty() { 1 } else { count.parse::<i64>().map_err(|_| error())? };
        let of_units = |unit: i64, most: i64| {
            count.checked_mul(unit).filter(|&width| width > 0 && width <= most).ok_or_else(error)
        };
        let months = match unit {
            "mo" => Some(1),
            "q" => Some(3),
            "y" => Some(12),
            _ => None,
        };
        if let Some(unit) = months {
            return Self::of_months(of_units(unit, MAX_MONTHS)?);
        }
        let unit = match unit {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3600,
            "d" => DAY,
            "w" => 7 * DAY,
            _ => return Err(error()),
        };
        let seconds = of_units(unit, MAX_DAYS * DAY)?;
        if divides(seconds, DAY) {
            return Ok(Self(Width::Seconds(seconds)));
        }
        let usual = USUAL.partition_point(|&usual| usual < seconds);
        let (shorter, longer) = match USUAL.get(usual) {
            Some(&longer) => (USUAL[usual - 1], longer),
            None => (seconds / DAY * DAY, (seconds / DAY + 1) * DAY),
        };
        let [shorter, longer] = [shorter, longer].map(|seconds| Self(Width::Seconds(seconds)));
        Err(EveryError::Uneven { whole: "day", shorter, longer })
    }
}

/// Whether a whole number of buckets is a day or a year, or a bucket is a whole number of them.
fn divides(width: i64, whole: i64) -> bool {
    whole % width == 0 || width % whole == 0
}

impl Every {
    /// The longest usual width of at most this many seconds, or a second.
    pub(super) fn usual_up_to(seconds: i64) -> Self {
        let longer = USUAL.partition_point(|&usual| usual <= seconds);
        Self(Width::Seconds(USUAL[longer.saturating_sub(1)]))
    }

    fn of_months(months: i64) -> Result<Self, EveryError> {
        if divides(months, YEAR) {
            return Ok(Self(Width::Months(months)));
        }
        let is_even = |months: &i64| divides(*months, YEAR);
        let shorter = (1..months).rev().find(is_even).unwrap_or(1);
        let longer = (months..).find(is_even).unwrap_or(YEAR);
        let [shorter, longer] = [shorter, longer].map(|months| Self(Width::Months(months)));
        Err(EveryError::Uneven { whole: "year", shorter, longer })
    }
}

/// Like the flag: `5m`, `1h`, `1d`, `1q`.
impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, units) = match self.0 {
            Width::Seconds(width) => {
                (width, &[(7 * DAY, "w"), (DAY, "d"), (3600, "h"), (60, "m"), (1, "s")][..])
            }
            Width::Months(3) => (3, &[(3, "q")][..]),
            Width::Months(width) => (width, &[(YEAR, "y"), (1, "mo")][..]),
        };
        let (unit, name) = units.iter().find(|(unit, _)| width % unit == 0).unwrap_or(&(1, "s"));
        write!(f, "{}{name}", width / unit)
    }
}

/// The buckets of a width in a time zone.
///
/// Buckets of up to an hour begin at multiples of their width after midnight by the zone's clocks, also in an hour that clocks show
/// twice, and with each change of clocks. Longer ones begin at multiples of their width after midnight, so one of them is an hour
/// shorter or longer when clocks change. Buckets of several days are counted from 1970-01-01, and weeks begin on Monday. Months and years
/// are those of the calendar, counted from the year 0: quarters begin in January, April, July and October, and decades in 2020 and 2030.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    pub(super) every: Every,
    zone: Zone,
}

/// Whole seconds of a number of nanoseconds.
fn seconds(nanoseconds: i128) -> i64 {
    match i64::try_from(nanoseconds) {
        Ok(nanoseconds) => nanoseconds.div_euclid(SECOND),
        Err(_) => nanoseconds.div_euclid(i128::from(SECOND)) as i64,
    }
}

/// The last bucket, and the stretch of the zone that it is in.
#[derive(Debug, Default)]
pub(crate) struct BucketCache {
    stretch: Option<Stretch>,
    /// First instant, instant after the last, and start of the bucket.
    last: Option<(i64, i64, i64)>,
}

impl Buckets {
    pub(crate) fn new(every: Every, zone: Zone) -> Self {
        Self { every, zone }
    }

    /// The start of the bucket of an instant, in seconds since 1970.
    #[inline]
    pub(crate) fn start(&self, cache: &mut BucketCache, instant: i64) -> i64 {
        match cache.last {
            Some((from, to, start)) if from <= instant && instant < to => start,
            _ => self.find_start(cache, instant),
        }
    }

    #[inline(never)]
    fn find_start(&self, cache: &mut BucketCache, instant: i64) -> i64 {
        let stretch = match cache.stretch {
            Some(stretch) if stretch.contains(instant) => stretch,
            _ => *cache.stretch.insert(self.zone.stretch(instant)),
        };
        let [floor, end] = self.civil(instant, stretch.offset);
        let utc =
            |civil: i128| (civil - i128::from(stretch.offset)).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let (from, to) = (utc(floor).max(stretch.from), utc(end).min(stretch.to));
        let start = match self.every.0 {
            // The first bucket after a change of clocks may begin with it.
            Width::Seconds(..=3600) if utc(floor) < stretch.from && stretch.from > i64::MIN => {
                stretch.from / SECOND
            }
            Width::Seconds(..=3600) => seconds(floor - i128::from(stretch.offset)),
            _ => self.first_at(floor).unwrap_or_else(|| utc(floor).div_euclid(SECOND)),
        };
        cache.last = Some((from, to, start));
        start
    }

    /// The civil times at which the bucket of an instant begins and ends, in nanoseconds since 1970-01-01T00:00:00.
    fn civil(&self, instant: i64, offset: i64) -> [i128; 2] {
        let width = match self.every.0 {
            Width::Seconds(seconds) => seconds * SECOND,
            Width::Months(months) => {
                let second = seconds(i128::from(instant) + i128::from(offset));
                let first = month_of(second).div_euclid(months) * months;
                return [first, first + months].map(|month| {
                    let day = days_from_epoch(month.div_euclid(YEAR), month.rem_euclid(YEAR) as u8 + 1, 1);
                    i128::from(day * DAY) * i128::from(SECOND)
                });
            }
        };
        // 1970-01-05 was a Monday.
        let is_weeks = width % (7 * DAY * SECOND) == 0;
        let origin = if is_weeks { 4 * DAY * SECOND } else { 0 };
        let near = instant.checked_add(offset).and_then(|civil| civil.checked_sub(origin));
        let floor = match near.and_then(|civil| civil.div_euclid(width).checked_mul(width)) {
            Some(floor) => i128::from(floor),
            // Near the ends of the range of instants.
            None => {
                let civil = i128::from(instant) + i128::from(offset) - i128::from(origin);
                civil.div_euclid(width.into()) * i128::from(width)
            }
        };
        [floor, floor + i128::from(width)].map(|civil| civil + i128::from(origin))
    }

    /// The first second at which clocks of the zone show a time in nanoseconds.
    fn first_at(&self, civil: i128) -> Option<i64> {
        self.zone.first_at(i64::try_from(civil.div_euclid(SECOND.into())).ok()?)
    }

    /// The start of the bucket after one that starts at this second.
    pub(crate) fn next(&self, cache: &mut BucketCache, start: i64) -> i64 {
        let mut at = start.saturating_mul(SECOND);
        loop {
            let next = self.start(cache, at);
            if next > start {
                return next;
            }
            // A change of clocks may be inside of the bucket.
            match cache.last {
                Some((_, to, _)) if to > at => at = to,
                _ => return start.saturating_add(self.width()),
            }
        }
    }

    /// The buckets of another width in the same zone.
    pub(crate) fn of_width(&self, seconds: i64) -> Self {
        Self { every: Every(Width::Seconds(seconds)), zone: self.zone.clone() }
    }

    /// Seconds of a bucket, except around a change of clocks; of months in the mean.
    pub(crate) fn width(&self) -> i64 {
        match self.every.0 {
            Width::Seconds(seconds) => seconds,
            Width::Months(months) => months * MEAN_MONTH,
        }
    }

    /// Months of a bucket, if it has whole months of the calendar.
    pub(crate) fn months(&self) -> Option<i64> {
        match self.every.0 {
            Width::Seconds(_) => None,
            Width::Months(months) => Some(months),
        }
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.zone
    }

    /// About the number of buckets from one that starts at this second to one that starts later, at least 1.
    pub(crate) fn count_between(&self, start: i64, later: i64) -> usize {
        usize::try_from((later - start) / self.width()).unwrap_or(0).max(1)
    }

    /// The start of a bucket for people: a year, a month or a date, and the time unless buckets are days. The offset from UTC follows a
    /// time if the zone is not UTC.
    pub(crate) fn label(&self, start: i64) -> String {
        let Ok(timestamp) = Timestamp::from_second(start) else { return start.to_string() };
        let zoned = timestamp.to_zoned(self.zone.inner().clone());
        let form = match self.every.0 {
            Width::Months(months) if months % YEAR == 0 => "%Y",
            Width::Months(_) => "%Y-%m",
            Width::Seconds(width) if width % DAY == 0 => "%Y-%m-%d",
            // Before there were zones, clocks changed at any second.
            Width::Seconds(width) if width % 60 == 0 && zoned.second() == 0 => "%Y-%m-%dT%H:%M%:z",
            _ => "%Y-%m-%dT%H:%M:%S%:z",
        };
        let label = zoned.strftime(form).to_string();
        with_z(label)
    }

    /// Index of the first of the latest starts that are, with the empty buckets between them, about `limit`.
    pub(crate) fn latest(&self, known: &[i64], limit: usize) -> usize {
        let mut count = 1;
        let later = known.windows(2).rev().take_while(|pair| {
            let between = self.count_between(pair[0], pair[1]);
            count += if between > MAX_GAP { 1 } else { between };
            count <= limit
        });
        let later = later.count();
        known.len().saturating_sub(later + 1)
    }

    /// The starts of all buckets from the first to the last without long gaps, and the number of these gaps.
    pub(crate) fn all_starts(&self, known: &[i64]) -> (Vec<i64>, u64) {
        let mut cache = BucketCache::default();
        let (mut starts, mut gaps) = (Vec::new(), 0);
        for &start in known {
            if let Some(&last) = starts.last() {
                let before = starts.len();
                let mut next = self.next(&mut cache, last);
                while next < start && starts.len() - before < MAX_GAP {
                    starts.push(next);
                    next = self.next(&mut cache, next);
                }
                if next < start {
                    starts.truncate(before);
                    gaps += 1;
                }
            }
            starts.push(start);
        }
        (starts, gaps)
    }
}

/// The bytes with which a key in this bucket begins. Their order is that of time.
pub(crate) fn prefix(start: i64) -> [u8; PREFIX] {
    (start ^ i64::MIN).to_be_bytes()
}

/// Whether a key begins with a bucket that a record can be in: times are nanoseconds in 64 bits.
pub(crate) fn is_in_bucket(key: &[u8]) -> bool {
    key.len() >= PREFIX && split(key).0.unsigned_abs() <= MAX_START
}

/// The bucket and the key that were counted as one.
pub(crate) fn split(key: &[u8]) -> (i64, &[u8]) {
    match key.split_first_chunk::<PREFIX>() {
        Some((prefix, key)) => (i64::from_be_bytes(*prefix) ^ i64::MIN, key),
        None => (0, key),
    }
}
