//! The axis of time of a chart: buckets side by side, without long gaps, and marks at round times of the zone.

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};

use crate::time::bucket::{BucketCache, Buckets, MEAN_MONTH};
use crate::time::calendar::{DAY, SECOND};

/// Maximum number of marks.
const MAX_TICKS: usize = 10;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// Seconds between two marks, up to a week.
const STEPS: [i64; 21] = {
    const M: i64 = MINUTE;
    const H: i64 = HOUR;
    [
        1,
        2,
        5,
        10,
        15,
        30,
        M,
        2 * M,
        5 * M,
        10 * M,
        15 * M,
        30 * M,
        H,
        2 * H,
        3 * H,
        6 * H,
        12 * H,
        DAY,
        2 * DAY,
        4 * DAY,
        7 * DAY,
    ]
};

/// Months between two marks.
const MONTHS: [i64; 10] = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600];

/// The buckets of an answer as an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeAxis {
    /// Start of each bucket in seconds since 1970, with the empty ones but without long gaps.
    pub starts: Vec<i64>,
    /// Buckets after a long gap.
    pub breaks: Vec<usize>,
    /// Marks at round times.
    pub ticks: Vec<AxisTick>,
}

/// A mark of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxisTick {
    /// Place in buckets from the start of the first.
    pub at: f64,
    /// The time: `06:20`, `Mar 1`, or `2026`.
    pub label: String,
    /// The date of a time of day or the year of a date, unless it is that of the mark before.
    pub context: String,
}

impl TimeAxis {
    /// The axis of buckets with these starts, in any order.
    pub(crate) fn of_buckets(buckets: &Buckets, starts: &[i64]) -> Self {
        let mut known = starts.to_vec();
        known.sort_unstable();
        known.dedup();
        let (starts, _) = buckets.all_starts(&known);
        let mut cache = BucketCache::default();
        let follows = |pair: &[i64]| buckets.next(&mut cache, pair[0]) == pair[1];
        let joined: Vec<bool> = starts.windows(2).map(follows).collect();
        let breaks: Vec<usize> =
            joined.iter().enumerate().filter(|&(_, joined)| !joined).map(|(before, _)| before + 1).collect();
        let ticks = ticks(buckets, &starts, &breaks);
        Self { starts, breaks, ticks }
    }
}

/// Time between two marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TickInterval {
    Seconds(i64),
    Months(i64),
}

impl TickInterval {
    /// The step from a bucket to the next.
    fn of_one(buckets: &Buckets) -> Self {
        buckets.months().map_or(Self::Seconds(buckets.width()), Self::Months)
    }

    /// The smallest step that is at least a bucket and makes no more marks than allowed for this number of buckets.
    fn of(buckets: &Buckets, count: usize) -> Self {
        let width = buckets.width();
        let least = (width.saturating_mul(count as i64) / MAX_TICKS as i64).max(width);
        let seconds = STEPS.into_iter().find(|&step| step >= least).map(Self::Seconds);
        let months = || MONTHS.into_iter().find(|&months| months * MEAN_MONTH >= least);
        seconds.unwrap_or_else(|| Self::Months(months().unwrap_or(1200)))
    }

    /// Texts of a mark: its label, and the context of that.
    fn texts(self, at: &Zoned) -> (String, String) {
        let (label, context) = match self {
            Self::Seconds(..MINUTE) => ("%H:%M:%S", "%Y-%m-%d"),
            Self::Seconds(..DAY) => ("%H:%M", "%Y-%m-%d"),
            Self::Seconds(_) => ("%b %-d", "%Y"),
            Self::Months(..12) => ("%b", "%Y"),
            Self::Months(_) => ("%Y", ""),
        };
        (at.strftime(label).to_string(), at.strftime(context).to_string())
    }

    /// The seconds of the marks from `start` to before `end`.
    fn times(self, buckets: &Buckets, start: i64, end: i64) -> Vec<i64> {
        let mut times = Vec::new();
        match self {
            Self::Seconds(width) => {
                let steps = buckets.of_width(width);
                let mut cache = BucketCache::default();
                let mut at = steps.start(&mut cache, start.saturating_mul(SECOND));
                while at < end {
                    times.push(at);
                    at = steps.next(&mut cache, at);
                }
            }
            Self::Months(months) => {
                let Some(first) = zoned(buckets, start) else { return times };
                let month = i64::from(first.year()) * 12 + i64::from(first.month()) - 1;
                let mut month = month.div_euclid(months) * months;
                while let Some(at) = month_start(buckets, month).filter(|&at| at < end) {
                    times.push(at);
                    month += months;
                }
            }
        }
        times.retain(|&at| at >= start);
        times
    }
}

fn zoned(buckets: &Buckets, at: i64) -> Option<Zoned> {
    Some(Timestamp::from_second(at).ok()?.to_zoned(buckets.zone().inner().clone()))
}

/// The first second of a month, counted from January of the year 0.
fn month_start(buckets: &Buckets, month: i64) -> Option<i64> {
    let year = i16::try_from(month.div_euclid(12)).ok()?;
    let date = Date::new(year, month.rem_euclid(12) as i8 + 1, 1).ok()?;
    Some(date.to_zoned(buckets.zone().inner().clone()).ok()?.timestamp().as_second())
}

/// The marks of these buckets. There is at least one in each run of buckets without a break, if there is room.
fn ticks(buckets: &Buckets, starts: &[i64], breaks: &[usize]) -> Vec<AxisTick> {
    let step = TickInterval::of(buckets, starts.len());
    let is_each = step == TickInterval::of_one(buckets);
    // A little less than between marks of a step, which vary where clocks change.
    let room = starts.len() as f64 / (MAX_TICKS + 2) as f64;
    let mut cache = BucketCache::default();
    let mut ticks: Vec<AxisTick> = Vec::new();
    let mut last_context = String::new();
    let ends = breaks.iter().copied().chain([starts.len()]);
    for (from, to) in [0].into_iter().chain(breaks.iter().copied()).zip(ends) {
        let Some(&[first, ..]) = starts.get(from..to) else { continue };
        let end = buckets.next(&mut cache, starts[to - 1]);
        let mut times = step.times(buckets, first, end);
        let step = if times.is_empty() { TickInterval::of_one(buckets) } else { step };
        if times.is_empty() {
            times.push(first);
        }
        for time in times {
            let bucket = starts.partition_point(|&start| start <= time).max(1) - 1;
            let width = buckets.next(&mut cache, starts[bucket]) - starts[bucket];
            let within = (time - starts[bucket]) as f64 / width.max(1) as f64;
            // A mark for each bucket is below its middle.
            let at = bucket as f64 + if is_each { 0.5 } else { within };
            let has_room = ticks.last().is_none_or(|last| at - last.at >= room);
            let Some(zoned) = zoned(buckets, time).filter(|_| has_room) else { continue };
            let (label, context) = step.texts(&zoned);
            let shown = if context == last_context { String::new() } else { context.clone() };
            last_context = context;
            ticks.push(AxisTick { at, label, context: shown });
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Zone;

    fn axis(every: &str, zone: &str, times: &[&str]) -> TimeAxis {
        let zone = Zone::parse(zone).expect("a zone");
        let buckets = Buckets::new(every.parse().expect("a width"), zone);
        let mut cache = BucketCache::default();
        let starts = times.iter().map(|time| {
            let time: Timestamp = time.parse().expect("a time");
            buckets.start(&mut cache, i64::try_from(time.as_nanosecond()).expect("in range"))
        });
        TimeAxis::of_buckets(&buckets, &starts.collect::<Vec<_>>())
    }

    fn shown(axis: &TimeAxis) -> String {
        let tick = |tick: &AxisTick| {
            let context =
                if tick.context.is_empty() { String::new() } else { format!(" ({})", tick.context) };
            format!("{} {}{context}", tick.at, tick.label)
        };
        axis.ticks.iter().map(tick).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn marks_are_at_round_times_of_the_zone() {
        let day = ["2026-03-01T22:15:00Z", "2026-03-01T23:40:00Z"];
        let axis = axis("1m", "Europe/Berlin", &day);
        assert_eq!(
            shown(&axis),
            "5 23:20 (2026-03-01), 15 23:30, 25 23:40, 35 23:50, 45 00:00 (2026-03-02), 55 00:10, 65 00:20, 75 00:30, \
             85 00:40"
        );
        assert_eq!(axis.starts.len(), 86);
    }

    #[test]
    fn if_each_bucket_has_a_mark_that_is_below_its_middle() {
        assert_eq!(
            shown(&axis("1d", "UTC", &["2025-12-30T10:00:00Z", "2026-01-01T10:00:00Z"])),
            "0.5 Dec 30 (2025), 1.5 Dec 31, 2.5 Jan 1 (2026)"
        );
    }

    #[test]
    fn days_around_a_change_of_clocks_have_their_marks_at_midnight() {
        let axis = axis("1h", "Europe/Berlin", &["2026-03-27T23:00:00Z", "2026-03-30T21:00:00Z"]);
        assert_eq!(
            shown(&axis),
            "0 00:00 (2026-03-28), 12 12:00, 24 00:00 (2026-03-29), 35 12:00, 47 00:00 (2026-03-30), 59 12:00"
        );
    }

    #[test]
    fn years_of_days_have_marks_at_months_or_years() {
        let of_months = axis("1d", "UTC", &["2025-06-20T00:00:00Z", "2026-03-02T00:00:00Z"]);
        assert_eq!(
            shown(&of_months),
            "11 Jul (2025), 42 Aug, 73 Sep, 103 Oct, 134 Nov, 164 Dec, 195 Jan (2026), 226 Feb, 254 Mar"
        );
        let of_years = axis("1w", "UTC", &["2015-03-01T00:00:00Z", "2026-03-02T00:00:00Z"]);
        assert!(shown(&of_years).contains(" 2016, ") && of_years.ticks.len() <= MAX_TICKS + 1);
    }

    #[test]
    fn months_and_years_have_marks_at_some_of_their_beginnings() {
        let shown =
            |every: &str, last: &str| shown(&axis(every, "Europe/Berlin", &["2024-05-20T00:00:00Z", last]));
        assert_eq!(
            shown("1mo", "2024-09-01T00:00:00Z"),
            "0.5 May (2024), 1.5 Jun, 2.5 Jul, 3.5 Aug, 4.5 Sep"
        );
        assert_eq!(
            shown("1mo", "2025-06-30T00:00:00Z"),
            "0 May (2024), 2 Jul, 4 Sep, 6 Nov, 8 Jan (2025), 10 Mar, 12 May"
        );
        assert_eq!(
            shown("1q", "2025-03-31T22:00:00Z"),
            "0.5 Apr (2024), 1.5 Jul, 2.5 Oct, 3.5 Jan (2025), 4.5 Apr"
        );
        assert_eq!(shown("1y", "2026-06-30T00:00:00Z"), "0.5 2024, 1.5 2025, 2.5 2026");
    }

    #[test]
    fn the_runs_between_long_gaps_have_their_own_marks() {
        let axis =
            axis("1m", "UTC", &["1970-01-01T00:00:00Z", "2026-03-01T06:10:00Z", "2026-03-01T06:30:00Z"]);
        assert_eq!((axis.starts.len(), &axis.breaks[..]), (22, &[1][..]));
        assert_eq!(shown(&axis), "0 00:00 (1970-01-01), 6 06:15 (2026-03-01), 11 06:20, 16 06:25, 21 06:30");
    }

    #[test]
    fn any_number_of_buckets_has_few_marks() {
        for every in
            ["1s", "10s", "1m", "5m", "1h", "12h", "1d", "3d", "1w", "30d", "1mo", "1q", "4mo", "1y", "100y"]
        {
            for last in [
                "2071-03-01T06:00:00Z",
                "2026-03-01T06:00:01Z",
                "2026-03-01T06:17:00Z",
                "2026-03-02T09:00:00Z",
                "2026-04-11T00:00:00Z",
            ] {
                let starts: Vec<String> = vec!["2026-03-01T06:00:00Z".to_owned(), last.to_owned()];
                let axis = axis(every, "America/St_Johns", &[&starts[0], &starts[1]]);
                let count = axis.ticks.len();
                assert!((1..=MAX_TICKS + 1).contains(&count), "{every} to {last}: {}", shown(&axis));
                assert!(axis.ticks.windows(2).all(|pair| pair[0].at < pair[1].at));
            }
        }
        assert_eq!(axis("1d", "UTC", &[]), TimeAxis::default());
    }
}
