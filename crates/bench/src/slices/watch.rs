//! Reading the clock without pause: gaps between readings show when a thread was off the processor.

use std::time::Duration;

/// Slices of a thread that are kept, at most: 320 KB of them, and half a minute even of slices of 1 ms each.
pub(super) const MAX_SLICES: usize = 20_000;

/// What a thread saw of itself. All times are nanoseconds after the common start, none is behind the end of
/// the experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Times at which it ran, from and to, in order; as many as are kept.
    pub(super) slices: Vec<[u64; 2]>,
    /// Total time it ran.
    pub(super) ran: u64,
    /// Number of times it was off the processor.
    pub(super) gaps: u64,
    /// The longest of these.
    pub(super) longest: u64,
    /// Slices that were not kept.
    pub(super) dropped: u64,
}

/// Reads a clock until it says `end`, and notes every step from one reading to the next that is longer than
/// `gap`.
///
/// `most` slices are kept, and room for them is taken beforehand: to grow a vector while watching would look
/// like a gap.
pub(super) fn watch(mut clock: impl FnMut() -> Duration, end: Duration, gap: Duration, most: usize) -> Seen {
    let (end, gap) = (nanoseconds(end), nanoseconds(gap));
    let mut seen = Seen { slices: Vec::with_capacity(most), ..Seen::default() };
    let (mut begun, mut last) = (0, 0);
    while last < end {
        let now = nanoseconds(clock()).min(end);
        if now - last > gap {
            seen.ran(begun, last, most);
            seen.gaps += 1;
            seen.longest = seen.longest.max(now - last);
            begun = now;
        }
        last = now;
    }
    seen.ran(begun, last, most);
    seen
}

impl Seen {
    fn ran(&mut self, from: u64, to: u64, most: usize) {
        self.ran += to - from;
        match self.slices.len() < most {
            _ if from == to => {}
            true => self.slices.push([from, to]),
            false => self.dropped += 1,
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Watches a clock that shows these times and then the end, 100 ns, with gaps of more than 5 ns.
    fn seen(times: &[u64], most: usize) -> Seen {
        let mut times = times.iter().copied().chain(std::iter::repeat(120));
        let clock = || Duration::from_nanos(times.next().expect("endless"));
        watch(clock, Duration::from_nanos(100), Duration::from_nanos(5), most)
    }

    #[test]
    fn steps_that_are_longer_than_a_gap_part_slices() {
        let all: Vec<u64> = (1..20).chain(40..=60).chain([65, 70, 76, 77]).chain(90..100).collect();
        let slices = vec![[0, 19], [40, 70], [76, 77], [90, 100]];
        assert_eq!(seen(&all, 9), Seen { slices, ran: 60, gaps: 3, longest: 21, dropped: 0 });
    }

    #[test]
    fn being_late_and_being_off_at_the_end_are_gaps() {
        let seen = seen(&[30, 31, 32], 9);
        assert_eq!(seen, Seen { slices: vec![[30, 32]], ran: 2, gaps: 2, longest: 68, dropped: 0 });
    }

    #[test]
    fn slices_that_are_not_kept_are_counted() {
        let seen = seen(&[1, 2, 10, 11, 20, 22, 30, 34], 2);
        assert_eq!(seen, Seen { slices: vec![[0, 2], [10, 11]], ran: 9, gaps: 4, longest: 66, dropped: 2 });
    }
}
