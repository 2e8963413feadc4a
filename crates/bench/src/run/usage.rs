//! Resources that a run uses.

use std::time::Duration;

use finecomb_sys::Usage;
use serde::{Deserialize, Serialize};

use crate::effort::seconds;

/// Resources that a run used. Times are in seconds, and whole numbers of nanoseconds, so that they survive being written as
/// decimals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Wall time from before the process was started until it had ended.
    pub wall: f64,
    /// CPU time in the program itself.
    pub user: f64,
    /// CPU time in the kernel for the program.
    pub system: f64,
    /// Voluntary context switches: a thread waited for something.
    pub voluntary_switches: u64,
    /// Involuntary context switches: another thread was given the processor.
    pub involuntary_switches: u64,
    /// Major page faults: a page had to be read from storage.
    pub major_faults: u64,
}

impl Measured {
    /// A run that took so long and used these resources.
    pub(super) fn new(wall: Duration, used: Usage) -> Self {
        Self {
            wall: seconds(wall),
            user: seconds(used.user),
            system: seconds(used.system),
            voluntary_switches: used.voluntary_switches,
            involuntary_switches: used.involuntary_switches,
            major_faults: used.major_faults,
        }
    }

    /// CPU time in seconds, in the program and in the kernel.
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }
}
