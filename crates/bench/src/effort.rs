//! Resources that work in this process uses.

use std::time::{Duration, Instant};

use finecomb_sys::Usage;

/// Time that a piece of work took, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    /// Wall time.
    pub(crate) wall: f64,
    /// CPU time in user and system mode, of all threads.
    pub(crate) cpu: f64,
}

/// Does some work and measures it. Nothing else may go on in the process meanwhile.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, Effort) {
    let (before, start) = (Usage::of_process(), Instant::now());
    let result = work();
    let wall = seconds(start.elapsed());
    (result, Effort { wall, cpu: seconds((Usage::of_process() - before).processor()) })
}

/// A duration in seconds.
pub(crate) fn seconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e9
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
