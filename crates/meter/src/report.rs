//! The threads side by side, as a table.

use std::fmt;
use std::time::Duration;

use crate::clock::ThreadTimes;
use crate::phase::Phase;

/// What every thread of a job did. Its `Display` is a table with a row for each phase that took any time
/// and a column for each thread, in milliseconds, with the share of all threads' time at the end.
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

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Duration = self.threads.iter().map(ThreadTimes::total).sum();
        write!(f, "{:<10}", "ms")?;
        for number in 1..=self.threads.len() {
            write!(f, " {:>9}", format!("thread {number}"))?;
        }
        writeln!(f, " {:>9} {:>6}", "all", "share")?;
        for phase in Phase::ALL {
            let sum = self.of_phase(phase);
            if sum.is_zero() {
                continue;
            }
            write!(f, "{phase:<10}")?;
            for thread in &self.threads {
                write!(f, " {:>9.1}", milliseconds(thread.spent[phase as usize]))?;
            }
            let share = 100.0 * sum.as_secs_f64() / all.as_secs_f64();
            writeln!(f, " {:>9.1} {share:>5.1}%", milliseconds(sum))?;
        }
        write!(f, "{:<10}", "total")?;
        for thread in &self.threads {
            write!(f, " {:>9.1}", milliseconds(thread.total()))?;
        }
        writeln!(f, " {:>9.1}", milliseconds(all))?;
        write!(f, "{:<10}", "megabytes")?;
        for thread in &self.threads {
            write!(f, " {:>9.1}", thread.bytes as f64 / 1e6)?;
        }
        let bytes: u64 = self.threads.iter().map(|thread| thread.bytes).sum();
        write!(f, " {:>9.1}", bytes as f64 / 1e6)
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
}
