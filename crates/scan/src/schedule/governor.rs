//! Decides how many workers a job should have at the moment.
//!
//! The governor observes a running job in short windows: CPU time used, time that workers waited for work, bytes from
//! storage, and work done. It starts with one worker per core.
//!
//! - If workers wait for **storage**, cores are idle. The number of workers is doubled as long as more files are to be opened,
//!   halved when the cores are busy all the same, and reduced again when files come from memory. A single large file gets no more
//!   workers: the read-ahead of the kernel is as fast as any number of readers.
//! - If workers wait for **work**, as with a slow pipe, they take CPU time from the producer. They are parked one after another,
//!   and unparked if throughput drops.

use std::time::Duration;

/// Maximum number of workers that wait for storage. More were not faster on any device that was measured.
const MAX_WORKERS: usize = 32;

/// Minimum number of bytes from storage in a window that indicates a cold cache. A starting program reads some pages of
/// itself.
const MIN_COLD_BYTES: u64 = 32 << 10;

/// Number of windows that a trial compares with as many before it.
const TRIAL_WINDOWS: usize = 3;

/// Number of windows before a failed trial is repeated, at first; doubled after each failure.
const MIN_BACKOFF: usize = 8;
const MAX_BACKOFF: usize = 512;

/// Measurements of a job in a short window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measurement {
    pub(crate) time: Duration,
    /// CPU time of this process.
    pub(crate) cpu_time: Duration,
    /// Time that workers waited for work, in total.
    pub(crate) idle: Duration,
    /// Bytes read from storage.
    pub(crate) from_storage: u64,
    /// Work done, in a unit of the job.
    pub(crate) work: u64,
    /// `true` if there are files to open.
    pub(crate) has_backlog: bool,
}

impl Measurement {
    /// Average number of busy cores.
    fn cores(&self) -> f64 {
        self.cpu_time.as_secs_f64() / self.time.as_secs_f64()
    }

    /// Average number of idle workers.
    fn idle(&self) -> f64 {
        self.idle.as_secs_f64() / self.time.as_secs_f64()
    }

    fn throughput(&self) -> f64 {
        self.work as f64 / self.time.as_secs_f64()
    }
}

/// Decides the number of workers, window by window.
#[derive(Debug)]
pub(crate) struct Governor {
    cores: usize,
    wanted: usize,
    /// Throughput in the latest windows with the current number of workers.
    throughputs: Vec<f64>,
    /// Number of consecutive windows without reads from storage.
    warm: usize,
    /// Number of consecutive windows with reads from storage in which all cores were busy.
    busy: usize,
    /// Number of consecutive windows in which workers were idle; negative: in which all were busy although one is
    /// parked.
    trend: isize,
    trial: Option<Trial>,
    /// Windows left before the next trial.
    cooldown: usize,
    backoff: usize,
}

/// A trial of another number of workers.
#[derive(Debug)]
struct Trial {
    before: usize,
    throughput_before: f64,
    /// Minimum ratio of the new throughput to the old one for the new number to be kept.
    required_ratio: f64,
}

impl Governor {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cores,
            wanted: cores,
            throughputs: Vec::new(),
            warm: 0,
            busy: 0,
            trend: 0,
            trial: None,
            cooldown: 0,
            backoff: MIN_BACKOFF,
        }
    }

    /// Current number of workers.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Returns the number of workers that the job should have after this window.
    pub(crate) fn decide(&mut self, window: &Measurement) -> usize {
        self.throughputs.push(window.throughput());
        self.cooldown = self.cooldown.saturating_sub(1);
        if window.from_storage >= MIN_COLD_BYTES {
            self.warm = 0;
            self.decide_cold(window);
        } else {
            self.warm += 1;
            if self.wanted > self.cores {
                if self.warm >= TRIAL_WINDOWS {
                    self.change(self.cores);
                }
            } else {
                self.decide_warm(window);
            }
        }
        self.wanted
    }

    /// Adds workers, and so concurrent reads, as long as workers wait for storage. Removes them if the cores are busy all the
    /// same, as with a parser: they would only take turns.
    fn decide_cold(&mut self, window: &Measurement) {
        let present = self.wanted as f64;
        let waiting_for_storage = present - window.idle() - window.cores();
        let cores_are_idle = window.cores() < 0.9 * self.cores as f64;
        let most = MAX_WORKERS.max(self.cores);
        if window.has_backlog && cores_are_idle && waiting_for_storage > 0.3 * present && self.wanted < most {
            self.trial = None;
            self.change((2 * self.wanted).max(self.cores).min(most));
        }
        self.busy = if cores_are_idle { 0 } else { self.busy + 1 };
        if self.busy >= TRIAL_WINDOWS && self.wanted > self.cores {
            self.busy = 0;
            self.change((self.wanted / 2).max(self.cores));
        }
    }

    fn decide_warm(&mut self, window: &Measurement) {
        if let Some(trial) = &self.trial {
            if self.throughputs.len() < TRIAL_WINDOWS {
                return;
            }
            if self.throughput() < trial.required_ratio * trial.throughput_before {
                let before = trial.before;
                self.change(before);
                self.cooldown = self.backoff;
                self.backoff = (2 * self.backoff).min(MAX_BACKOFF);
            }
            self.trial = None;
            return;
        }
        let idle = window.idle();
        let is_busy = idle < 0.2 && window.cores() > 0.85 * self.wanted as f64;
        self.trend = if idle >= 0.5 && self.wanted > 1 {
            self.trend.max(0) + 1
        } else if is_busy && self.wanted < self.cores {
            self.trend.min(0) - 1
        } else {
            0
        };
        if self.cooldown > 0 || self.throughputs.len() < TRIAL_WINDOWS {
            return;
        }
        if self.trend >= 2 {
            let fewer = (idle.round() as usize).clamp(1, self.wanted - 1);
            self.begin_trial(self.wanted - fewer, 0.97);
        } else if self.trend <= -2 {
            self.begin_trial(self.wanted + 1, 1.03);
        }
    }

    fn begin_trial(&mut self, workers: usize, required_ratio: f64) {
        self.trial =
            Some(Trial { before: self.wanted, throughput_before: self.throughput(), required_ratio });
        self.change(workers);
    }

    fn change(&mut self, workers: usize) {
        self.wanted = workers;
        self.throughputs.clear();
        self.trend = 0;
    }

    /// Median throughput of the latest windows. A single window may have been disturbed.
    fn throughput(&self) -> f64 {
        let mut latest = self.throughputs[self.throughputs.len().saturating_sub(TRIAL_WINDOWS)..].to_vec();
        latest.sort_unstable_by(f64::total_cmp);
        latest.get(latest.len() / 2).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_millis(5);

    /// A window with this number of busy cores and idle workers, and these MiB from storage.
    fn window(cores: f64, idle: f64, from_storage: u64, work: u64) -> Measurement {
        Measurement {
            time: TIME,
            cpu_time: TIME.mul_f64(cores),
            idle: TIME.mul_f64(idle),
            from_storage: from_storage << 20,
            work,
            has_backlog: true,
        }
    }

    fn after(governor: &mut Governor, windows: usize, window: &Measurement) -> usize {
        (0..windows).map(|_| governor.decide(window)).last().expect("at least one window")
    }

    #[test]
    fn busy_cores_keep_their_workers() {
        for cores in [1, 2, 8, 64] {
            let mut governor = Governor::new(cores);
            let busy = window(cores as f64, 0.0, 0, 1000);
            assert_eq!(after(&mut governor, 100, &busy), cores);
        }
    }

    #[test]
    fn waiting_for_storage_adds_workers() {
        let mut governor = Governor::new(2);
        let cold = window(0.5, 0.0, 1, 100);
        let steps: Vec<_> = (0..6).map(|_| governor.decide(&cold)).collect();
        assert_eq!(steps, [4, 8, 16, 32, 32, 32]);
        let warm = window(2.0, 0.0, 0, 1000);
        assert_eq!(after(&mut governor, TRIAL_WINDOWS, &warm), 2);
    }

    #[test]
    fn a_single_large_file_adds_no_workers() {
        let mut governor = Governor::new(2);
        let cold = Measurement { has_backlog: false, ..window(0.5, 0.0, 5, 100) };
        assert_eq!(after(&mut governor, 10, &cold), 2);
    }

    #[test]
    fn storage_that_keeps_the_cores_busy_adds_no_workers() {
        let mut governor = Governor::new(4);
        assert_eq!(after(&mut governor, 10, &window(3.9, 0.0, 9, 100)), 4);
    }

    #[test]
    fn workers_beyond_the_cores_end_when_the_cores_are_busy() {
        let mut governor = Governor::new(2);
        assert_eq!(after(&mut governor, 3, &window(0.5, 0.0, 1, 100)), 16);
        let busy = window(2.0, 0.0, 1, 1000);
        assert_eq!(after(&mut governor, TRIAL_WINDOWS, &busy), 8);
        assert_eq!(after(&mut governor, 2 * TRIAL_WINDOWS, &busy), 2);
        assert_eq!(after(&mut governor, 100, &busy), 2);
    }

    #[test]
    fn idle_workers_are_parked_if_throughput_stays() {
        let mut governor = Governor::new(4);
        // The pipe keeps one worker busy, with any number of others.
        for _ in 0..100 {
            let idle = governor.wanted as f64 - 1.0;
            governor.decide(&window(1.0, idle, 0, 1000));
        }
        assert_eq!(governor.wanted, 1);
    }

    #[test]
    fn parking_that_lowers_throughput_is_undone_and_not_repeated_soon() {
        let mut governor = Governor::new(2);
        let mut parked = 0;
        for _ in 0..1000 {
            // Bursts: each worker is idle half of the time, and two workers do twice the work of one.
            let workers = governor.wanted as f64;
            governor.decide(&window(0.5 * workers, 0.5 * workers, 0, 1000 * governor.wanted as u64));
            parked += usize::from(governor.wanted == 1);
        }
        assert!((TRIAL_WINDOWS..100).contains(&parked), "parked in {parked} windows of 1000");
    }

    #[test]
    fn a_parked_worker_is_unparked_when_there_is_work() {
        let mut governor = Governor::new(2);
        after(&mut governor, 20, &window(1.0, 1.0, 0, 1000));
        assert_eq!(governor.wanted, 1);
        for _ in 0..100 {
            let workers = governor.wanted;
            governor.decide(&window(workers as f64, 0.0, 0, 1000 * workers as u64));
        }
        assert_eq!(governor.wanted, 2);
    }

    #[test]
    fn idle_workers_do_not_wait_for_storage() {
        let mut governor = Governor::new(4);
        assert_eq!(after(&mut governor, 10, &window(0.5, 3.0, 9, 100)), 4);
    }

    #[test]
    fn a_single_disturbed_window_does_not_end_a_trial() {
        let mut governor = Governor::new(2);
        let idle = window(1.0, 1.0, 0, 1000);
        while governor.wanted == 2 {
            governor.decide(&idle);
        }
        let one = |work| window(1.0, 0.0, 0, work);
        assert_eq!(governor.decide(&one(1)), 1);
        assert_eq!(after(&mut governor, TRIAL_WINDOWS, &one(1000)), 1);
    }
}
