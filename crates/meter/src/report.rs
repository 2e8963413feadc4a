//! The profile of a job, and its output formats.

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

/// Profile of a job. The phases of each thread add up to the wall time of the job.
#[derive(Clone, Debug, Default)]
pub struct Report {
    wall: Duration,
    threads: Vec<ThreadTimes>,
    command: String,
    process: Option<Process>,
}

/// The process in which the job ran.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Process {
    /// Time from the first instruction of the program to this report.
    pub(crate) wall: Duration,
    pub(crate) usage: Usage,
}

impl Report {
    /// Makes a report on the threads of a job that took `wall`, in the order of their numbers.
    pub(crate) fn new(wall: Duration, threads: Vec<ThreadTimes>) -> Self {
        let threads = threads.into_iter().map(|thread| thread.until(wall)).collect();
        Self { wall, threads, command: String::new(), process: None }
    }

    /// Adds the command line.
    pub fn of_command(self, command: impl Into<String>) -> Self {
        Self { command: command.into(), ..self }
    }

    /// Adds the wall time and resource usage of this process, which began at `start`, so that the report also accounts
    /// for the time outside of the job.
    pub fn of_process(self, start: Instant) -> Self {
        let process = Process { wall: start.elapsed(), usage: Usage::of_process() };
        Self { process: Some(process), ..self }
    }

    /// Whether a file that begins with `head` is a report of a `comb` command, in any format. 256 bytes are enough.
    pub fn is_report(head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        let is_text = head.starts_with("wall ") && head.contains(" thread");
        let is_json = head.starts_with("{\n  \"command\": \"comb");
        let is_page = head.starts_with("<!doctype html>") && head.contains("<title>Profile of comb");
        let is_trace = head.starts_with(trace::HEAD) && head.contains("{\"name\":\"comb");
        is_text || is_json || is_page || is_trace
    }

    /// Times of the threads.
    pub fn threads(&self) -> &[ThreadTimes] {
        &self.threads
    }

    /// Wall time of the job.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// Largest grain of all threads: spans shorter than this were merged with their successor. Zero if none were.
    pub fn grain(&self) -> Duration {
        let grains = self.threads.iter().flat_map(|thread| &thread.spans).map(Spans::grain);
        grains.max().unwrap_or_default()
    }

    fn of_phase(&self, phase: Phase) -> Duration {
        self.threads.iter().map(|thread| thread.spent(phase)).sum()
    }

    /// Phases that took any time.
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

    /// Two threads: one that reads and counts, and one that starts later and only reads.
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
        spans.push(Phase::Start, micros(0), micros(4000));
        spans.push(Phase::Read, micros(4000), micros(6000));
        let mut second =
            ThreadTimes { began: micros(4000), bytes: 500_000, spans: Some(spans), ..Default::default() };
        second.spent[Phase::Start as usize] = micros(4000);
        second.spent[Phase::Read as usize] = micros(2000);
        Report::new(micros(6100), vec![first, second]).of_command("comb top -f 7 \"a <b>.log\"")
    }

    #[test]
    fn a_report_is_recognised_by_its_first_bytes_in_every_format() {
        let report = example();
        for text in [report.text(), report.json(), report.html(), report.trace()] {
            let head = &text.as_bytes()[..text.len().min(256)];
            assert!(Report::is_report(head), "{text}");
            assert!(!Report::is_report(&head[1..]), "{text}");
        }
        let others = [
            "",
            "wall of text",
            "{\n  \"command\": \"make\"",
            "{\"traceEvents\":[\n",
            "<!doctype html>\n<title>Profile of me</title>",
            "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{\"args\":{\"name\":\"browser\"}",
        ];
        for other in others {
            assert!(!Report::is_report(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn the_time_after_a_thread_ended_is_waiting() {
        let report = example();
        for thread in report.threads() {
            assert_eq!(thread.total(), report.wall());
            assert_eq!(thread.spent(Phase::Wait), Duration::from_micros(100));
        }
        let phases: Vec<_> = report.phases().collect();
        assert_eq!(phases, [Phase::Start, Phase::Read, Phase::Count, Phase::Wait]);
    }
}
