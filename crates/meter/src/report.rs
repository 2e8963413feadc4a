//! The threads side by side, as a table.

use std::fmt;
use std::time::Duration;

use crate::clock::ThreadTimes;
use crate::phase::Phase;

/// What every thread of a job did. Its `Display` is a table with a row for each phase that took any time
/// and a column for each thread, in milliseconds, with the share of all threads' time at the end. Of more than eight
/// threads it shows the least, the median and the most.
#[derive(Clone, Debug, Default)]
pub struct Report {
    threads: Vec<ThreadTimes>,
}

impl Report {
    /// A report over the threads of a job, in the order of their numbers.
    pub fn new(threads: Vec<ThreadTimes>) -> Self {
        Self { threads }
    }

    /// The threads' times.
    pub fn threads(&self) -> &[ThreadTimes] {
        &self.threads
    }

    fn of_phase(&self, phase: Phase) -> Duration {
        self.threads.iter().map(|thread| thread.spent[phase as usize]).sum()
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// More threads than this do not fit beside each other on a terminal.
const MOST_SHOWN: usize = 8;

/// A row: what the threads have each, or, of very many, the least, the median and the most of it.
fn write_row(f: &mut fmt::Formatter<'_>, name: &str, mut values: Vec<f64>) -> fmt::Result {
    write!(f, "{name:<10}")?;
    if values.len() > MOST_SHOWN {
        values.sort_unstable_by(f64::total_cmp);
        values = vec![values[0], values[values.len() / 2], values[values.len() - 1]];
    }
    values.iter().try_for_each(|value| write!(f, " {value:>9.1}"))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Duration = self.threads.iter().map(ThreadTimes::total).sum();
        write!(f, "{:<10}", "ms")?;
        if self.threads.len() > MOST_SHOWN {
            write!(f, " {:>9} {:>9} {:>9}", "least", "median", "most")?;
        } else {
            (1..=self.threads.len())
                .try_for_each(|number| write!(f, " {:>9}", format!("thread {number}")))?;
        }
        writeln!(f, " {:>9} {:>6}", "all", "share")?;
        let each = |value: &dyn Fn(&ThreadTimes) -> f64| self.threads.iter().map(value).collect();
        for phase in Phase::ALL {
            let sum = self.of_phase(phase);
            if sum.is_zero() {
                continue;
            }
            write_row(f, phase.name(), each(&|thread| milliseconds(thread.spent[phase as usize])))?;
            let share = 100.0 * sum.as_secs_f64() / all.as_secs_f64();
            writeln!(f, " {:>9.1} {share:>5.1}%", milliseconds(sum))?;
        }
        write_row(f, "total", each(&|thread| milliseconds(thread.total())))?;
        writeln!(f, " {:>9.1}", milliseconds(all))?;
        write_row(f, "megabytes", each(&|thread| thread.bytes as f64 / 1e6))?;
        let bytes: u64 = self.threads.iter().map(|thread| thread.bytes).sum();
        write!(f, " {:>9.1}", bytes as f64 / 1e6)?;
        if self.threads.len() > MOST_SHOWN {
            write!(f, "\nof {} threads", self.threads.len())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_what_took_time_and_nothing_else() {
        let mut first = ThreadTimes { bytes: 2_500_000, ..ThreadTimes::default() };
        first.spent[Phase::Read as usize] = Duration::from_micros(1500);
        first.spent[Phase::Count as usize] = Duration::from_micros(4500);
        let mut second = ThreadTimes { bytes: 500_000, ..ThreadTimes::default() };
        second.spent[Phase::Read as usize] = Duration::from_micros(2000);
        let shown = Report::new(vec![first, second]).to_string();
        assert_eq!(
            shown,
            "ms          thread 1  thread 2       all  share\n\
             read             1.5       2.0       3.5  43.8%\n\
             count            4.5       0.0       4.5  56.2%\n\
             total            6.0       2.0       8.0\n\
             megabytes        2.5       0.5       3.0"
        );
    }

    #[test]
    fn of_many_threads_the_extremes_are_shown() {
        let threads = (1..=9).map(|number| {
            let mut times = ThreadTimes { bytes: number * 1_000_000, ..ThreadTimes::default() };
            times.spent[Phase::Read as usize] = Duration::from_millis(10 * number);
            times
        });
        let shown = Report::new(threads.collect()).to_string();
        assert_eq!(
            shown,
            "ms             least    median      most       all  share\n\
             read            10.0      50.0      90.0     450.0 100.0%\n\
             total           10.0      50.0      90.0     450.0\n\
             megabytes        1.0       5.0       9.0      45.0\n\
             of 9 threads"
        );
    }
}
