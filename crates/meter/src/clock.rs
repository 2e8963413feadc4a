//! The clocks of a job: a stopwatch shared by all threads, and a meter per thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::gauge::{Activity, Gauge, Gauges};
use crate::phase::{PHASES, Phase};
use crate::report::Report;
use crate::spans::Spans;
use finecomb_sys::Usage;

/// Level of detail that is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Nothing: no clock is read.
    #[default]
    Nothing,
    /// Total time per phase.
    Sums,
    /// Total time per phase, and start and end of each time in a phase.
    Spans,
}

/// Clock of a job. The times of all its threads count from its start.
#[derive(Debug)]
pub struct Stopwatch {
    start: Instant,
    detail: Detail,
    gauges: Option<Gauges>,
}

impl Stopwatch {
    /// Starts the clock. With `is_live`, [`Stopwatch::activities`] can be read while the job runs.
    pub fn start(detail: Detail, is_live: bool) -> Self {
        Self { start: Instant::now(), detail, gauges: is_live.then(Gauges::default) }
    }

    /// Starts a meter for the calling thread.
    pub fn meter(&self) -> Meter {
        if self.detail == Detail::Nothing && self.gauges.is_none() {
            return Meter::off();
        }
        let mut running = ActiveMeter {
            start: self.start,
            began: Duration::ZERO,
            phase: Phase::Start,
            since: self.start,
            spent: [Duration::ZERO; PHASES],
            usage: Usage::of_thread(),
            spans: (self.detail == Detail::Spans).then(Spans::default),
            gauge: self.gauges.as_ref().map(Gauges::add),
        };
        running.enter(Phase::Wait, 0);
        running.began = running.since - running.start;
        Meter { running: Some(Box::new(running)), bytes: 0, records: 0, files: 0 }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Activity so far of each thread with a meter, in the order in which the meters were started. Empty unless the
    /// stopwatch was started with `is_live`.
    pub fn activities(&self) -> Vec<Activity> {
        self.gauges.as_ref().map(|gauges| gauges.read(self.elapsed())).unwrap_or_default()
    }

    /// Ends the job and reports on its threads. Returns `None` with [`Detail::Nothing`].
    pub fn report(&self, threads: Vec<ThreadTimes>) -> Option<Report> {
        let wall = self.elapsed();
        (self.detail != Detail::Nothing).then(|| Report::new(wall, threads))
    }
}

/// Attributes the time of a thread to phases. The time before the meter started belongs to [`Phase::Start`]; the meter
/// starts in [`Phase::Wait`].
#[derive(Debug)]
pub struct Meter {
    running: Option<Box<ActiveMeter>>,
    bytes: u64,
    records: u64,
    files: u64,
}

#[derive(Debug)]
struct ActiveMeter {
    /// Start of the job.
    start: Instant,
    /// Time from the start of the job to that of the meter.
    began: Duration,
    phase: Phase,
    since: Instant,
    spent: [Duration; PHASES],
    usage: Usage,
    spans: Option<Spans>,
    gauge: Option<Arc<Gauge>>,
}

impl ActiveMeter {
    fn enter(&mut self, phase: Phase, bytes: u64) {
        let now = Instant::now();
        let before = self.phase;
        self.spent[before as usize] += now - self.since;
        if let Some(spans) = &mut self.spans {
            spans.push(before, self.since - self.start, now - self.start);
        }
        if let Some(gauge) = &self.gauge {
            gauge.record(before, self.spent[before as usize], phase, now - self.start, bytes);
        }
        self.phase = phase;
        self.since = now;
    }
}

/// Times and counts of a thread that has finished.
#[derive(Clone, Debug, Default)]
pub struct ThreadTimes {
    /// Time in each phase, in the order of [`Phase::ALL`]. All zero if the meter was off.
    pub(crate) spent: [Duration; PHASES],
    /// Time from the start of the job to that of the thread.
    pub began: Duration,
    /// Resource usage according to the system.
    pub usage: Usage,
    /// Number of input bytes.
    pub bytes: u64,
    /// Number of input records, if the job has records.
    pub records: u64,
    /// Number of input files, if the job counts them.
    pub files: u64,
    /// The thread's phases over time, with [`Detail::Spans`].
    pub spans: Option<Spans>,
}

impl ThreadTimes {
    /// Time in a phase.
    pub fn spent(&self, phase: Phase) -> Duration {
        self.spent[phase as usize]
    }

    /// Sum of all phases. In a [`Report`], it is the wall time of the job.
    pub fn total(&self) -> Duration {
        self.spent.iter().sum()
    }

    /// Joins the times of the threads of two parts of a job, one after the other. A thread of the first part and the thread of the
    /// second part with the same number count as one.
    pub fn joined(first: Vec<Self>, second: Vec<Self>) -> Vec<Self> {
        let (mut first, mut second) = (first.into_iter(), second.into_iter());
        let next = || match (first.next(), second.next()) {
            (Some(one), Some(other)) => Some(one.followed_by(other)),
            (one, other) => one.or(other),
        };
        std::iter::from_fn(next).collect()
    }

    /// Appends the times of a later thread, and counts the time between the two as waiting for others.
    fn followed_by(self, next: Self) -> Self {
        let mut all = self.until(next.began);
        all.spent.iter_mut().zip(next.spent).for_each(|(sum, more)| *sum += more);
        // The later thread counts the time before it as its start.
        all.spent[Phase::Start as usize] -= next.began;
        if let (Some(spans), Some(more)) = (&mut all.spans, next.spans) {
            let later = more.as_slice().iter().filter(|span| span.end > next.began);
            later.for_each(|span| spans.push(span.phase, span.start.max(next.began), span.end));
        }
        all.usage += next.usage;
        all.bytes += next.bytes;
        all.records += next.records;
        all.files += next.files;
        all
    }

    /// Adds the time from the end of the thread to the end of the job, in which it waited for others.
    pub(crate) fn until(mut self, end: Duration) -> Self {
        let total = self.total();
        self.spent[Phase::Wait as usize] += end.saturating_sub(total);
        if let Some(spans) = self.spans.as_mut().filter(|_| end > total) {
            spans.push(Phase::Wait, total, end);
        }
        self
    }
}

impl Meter {
    /// A meter that only counts. Changing its phase costs a branch.
    pub fn off() -> Self {
        Self { running: None, bytes: 0, records: 0, files: 0 }
    }

    /// Ends the current phase and enters `phase`.
    #[inline]
    pub fn enter(&mut self, phase: Phase) {
        if let Some(running) = &mut self.running {
            running.enter(phase, self.bytes);
        }
    }

    /// Counts input bytes.
    #[inline]
    pub fn add_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Counts input records.
    #[inline]
    pub fn add_records(&mut self, records: u64) {
        self.records += records;
    }

    /// Counts an input file.
    #[inline]
    pub fn add_file(&mut self) {
        self.files += 1;
    }

    /// Ends the current phase and returns the sums. Call it on the thread that started the meter.
    pub fn finish(mut self) -> ThreadTimes {
        self.enter(Phase::Wait);
        let counted = ThreadTimes {
            bytes: self.bytes,
            records: self.records,
            files: self.files,
            ..ThreadTimes::default()
        };
        let Some(running) = self.running else { return counted };
        ThreadTimes {
            spent: running.spent,
            began: running.began,
            usage: Usage::of_thread() - running.usage,
            spans: running.spans,
            ..counted
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_add_up_to_the_time_since_the_job_began() {
        let before = Instant::now();
        let stopwatch = Stopwatch::start(Detail::Spans, false);
        let began = Instant::now();
        std::thread::sleep(Duration::from_millis(2));
        let mut meter = stopwatch.meter();
        let started = Instant::now();
        for phase in [Phase::Read, Phase::Split, Phase::Count, Phase::Read] {
            meter.enter(phase);
            std::thread::sleep(Duration::from_millis(2));
        }
        let ended = Instant::now();
        let times = meter.finish();
        assert!(times.total() >= ended - began && times.total() <= before.elapsed());
        assert!(times.spent(Phase::Start) >= Duration::from_millis(2) && times.began <= started - before);
        assert_eq!(times.spent(Phase::Start), times.began);
        assert!(times.spent(Phase::Read) >= Duration::from_millis(4));
        assert!(times.spent(Phase::Count) >= Duration::from_millis(2));
        assert_eq!(times.spent(Phase::Merge), Duration::ZERO);
        let spans = times.spans.as_ref().map(Spans::as_slice).unwrap_or_default();
        let phases: Vec<_> = spans.iter().map(|span| span.phase).collect();
        assert_eq!(phases, [Phase::Start, Phase::Wait, Phase::Read, Phase::Split, Phase::Count, Phase::Read]);
        assert_eq!(spans.iter().map(|span| span.end - span.start).sum::<Duration>(), times.total());
        assert_eq!(spans.first().map(|span| (span.start, span.end)), Some((Duration::ZERO, times.began)));
    }

    #[test]
    fn phases_add_up_to_the_time_of_the_job() {
        let stopwatch = Stopwatch::start(Detail::Spans, false);
        let threads = (0..3).map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            stopwatch.meter().finish()
        });
        let report = stopwatch.report(threads.collect()).expect("sums are recorded");
        for thread in report.threads() {
            assert_eq!(thread.total(), report.wall());
            let spans = thread.spans.as_ref().map(Spans::as_slice).unwrap_or_default();
            assert_eq!(spans.iter().map(|span| span.end - span.start).sum::<Duration>(), report.wall());
        }
    }

    #[test]
    fn threads_of_two_parts_of_a_job_are_joined() {
        let stopwatch = Stopwatch::start(Detail::Spans, false);
        let part = |phase, threads| -> Vec<ThreadTimes> {
            let thread = |_| {
                let mut meter = stopwatch.meter();
                meter.enter(phase);
                std::thread::sleep(Duration::from_millis(2));
                meter.add_bytes(3);
                meter.finish()
            };
            (0..threads).map(thread).collect()
        };
        for (first, second) in [(1, 2), (2, 2), (2, 1), (0, 1), (1, 0)] {
            let (earlier, later) = (part(Phase::Walk, first), part(Phase::Read, second));
            let began = earlier.iter().chain(&later).map(|times| times.began).min();
            let joined = ThreadTimes::joined(earlier, later);
            assert_eq!((joined.len(), joined[0].began), (first.max(second), began.unwrap()));
            assert_eq!(joined.iter().map(|times| times.bytes).sum::<u64>(), 3 * (first + second) as u64);
            for (number, times) in joined.iter().enumerate() {
                assert_eq!(times.spent(Phase::Start), times.began);
                for (phase, threads) in [(Phase::Walk, first), (Phase::Read, second)] {
                    assert_eq!(times.spent(phase) >= Duration::from_millis(2), number < threads);
                }
            }
            let report = stopwatch.report(joined).expect("sums are recorded");
            for thread in report.threads() {
                assert_eq!(thread.total(), report.wall());
                let spans = thread.spans.as_ref().map(Spans::as_slice).unwrap_or_default();
                assert!(spans.is_sorted_by(|one, next| one.end == next.start));
                assert_eq!(spans.iter().map(|span| span.end - span.start).sum::<Duration>(), report.wall());
            }
        }
    }

    #[test]
    fn a_meter_that_is_off_still_counts() {
        let stopwatch = Stopwatch::start(Detail::Nothing, false);
        let mut meter = stopwatch.meter();
        meter.enter(Phase::Read);
        meter.add_bytes(3);
        meter.add_bytes(4);
        meter.add_records(1);
        meter.add_file();
        let times = meter.finish();
        assert_eq!((times.bytes, times.records, times.files), (7, 1, 1));
        assert_eq!((times.total(), times.usage), (Duration::ZERO, Usage::default()));
        assert!(stopwatch.report(vec![times]).is_none());
    }

    #[test]
    fn other_threads_see_the_activity_of_a_thread() {
        let stopwatch = Stopwatch::start(Detail::Nothing, true);
        let mut meter = stopwatch.meter();
        meter.add_bytes(5);
        meter.enter(Phase::Read);
        std::thread::sleep(Duration::from_millis(2));
        let [activity] = &stopwatch.activities()[..] else { panic!("expected one thread") };
        assert!(activity.spent(Phase::Read) >= Duration::from_millis(2));
        assert_eq!(activity.bytes, 5);
        meter.enter(Phase::Count);
        let [later] = &stopwatch.activities()[..] else { panic!("expected one thread") };
        assert!(later.spent(Phase::Read) >= activity.spent(Phase::Read));
        assert_eq!(later.spent(Phase::Merge), Duration::ZERO);
    }
}
