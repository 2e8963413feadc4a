//! Resource usage of a thread, of the process and of its children: CPU time, context switches, page faults, reads from
//! storage.
#![allow(unsafe_code, reason = "a function of the C library that fills a structure")]

use std::mem::MaybeUninit;
use std::ops::{AddAssign, Sub};
use std::time::Duration;

use crate::system::usage;

/// Resource usage so far, as getrusage(2) reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Voluntary context switches: the thread waited for something.
    pub voluntary_switches: u64,
    /// Involuntary context switches: the thread was preempted.
    pub involuntary_switches: u64,
    /// Page faults served from memory.
    pub minor_faults: u64,
    /// Page faults that waited for storage.
    pub major_faults: u64,
}

impl Usage {
    /// Usage of the calling thread. Systems other than Linux report only its CPU time, which is then counted as time in user mode.
    pub fn of_thread() -> Self {
        usage::of_thread()
    }

    /// Usage of all threads of this process.
    pub fn of_process() -> Self {
        Self::of(libc::RUSAGE_SELF)
    }

    /// Usage of all children of this process that were waited for.
    pub fn of_children() -> Self {
        Self::of(libc::RUSAGE_CHILDREN)
    }

    pub(crate) fn of(whom: libc::c_int) -> Self {
        let Some(usage) = reported(whom) else { return Self::default() };
        let count = |count: libc::c_long| u64::try_from(count).unwrap_or_default();
        Self {
            user: duration(usage.ru_utime),
            system: duration(usage.ru_stime),
            voluntary_switches: count(usage.ru_nvcsw),
            involuntary_switches: count(usage.ru_nivcsw),
            minor_faults: count(usage.ru_minflt),
            major_faults: count(usage.ru_majflt),
        }
    }

    /// CPU time, in user mode and in the kernel.
    pub fn cpu_time(&self) -> Duration {
        self.user + self.system
    }
}

/// Reads the usage of this process, of the calling thread or of the children with getrusage(2).
#[inline]
pub(crate) fn reported(whom: libc::c_int) -> Option<libc::rusage> {
    let mut usage = MaybeUninit::uninit();
    // SAFETY: The function fills the structure if it returns 0.
    unsafe { (libc::getrusage(whom, usage.as_mut_ptr()) == 0).then(|| usage.assume_init()) }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let micros = u64::try_from(time.tv_usec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

impl Sub for Usage {
    type Output = Self;

    /// Usage since `before`.
    fn sub(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(before.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.user += other.user;
        self.system += other.system;
        self.voluntary_switches += other.voluntary_switches;
        self.involuntary_switches += other.involuntary_switches;
        self.minor_faults += other.minor_faults;
        self.major_faults += other.major_faults;
    }
}

/// Returns the number of bytes that this process has caused to be read from storage, or `None` where the system does not
/// report it. Takes about 10 µs.
pub fn bytes_from_storage() -> Option<u64> {
    usage::bytes_from_storage()
}

/// As [`bytes_from_storage`], for the calling thread alone.
pub fn bytes_from_storage_by_thread() -> Option<u64> {
    usage::bytes_from_storage_by_thread()
}

/// Returns the number of blocks that the calling thread has caused to be read from storage; zero where the system does not
/// report it. Takes 150 ns, and does not depend on `/proc`.
#[inline]
pub fn blocks_from_storage_by_thread() -> u64 {
    usage::blocks_from_storage_by_thread()
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread;

    use super::*;

    #[test]
    fn work_and_waiting_are_counted() {
        let before = Usage::of_thread();
        while (Usage::of_thread() - before).cpu_time() < Duration::from_millis(5) {
            black_box((0..1000).map(black_box).sum::<u64>());
        }
        thread::sleep(Duration::from_millis(1));
        let used = Usage::of_thread() - before;
        assert!(used.voluntary_switches >= 1 || !crate::IS_LINUX);
        assert!(Usage::of_process().cpu_time() >= used.cpu_time());
    }

    #[test]
    fn another_thread_has_a_usage_of_its_own() {
        let mine = Usage::of_thread().cpu_time();
        let others = thread::spawn(|| {
            while Usage::of_thread().cpu_time() < Duration::from_millis(20) {}
            Usage::of_thread().cpu_time()
        });
        assert!(others.join().is_ok_and(|others| others >= Duration::from_millis(20)));
        assert!(Usage::of_thread().cpu_time() - mine < Duration::from_millis(20));
    }
}
