//! Which time of a record counts. It is decided for each file by its first records.

use super::form::TimeForm;
use super::written::{self, Moment};

/// Which time of a record counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TimeKind {
    /// The first time.
    #[default]
    First,
    /// The first time with a year, or else the first: syslog writes its own time without a year before a record of HAProxy.
    WithYear,
    /// The first time of day. No record has a date.
    OfDay,
}

impl TimeKind {
    /// The kind of lines. `is_all` says that no more of them are examined. `None` if more are needed.
    pub(crate) fn of_lines<'t>(
        form: &TimeForm,
        lines: impl Iterator<Item = &'t [u8]> + Clone,
        is_all: bool,
    ) -> Option<Self> {
        if *form != TimeForm::Usual {
            return Some(Self::First);
        }
        for line in lines.clone() {
            let mut times = written::all_times(line);
            match times.next() {
                None => {}
                Some(first) if first.has_year() => return Some(Self::First),
                Some(first) if times.any(|other| is_same_day(first, other)) => return Some(Self::WithYear),
                Some(_) => {}
            }
        }
        if !is_all {
            return None;
        }
        let has_time = lines.clone().any(|line| written::find(line).is_some());
        Some(Self::of_counts(has_time, lines, |line| written::find_time_of_day(line).is_some()))
    }

    /// The kind of values that are times and nothing else.
    pub(crate) fn of_values<'t>(form: &TimeForm, values: impl Iterator<Item = &'t [u8]> + Clone) -> Self {
        let has_time =
            *form != TimeForm::Usual || values.clone().any(|value| form.read_value(value).is_some());
        Self::of_counts(has_time, values, |value| written::read_time_of_day(value).is_some())
    }

    /// Times of day count if at least half of the texts have one and none has a time with a date.
    fn of_counts<'t>(
        has_time: bool,
        texts: impl Iterator<Item = &'t [u8]> + Clone,
        is_of_day: impl Fn(&&[u8]) -> bool,
    ) -> Self {
        let count = texts.clone().filter(is_of_day).count();
        if !has_time && count > 0 && 2 * count >= texts.count() { Self::OfDay } else { Self::First }
    }
}

/// Whether a time has a year, and is on the day of one without.
fn is_same_day(first: Moment, other: Moment) -> bool {
    match (first, other) {
        (Moment::Civil(first), Moment::Civil(other)) => other.year.is_some() && first.is_same_day(&other),
        _ => false,
    }
}
