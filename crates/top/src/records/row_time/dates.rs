//! The dates of times without one, by the last change of the file and the midnights between its records.

use std::io::stdin;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use finecomb_scan::{Block, Source};
use jiff::Timestamp;

use crate::cells::Span;
use crate::query::row_query::TimeQuery;
use crate::time::calendar::DAY;
use crate::time::days::{Days, Midnights};
use crate::time::{Clock, ClockCache, Zone};

/// The dates of the records of a file.
#[derive(Debug)]
pub(crate) struct Dates {
    zone: Zone,
    clock: Clock,
    /// The days of all records, if the file was examined before it is counted.
    days: OnceLock<Days>,
}

impl Dates {
    /// Times without a year or a date are before the last change of the file, or before now.
    pub(super) fn new(query: &TimeQuery, source: &Source) -> Self {
        Self { zone: query.zone.clone(), clock: clock(&query.zone, source), days: OnceLock::new() }
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Dates the records by the midnights between them. Returns the day of the last one.
    pub(crate) fn count_back(&self, midnights: Midnights) -> Option<i64> {
        let day = self.clock.latest_day(&mut ClockCache::default(), midnights.last_time()?)?;
        self.days.get_or_init(|| midnights.ending_on(day));
        Some(day)
    }

    /// A day since 1970 for people.
    pub(super) fn show_day(&self, day: i64) -> String {
        let midnight = Timestamp::from_second(day.saturating_mul(DAY)).unwrap_or_default();
        midnight.strftime("%Y-%m-%d").to_string()
    }

    /// The instant of a time of day in the record at an offset.
    pub(super) fn instant_of_day(&self, cache: &mut ClockCache, offset: u64, time: i64) -> Option<i64> {
        match self.days.get() {
            Some(days) => self.clock.on_day(cache, days.day(offset), time),
            None => latest(&self.clock, cache, time),
        }
    }

    /// Turns the times of day of the records of a block into instants. If midnights are not counted, each is the latest before the
    /// file was changed last; a file that is followed may have been changed since it was opened.
    pub(super) fn complete(
        &self,
        cache: &mut ClockCache,
        block: &Block<'_>,
        records: &[Span],
        times: &mut [Option<i64>],
    ) {
        let Some(days) = self.days.get() else {
            let clock = clock(&self.zone, block.source);
            for time in times {
                *time = time.and_then(|time| latest(&clock, cache, time));
            }
            return;
        };
        for (time, record) in times.iter_mut().zip(records) {
            let day = days.day(block.source_offset().saturating_add(record.0 as u64));
            *time = time.and_then(|time| self.clock.on_day(cache, day, time));
        }
    }
}

/// The latest instant with a time of day.
fn latest(clock: &Clock, cache: &mut ClockCache, time: i64) -> Option<i64> {
    let day = clock.latest_day(cache, time)?;
    clock.on_day(cache, day, time)
}

/// The clock of a file, by its last change, or by now.
fn clock(zone: &Zone, source: &Source) -> Clock {
    let metadata = match source.file_path() {
        Some(path) => std::fs::metadata(path),
        None => stdin().as_fd().try_clone_to_owned().and_then(|input| std::fs::File::from(input).metadata()),
    };
    let is_file = metadata.as_ref().is_ok_and(std::fs::Metadata::is_file);
    let changed = metadata.and_then(|metadata| metadata.modified());
    let changed = changed.ok().filter(|_| is_file).unwrap_or_else(SystemTime::now);
    let (length, sign, limit) = match changed.duration_since(UNIX_EPOCH) {
        Ok(since) => (since, 1, i64::MAX),
        Err(before) => (before.duration(), -1, i64::MIN),
    };
    let latest = i64::try_from(length.as_nanos()).map_or(limit, |nanoseconds| sign * nanoseconds);
    Clock::new(zone.clone(), latest)
}
