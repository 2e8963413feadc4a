//! The time of a record, with how it was found and understood, for people.

use super::{TimePlace, TimePlan};
use crate::cells::{Span, bytes_of};
use crate::query::row_query::TimeQuery;
use crate::time::{BucketCache, ClockCache, TimeForm, TimeKind, begins_with_time};

/// Maximum length of a time in a line.
const MAX_TIME: usize = 128;

/// The time of a record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownTime {
    /// Whether the time is in a field, and not anywhere in the line.
    pub(crate) is_field: bool,
    /// The value of the field or the time in the line, if it is there.
    pub(crate) written: Option<Vec<u8>>,
    /// The time in the zone of the query; `None` if there is none.
    pub(crate) understood: Option<String>,
    /// The bucket, if the record is counted by buckets.
    pub(crate) bucket: Option<String>,
    /// Why the record is not counted.
    pub(crate) rejected: Option<&'static str>,
}

impl ShownTime {
    /// The time of the record at an offset with this value of the field with the time, if it is in a field.
    pub(crate) fn new(
        query: &TimeQuery,
        plan: &TimePlan,
        (offset, record): (u64, &[u8]),
        value: Option<&[u8]>,
    ) -> Self {
        let (kind, cache) = (plan.kind, &mut ClockCache::default());
        let is_field = !matches!(plan.place, TimePlace::Anywhere);
        let (written, moment) = match plan.place {
            TimePlace::Columns(..) => (value, value.and_then(|value| query.form.read_kind(kind, value))),
            TimePlace::Start(_) if !begins_with_time(record) => (None, None),
            TimePlace::Start(_) | TimePlace::Anywhere => {
                let span = span(&query.form, kind, record);
                (span.map(|span| bytes_of(record, span)), query.form.find(kind, record))
            }
        };
        let instant = moment.and_then(|moment| plan.dates.clock().instant(cache, moment));
        let instant = match instant {
            Some(time) if plan.lacks_dates() => plan.dates.instant_of_day(cache, offset, time),
            instant => instant,
        };
        let rejected = match instant {
            None => Some("skipped: no time"),
            Some(instant) if instant < query.window.start => Some("rejected: before --since"),
            Some(instant) if instant >= query.window.end => Some("rejected: not before --until"),
            Some(instant) if query.gap.contains(&instant) => Some("rejected: between the windows of --diff"),
            Some(_) => None,
        };
        let bucket = |instant| {
            let buckets = query.buckets.as_ref()?;
            Some(buckets.label(buckets.start(&mut BucketCache::default(), instant)))
        };
        Self {
            is_field,
            written: written.map(<[u8]>::to_vec),
            understood: instant.map(|instant| query.zone.show(instant)),
            bucket: instant.filter(|_| rejected.is_none()).and_then(bucket),
            rejected,
        }
    }
}

/// The time of a kind in a line. The line up to its end is the shortest that has the time.
fn span(form: &TimeForm, kind: TimeKind, line: &[u8]) -> Option<Span> {
    let moment = form.find(kind, line)?;
    let has_it = |part: &[u8]| form.find(kind, part) == Some(moment);
    let (mut without, mut end) = (0, line.len());
    while without + 1 < end {
        let middle = without.midpoint(end);
        if has_it(&line[..middle]) { end = middle } else { without = middle }
    }
    let starts_word = |&at: &usize| at == 0 || !line[at - 1].is_ascii_alphanumeric();
    let mut starts = (end.saturating_sub(MAX_TIME)..end).rev().filter(starts_word);
    let start = starts.find(|&start| has_it(&line[start..end])).unwrap_or(0);
    // Zeros at the end of a fraction change nothing, but are part of the time.
    let digits = |at: usize| at + line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let fraction = match line.get(end) {
        Some(b'.' | b',') if line.get(end + 1).is_some_and(u8::is_ascii_digit) => digits(end + 1),
        _ => digits(end),
    };
    Some((start, if has_it(&line[start..fraction]) { fraction } else { end }))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_time_of_a_line_is_found() {
        for (line, time) in [
            ("::1 - - [01/Mar/2026:06:20:09 +0100] \"GET /\" at 2026-03-02", "01/Mar/2026:06:20:09 +0100"),
            ("2026-03-01 06:20:09,250 INFO", "2026-03-01 06:20:09,250"),
            ("2026-03-01 06:20:09,000 INFO", "2026-03-01 06:20:09,000"),
            ("at 2026-03-01 06:20:09. Then", "2026-03-01 06:20:09"),
            ("x 2026-03-01T06:20:09.252Z 2026-03-01T06:20:09.252Z", "2026-03-01T06:20:09.252Z"),
            ("Mar  1 06:20:09 host", "Mar  1 06:20:09"),
            ("1772346009.5 a", "1772346009.5"),
        ] {
            let (start, end) = span(&TimeForm::Usual, TimeKind::First, line.as_bytes()).expect("a time");
            assert_eq!(&line[start..end], time);
        }
        assert_eq!(span(&TimeForm::Usual, TimeKind::First, b"no time"), None);
        let form = TimeForm::format("%d.%m.%Y %H:%M:%S").expect("a format");
        assert_eq!(span(&form, TimeKind::First, b"01.03.2026 06:20:09 x"), Some((0, 19)));
    }

    proptest! {
        #[test]
        fn the_time_alone_is_the_time_of_the_line(before in "[a-z \\[\"]{0,20}", after in "[ a-z\\]\"][ -~]{0,20}", second in 0_i64..2_000_000_000, form in 0..3) {
            let form = ["%Y-%m-%dT%H:%M:%SZ", "%d/%b/%Y:%H:%M:%S +0000", "%b %e %H:%M:%S"][form as usize];
            let time = Timestamp::from_second(second).expect("in range").strftime(form).to_string();
            let line = format!("{before} {time}{after}");
            let found = span(&TimeForm::Usual, TimeKind::First, line.as_bytes()).map(|span| bytes_of(line.as_bytes(), span));
            let moment = TimeForm::Usual.find(TimeKind::First, line.as_bytes());
            prop_assert_eq!(found.map(|found| TimeForm::Usual.find(TimeKind::First, found)), moment.map(Some));
        }
    }
}
