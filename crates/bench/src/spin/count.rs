//! The work of a greedy thread: it counts, and does nothing else.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Counts from 0 to `iterations`. The black box keeps the compiler from knowing the sum, and so from leaving
/// out the loop.
pub(super) fn count(iterations: u64) -> u64 {
    let mut counter = 0;
    while counter < iterations {
        counter = black_box(counter + 1);
    }
    counter
}

/// How long one thread is to count when nobody says how far: a hundred of a scheduler's slices, and still no
/// test of patience with many threads.
const ALONE: Duration = Duration::from_millis(200);

/// A trial that is shorter says more about interrupts than about counting.
const TRIAL: Duration = Duration::from_millis(20);

/// How far one thread counts in about 0.2 s on this machine, rounded to two digits so that runs can be
/// compared.
///
/// The quickest of three trials decides, as everything else that runs can only make a trial longer.
pub(super) fn calibrated() -> u64 {
    let time = |iterations| {
        let start = Instant::now();
        black_box(count(black_box(iterations)));
        start.elapsed()
    };
    let mut iterations = 1 << 16;
    while time(iterations) < TRIAL {
        iterations *= 2;
    }
    let quickest = (0..3).map(|_| time(iterations)).min().unwrap_or(TRIAL);
    let wanted = iterations as f64 * ALONE.as_secs_f64() / quickest.as_secs_f64().max(f64::EPSILON);
    rounded(wanted as u64)
}

/// A number rounded down to two digits.
fn rounded(number: u64) -> u64 {
    let digits = number.checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(1));
    number / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_as_far_as_it_is_told() {
        for iterations in [0, 1, 1_000_003] {
            assert_eq!(count(iterations), iterations);
        }
    }

    #[test]
    fn iterations_are_round_numbers() {
        assert_eq!([0, 7, 42, 199, 123_456_789].map(rounded), [0, 7, 42, 190, 120_000_000]);
    }
}
