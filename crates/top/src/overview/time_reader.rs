//! Reads values that are times.

use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::query::Query;
use crate::time::{Clock, ClockCache, Moment, TimeForm, Zone};

/// Instants that a number may mean, from 2000 to 2100. Others are mostly counts, sizes and durations.
const OF_NUMBERS: Range<i64> = 946_684_800_000_000_000..4_102_444_800_000_000_000;

/// Reads times. Those without a year are in the year of the start of the job.
#[derive(Debug)]
pub(crate) struct TimeReader {
    form: TimeForm,
    clock: Clock,
    cache: ClockCache,
}

/// Now, in nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

impl TimeReader {
    /// The reader of a query.
    pub(crate) fn of(query: &Query, now: i64) -> Self {
        let time = query.rows.as_deref().and_then(|rows| rows.time.as_ref());
        let zone = time.map_or(Zone::UTC, |time| time.zone.clone());
        let form = time.map(|time| time.form.clone()).unwrap_or_default();
        Self { form, clock: Clock::new(zone, now), cache: ClockCache::default() }
    }

    /// The instant of a value that is a time and nothing else.
    #[inline]
    pub(crate) fn read(&mut self, value: &[u8]) -> Option<i64> {
        let moment = self.form.read_value(value)?;
        let instant = self.clock.instant(&mut self.cache, moment)?;
        let is_number = matches!(moment, Moment::Instant(_)) && self.form == TimeForm::Usual;
        (!is_number || OF_NUMBERS.contains(&instant)).then_some(instant)
    }
}
