//! The clock of one thread.

use std::time::{Duration, Instant};

use crate::phase::Phase;

/// Books one thread's time on phases. It starts in [`Phase::Wait`].
#[derive(Debug)]
pub struct Meter {
    running: Option<Running>,
    bytes: u64,
    records: u64,
}

#[derive(Debug)]
struct Running {
    phase: Phase,
    since: Instant,
    spent: [Duration; Phase::COUNT],
}

impl Running {
    fn enter(&mut self, phase: Phase) {
        let now = Instant::now();
        self.spent[self.phase as usize] += now - self.since;
        self.phase = phase;
        self.since = now;
    }
}

/// What a thread did, once it is done.
#[derive(Clone, Debug, Default)]
pub struct ThreadTimes {
    /// Time in each phase, in the order of [`Phase::ALL`]. All zero if the meter was off.
    pub spent: [Duration; Phase::COUNT],
    /// Bytes taken in.
    pub bytes: u64,
    /// Records taken in.
    pub records: u64,
}

impl ThreadTimes {
    /// The thread's running time: the sum of its phases.
    pub fn total(&self) -> Duration {
        self.spent.iter().sum()
    }
}

impl Meter {
    /// A meter that measures, from now on.
    pub fn on() -> Self {
        let running =
            Running { phase: Phase::Wait, since: Instant::now(), spent: [Duration::ZERO; Phase::COUNT] };
        Self { running: Some(running), bytes: 0, records: 0 }
    }

    /// A meter that only counts bytes and records; changing its phase costs a branch.
    pub fn off() -> Self {
        Self { running: None, bytes: 0, records: 0 }
    }

    /// Ends the present phase and begins `phase`.
    #[inline]
    pub fn enter(&mut self, phase: Phase) {
        if let Some(running) = &mut self.running {
            running.enter(phase);
        }
    }

    /// Books bytes that were taken in.
    #[inline]
    pub fn add_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Books records that were taken in.
    #[inline]
    pub fn add_records(&mut self, records: u64) {
        self.records += records;
    }

    /// Ends the present phase and gives the sums.
    pub fn finish(mut self) -> ThreadTimes {
        self.enter(Phase::Wait);
        let spent = self.running.map(|running| running.spent).unwrap_or_default();
        ThreadTimes { spent, bytes: self.bytes, records: self.records }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_add_up_to_the_running_time() {
        let before = Instant::now();
        let mut meter = Meter::on();
        let started = Instant::now();
        for phase in [Phase::Read, Phase::Split, Phase::Count, Phase::Read] {
            meter.enter(phase);
            std::thread::sleep(Duration::from_millis(2));
        }
        let ended = Instant::now();
        let times = meter.finish();
        assert!(times.total() >= ended - started && times.total() <= before.elapsed());
        assert!(times.spent[Phase::Read as usize] >= Duration::from_millis(4));
        assert!(times.spent[Phase::Count as usize] >= Duration::from_millis(2));
        assert_eq!(times.spent[Phase::Merge as usize], Duration::ZERO);
    }

    #[test]
    fn a_meter_that_is_off_still_counts() {
        let mut meter = Meter::off();
        meter.enter(Phase::Read);
        meter.add_bytes(3);
        meter.add_bytes(4);
        meter.add_records(1);
        let times = meter.finish();
        assert_eq!((times.bytes, times.records, times.total()), (7, 1, Duration::ZERO));
    }
}
