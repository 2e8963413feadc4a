//! The days of records whose times have no date, by the midnights between them.

use super::calendar::{DAY, SECOND};

/// Nanoseconds of a day.
const WHOLE_DAY: i64 = DAY * SECOND;

/// A record that is earlier than the one before by more than this, in nanoseconds, is after midnight. Threads write unordered records with less between them, and
/// clocks are set back by no more.
const DISORDER: i64 = 3600 * SECOND;

/// Maximum number of midnights that are remembered. A file with more has no order of time.
const MAX_CHANGES: usize = 1 << 20;

/// Counts the midnights between records.
#[derive(Debug, Default)]
pub(crate) struct Midnights {
    /// Offsets of the records with which another day begins, each with its number. The first record is on day 0.
    changes: Vec<(u64, i64)>,
    last: Option<i64>,
    day: i64,
}

impl Midnights {
    /// Adds the next record by its offset and its time of day, in nanoseconds. Returns `false` if there is no room for it.
    pub(crate) fn push(&mut self, offset: u64, time: i64) -> bool {
        let passed = match self.last.replace(time) {
            Some(last) if last - time > DISORDER => 1,
            // It is earlier by a little, on the day before.
            Some(last) if time - last > WHOLE_DAY - DISORDER => -1,
            _ => 0,
        };
        if passed != 0 {
            self.day += passed;
            self.changes.push((offset, self.day));
        }
        self.changes.len() <= MAX_CHANGES
    }

    /// The time of day of the last record.
    pub(crate) fn last_time(&self) -> Option<i64> {
        self.last
    }

    /// The days of all records, if the last one is on this day.
    pub(crate) fn ending_on(self, last_day: i64) -> Days {
        Days { first_day: last_day - self.day, changes: self.changes }
    }

    /// Number of midnights from the first record to the last.
    pub(crate) fn count(&self) -> i64 {
        self.day
    }
}

/// The days of the records of a file, in days since 1970.
#[derive(Debug)]
pub(crate) struct Days {
    first_day: i64,
    changes: Vec<(u64, i64)>,
}

impl Days {
    /// The day of the record at an offset.
    pub(crate) fn day(&self, offset: u64) -> i64 {
        let before = self.changes.partition_point(|&(change, _)| change <= offset);
        self.first_day + before.checked_sub(1).map_or(0, |last| self.changes[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_much_earlier_is_after_midnight() {
        let time = |hundreds: i64| (hundreds / 100 * 3600 + hundreds % 100 * 60) * SECOND;
        let mut midnights = Midnights::default();
        let times = [900, 1000, 900, 2330, 10, 2340, 5, 1200, 1130, 1029, 30, 2331, 2329, 0];
        let expected = [0, 0, 0, 0, 1, 0, 1, 1, 1, 2, 3, 2, 2, 3];
        for (offset, at) in (10..).zip(times) {
            assert!(midnights.push(offset, time(at)));
        }
        assert_eq!((midnights.count(), midnights.last_time()), (3, Some(0)));
        let days = midnights.ending_on(103);
        let found = (10..24).map(|offset| days.day(offset) - 100);
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!((days.day(0), days.day(u64::MAX)), (100, 103));
    }
}
