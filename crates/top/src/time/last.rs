//! A window of time up to now, in which records are counted while a log grows.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use thiserror::Error;

use super::bound::{Bound, duration};
use super::bucket::Every;
use super::calendar::SECOND;

/// Minimum number of slices of a window of a minute or more. Counts expire in slices.
const SLICES: i64 = 60;

/// Length of a window of time up to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    nanoseconds: i64,
}

/// A text that is no length of a window.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected a duration of at least 1s, such as 30s, 5m, 2h or 1d; found '{0}'")]
pub struct LastError(String);

impl FromStr for Last {
    type Err = LastError;

    fn from_str(text: &str) -> Result<Self, LastError> {
        let nanoseconds = duration(text).filter(|&long| long >= SECOND && !text.ends_with("ago"));
        nanoseconds.map(|nanoseconds| Self { nanoseconds }).ok_or_else(|| LastError(text.to_owned()))
    }
}

/// For people: `5m`, `1h 30m`.
impl fmt::Display for Last {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", SignedDuration::from_nanos(self.nanoseconds))
    }
}

impl Last {
    /// The beginning of the window.
    pub fn since(self) -> Bound {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let now = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        Bound { nanoseconds: now.saturating_sub(self.nanoseconds) }
    }

    /// The length.
    pub(crate) fn nanoseconds(self) -> i64 {
        self.nanoseconds
    }

    /// Width of the slices in which counts are forgotten.
    pub(crate) fn slice(self) -> Every {
        Every::usual_up_to(self.nanoseconds / SECOND / SLICES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_duration_of_at_least_a_second() {
        let parsed = |text: &str| text.parse().map(|last: Last| last.to_string());
        assert_eq!(parsed("5m").as_deref(), Ok("5m"));
        assert_eq!(parsed("1h30m").as_deref(), Ok("1h 30m"));
        for text in ["", "0s", "999ms", "5m ago", "5", "now"] {
            assert_eq!(parsed(text), Err(LastError(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_window_has_at_least_sixty_slices_of_a_usual_width() {
        let slice = |text: &str| text.parse().map(|last: Last| last.slice().to_string());
        let slices = ["5s", "5m", "10m", "1h", "1d", "30d"].map(|text| slice(text).unwrap_or_default());
        assert_eq!(slices, ["1s", "5s", "10s", "1m", "20m", "12h"]);
    }
}
