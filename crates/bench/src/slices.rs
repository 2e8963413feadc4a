//! Time slices of threads: each thread only reads the clock, and so detects when it was off the CPU.
//!
//! Reading the clock takes some tens of nanoseconds. A much longer step between two readings means that something else ran in
//! between: another thread, or the host of a virtual machine.

mod chart;
mod watch;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use finecomb_sys::units::{Count, counted};
use finecomb_sys::{IS_LINUX, Usage};
use serde::{Deserialize, Serialize};

use self::watch::{MAX_SLICES, nanoseconds, watch};
use crate::Result;
use crate::effort::seconds;
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::sample::Sample;
use crate::table::ResultTable;
use crate::threads::start_together;
use crate::units::TimeUnit;

/// Options of the experiment.
#[derive(Clone, Copy, Debug)]
pub struct SlicesOptions {
    /// Number of threads.
    pub threads: NonZeroUsize,
    /// Duration of the measurement.
    pub time: Duration,
    /// Minimum step between two readings that counts as time off the CPU.
    pub gap: Duration,
}

impl SlicesOptions {
    /// Default gap: longer than interrupts, which take single and rarely tens of microseconds, and shorter than a time slice
    /// of Linux, which is at least 700 µs (`base_slice_ns` of the scheduler, before scaling by the number of cores).
    pub const GAP: Duration = Duration::from_micros(100);
}

/// Result of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slices {
    machine: Machine,
    /// Duration of the measurement in nanoseconds.
    time: u64,
    /// Minimum gap in nanoseconds.
    gap: u64,
    threads: Vec<Thread>,
}

/// Observations of a thread. Times are nanoseconds since the common start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Thread {
    /// Start and end of its time slices, in order.
    slices: Vec<[u64; 2]>,
    /// Number of further slices, beyond the maximum kept.
    dropped: u64,
    /// Total time on the CPU.
    ran: u64,
    /// Number of gaps between slices.
    gaps: u64,
    /// The longest gap.
    longest_gap: u64,
    /// Involuntary context switches; `None` if the kernel does not count them per thread.
    involuntary_switches: Option<u64>,
    /// CPU time in seconds according to the kernel; `None` if it does not account for threads.
    cpu: Option<f64>,
}

/// Lets threads read the clock.
///
/// # Errors
///
/// [`Error::Thread`](crate::Error::Thread) if the system refuses a thread.
pub fn slices(options: &SlicesOptions) -> Result<Slices> {
    let machine = Machine::here();
    let threads = start_together(options.threads.get(), |opened: Instant| {
        let before = Usage::of_thread();
        let seen = watch(|| opened.elapsed(), options.time, options.gap, MAX_SLICES);
        let usage = Usage::of_thread() - before;
        // Other systems count no switches of single threads.
        let involuntary_switches = IS_LINUX.then_some(usage.involuntary_switches);
        Thread { involuntary_switches, cpu: Some(seconds(usage.cpu_time())), ..seen }
    })?;
    Ok(Slices { machine, time: nanoseconds(options.time), gap: nanoseconds(options.gap), threads })
}

impl Thread {
    /// Median gap between the kept slices, in seconds.
    fn median_gap(&self, time: u64) -> f64 {
        let begins = self.slices.iter().map(|slice| slice[0]);
        let ends = self.slices.iter().map(|slice| slice[1]);
        let end = if self.dropped == 0 { Some(time) } else { None };
        let gaps =
            begins.chain(end).zip([0].into_iter().chain(ends)).map(|(to, from)| to.saturating_sub(from));
        gaps.filter(|&gap| gap > 0).map(|gap| gap as f64 / 1e9).collect::<Sample>().median()
    }
}

impl Slices {
    /// Number of threads, time and gap.
    fn subject(&self) -> String {
        format!(
            "Time slices of {} over {} ms, with gaps of more than {} µs",
            counted(self.threads.len() as u64, "thread"),
            Count(self.time / 1_000_000),
            Count(self.gap / 1_000)
        )
    }
}

impl Experiment for Slices {
    const NAME: &'static str = "slices";

    fn heading(&self) -> String {
        format!("{}; {}", self.subject(), self.machine)
    }

    fn table(&self) -> ResultTable {
        let share = |seconds: f64| format!("{:.1} %", 100.0 * seconds / (self.time as f64 / 1e9));
        let known = |number: Option<String>| number.unwrap_or_else(|| "–".to_owned());
        let ms = TimeUnit::MILLISECONDS;
        ResultTable::of(
            (1..).zip(&self.threads),
            [
                ("thread", &|(number, _): &(u32, &Thread)| number.to_string()),
                ("on CPU", &|(_, thread)| share(thread.ran as f64 / 1e9)),
                ("CPU time (kernel)", &|(_, thread)| known(thread.cpu.map(share))),
                ("gaps", &|(_, thread)| Count(thread.gaps).to_string()),
                (&ms.label("median gap"), &|(_, thread)| ms.number(thread.median_gap(self.time))),
                (&ms.label("longest gap"), &|(_, thread)| ms.number(thread.longest_gap as f64 / 1e9)),
                ("involuntary switches", &|(_, thread)| {
                    known(thread.involuntary_switches.map(|switches| Count(switches).to_string()))
                }),
            ],
        )
    }

    fn notes(&self) -> Vec<String> {
        let dropped: u64 = self.threads.iter().map(|thread| thread.dropped).sum();
        let kept = format!(
            "{} slices are missing from the plot and the median gap: only the first {} of each thread are kept.",
            Count(dropped),
            Count(MAX_SLICES as u64)
        );
        let explained =
            "Gaps in excess of involuntary context switches are not due to the scheduler; they may come from the host of a \
             virtual machine."
                .to_owned();
        [explained].into_iter().chain((dropped > 0).then_some(kept)).collect()
    }

    fn picture(&self) -> Option<String> {
        Some(chart::svg(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::{nonzero, round_trips_through_its_file};

    fn thread(slices: &[[u64; 2]]) -> Thread {
        let slices: Vec<[u64; 2]> = slices.iter().map(|slice| slice.map(|ms| ms * 1_000_000)).collect();
        Thread {
            ran: slices.iter().map(|[from, to]| to - from).sum(),
            slices,
            dropped: 0,
            gaps: 2,
            longest_gap: 50_000_000,
            involuntary_switches: Some(1),
            cpu: Some(0.051),
        }
    }

    fn example() -> Slices {
        let threads = vec![thread(&[[0, 30], [40, 60]]), thread(&[[30, 40], [60, 100]])];
        Slices { machine: Machine::example(1), time: 100_000_000, gap: 100_000, threads }
    }

    #[test]
    fn the_table_has_the_cpu_time_and_gaps_of_each_thread() {
        let expected = "\
Time slices of 2 threads over 100 ms, with gaps of more than 100 µs; 1 core, Some CPU, Linux 6.1, \
2025-01-31T12:00:00Z

thread  on CPU  CPU time (kernel)  gaps  median gap [ms]  longest gap [ms]  involuntary switches
     1  50.0 %             51.0 %     2            25.00             50.00                     1
     2  50.0 %             51.0 %     2            25.00             50.00                     1

Gaps in excess of involuntary context switches are not due to the scheduler; they may come from the host of a \
virtual machine.
";
        assert_eq!(example().text(&example().notes()), expected);
        round_trips_through_its_file(&example());
    }

    #[test]
    fn a_note_reports_missing_slices() {
        let mut slices = example();
        slices.threads[0].dropped = 1234;
        let notes = slices.notes();
        assert!(notes[1].starts_with("1,234 slices are missing from the plot"), "{notes:?}");
    }

    #[test]
    fn slices_and_gaps_are_consistent() {
        // On a machine with much other work, no thread may run for a while.
        let mut times = [30, 300, 3_000, 30_000].into_iter().map(|time| (time, sliced(time)));
        let ran = |slices: &Slices| slices.threads.iter().any(|thread| thread.ran > 0);
        let (time, slices) = times.find(|(_, slices)| ran(slices)).expect("a thread that runs");
        assert_eq!((slices.threads.len(), slices.time, slices.gap), (3, time * 1_000_000, 100_000));
        for thread in &slices.threads {
            assert_eq!(thread.ran, thread.slices.iter().map(|[from, to]| to - from).sum::<u64>());
            assert!(thread.ran <= slices.time && thread.longest_gap <= slices.time);
            assert!(thread.slices.windows(2).all(|pair| pair[0][1] + slices.gap < pair[1][0]));
        }
    }

    /// The slices of three threads in a number of milliseconds.
    fn sliced(time: u64) -> Slices {
        let time = Duration::from_millis(time);
        let options = SlicesOptions { threads: nonzero(3), time, gap: SlicesOptions::GAP };
        slices(&options).expect("a result")
    }
}
