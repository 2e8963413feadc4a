//! What a piece of work in this process takes.

use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// What a piece of work took, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    /// From its beginning to its end.
    pub(crate) wall: f64,
    /// On processors, in user and system mode, of all threads that worked on it.
    pub(crate) cpu: f64,
}

/// Does some work and says what it took. Nothing else may go on in the process meanwhile.
///
/// The processor time is 0 if the system does not say it, which Linux always does.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, Effort) {
    let cpu = || getrusage(UsageWho::RUSAGE_SELF).map_or(0.0, |usage| on_processors(&usage));
    let (before, start) = (cpu(), Instant::now());
    let result = work();
    let wall = seconds(start.elapsed());
    (result, Effort { wall, cpu: rounded(cpu() - before) })
}

/// Seconds in user and system mode.
pub(crate) fn on_processors(usage: &Usage) -> f64 {
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    rounded(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// A duration in seconds.
pub(crate) fn seconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e9
}

/// Seconds as a whole number of nanoseconds, which survives being written as a decimal.
pub(crate) fn rounded(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn work_takes_time_on_a_processor() {
        let (sum, effort) = measured(|| (0..20_000_000_u64).map(black_box).sum::<u64>());
        assert_eq!(sum, 199_999_990_000_000);
        assert!(effort.wall > 0.0 && effort.cpu > 0.0, "{effort:?}");
    }
}
