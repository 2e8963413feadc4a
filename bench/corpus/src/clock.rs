//! The clock of the log: four months, with busy evenings and quiet nights.

use std::fmt;

use crate::chance::Chance;

/// 2026-03-01 00:00:00 UTC, in seconds since 1970.
const START: u64 = 1_772_323_200;
const SPAN_SECONDS: u64 = 122 * 24 * 60 * 60;

/// Requests at each hour of the day, relative to an average of 100.
const TRAFFIC_BY_HOUR: [u64; 24] = [
    62, 48, 38, 33, 31, 36, 50, 72, 95, 112, 121, 126, 128, 130, 133, 134, 130, 126, 128, 136, 143, 138, 112,
    78,
];

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Time of the current line.
pub(crate) struct Clock {
    microseconds: u64,
    mean_gap: u64,
}

impl Clock {
    /// A clock that runs through the whole span in about `lines` ticks.
    pub(crate) fn new(lines: u64) -> Self {
        Self { microseconds: START * 1_000_000, mean_gap: SPAN_SECONDS * 1_000_000 / lines.max(1) }
    }

    /// Advances to the next request: gaps are uniform around a mean that depends on the hour.
    pub(crate) fn tick(&mut self, chance: &mut Chance) {
        let hour = self.hour() as usize;
        let mean = self.mean_gap * 100 / TRAFFIC_BY_HOUR[hour];
        self.microseconds += chance.below(2 * mean + 1);
    }

    /// Advances by less than `most` microseconds: the next event of a burst.
    pub(crate) fn tick_within(&mut self, chance: &mut Chance, most: u64) {
        self.microseconds += chance.below(most);
    }

    /// Hour of the day.
    pub(crate) fn hour(&self) -> u64 {
        self.microseconds / 3_600_000_000 % 24
    }

    /// Microseconds since 1970.
    pub(crate) fn microseconds(&self) -> u64 {
        self.microseconds
    }
}

/// Format of Apache: `17/May/2026:10:05:03 +0000`.
impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{day:02}/{}/{year}:{} +0000", MONTHS[month as usize - 1], self.time_of_day())
    }
}

impl Clock {
    fn date(&self) -> (u64, u64, u64) {
        civil_date(self.microseconds / 86_400_000_000)
    }

    /// `10:05:03`.
    fn time_of_day(&self) -> String {
        let seconds = self.microseconds / 1_000_000;
        format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
    }

    /// Format of RFC 3339, with milliseconds: `2026-05-17T10:05:03.250Z`.
    pub(crate) fn rfc3339(&self) -> String {
        format!("{}T{}.{:03}Z", self.day(), self.time_of_day(), self.microseconds / 1000 % 1000)
    }

    /// Format of syslog: `May 17 10:05:03`.
    pub(crate) fn syslog(&self) -> String {
        let (_, month, day) = self.date();
        format!("{} {day:2} {}", MONTHS[month as usize - 1], self.time_of_day())
    }

    /// The date: `2026-05-17`.
    pub(crate) fn day(&self) -> String {
        let (year, month, day) = self.date();
        format!("{year}-{month:02}-{day:02}")
    }
}

/// Year, month and day for a number of days since 1970-01-01, by Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>).
fn civil_date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_dates_are_right() {
        assert_eq!(civil_date(0), (1970, 1, 1));
        assert_eq!(civil_date(11_016), (2000, 2, 29));
        assert_eq!(civil_date(START / 86_400), (2026, 3, 1));
    }

    #[test]
    fn a_log_of_any_length_spans_the_months() {
        for lines in [1000, 100_000] {
            let mut clock = Clock::new(lines);
            let mut chance = Chance::new(5);
            for _ in 0..lines {
                clock.tick(&mut chance);
            }
            let days = (clock.microseconds / 1_000_000 - START) / 86_400;
            assert!((105..150).contains(&days), "{lines} lines take {days} days");
        }
    }
}
