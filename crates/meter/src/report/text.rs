//! A profile for a terminal: a bar for each thread, and a table.

use std::fmt::Write;
use std::time::Duration;

use anstyle::{Color, RgbColor, Style};

use super::Report;
use super::rows::{Row, millis};
use crate::clock::ThreadTimes;
use crate::phase::Phase;

/// More threads than this do not fit beside each other in the table.
const MOST_COLUMNS: usize = 8;

/// Of more threads than this, not all have a bar.
const MOST_BARS: usize = 32;

/// How many characters a bar is wide.
const BAR: usize = 64;

impl Report {
    /// The profile as text, with escape sequences for colours: a line on the whole, a bar for each thread that shows
    /// its phases' shares of the time, and a table with a row for each phase that took any time and a column for each
    /// thread, in milliseconds. Of more than eight threads the table shows the least, the median and the most.
    pub fn text(&self) -> String {
        let mut text = self.headline() + "\n";
        self.write_bars(&mut text);
        self.write_table(&mut text);
        self.write_process(&mut text);
        text
    }

    /// The job as a whole, in a line.
    pub(super) fn headline(&self) -> String {
        let seconds = self.wall.as_secs_f64();
        let bytes = self.sum(|thread| thread.bytes) as f64;
        let threads = self.threads.len();
        let mut text = format!("{seconds:.3} s, {threads} thread{}", if threads == 1 { "" } else { "s" });
        let _ = write!(text, ", {:.1} MB, {:.2} GB/s", bytes / 1e6, bytes / 1e9 / seconds.max(1e-9));
        for (count, one, several) in [
            (self.sum(|thread| thread.files), "file", "files"),
            (self.sum(|thread| thread.records), "record", "records"),
        ] {
            if count > 0 {
                let _ = write!(text, ", {count} {}", if count == 1 { one } else { several });
            }
        }
        text
    }

    fn write_bars(&self, text: &mut String) {
        for (number, thread) in (1..).zip(&self.threads).take(MOST_BARS) {
            let _ = writeln!(text, "{:<11}{}", format!("thread {number}"), self.bar(thread));
        }
        if self.threads.len() > MOST_BARS {
            let _ = writeln!(text, "and {} more threads", self.threads.len() - MOST_BARS);
        }
        let legend: Vec<_> = self.phases().map(|phase| painted(phase, 1) + " " + phase.name()).collect();
        let _ = writeln!(text, "{:<11}{}\n", "", legend.join("  "));
    }

    /// The phases of a thread, each as wide as its share of the time. What is unaccounted for is left blank.
    fn bar(&self, thread: &ThreadTimes) -> String {
        let mut bar = String::new();
        let (mut spent, mut drawn) = (Duration::ZERO, 0);
        for phase in Phase::ALL {
            spent += thread.spent(phase);
            let end = (BAR as f64 * spent.as_secs_f64() / self.wall.as_secs_f64().max(1e-9)).round();
            let end = (end as usize).min(BAR);
            if end > drawn {
                bar.push_str(&painted(phase, end - drawn));
                drawn = end;
            }
        }
        bar
    }

    fn write_table(&self, text: &mut String) {
        self.write_header(text);
        for row in self.rows() {
            let Row { name, mut values, sum, decimals, share } = row;
            if values.len() > MOST_COLUMNS {
                values.sort_unstable_by(f64::total_cmp);
                values = vec![values[0], values[values.len() / 2], values[values.len() - 1]];
            }
            let _ = write!(text, "{name:<11}");
            for value in values.into_iter().chain([sum]) {
                let _ = write!(text, " {value:>9.decimals$}");
            }
            let share = share.map(|share| format!(" {share:>5.1}%"));
            let _ = writeln!(text, "{}", share.unwrap_or_default());
        }
    }

    fn write_header(&self, text: &mut String) {
        let _ = write!(text, "{:<11}", "ms");
        if self.threads.len() > MOST_COLUMNS {
            let _ = write!(text, " {:>9} {:>9} {:>9}", "least", "median", "most");
        } else {
            for number in 1..=self.threads.len() {
                let _ = write!(text, " {:>9}", format!("thread {number}"));
            }
        }
        let _ = writeln!(text, " {:>9} {:>6}", "all", "share");
    }

    fn write_process(&self, text: &mut String) {
        let Some(process) = &self.process else { return };
        let others = process.usage.cpu_time().saturating_sub(self.usage().cpu_time());
        let _ = writeln!(
            text,
            "the process: {:.1} ms, of which {:.1} before and after the job; \
             {:.1} ms on processors, of which {:.1} not by these threads",
            millis(process.wall),
            millis(process.wall.saturating_sub(self.wall)),
            millis(process.usage.cpu_time()),
            millis(others)
        );
    }
}

/// So many marks of a phase, on its colour.
fn painted(phase: Phase, times: usize) -> String {
    let (red, green, blue) = phase.color();
    let is_light = u32::from(red) * 2 + u32::from(green) * 5 + u32::from(blue) > 8 * 128;
    let ink = if is_light { RgbColor(0, 0, 0) } else { RgbColor(255, 255, 255) };
    let style =
        Style::new().fg_color(Some(Color::Rgb(ink))).bg_color(Some(Color::Rgb(RgbColor(red, green, blue))));
    format!("{style}{}{style:#}", String::from(phase.mark()).repeat(times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::example;

    /// The text without colours.
    fn plain(report: &Report) -> String {
        let mut plain = String::new();
        let mut escaped = false;
        for char in report.text().chars() {
            match char {
                '\x1b' => escaped = true,
                'm' if escaped => escaped = false,
                _ if escaped => {}
                _ => plain.push(char),
            }
        }
        plain
    }

    #[test]
    fn the_text_names_what_took_time_and_nothing_else() {
        assert_eq!(
            plain(&example()),
            "0.006 s, 2 threads, 3.0 MB, 0.49 GB/s, 100 records\n\
             thread 1   rrrrrrrrrrrrrrrrccccccccccccccccccccccccccccccccccccccccccccccc\n\
             thread 2   rrrrrrrrrrrrrrrrrrrrr\n           \
             r read  c count\n\n\
             ms           thread 1  thread 2       all  share\n\
             read              1.5       2.0       3.5  43.8%\n\
             count             4.5       0.0       4.5  56.2%\n\
             total             6.0       2.0       8.0\n\
             unaccounted       0.1       4.1       4.2\n\
             user              4.0       0.0       4.0\n\
             system            1.0       0.0       1.0\n\
             gave way            3         0         3\n\
             preempted           1         0         1\n\
             faults             20         0        20\n\
             megabytes         2.5       0.5       3.0\n\
             records           100         0       100\n"
        );
    }

    #[test]
    fn of_many_threads_the_extremes_are_shown() {
        let threads = (1..=9).map(|number| {
            let mut times = ThreadTimes { bytes: number * 1_000_000, ..ThreadTimes::default() };
            times.spent[Phase::Read as usize] = Duration::from_millis(10 * number);
            times
        });
        let shown = plain(&Report::new(Duration::from_millis(90), threads.collect()));
        assert!(shown.contains("ms              least    median      most       all  share\n"), "{shown}");
        assert!(shown.contains("read             10.0      50.0      90.0     450.0 100.0%\n"), "{shown}");
        assert!(shown.contains("megabytes         1.0       5.0       9.0      45.0\n"), "{shown}");
        assert_eq!(shown.matches("\nthread ").count(), 9);
    }

    #[test]
    fn a_job_without_any_time_is_no_trouble() {
        let shown = plain(&Report::new(Duration::ZERO, vec![ThreadTimes::default()]));
        assert!(shown.starts_with("0.000 s, 1 thread, 0.0 MB, 0.00 GB/s\n"), "{shown}");
    }
}
