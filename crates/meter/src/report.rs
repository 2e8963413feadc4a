//! What the threads of a job did, and the forms in which it is shown.

mod html;
mod json;
mod rows;
mod text;
mod timeline;
mod trace;

use std::time::{Duration, Instant};

use crate::clock::ThreadTimes;
use crate::phase::Phase;
use crate::spans::Spans;
use finecomb_sys::Usage;

/// What every thread of a job did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    wall: Duration,
    threads: Vec<ThreadTimes>,
    command: String,
    process: Option<Process>,
}

/// The process that the job ran in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Process {
    /// From its first instruction of its own to the end of the job and of what came after.
    pub(crate) wall: Duration,
    pub(crate) usage: Usage,
}

impl Report {
    /// A report over the threads of a job that took `wall`, in the order of their numbers.
    pub(crate) fn new(wall: Duration, threads: Vec<ThreadTimes>) -> Self {
        Self { wall, threads, command: String::new(), process: None }
    }

    /// With the command line that was run.
    pub fn of_command(self, command: impl Into<String>) -> Self {
        Self { command: command.into(), ..self }
    }

    /// With what this process, which began at `start`, has used up to now: so that what was not spent in the job
    /// is accounted for as well.
    pub fn of_process(self, start: Instant) -> Self {
        let process = Process { wall: start.elapsed(), usage: Usage::of_process() };
        Self { process: Some(process), ..self }
    }

    /// The threads' times.
    pub fn threads(&self) -> &[ThreadTimes] {
        &self.threads
    }

    /// From the start of the job to its end.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// The time of the job that a thread has no phase for.
    pub fn unaccounted(&self, thread: &ThreadTimes) -> Duration {
        self.wall.saturating_sub(thread.total())
    }

    /// Spans shorter than this were joined with what follows them, in some thread at least; zero if none were.
    pub fn grain(&self) -> Duration {
        let grains = self.threads.iter().flat_map(|thread| &thread.spans).map(Spans::grain);
        grains.max().unwrap_or_default()
    }

    fn of_phase(&self, phase: Phase) -> Duration {
        self.threads.iter().map(|thread| thread.spent(phase)).sum()
    }

    /// The phases that took any time.
    fn phases(&self) -> impl Iterator<Item = Phase> {
        Phase::ALL.into_iter().filter(|&phase| !self.of_phase(phase).is_zero())
    }

    fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        self.threads.iter().for_each(|thread| sum += thread.usage);
        sum
    }

    fn sum(&self, value: impl Fn(&ThreadTimes) -> u64) -> u64 {
        self.threads.iter().map(value).sum()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two threads: one that reads and counts, one that begins later and only reads.
    pub(crate) fn example() -> Report {
        let micros = Duration::from_micros;
        let mut spans = Spans::default();
        spans.push(Phase::Read, micros(0), micros(1500));
        spans.push(Phase::Count, micros(1500), micros(6000));
        let usage = Usage {
            user: micros(4000),
            system: micros(1000),
            voluntary_switches: 3,
            involuntary_switches: 1,
            minor_faults: 20,
            major_faults: 0,
        };
        let mut first =
            ThreadTimes { usage, bytes: 2_500_000, records: 100, spans: Some(spans), ..Default::default() };
        first.spent[Phase::Read as usize] = micros(1500);
        first.spent[Phase::Count as usize] = micros(4500);
        let mut spans = Spans::default();
        spans.push(Phase::Read, micros(4000), micros(6000));
        let mut second =
            ThreadTimes { began: micros(4000), bytes: 500_000, spans: Some(spans), ..Default::default() };
        second.spent[Phase::Read as usize] = micros(2000);
        Report::new(micros(6100), vec![first, second]).of_command("comb top -f 7 \"a <b>.log\"")
    }

    #[test]
    fn what_has_no_phase_is_unaccounted_for() {
        let report = example();
        let unaccounted: Vec<_> =
            report.threads().iter().map(|thread| report.unaccounted(thread).as_micros()).collect();
        assert_eq!(unaccounted, [100, 4100]);
        assert_eq!(report.phases().collect::<Vec<_>>(), [Phase::Read, Phase::Count]);
    }
}
