//! Times of records: how they are written, the instants that they mean, and the buckets that they fall into.
//!
//! An instant is a number of nanoseconds since 1970-01-01T00:00:00Z, from 1677 to 2262. Leap seconds are not counted, as
//! in POSIX.

pub(crate) mod axis;
mod bound;
pub(crate) mod bucket;
mod calendar;
mod finder;
mod form;
mod label;
mod last;
mod slack;
#[cfg(test)]
mod tests;
mod written;
mod zone;

pub use bound::{Bound, BoundError};
pub(crate) use bucket::{BucketCache, Buckets};
pub use bucket::{Every, EveryError};
pub(crate) use finder::TimeFinder;
pub use form::{TimeForm, TimeFormError};
pub(crate) use label::Labels;
pub use last::{Last, LastError};
pub use slack::{Slack, SlackError};
pub(crate) use zone::{Clock, ClockCache};
pub use zone::{Zone, ZoneError};

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// Stands for the end of a window that has none. No record has this instant.
const END: i64 = i64::MAX;

/// An instant, unless 64 bits have no room for it.
#[inline]
fn nanoseconds(seconds: i64, fraction: i64) -> Option<i64> {
    let instant = match seconds {
        ..0 => (seconds + 1).checked_mul(SECOND)?.checked_add(fraction - SECOND),
        0.. => seconds.checked_mul(SECOND)?.checked_add(fraction),
    };
    instant.filter(|&instant| instant < END)
}
