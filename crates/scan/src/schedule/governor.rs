//! How many workers a job should have at the moment.
//!
//! The governor looks at a running job through short windows: how many processors it used, how long its workers waited
//! for something to do, how much came from storage, how much was done. It starts with a worker for each processor.
//!
//! - Workers that wait for **storage** leave processors idle: there are doubled as long as there are more files to ask
//!   for, and sent away again when files come from memory.
//! - Workers that wait for **work**, as behind a pipe, get into the way of whoever makes it: one after another is parked,
//!   and brought back if less gets done without it.

use std::time::Duration;

/// More workers than this were not faster on any storage that was tried.
const MOST: usize = 32;

/// Reading so few bytes in a window is no sign of a cold cache: a program that starts reads some of itself.
const LITTLE: u64 = 32 << 10;

/// A trial compares this many windows with as many before.
const TRIAL: usize = 3;

/// How many windows a trial that failed is not repeated for, at first; doubled each time.
const FIRST_PATIENCE: usize = 8;
const LAST_PATIENCE: usize = 512;

/// What was seen of a job in a short time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    pub(crate) time: Duration,
    /// Processor time used by this process.
    pub(crate) processor: Duration,
    /// The time that all workers together waited for something to do.
    pub(crate) idle: Duration,
    /// Bytes that came from storage.
    pub(crate) from_storage: u64,
    /// How much was done, in a unit of the job's own.
    pub(crate) work: u64,
    /// Whether there are files that nobody has opened yet.
    pub(crate) has_backlog: bool,
}

impl Window {
    /// How many processors were busy, on average.
    fn processors(&self) -> f64 {
        self.processor.as_secs_f64() / self.time.as_secs_f64()
    }

    /// How many workers had nothing to do, on average.
    fn idle(&self) -> f64 {
        self.idle.as_secs_f64() / self.time.as_secs_f64()
    }

    fn speed(&self) -> f64 {
        self.work as f64 / self.time.as_secs_f64()
    }
}

/// Decides on the number of workers, window by window.
#[derive(Debug)]
pub(crate) struct Governor {
    processors: usize,
    wanted: usize,
    /// Speeds in the latest windows with the present number of workers.
    speeds: Vec<f64>,
    /// Windows in a row in which nothing came from storage.
    warm: usize,
    cold: bool,
    /// Windows in a row in which workers were idle, or all were busy though one is parked.
    leaning: isize,
    trial: Option<Trial>,
    /// Windows to go before the next trial.
    pause: usize,
    patience: usize,
}

/// Another number of workers, to see whether it does better.
#[derive(Debug)]
struct Trial {
    before: usize,
    speed_before: f64,
    /// By what factor the speed must change for it to be kept.
    goal: f64,
}

impl Governor {
    pub(crate) fn new(processors: usize) -> Self {
        Self {
            processors,
            wanted: processors,
            speeds: Vec::new(),
            warm: 0,
            cold: false,
            leaning: 0,
            trial: None,
            pause: 0,
            patience: FIRST_PATIENCE,
        }
    }

    /// How many workers there are at first.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Whether files came from storage in the last window.
    pub(crate) fn is_cold(&self) -> bool {
        self.cold
    }

    /// How many workers there should be, given what was seen since the last decision.
    pub(crate) fn decide(&mut self, window: &Window) -> usize {
        self.speeds.push(window.speed());
        self.pause = self.pause.saturating_sub(1);
        self.cold = window.from_storage >= LITTLE;
        if self.cold {
            self.warm = 0;
            self.decide_cold(window);
        } else {
            self.warm += 1;
            if self.wanted > self.processors {
                if self.warm >= TRIAL {
                    self.change(self.processors);
                }
            } else {
                self.decide_warm(window);
            }
        }
        self.wanted
    }

    /// Storage is asked for more at a time, as long as workers wait for it.
    fn decide_cold(&mut self, window: &Window) {
        let present = self.wanted as f64;
        let waiting_for_storage = present - window.idle() - window.processors();
        let processors_are_free = window.processors() < 0.9 * self.processors as f64;
        let most = MOST.max(self.processors);
        if window.has_backlog
            && processors_are_free
            && waiting_for_storage > 0.3 * present
            && self.wanted < most
        {
            self.trial = None;
            self.change((2 * self.wanted).max(self.processors).min(most));
        }
    }

    fn decide_warm(&mut self, window: &Window) {
        if let Some(trial) = &self.trial {
            if self.speeds.len() < TRIAL {
                return;
            }
            if self.speed() < trial.goal * trial.speed_before {
                let before = trial.before;
                self.change(before);
                self.pause = self.patience;
                self.patience = (2 * self.patience).min(LAST_PATIENCE);
            }
            self.trial = None;
            return;
        }
        let idle = window.idle();
        self.leaning = match () {
            () if idle >= 0.5 && self.wanted > 1 => self.leaning.max(0) + 1,
            () if idle < 0.2
                && self.wanted < self.processors
                && window.processors() > 0.85 * self.wanted as f64 =>
            {
                self.leaning.min(0) - 1
            }
            () => 0,
        };
        if self.pause > 0 || self.speeds.len() < TRIAL {
            return;
        }
        if self.leaning >= 2 {
            let fewer = (idle.round() as usize).clamp(1, self.wanted - 1);
            self.begin_trial(self.wanted - fewer, 0.97);
        } else if self.leaning <= -2 {
            self.begin_trial(self.wanted + 1, 1.03);
        }
    }

    fn begin_trial(&mut self, workers: usize, goal: f64) {
        self.trial = Some(Trial { before: self.wanted, speed_before: self.speed(), goal });
        self.change(workers);
    }

    fn change(&mut self, workers: usize) {
        self.wanted = workers;
        self.speeds.clear();
        self.leaning = 0;
    }

    /// The median of the latest speeds: one window may have been disturbed.
    fn speed(&self) -> f64 {
        let mut latest = self.speeds[self.speeds.len().saturating_sub(TRIAL)..].to_vec();
        latest.sort_unstable_by(f64::total_cmp);
        latest.get(latest.len() / 2).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_millis(5);

    /// A window with so many processors busy, workers idle, and megabytes from storage.
    fn window(processors: f64, idle: f64, from_storage: u64, work: u64) -> Window {
        Window {
            time: TIME,
            processor: TIME.mul_f64(processors),
            idle: TIME.mul_f64(idle),
            from_storage: from_storage << 20,
            work,
            has_backlog: true,
        }
    }

    fn after(governor: &mut Governor, windows: usize, window: &Window) -> usize {
        (0..windows).map(|_| governor.decide(window)).last().expect("at least one window")
    }

    #[test]
    fn busy_processors_are_left_alone() {
        for processors in [1, 2, 8, 64] {
            let mut governor = Governor::new(processors);
            let busy = window(processors as f64, 0.0, 0, 1000);
            assert_eq!(after(&mut governor, 100, &busy), processors);
        }
    }

    #[test]
    fn storage_that_is_waited_for_is_asked_for_more() {
        let mut governor = Governor::new(2);
        let cold = window(0.5, 0.0, 1, 100);
        let steps: Vec<_> = (0..6).map(|_| governor.decide(&cold)).collect();
        assert_eq!(steps, [4, 8, 16, 32, 32, 32]);
        let warm = window(2.0, 0.0, 0, 1000);
        assert_eq!(after(&mut governor, TRIAL, &warm), 2);
    }

    #[test]
    fn one_large_file_is_left_to_reading_ahead() {
        let mut governor = Governor::new(2);
        let cold = Window { has_backlog: false, ..window(0.5, 0.0, 5, 100) };
        assert_eq!(after(&mut governor, 10, &cold), 2);
    }

    #[test]
    fn storage_that_keeps_the_processors_busy_is_fast_enough() {
        let mut governor = Governor::new(4);
        assert_eq!(after(&mut governor, 10, &window(3.9, 0.0, 9, 100)), 4);
    }

    #[test]
    fn workers_without_work_are_parked_if_that_does_no_harm() {
        let mut governor = Governor::new(4);
        // What comes through the pipe keeps one worker busy, whoever else is there.
        for _ in 0..100 {
            let idle = governor.wanted as f64 - 1.0;
            governor.decide(&window(1.0, idle, 0, 1000));
        }
        assert_eq!(governor.wanted, 1);
    }

    #[test]
    fn parking_that_does_harm_is_undone_and_not_repeated_soon() {
        let mut governor = Governor::new(2);
        let mut parked = 0;
        for _ in 0..1000 {
            // Bursts: each worker is idle for half of the time, and two do twice as much as one.
            let workers = governor.wanted as f64;
            governor.decide(&window(0.5 * workers, 0.5 * workers, 0, 1000 * governor.wanted as u64));
            parked += usize::from(governor.wanted == 1);
        }
        assert!((TRIAL..100).contains(&parked), "parked in {parked} windows of 1000");
    }

    #[test]
    fn a_worker_that_was_parked_comes_back_when_there_is_work() {
        let mut governor = Governor::new(2);
        after(&mut governor, 20, &window(1.0, 1.0, 0, 1000));
        assert_eq!(governor.wanted, 1);
        for _ in 0..100 {
            let workers = governor.wanted;
            governor.decide(&window(workers as f64, 0.0, 0, 1000 * workers as u64));
        }
        assert_eq!(governor.wanted, 2);
    }
}
