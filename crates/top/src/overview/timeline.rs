//! The distribution of times, in bounded memory.
//!
//! Times are counted in buckets of a width that grows along [`WIDTHS`], each a multiple of the one before, so that there are at most
//! [`MAX_BUCKETS`] that are not empty. The width is the least for which that holds, so it depends on the times alone.

use std::collections::BTreeMap;

use crate::overview::answer::{Bars, Gap, Times};
use crate::overview::numbers::prevails;
use crate::time::Zone;

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// Widths of buckets and bars in seconds, from a second to ten years.
const WIDTHS: [i64; 14] = {
    const H: i64 = 3600;
    const D: i64 = 24 * H;
    [1, 5, 15, 60, 300, 900, H, 6 * H, D, 7 * D, 28 * D, 364 * D, 3640 * D, 36_400 * D]
};

/// Maximum number of buckets that are not empty. The widest ones are fewer.
const MAX_BUCKETS: usize = 4096;

/// Number of last buckets outside the map. Records next to each other mostly have times of a minute.
const RECENT: usize = 64;

/// Maximum number of bars.
const MAX_BARS: i64 = 60;

/// Maximum number of gaps that are shown.
const GAPS: usize = 3;

/// A gap is at least this part of the whole time.
const PART: i128 = 100;

/// As many records would be in a gap at the mean rate.
const EXPECTED: i128 = 20;

#[derive(Clone, Copy, Debug)]
struct Bucket {
    count: u64,
    first: i64,
    last: i64,
}

impl Bucket {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// The place of a bucket among the last ones.
fn place_of(number: i64) -> usize {
    number as usize % RECENT
}

/// Times by bucket.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// Index of the width.
    level: usize,
    buckets: BTreeMap<i64, Bucket>,
    /// The last buckets, each with its number and at the place of that. Their times are not in the map yet.
    recent: Vec<Option<(i64, Bucket)>>,
}

impl Timeline {
    fn width(&self) -> i64 {
        WIDTHS[self.level] * SECOND
    }

    #[inline(always)]
    pub(super) fn add(&mut self, instant: i64, count: u64) {
        let number = instant.div_euclid(self.width());
        match self.recent.get_mut(place_of(number)) {
            Some(Some((known, bucket))) if *known == number => {
                bucket.merge(Bucket { count, first: instant, last: instant });
            }
            _ => self.begin(number, Bucket { count, first: instant, last: instant }),
        }
    }

    #[inline(never)]
    fn begin(&mut self, number: i64, bucket: Bucket) {
        self.recent.resize(RECENT, None);
        let level = self.level;
        if let Some((_, before)) = self.recent[place_of(number)].take() {
            self.insert(before);
        }
        if self.level == level {
            self.recent[place_of(number)] = Some((number, bucket));
        } else {
            // The numbers are those of another width.
            self.flush();
            self.insert(bucket);
        }
    }

    /// Moves the last times to the map.
    fn flush(&mut self) {
        for (_, bucket) in std::mem::take(&mut self.recent).into_iter().flatten() {
            self.insert(bucket);
        }
    }

    fn insert(&mut self, bucket: Bucket) {
        let number = bucket.first.div_euclid(self.width());
        self.buckets.entry(number).and_modify(|known| known.merge(bucket)).or_insert(bucket);
        while self.buckets.len() > MAX_BUCKETS {
            self.widen(self.level + 1);
        }
    }

    /// Changes the width of the buckets.
    fn widen(&mut self, level: usize) {
        self.level = level;
        let width = self.width();
        for (_, bucket) in std::mem::take(&mut self.buckets) {
            let number = bucket.first.div_euclid(width);
            self.buckets.entry(number).and_modify(|known| known.merge(bucket)).or_insert(bucket);
        }
    }

    pub(super) fn merge(&mut self, mut other: Self) {
        self.flush();
        other.flush();
        if other.level > self.level {
            self.widen(other.level);
        }
        other.buckets.into_values().for_each(|bucket| self.insert(bucket));
    }

    /// The distribution of all times, besides which there were others. `None` without any.
    pub(super) fn summary(mut self, others: u64, zone: &Zone) -> Option<Times> {
        self.flush();
        let first = self.buckets.values().next()?.first;
        let last = self.buckets.values().next_back()?.last;
        let count = self.buckets.values().map(|bucket| bucket.count).sum();
        let show = |instant| zone.show(instant);
        let gaps = self.gaps(count, first, last).into_iter().map(|(after, before)| Gap {
            after: show(after),
            before: show(before),
            nanoseconds: i128::from(before) - i128::from(after),
        });
        let gaps = gaps.collect();
        let nanoseconds = i128::from(last) - i128::from(first);
        let bars = self.bars(zone);
        Some(Times { count, others, first: show(first), last: show(last), nanoseconds, gaps, bars })
    }

    /// The longest gaps, in the order of time, each by the times before and after it.
    fn gaps(&self, count: u64, first: i64, last: i64) -> Vec<(i64, i64)> {
        let whole = i128::from(last) - i128::from(first);
        let length = |(after, before): &(i64, i64)| i128::from(*before) - i128::from(*after);
        let is_gap = |gap: &(i64, i64)| {
            let length = length(gap);
            length >= i128::from(SECOND)
                && PART * length >= whole
                && length.saturating_mul(count.into()) >= EXPECTED * whole
        };
        let pairs = self.buckets.values().zip(self.buckets.values().skip(1));
        let mut gaps: Vec<_> =
            pairs.map(|(before, after)| (before.last, after.first)).filter(is_gap).collect();
        gaps.sort_by_key(|gap| std::cmp::Reverse(length(gap)));
        gaps.truncate(GAPS);
        gaps.sort_unstable();
        gaps
    }

    /// The counts in at most [`MAX_BARS`] intervals of equal length.
    fn bars(&self, zone: &Zone) -> Bars {
        let number = |bucket: &Bucket, level: usize| bucket.first.div_euclid(WIDTHS[level] * SECOND);
        let ends = |level| {
            let mut numbers = self.buckets.values().map(|bucket| number(bucket, level));
            let first = numbers.next().unwrap_or(0);
            (first, numbers.next_back().unwrap_or(first))
        };
        let fits = |&level: &usize| {
            let (first, last) = ends(level);
            last - first < MAX_BARS
        };
        let level = (self.level..WIDTHS.len()).find(fits).unwrap_or(WIDTHS.len() - 1);
        let (first, last) = ends(level);
        let mut counts = vec![0; (last - first) as usize + 1];
        for bucket in self.buckets.values() {
            counts[(number(bucket, level) - first) as usize] += bucket.count;
        }
        let start = zone.show(first.saturating_mul(WIDTHS[level]).saturating_mul(SECOND));
        Bars { start, seconds: WIDTHS[level] as u64, counts }
    }
}

/// The times of a field with many distinct values.
#[derive(Debug, Default)]
pub(super) struct TimeSketch {
    pub(super) count: u64,
    pub(super) others: u64,
    pub(super) timeline: Timeline,
}

impl TimeSketch {
    #[inline(always)]
    pub(super) fn add(&mut self, instant: Option<i64>, count: u64) {
        match instant {
            Some(instant) => {
                self.count += count;
                self.timeline.add(instant, count);
            }
            None => self.others += count,
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.others += other.others;
        self.timeline.merge(other.timeline);
    }

    pub(super) fn summary(self, zone: &Zone) -> Option<Times> {
        if !prevails(self.count, self.others) {
            return None;
        }
        self.timeline.summary(self.others, zone)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn timeline(instants: &[i64]) -> Timeline {
        let mut timeline = Timeline::default();
        instants.iter().for_each(|&instant| timeline.add(instant, 1));
        timeline
    }

    fn summary(timeline: Timeline) -> Times {
        timeline.summary(0, &Zone::UTC).expect("times")
    }

    #[test]
    fn each_width_is_a_multiple_of_the_one_before() {
        assert!(WIDTHS.windows(2).all(|pair| pair[1] % pair[0] == 0));
        let widest = WIDTHS[WIDTHS.len() - 1];
        assert!(i64::MAX / SECOND / widest < MAX_BARS / 2 - 1, "all instants fit into the bars");
    }

    #[test]
    fn gaps_are_between_times() {
        let mut instants: Vec<i64> = (0..1000).map(|at| at * SECOND).collect();
        instants.extend((2000..3000).map(|at| at * SECOND));
        instants.push(3100 * SECOND);
        let times = summary(timeline(&instants));
        let gaps: Vec<_> =
            times.gaps.iter().map(|gap| (&gap.after[11..19], gap.nanoseconds / i128::from(SECOND))).collect();
        assert_eq!(gaps, [("00:16:39", 1001), ("00:49:59", 101)]);
        assert_eq!((times.bars.seconds, times.bars.counts.len()), (60, 52));
        assert_eq!(times.bars.counts.iter().sum::<u64>(), 2001);
    }

    proptest! {
        #[test]
        fn times_in_parts_and_in_any_order_are_those_of_all(
            exponent in 0..19_u32,
            seeds in prop::collection::vec(any::<i64>(), 1..200),
            dense in 0..9000_i64,
            cut in any::<prop::sample::Index>(),
        ) {
            let mut instants: Vec<i64> = seeds.iter().map(|seed| seed % 10_i64.pow(exponent)).collect();
            instants.extend((0..dense).map(|at| at * 7 * SECOND));
            let shown = |timeline| format!("{:?}", summary(timeline));
            let all = shown(timeline(&instants));
            let (one, other) = instants.split_at(cut.index(instants.len()));
            let mut merged = timeline(other);
            merged.merge(timeline(one));
            prop_assert_eq!(shown(merged), &all[..]);
            let times = summary(timeline(&instants));
            instants.sort_unstable();
            prop_assert_eq!(&times.first, &Zone::UTC.show(instants[0]));
            prop_assert_eq!(times.bars.counts.iter().sum::<u64>(), instants.len() as u64);
            let longest = instants.windows(2).map(|pair| i128::from(pair[1]) - i128::from(pair[0])).max().unwrap_or(0);
            let whole = i128::from(instants[instants.len() - 1]) - i128::from(instants[0]);
            let is_gap = longest >= i128::from(SECOND) && 100 * longest >= whole && longest * instants.len() as i128 >= 20 * whole;
            let found = times.gaps.iter().map(|gap| gap.nanoseconds).max();
            prop_assert_eq!(found, is_gap.then_some(longest));
        }
    }
}
