//! Reading of the clock in a loop: gaps between readings show when a thread was off the CPU.

use std::time::Duration;

use super::Thread;

/// Maximum number of slices kept per thread: 320 KB, or at least 20 s of slices of 1 ms.
pub(super) const MAX_SLICES: usize = 20_000;

/// Reads a clock until `end`, and records every step between two readings that is longer than `gap`.
///
/// Keeps at most `most` slices, and allocates them in advance: growing a vector could look like a gap. The caller adds the counts
/// of the kernel.
pub(super) fn watch(
    mut clock: impl FnMut() -> Duration,
    end: Duration,
    gap: Duration,
    most: usize,
) -> Thread {
    let (end, gap) = (nanoseconds(end), nanoseconds(gap));
    let mut seen = Thread { slices: Vec::with_capacity(most), ..Thread::default() };
    let (mut begun, mut last) = (0, 0);
    while last < end {
        let now = nanoseconds(clock()).min(end);
        if now - last > gap {
            seen.ran(begun, last, most);
            seen.gaps += 1;
            seen.longest_gap = seen.longest_gap.max(now - last);
            begun = now;
        }
        last = now;
    }
    seen.ran(begun, last, most);
    seen
}

impl Thread {
    fn ran(&mut self, from: u64, to: u64, most: usize) {
        self.ran += to - from;
        match self.slices.len() < most {
            _ if from == to => {}
            true => self.slices.push([from, to]),
            false => self.dropped += 1,
        }
    }
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(slices: &[[u64; 2]], ran: u64, gaps: u64, longest_gap: u64, dropped: u64) -> Thread {
        Thread { slices: slices.to_vec(), ran, gaps, longest_gap, dropped, ..Thread::default() }
    }

    /// Watches a clock that reads these times and then the end, 100 ns, with gaps of more than 5 ns.
    fn seen(times: &[u64], most: usize) -> Thread {
        let mut times = times.iter().copied().chain(std::iter::repeat(120));
        let clock = || Duration::from_nanos(times.next().expect("endless"));
        watch(clock, Duration::from_nanos(100), Duration::from_nanos(5), most)
    }

    #[test]
    fn steps_longer_than_a_gap_separate_slices() {
        let all: Vec<u64> = (1..20).chain(40..=60).chain([65, 70, 76, 77]).chain(90..100).collect();
        let slices = [[0, 19], [40, 70], [76, 77], [90, 100]];
        assert_eq!(seen(&all, 9), thread(&slices, 60, 3, 21, 0));
    }

    #[test]
    fn a_late_start_and_an_early_end_are_gaps() {
        let seen = seen(&[30, 31, 32], 9);
        assert_eq!(seen, thread(&[[30, 32]], 2, 2, 68, 0));
    }

    #[test]
    fn slices_beyond_the_maximum_are_counted() {
        let seen = seen(&[1, 2, 10, 11, 20, 22, 30, 34], 2);
        assert_eq!(seen, thread(&[[0, 2], [10, 11]], 9, 4, 66, 2));
    }
}
