//! What a run took.

use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

/// What a run took. Times are in seconds, and whole numbers of nanoseconds, so that they survive being written as decimals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// From before the process was started until it had ended.
    pub wall: f64,
    /// On processors, in the program itself.
    pub user: f64,
    /// On processors, in the kernel for the program.
    pub system: f64,
    /// How often a thread gave its processor away, to wait for something.
    pub voluntary_switches: u64,
    /// How often a thread had its processor taken away.
    pub involuntary_switches: u64,
    /// How often a page that was touched had to be read from storage.
    pub major_faults: u64,
}

impl Measured {
    /// Seconds on processors, in the program and in the kernel.
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }
}

/// What all children that were waited for have used.
pub(super) struct Used(Option<Usage>);

/// What they have used until now.
pub(super) fn used() -> Used {
    // It fails for no reason that can occur here.
    Used(getrusage(UsageWho::RUSAGE_CHILDREN).ok())
}

impl Used {
    /// What they have used since then, and how long that was.
    pub(super) fn since(&self, before: &Self, wall: Duration) -> Measured {
        let difference = |of: fn(&Usage) -> i64| {
            let of = |used: &Self| used.0.as_ref().map_or(0, of);
            (of(self) - of(before)).max(0)
        };
        Measured {
            wall: wall.as_nanos() as f64 / 1e9,
            user: difference(|usage| microseconds(usage.user_time())) as f64 / 1e6,
            system: difference(|usage| microseconds(usage.system_time())) as f64 / 1e6,
            voluntary_switches: difference(Usage::voluntary_context_switches) as u64,
            involuntary_switches: difference(Usage::involuntary_context_switches) as u64,
            major_faults: difference(Usage::major_page_faults) as u64,
        }
    }
}

fn microseconds(time: TimeVal) -> i64 {
    time.tv_sec() * 1_000_000 + time.tv_usec()
}
