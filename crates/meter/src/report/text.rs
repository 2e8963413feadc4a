//! The profile as text for a terminal: a bar for each thread, and a table.

use std::fmt::Write;
use std::time::Duration;

use anstyle::{Color, RgbColor, Style};
use finecomb_sys::units::{Bytes, Time, counted};

use super::Report;
use super::rows::FigureRow;
use crate::clock::ThreadTimes;
use crate::phase::Phase;

/// Width of the text.
const COLUMNS: usize = 80;

/// Width of the names before bars.
const BAR_LABEL: usize = 11;

/// Width of a bar.
const BAR: usize = 64;

/// Maximum number of bars.
const MAX_BARS: usize = 32;

/// Width of the names of rows.
const ROW_LABEL: usize = "involuntary switches".len();

/// Minimum width of a cell.
const MIN_CELL: usize = "thread 1".len();

impl Report {
    /// Formats the profile as text, with escape sequences for colours: a line on the whole job, a bar for each thread
    /// with the shares of its phases, and a table with a row for each phase that took any time and a column for each
    /// thread, in milliseconds. If that table is wider than 80 columns, it has minimum, median and maximum instead of
    /// the threads.
    pub fn text(&self) -> String {
        let mut text = self.headline() + "\n";
        self.write_bars(&mut text);
        for line in self.table_lines() {
            let _ = writeln!(text, "{line}");
        }
        self.write_process(&mut text);
        text
    }

    /// The whole job in a line.
    pub(super) fn headline(&self) -> String {
        let bytes = self.sum(|thread| thread.bytes);
        let per_second = bytes as f64 / self.wall.as_secs_f64().max(1e-9);
        let threads = counted(self.threads.len() as u64, "thread");
        let (bytes, rate) = (Bytes(bytes), Bytes(per_second as u64));
        let mut text = format!("wall {}, {threads}, {bytes}, {rate}/s", Time(self.wall));
        for (count, noun) in
            [(self.sum(|thread| thread.files), "file"), (self.sum(|thread| thread.records), "record")]
        {
            if count > 0 {
                let _ = write!(text, ", {}", counted(count, noun));
            }
        }
        text
    }

    fn write_bars(&self, text: &mut String) {
        for (number, thread) in (1..).zip(&self.threads).take(MAX_BARS) {
            let _ = writeln!(text, "{:<BAR_LABEL$}{}", format!("thread {number}"), self.bar(thread));
        }
        if self.threads.len() > MAX_BARS {
            let _ = writeln!(text, "and {}", counted((self.threads.len() - MAX_BARS) as u64, "more thread"));
        }
        self.write_legend(text);
    }

    /// Writes the meaning of the marks of phases, on as many lines as needed.
    fn write_legend(&self, text: &mut String) {
        let mut width = 0;
        for phase in self.phases() {
            // The mark, a space and the name.
            let own = 2 + phase.name().len();
            if width > 0 && width + 2 + own <= COLUMNS {
                text.push_str("  ");
                width += 2;
            } else {
                let _ = write!(text, "{}{:BAR_LABEL$}", if width > 0 { "\n" } else { "" }, "");
                width = BAR_LABEL;
            }
            let _ = write!(text, "{} {phase}", painted(phase, 1));
            width += own;
        }
        text.push_str("\n\n");
    }

    /// The phases of a thread, each as wide as its share of the wall time.
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

    fn table_lines(&self) -> Vec<String> {
        let rows = self.rows();
        let threads: Vec<String> =
            (1..=self.threads.len()).map(|number| format!("thread {number}")).collect();
        let lines = table(&threads, &rows, |row| row.values.clone());
        if lines.iter().all(|line| line.len() <= COLUMNS) {
            return lines;
        }
        table(&["min", "median", "max"].map(str::to_owned), &rows, |row| {
            let mut values = row.values.clone();
            values.sort_unstable_by(f64::total_cmp);
            vec![values[0], values[values.len() / 2], values[values.len() - 1]]
        })
    }

    fn write_process(&self, text: &mut String) {
        let Some(process) = &self.process else { return };
        let cpu = process.usage.cpu_time();
        let _ = writeln!(
            text,
            "process: wall {}, of which {} before and after the job\n         \
             CPU {}, of which {} outside of these threads",
            Time(process.wall),
            Time(process.wall.saturating_sub(self.wall)),
            Time(cpu),
            Time(cpu.saturating_sub(self.usage().cpu_time()))
        );
    }
}

/// Lines of a table with a column for each of these values, the sum and the share.
fn table(columns: &[String], rows: &[FigureRow], values: impl Fn(&FigureRow) -> Vec<f64>) -> Vec<String> {
    let header = columns.iter().cloned().chain(["all".to_owned()]).collect();
    let mut cells: Vec<Vec<String>> = vec![header];
    cells.extend(
        rows.iter()
            .map(|row| values(row).into_iter().chain([row.sum]).map(|value| row.cell(value)).collect()),
    );
    let width =
        |column: usize| cells.iter().map(|cells| cells[column].len()).max().unwrap_or_default().max(MIN_CELL);
    let widths: Vec<usize> = (0..=columns.len()).map(width).collect();
    let names = ["ms"].into_iter().chain(rows.iter().map(|row| row.name));
    let shares = ["  share".to_owned()].into_iter().chain(rows.iter().map(|row| match row.share {
        Some(share) => format!(" {share:>5.1}%"),
        None => String::new(),
    }));
    let lines = names.zip(&cells).zip(shares).map(|((name, cells), share)| {
        let mut line = format!("{name:<ROW_LABEL$}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, " {cell:>width$}");
        }
        line + &share
    });
    lines.collect()
}

/// Repeats the mark of a phase on its colour.
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
    use std::time::Instant;

    use finecomb_sys::Usage;

    use super::*;
    use crate::phase::PHASES;
    use crate::report::Process;
    use crate::report::tests::example;

    /// Removes the escape sequences.
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
    fn the_text_has_the_figures_that_are_not_zero() {
        assert_eq!(
            plain(&example()),
            "wall 6.10 ms, 2 threads, 3.00 MB, 492 MB/s, 100 records\n\
             thread 1   rrrrrrrrrrrrrrrrccccccccccccccccccccccccccccccccccccccccccccccc.\n\
             thread 2   ::::::::::::::::::::::::::::::::::::::::::rrrrrrrrrrrrrrrrrrrrr.\n           \
             : start  r read  c count  . wait\n\n\
             ms                   thread 1 thread 2      all  share\n\
             start                     0.0      4.0      4.0  32.8%\n\
             read                      1.5      2.0      3.5  28.7%\n\
             count                     4.5      0.0      4.5  36.9%\n\
             wait                      0.1      0.1      0.2   1.6%\n\
             total                     6.1      6.1     12.2\n\
             user CPU time             4.0      0.0      4.0\n\
             system CPU time           1.0      0.0      1.0\n\
             voluntary switches          3        0        3\n\
             involuntary switches        1        0        1\n\
             page faults                20        0       20\n\
             MB                        2.5      0.5      3.0\n\
             records                   100        0      100\n"
        );
    }

    /// Report on threads that take in `number` megabytes each, in 10 ms per megabyte, and as many thousands of records.
    fn threads(numbers: std::ops::RangeInclusive<u64>) -> Report {
        let wall = Duration::from_millis(10 * numbers.end());
        let threads = numbers.map(|number| {
            let (bytes, records) = (number * 1_000_000, number * 1000);
            let mut times = ThreadTimes { bytes, records, ..ThreadTimes::default() };
            times.spent[Phase::Read as usize] = Duration::from_millis(10 * number);
            times
        });
        Report::new(wall, threads.collect())
    }

    #[test]
    fn many_threads_are_summarised() {
        let shown = plain(&threads(1..=4));
        assert!(
            shown.contains("\nMB                        1.0      2.0      3.0      4.0     10.0\n"),
            "{shown}"
        );
        let shown = plain(&threads(1..=9));
        assert!(
            shown.contains("\nms                        min   median      max      all  share\n"),
            "{shown}"
        );
        assert!(
            shown.contains("\nread                     10.0     50.0     90.0    450.0  55.6%\n"),
            "{shown}"
        );
        assert!(shown.contains("\nMB                        1.0      5.0      9.0     45.0\n"), "{shown}");
        assert!(shown.contains("\nrecords                 1,000    5,000    9,000   45,000\n"), "{shown}");
        assert_eq!(shown.matches("\nthread ").count(), 9);
    }

    #[test]
    fn the_text_fits_80_columns() {
        for count in [1, 2, 4, 5, 9, 100] {
            let mut threads: Vec<ThreadTimes> = vec![ThreadTimes::default(); count];
            for thread in &mut threads {
                thread.spent = [Duration::from_millis(123_456); PHASES];
                thread.bytes = 1_234_567_890_123;
                thread.records = 123_456_789;
                thread.usage.involuntary_switches = 1_234_567;
            }
            let wall = threads[0].total();
            let report = Report::new(wall, threads).of_process(Instant::now());
            for line in plain(&report).lines() {
                assert!(line.len() <= COLUMNS, "{count} threads: {line}");
            }
        }
    }

    #[test]
    fn the_process_has_wall_and_cpu_time() {
        let mut report = example();
        let usage = Usage { user: Duration::from_millis(7), ..Usage::default() };
        report.process = Some(Process { wall: Duration::from_micros(7100), usage });
        assert!(
            plain(&report).ends_with(
                "process: wall 7.10 ms, of which 1.00 ms before and after the job\n         \
                 CPU 7.00 ms, of which 2.00 ms outside of these threads\n"
            ),
            "{}",
            plain(&report)
        );
    }

    #[test]
    fn a_job_may_take_no_time() {
        let shown = plain(&Report::new(Duration::ZERO, vec![ThreadTimes::default()]));
        assert!(shown.starts_with("wall 0 s, 1 thread, 0 B, 0 B/s\n"), "{shown}");
    }
}
