//! Checks whether records are in the order of time, give or take a slack.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use finecomb_sys::locks::lock;

/// A record with a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timed {
    pub(crate) offset: u64,
    /// Nanoseconds since 1970.
    pub(crate) instant: i64,
}

/// A record that is earlier than one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepBack {
    pub(crate) from: Timed,
    pub(crate) to: Timed,
}

impl StepBack {
    fn between(from: Option<Timed>, to: Option<Timed>) -> Option<Self> {
        from.zip(to).map(|(from, to)| Self { from, to }).filter(|step| step.length() > 0)
    }

    /// Its length in nanoseconds.
    pub(crate) fn length(&self) -> i128 {
        i128::from(self.from.instant) - i128::from(self.to.instant)
    }

    /// The longer one; of two that are equally long, the one that ends first.
    fn longer(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
        let rank = |step: &Self| (-step.length(), step.to.offset, step.from.offset);
        Some(if rank(&other) < rank(&one) { other } else { one })
    }
}

/// The order of time of a run of records. Runs that follow each other can be joined in any grouping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunOrder {
    /// The first of the latest records.
    latest: Option<Timed>,
    /// The first of the earliest records.
    earliest: Option<Timed>,
    longest_step: Option<StepBack>,
}

impl RunOrder {
    /// Adds the next record.
    #[inline(never)]
    pub(crate) fn push(&mut self, timed: Timed) {
        match self.latest {
            // A record that is not earlier than the latest one cannot become the earliest.
            Some(latest) if latest.instant <= timed.instant => {
                if latest.instant < timed.instant {
                    self.latest = Some(timed);
                }
            }
            _ => *self = self.join(Self { latest: Some(timed), earliest: Some(timed), longest_step: None }),
        }
    }

    /// The same records at offsets that are larger by `distance`.
    pub(crate) fn moved_by(self, distance: u64) -> Self {
        let moved = |timed: Timed| Timed { offset: timed.offset + distance, ..timed };
        let moved_step = |step: StepBack| StepBack { from: moved(step.from), to: moved(step.to) };
        Self {
            latest: self.latest.map(moved),
            earliest: self.earliest.map(moved),
            longest_step: self.longest_step.map(moved_step),
        }
    }

    /// This run followed by the next one.
    fn join(self, next: Self) -> Self {
        let earlier = |one: &Timed, other: &Timed| one.instant < other.instant;
        let pick = |one: Option<Timed>, other: Option<Timed>, is_better: fn(&Timed, &Timed) -> bool| {
            let Some((one, other)) = one.zip(other) else { return one.or(other) };
            Some(if is_better(&other, &one) { other } else { one })
        };
        let across = StepBack::between(self.latest, next.earliest);
        let within = StepBack::longer(self.longest_step, next.longest_step);
        Self {
            latest: pick(self.latest, next.latest, |one, other| one.instant > other.instant),
            earliest: pick(self.earliest, next.earliest, earlier),
            longest_step: StepBack::longer(across, within),
        }
    }

    /// The longest step back, if it is longer than the slack.
    pub(crate) fn contradiction(&self, slack: i64) -> Option<StepBack> {
        self.longest_step.filter(|step| step.length() > i128::from(slack))
    }
}

/// The order of time of the records of a file that have been read so far, by any worker and in any order.
#[derive(Debug, Default)]
pub(crate) struct FileOrder {
    /// The runs of records without a gap between them, by offset, each with its end.
    runs: Mutex<BTreeMap<u64, (u64, RunOrder)>>,
}

impl FileOrder {
    /// Adds the records of a part of the file.
    pub(crate) fn add(&self, Range { mut start, mut end }: Range<u64>, mut run: RunOrder) {
        let mut runs = lock(&self.runs);
        if let Some((&before, &(until, order))) = runs.range(..start).next_back()
            && until == start
        {
            (start, run) = (before, order.join(run));
        }
        if let Some((until, order)) = runs.remove(&end) {
            (end, run) = (until, run.join(order));
        }
        runs.insert(start, (end, run));
    }

    /// The longest step back, if it is longer than the slack.
    pub(crate) fn contradiction(&self, slack: i64) -> Option<StepBack> {
        let runs = lock(&self.runs);
        let all = runs.values().fold(RunOrder::default(), |all, &(_, run)| all.join(run));
        all.contradiction(slack)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(instants: &[i64], first: u64) -> RunOrder {
        let mut run = RunOrder::default();
        for (offset, &instant) in (first..).zip(instants) {
            run.push(Timed { offset, instant });
        }
        run
    }

    /// The longest step back, by comparing all pairs.
    fn longest(instants: &[i64]) -> Option<(u64, u64)> {
        let timed = |at: usize| Timed { offset: at as u64, instant: instants[at] };
        let pairs = (0..instants.len()).flat_map(|to| (0..to).map(move |from| (from, to)));
        let steps = pairs.filter_map(|(from, to)| StepBack::between(Some(timed(from)), Some(timed(to))));
        let longest = steps.min_by_key(|step| (-step.length(), step.to.offset, step.from.offset));
        longest.map(|step| (step.from.offset, step.to.offset))
    }

    fn offsets(step: Option<StepBack>) -> Option<(u64, u64)> {
        step.map(|step| (step.from.offset, step.to.offset))
    }

    proptest! {
        #[test]
        fn the_longest_step_back_is_that_of_all_pairs_however_the_file_is_divided(
            instants in prop::collection::vec(0..20_i64, 1..40),
            cuts in prop::collection::btree_set(1..40_usize, 0..10),
            seed in any::<u64>(),
        ) {
            let expected = longest(&instants);
            prop_assert_eq!(offsets(run(&instants, 0).contradiction(0)), expected);
            let mut bounds: Vec<usize> = cuts.into_iter().filter(|&cut| cut < instants.len()).collect();
            bounds.insert(0, 0);
            bounds.push(instants.len());
            let mut parts: Vec<_> = bounds.windows(2).map(|part| part[0]..part[1]).collect();
            parts.sort_by_key(|part| (part.start as u64 ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let file = FileOrder::default();
            for part in parts {
                file.add(part.start as u64..part.end as u64, run(&instants[part.clone()], part.start as u64));
            }
            prop_assert_eq!(offsets(file.contradiction(0)), expected);
            prop_assert_eq!(file.runs.lock().unwrap().len(), 1);
        }
    }

    #[test]
    fn a_step_back_of_the_slack_is_no_contradiction() {
        let run = run(&[5, 9, 7, 4], 0);
        assert_eq!(run.contradiction(5), None);
        assert_eq!(offsets(run.contradiction(4)), Some((1, 3)));
        assert!(run_of_extremes().contradiction(i64::MAX).is_some());
    }

    fn run_of_extremes() -> RunOrder {
        run(&[i64::MAX, i64::MIN], 0)
    }
}
