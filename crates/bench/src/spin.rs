//! Oversubscription: more CPU-bound threads than cores, against ideal time slicing.
//!
//! If the kernel shares the cores fairly and context switches are free, N threads with equal work take N / cores times as long
//! as one thread alone. The excess over this line is the cost of oversubscription.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use finecomb_sys::units::{Count, counted};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::chart::{Axis, Chart, Panel, Point, Series, SeriesKind};
use crate::effort::seconds;
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::rounds::{Progress, distinct, interleaved};
use crate::sample::{IQR_NOTE, Sample};
use crate::table::ResultTable;
use crate::threads::start_together;
use crate::units::{TimeUnit, medians_of, ratio};

/// Default time of one thread: about a hundred time slices, and still short enough with many threads.
const ALONE: Duration = Duration::from_millis(200);
/// Minimum duration of a calibration trial, to make interrupts negligible.
const TRIAL: Duration = Duration::from_millis(20);

/// Options of the experiment.
pub struct SpinOptions {
    /// Numbers of threads. 1 is always measured, as the baseline.
    pub threads: Vec<NonZeroUsize>,
    /// Number to which each thread counts; `None` for the number that one thread reaches in about 0.2 s.
    pub iterations: Option<u64>,
    /// Number of runs with each number of threads.
    pub runs: NonZeroUsize,
}

/// Result of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spin {
    machine: Machine,
    /// Number to which each thread counted.
    iterations: u64,
    /// The cases, by ascending number of threads.
    cases: Vec<SpinTimes>,
}

/// Measurements with a number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SpinTimes {
    threads: usize,
    /// Wall time from the common start to the end of the last thread, in seconds.
    wall: Sample,
}

/// Measures the wall time of counting threads. All threads begin at the same time; starting them is not part of the measurement.
///
/// # Errors
///
/// [`crate::Error::Thread`] if the system refuses a thread.
pub fn spin(options: &SpinOptions, progress: Progress<'_>) -> Result<Spin> {
    let machine = Machine::here();
    let threads = distinct(options.threads.iter().map(|threads| threads.get()).chain([1]));
    let iterations = options.iterations.unwrap_or_else(calibrated);
    let name = |&threads: &usize| counted(threads as u64, "thread");
    let walls = interleaved(&threads, options.runs, name, progress, |&threads| wall(threads, iterations))?;
    let case = |(threads, walls)| SpinTimes { threads, wall: Sample::new(walls) };
    Ok(Spin { machine, iterations, cases: threads.into_iter().zip(walls).map(case).collect() })
}

/// Wall time of a number of threads, in seconds.
fn wall(threads: usize, iterations: u64) -> Result<f64> {
    let walls = start_together(threads, |opened: Instant| {
        count(iterations);
        opened.elapsed()
    })?;
    Ok(seconds(walls.into_iter().max().unwrap_or_default()))
}

/// The work of a thread: counts from 0 to `iterations`. The black box keeps the compiler from removing the loop.
fn count(iterations: u64) -> u64 {
    let mut counter = 0;
    while counter < iterations {
        counter = black_box(counter + 1);
    }
    counter
}

/// Number to which one thread counts in about 0.2 s on this machine, rounded to two digits so that runs can be compared.
///
/// Uses the fastest of three trials, as other load can only slow a trial down.
fn calibrated() -> u64 {
    let time = |iterations| {
        let start = Instant::now();
        black_box(count(black_box(iterations)));
        start.elapsed()
    };
    let mut iterations = 1 << 16;
    while time(iterations) < TRIAL {
        iterations *= 2;
    }
    let quickest = (0..3).map(|_| time(iterations)).min().unwrap_or(TRIAL);
    let wanted = iterations as f64 * ALONE.as_secs_f64() / quickest.as_secs_f64().max(f64::EPSILON);
    rounded(wanted as u64)
}

/// A number rounded down to two digits.
fn rounded(number: u64) -> u64 {
    let digits = number.checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(1));
    number / unit * unit
}

impl Spin {
    /// Median wall time of one thread, in seconds.
    fn alone(&self) -> f64 {
        self.cases.iter().find(|case| case.threads == 1).map_or(f64::NAN, |case| case.wall.median())
    }

    /// Seconds with ideal time slicing: the time of one thread up to the number of cores, then proportional to the number of
    /// threads.
    fn ideal(&self, threads: usize) -> f64 {
        self.alone() * (threads as f64 / self.cores() as f64).max(1.0)
    }

    fn cores(&self) -> usize {
        self.machine.cores.get()
    }

    fn runs(&self) -> usize {
        self.cases.first().map_or(0, |case| case.wall.values().len())
    }

    fn unit(&self) -> TimeUnit {
        TimeUnit::of(self.cases.iter().map(|case| case.wall.median()))
    }

    /// The measured times, and the line of ideal time slicing.
    fn chart(&self) -> Chart {
        let unit = self.unit();
        let measured = self.cases.iter().map(|case| Point::of(case.threads, &case.wall, unit));
        let most = self.cases.last().map_or(1, |case| case.threads);
        let corners = [1, self.cores().min(most), most];
        let ideal = |threads: usize| Point::new(threads as f64, unit.scaled(self.ideal(threads)));
        let panel = Panel {
            title: String::new(),
            x_label: "threads, N",
            y_label: unit.label("wall"),
            x: Axis::Linear,
            series: vec![
                Series::new("ideal: T1 × N / cores, at least T1", SeriesKind::Dashed, corners.map(ideal)),
                Series::new("measured", SeriesKind::Points, measured),
            ],
        };
        Chart { title: "Oversubscription".to_owned(), subtitle: self.heading(), panels: vec![panel] }
    }
}

impl Experiment for Spin {
    const NAME: &'static str = "spin";

    fn heading(&self) -> String {
        format!(
            "Oversubscription with threads that count to {}: {}; {}",
            Count(self.iterations),
            medians_of(self.runs()),
            self.machine
        )
    }

    fn table(&self) -> ResultTable {
        let unit = self.unit();
        ResultTable::of(
            &self.cases,
            [
                ("threads", &|case| case.threads.to_string()),
                (&unit.label("wall"), &|case| unit.number(case.wall.median())),
                (&unit.label("IQR"), &|case| unit.number(case.wall.iqr())),
                (&unit.label("ideal"), &|case| unit.number(self.ideal(case.threads))),
                ("vs. ideal", &|case| ratio(case.wall.median(), self.ideal(case.threads))),
            ],
        )
    }

    fn notes(&self) -> Vec<String> {
        vec![
            "Ideal time slicing takes T1 × N / cores for N threads, and at least T1, the time of one thread."
                .to_owned(),
            IQR_NOTE.to_owned(),
        ]
    }

    fn picture(&self) -> Option<String> {
        Some(self.chart().svg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::{nonzero, round_trips_through_its_file};

    fn example() -> Spin {
        let case = |threads, walls: &[f64]| SpinTimes { threads, wall: Sample::new(walls.to_vec()) };
        let cases =
            vec![case(1, &[0.2, 0.2, 0.3]), case(2, &[0.2, 0.22, 0.24]), case(8, &[0.84, 0.84, 0.88])];
        Spin { machine: Machine::example(2), iterations: 1_200_000, cases }
    }

    #[test]
    fn the_table_compares_with_ideal_time_slicing() {
        let expected = "\
Oversubscription with threads that count to 1,200,000: medians of 3 runs; 2 cores, Some CPU, Linux 6.1, 2025-01-31T12:00:00Z

threads  wall [ms]  IQR [ms]  ideal [ms]  vs. ideal
      1     200.00     50.00      200.00       1.00
      2     220.00     20.00      200.00       1.10
      8     840.00     20.00      800.00       1.05

Ideal time slicing takes T1 × N / cores for N threads, and at least T1, the time of one thread.
Times are medians; IQR is the interquartile range of the runs.
";
        assert_eq!(example().text(&example().notes()), expected);
        round_trips_through_its_file(&example());
    }

    #[test]
    fn the_ideal_line_bends_at_the_number_of_cores() {
        let chart = example().chart();
        let line: Vec<_> = chart.panels[0].series[0].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(line, [(1.0, 200.0), (2.0, 200.0), (8.0, 800.0)]);
    }

    #[test]
    fn empty_results_are_shown_without_a_panic() {
        let case = SpinTimes { threads: 0, wall: Sample::default() };
        for cases in [Vec::new(), vec![case]] {
            let spin = Spin { cases, ..example() };
            assert!(spin.text(&spin.notes()).contains("threads"));
            assert!(spin.picture().is_some_and(|svg| svg.contains("</svg>")));
        }
    }

    #[test]
    fn one_thread_is_always_measured() {
        let threads = [3, 2, 3].map(nonzero);
        let runs = nonzero(2);
        let options = SpinOptions { threads: threads.to_vec(), iterations: Some(1000), runs };
        let spin = spin(&options, &|_| ()).expect("a result");
        assert_eq!(spin.cases.iter().map(|case| case.threads).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(spin.cases.iter().all(|case| case.wall.values().len() == 2 && case.wall.quantile(0.0) > 0.0));
    }

    #[test]
    fn threads_count_to_the_given_number() {
        for iterations in [0, 1, 1_000_003] {
            assert_eq!(count(iterations), iterations);
        }
    }

    #[test]
    fn iterations_are_round_numbers() {
        assert_eq!([0, 7, 42, 199, 123_456_789].map(rounded), [0, 7, 42, 190, 120_000_000]);
    }
}
