//! Values of flags: numbers of threads, runs and seconds.

use std::num::NonZeroUsize;
use std::time::Duration;

/// Maximum number of threads: more would show nothing new, and could exhaust the limits of the system.
const MAX_THREADS: usize = 1024;

/// Numbers of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadCounts(pub Vec<NonZeroUsize>);

/// Parses a list such as `1,2,4` or `1..64`. A range stands for its ends, the powers of two between them, and the midpoints of
/// adjacent powers.
pub fn parse_counts(text: &str) -> Result<ThreadCounts, String> {
    let mut counts = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((from, to)) => counts.extend(range(count(from)?, count(to)?)?),
            None => counts.push(count(part)?),
        }
    }
    Ok(ThreadCounts(counts))
}

fn count(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse::<NonZeroUsize>().ok().filter(|count| count.get() <= MAX_THREADS);
    count.ok_or_else(|| format!("expected a list of numbers from 1 to {MAX_THREADS}, such as 1,2,4 or 1..64"))
}

/// Maximum number of runs: more would take too long.
const MAX_RUNS: usize = 100_000;

/// Parses a number of runs.
pub fn parse_runs(text: &str) -> Result<NonZeroUsize, String> {
    let runs = text.parse::<NonZeroUsize>().ok().filter(|runs| runs.get() <= MAX_RUNS);
    runs.ok_or_else(|| format!("expected a number from 1 to {MAX_RUNS}"))
}

fn range(from: NonZeroUsize, to: NonZeroUsize) -> Result<Vec<NonZeroUsize>, String> {
    if from > to {
        return Err(format!("the range {from}..{to} is empty"));
    }
    let powers = (0..usize::BITS).map(|power| 1_usize << power).take_while(|&power| power < to.get());
    let between = powers.flat_map(|power| [power, power + power / 2]).filter_map(NonZeroUsize::new);
    let mut counts: Vec<NonZeroUsize> = between.filter(|&count| from < count && count < to).collect();
    counts.extend([from, to]);
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

/// Parses a number of seconds from 0.01, the shortest useful measurement, to 600.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let bounds = Duration::from_millis(10)..=Duration::from_secs(600);
    seconds
        .filter(|seconds| bounds.contains(seconds))
        .ok_or_else(|| "expected a number of seconds from 0.01 to 600".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Result<Vec<usize>, String> {
        parse_counts(text).map(|ThreadCounts(counts)| counts.into_iter().map(NonZeroUsize::get).collect())
    }

    #[test]
    fn the_number_of_runs_has_bounds() {
        assert_eq!(parse_runs("100000").map(NonZeroUsize::get), Ok(100_000));
        for text in ["0", "-1", "x", "100001", "99999999999"] {
            assert!(parse_runs(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lists_and_ranges_are_parsed() {
        assert_eq!(counts("1"), Ok(vec![1]));
        assert_eq!(counts("4,2,1024"), Ok(vec![4, 2, 1024]));
        assert_eq!(counts("1..64"), Ok(vec![1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]));
        assert_eq!(counts("5..9,20"), Ok(vec![5, 6, 8, 9, 20]));
        assert_eq!(counts("3..3"), Ok(vec![3]));
    }

    #[test]
    fn invalid_numbers_of_threads_are_rejected() {
        for wrong in ["", "0", "1,", "1..", "-1", "x", "1025", "0..4", "1...4"] {
            assert!(counts(wrong).is_err(), "{wrong}");
        }
        assert_eq!(counts("8..4"), Err("the range 8..4 is empty".to_owned()));
    }

    #[test]
    fn seconds_have_bounds() {
        assert_eq!(parse_seconds("0.01"), Ok(Duration::from_millis(10)));
        assert_eq!(parse_seconds("600"), Ok(Duration::from_secs(600)));
        for wrong in ["0", "-1", "601", "nan", "inf", "", "1s"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
