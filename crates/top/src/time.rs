//! Times of records: how they are written, the instants that they mean, and the buckets that they fall into.
//!
//! An instant is a number of nanoseconds since 1970-01-01T00:00:00Z, from 1677 to 2262. Leap seconds are not counted, as
//! in POSIX.

pub(crate) mod axis;
mod begin;
mod bound;
pub(crate) mod bucket;
pub(crate) mod calendar;
pub(crate) mod days;
mod finder;
mod form;
mod kind;
mod label;
mod last;
pub(crate) mod order;
mod slack;
#[cfg(test)]
mod tests;
mod written;
mod zone;

pub(crate) use begin::begins_with_time;
pub use bound::{Bound, BoundError};
pub(crate) use bucket::{BucketCache, Buckets};
pub use bucket::{Every, EveryError};
pub(crate) use finder::TimeFinder;
pub use form::{TimeForm, TimeFormError};
pub(crate) use kind::TimeKind;
pub(crate) use label::Labels;
pub use last::{Last, LastError};
pub use slack::{Slack, SlackError};
pub(crate) use written::Moment;
pub(crate) use written::time_end;
pub(crate) use zone::{Clock, ClockCache};
pub use zone::{Zone, ZoneError};
