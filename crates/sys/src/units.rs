//! Numbers for people: sizes, counts and times in one style.
//!
//! Measured sizes are in powers of ten and, like times, have three significant digits. Limits that a flag sets are in
//! powers of 1024, as the suffixes K, M and G of flags are. Output for programs has raw numbers and does not use this
//! module. indicatif's formats are others: sizes with two decimal places (`999.99 kB`), and times in one unit (`2 minutes`).

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// A measured number of bytes in powers of ten: `999 B`, `80.2 MB`. Formatting does not allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes @ ..1000 => write!(f, "{bytes} B"),
            bytes => three_digits(f, bytes as f64 / 1e3, &["kB", "MB", "GB", "TB", "PB", "EB"]),
        }
    }
}

/// A limit in bytes, exact and in the largest power of 1024 that divides it: `64 MiB`, `1,000 bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLimit(pub u64);

impl Display for ByteLimit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.0, self.0.trailing_zeros()) {
            (0, _) | (_, ..10) => f.write_str(&counted(self.0, "byte")),
            (limit, 10..20) => write!(f, "{} KiB", Count(limit >> 10)),
            (limit, 20..30) => write!(f, "{} MiB", Count(limit >> 20)),
            (limit, _) => write!(f, "{} GiB", Count(limit >> 30)),
        }
    }
}

/// A count with thousands separated by commas: `2,000,000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut grouped = String::with_capacity(digits.len() * 4 / 3);
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        f.pad(&grouped)
    }
}

/// Formats a count and its noun: `1 run`, `2,000 runs`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", Count(count), if count == 1 { "" } else { "s" })
}

/// A measured time: `12.3 µs`, `456 ms`, `7.89 s`, `1,234 s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Duration);

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.as_secs_f64() {
            0.0 => f.write_str("0 s"),
            seconds if seconds >= 999.5 => write!(f, "{} s", Count(seconds.round() as u64)),
            seconds => three_digits(f, seconds * 1e6, &["µs", "ms", "s"]),
        }
    }
}

/// The time that a job has taken or will take, in whole seconds: `7 s`, `2:07`, `1:02:07`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(pub Duration);

impl Display for Clock {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64().round() as u64;
        match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, seconds) => write!(f, "{seconds} s"),
            (0, minutes, seconds) => write!(f, "{minutes}:{seconds:02}"),
            (hours, minutes, seconds) => write!(f, "{hours}:{minutes:02}:{seconds:02}"),
        }
    }
}

/// Writes a number, given in the first of the units, with three significant digits in the first unit that holds it.
/// Each unit is a thousand of the one before.
fn three_digits(f: &mut Formatter<'_>, mut number: f64, units: &[&str]) -> fmt::Result {
    let mut units = units.iter();
    let mut unit = units.next().unwrap_or(&"");
    // 999.5 would be rounded to 1000.
    while number >= 999.5
        && let Some(next) = units.next()
    {
        (number, unit) = (number / 1e3, next);
    }
    let decimals = match number {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    write!(f, "{number:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<T: Display>(values: impl IntoIterator<Item = T>) -> Vec<String> {
        values.into_iter().map(|value| value.to_string()).collect()
    }

    #[test]
    fn sizes_have_three_significant_digits_in_powers_of_ten() {
        let sizes =
            [0, 999, 1000, 9_994, 9_995, 99_949, 99_950, 999_499, 999_500, 80_231_309, 3 << 40, u64::MAX];
        let expected = [
            "0 B", "999 B", "1.00 kB", "9.99 kB", "10.0 kB", "99.9 kB", "100 kB", "999 kB", "1.00 MB",
            "80.2 MB", "3.30 TB", "18.4 EB",
        ];
        assert_eq!(shown(sizes.map(Bytes)), expected);
    }

    #[test]
    fn limits_are_exact_in_powers_of_1024() {
        let limits = [0, 1, 80, 1000, 1 << 10, 1536, 10_485_760, 64 << 20, 1 << 30, 3 << 40];
        let expected = [
            "0 bytes",
            "1 byte",
            "80 bytes",
            "1,000 bytes",
            "1 KiB",
            "1,536 bytes",
            "10 MiB",
            "64 MiB",
            "1 GiB",
            "3,072 GiB",
        ];
        assert_eq!(shown(limits.map(ByteLimit)), expected);
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!(shown([0, 999, 1000, 1_234_567].map(Count)), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(format!("{:>6}", Count(1000)), " 1,000");
        assert_eq!([0, 1, 2000].map(|count| counted(count, "run")), ["0 runs", "1 run", "2,000 runs"]);
    }

    #[test]
    fn times_have_three_significant_digits() {
        let nanos = [0, 50, 12_340, 999_600, 72_100_000, 999_700_000, 9_870_000_000, 1_234_000_000_000];
        let expected = ["0 s", "0.05 µs", "12.3 µs", "1.00 ms", "72.1 ms", "1.00 s", "9.87 s", "1,234 s"];
        assert_eq!(shown(nanos.map(|nanos| Time(Duration::from_nanos(nanos)))), expected);
    }

    #[test]
    fn a_clock_shows_minutes_and_hours() {
        let clocks = [0.4, 7.0, 59.6, 127.0, 3727.0].map(|seconds| Clock(Duration::from_secs_f64(seconds)));
        assert_eq!(shown(clocks), ["0 s", "7 s", "1:00", "2:07", "1:02:07"]);
    }
}
