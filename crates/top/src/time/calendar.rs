//! Seconds and days since 1970, in the proleptic Gregorian calendar: the part that runs for each record. The rest is from jiff.

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// Stands for the end of a window that has none. No record has this instant.
pub(super) const END: i64 = i64::MAX;

/// An instant, unless 64 bits have no room for it.
#[inline]
pub(super) fn nanoseconds(seconds: i64, fraction: i64) -> Option<i64> {
    let instant = match seconds {
        ..0 => (seconds + 1).checked_mul(SECOND)?.checked_add(fraction - SECOND),
        0.. => seconds.checked_mul(SECOND)?.checked_add(fraction),
    };
    instant.filter(|&instant| instant < END)
}

/// Days before each month of a year that begins in March.
const DAYS_BEFORE: [i64; 12] = [306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275];

/// Returns the number of days in a month from 1 to 12.
pub(super) fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Returns the number of days from 1970-01-01 to a date. The month is from 1 to 12.
///
/// Years are counted from March, so that a leap day is the last day of its year (as in Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms").
pub(super) fn days_from_epoch(year: i64, month: u8, day: u8) -> i64 {
    /// Days from 0000-03-01 to 1970-01-01.
    const EPOCH: i64 = 719_468;
    let year = year - i64::from(month <= 2);
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + DAYS_BEFORE[usize::from(month - 1)] + i64::from(day) - 1 - EPOCH
}

/// Returns the year of a number of seconds since 1970-01-01T00:00:00.
pub(super) fn year_of(seconds: i64) -> i64 {
    let days = seconds.div_euclid(DAY);
    // A period of 400 years has 146,097 days. This is at most one year too early or too late.
    let year = 1970 + (400 * days).div_euclid(146_097);
    let is_too_late = days_from_epoch(year, 1, 1) > days;
    let is_too_early = days_from_epoch(year + 1, 1, 1) <= days;
    year - i64::from(is_too_late) + i64::from(is_too_early)
}

/// Returns the number of months from January of the year 0 to a number of seconds since 1970-01-01T00:00:00.
pub(super) fn month_of(seconds: i64) -> i64 {
    let (year, days) = (year_of(seconds), seconds.div_euclid(DAY));
    let passed = (2..=12).take_while(|&month| days_from_epoch(year, month, 1) <= days).count();
    12 * year + passed as i64
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn days_are_those_of_jiff(year in -9999_i16..=9999, month in 1_i8..=12, day in 1_i8..=28) {
            let first = date(year, month, 1);
            prop_assert_eq!(days_in_month(year.into(), month as u8) as i8, first.days_in_month());
            let day = date(year, month, day);
            let days = i64::from((day - date(1970, 1, 1)).get_days());
            prop_assert_eq!(days_from_epoch(year.into(), month as u8, day.day() as u8), days);
            prop_assert_eq!(year_of(days * DAY), i64::from(year));
            let months = 12 * i64::from(year) + i64::from(month) - 1;
            prop_assert_eq!([month_of(days * DAY), month_of(days * DAY + DAY - 1)], [months; 2]);
            prop_assert_eq!(year_of(days * DAY + DAY - 1), i64::from(year));
        }
    }
}
