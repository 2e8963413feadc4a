//! Time and resource usage of a run, of a command or in this process.

use std::time::{Duration, Instant};

use finecomb_sys::Usage;
use serde::{Deserialize, Serialize};

/// Resource usage of a run. Times are in seconds, and whole numbers of nanoseconds, so that decimals represent them exactly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Wall time from before the start to after the end.
    pub(crate) wall: f64,
    /// CPU time in user mode.
    pub(crate) user: f64,
    /// CPU time in kernel mode.
    pub(crate) system: f64,
    /// Voluntary context switches: a thread waited for something.
    pub(crate) voluntary_switches: u64,
    /// Involuntary context switches: the thread was preempted.
    pub(crate) involuntary_switches: u64,
    /// Major page faults: a page had to be read from storage.
    pub(crate) major_faults: u64,
}

impl Measured {
    pub(crate) fn new(wall: Duration, used: Usage) -> Self {
        Self {
            wall: seconds(wall),
            user: seconds(used.user),
            system: seconds(used.system),
            voluntary_switches: used.voluntary_switches,
            involuntary_switches: used.involuntary_switches,
            major_faults: used.major_faults,
        }
    }

    /// CPU time in seconds, user and kernel mode.
    pub(crate) fn cpu(&self) -> f64 {
        self.user + self.system
    }
}

/// Runs `work` and measures it. Nothing else may run in the process at the same time.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, Measured) {
    let (before, start) = (Usage::of_process(), Instant::now());
    let result = work();
    let wall = start.elapsed();
    (result, Measured::new(wall, Usage::of_process() - before))
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
    fn work_takes_cpu_time() {
        let (sum, effort) = measured(|| (0..20_000_000_u64).map(black_box).sum::<u64>());
        assert_eq!(sum, 199_999_990_000_000);
        assert!(effort.wall > 0.0 && effort.cpu() > 0.0, "{effort:?}");
    }
}
