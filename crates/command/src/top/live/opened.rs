//! The opened row of the screen: its numbers, its times and the latest of its records.

use std::collections::VecDeque;
use std::time::Duration;

use anstyle::Style;
use finecomb_sys::display;
use finecomb_sys::units::{Clock, Count, counted};
use finecomb_top::print::{fitted, level};
use finecomb_top::{LiveRecord, LiveRows, OpenedRow};

use crate::top::live::head::rate;
use crate::top::live::line::LiveLine;
use crate::top::live::table::LiveTable;

/// Maximum number of lines of a record.
const MAX_LINES: usize = 4;

/// Numbers of records by second since a row was opened.
#[derive(Default)]
pub(super) struct Seconds {
    /// When it was opened.
    start: Duration,
    elapsed: Duration,
    records: u64,
    /// The numbers of the latest seconds. The last second is not over.
    latest: VecDeque<u64>,
    /// Number of seconds before these.
    earlier: usize,
}

impl Seconds {
    /// Maximum number of seconds that are kept: more than a terminal has columns.
    const MAX: usize = 300;

    /// Begins at a time of the job.
    pub(super) fn since(start: Duration) -> Self {
        Self { start, ..Self::default() }
    }

    /// Adds an update: the number of records so far.
    pub(super) fn add(&mut self, elapsed: Duration, records: u64) {
        self.elapsed = elapsed.saturating_sub(self.start);
        let second = self.elapsed.as_secs() as usize;
        while self.earlier + self.latest.len() <= second {
            self.latest.push_back(0);
            if self.latest.len() > Self::MAX {
                self.latest.pop_front();
                self.earlier += 1;
            }
        }
        self.latest.back_mut().into_iter().for_each(|last| *last += records.saturating_sub(self.records));
        self.records = records;
    }

    /// A line with the number of records, their rate, and the seconds that are over as bars.
    fn line(&self, columns: usize) -> LiveLine {
        let mean = self.records as f64 / self.elapsed.as_secs_f64().max(1.0);
        let records = counted(self.records, "record");
        let text = format!("{records} in {} since it was opened, {}/s", Clock(self.elapsed), rate(mean));
        let mut line = LiveLine::new(Style::new(), &*text);
        let over = self.latest.len().saturating_sub(1);
        let most = self.latest.iter().take(over).copied().max().unwrap_or(0);
        let after = format!("  max {}/s", Count(most));
        let width = columns.saturating_sub(text.len() + after.len() + "  ".len()).min(over);
        if most > 0 && width > 0 {
            let shown = self.latest.range(over - width..over);
            let bars: String = shown.map(|&records| level(records, most)).collect();
            line.add(Style::new(), format!("  {bars}{after}"));
        }
        line
    }
}

/// The part of the screen for the opened row.
pub(super) struct OpenedPage<'a> {
    pub(super) opened: &'a OpenedRow,
    pub(super) seconds: &'a Seconds,
    pub(super) table: LiveTable<'a>,
    /// The key of the row.
    pub(super) key: &'a [u8],
}

impl OpenedPage<'_> {
    /// At most `count` lines: the row, the number of its records since it was opened, its buckets, which use at most half of the
    /// remaining lines, and its latest records.
    pub(super) fn lines(&self, count: usize, columns: usize) -> Vec<LiveLine> {
        let mut lines = self.row(columns);
        lines.push(self.seconds.line(columns));
        lines.push(LiveLine::default());
        if let Some(times) = &self.opened.times {
            let table = LiveTable { answer: times, rows: LiveRows::LatestBuckets };
            let room = (count.saturating_sub(lines.len() + 1) / 2).saturating_sub(table.headers());
            lines.extend(table.styled(table.shown(room, None), None, columns));
            lines.push(LiveLine::default());
        }
        let records = &self.opened.records;
        if records.is_empty() {
            lines.push(LiveLine::new(Style::new().dimmed(), "no record so far"));
        } else {
            lines.push(LiveLine::new(Style::new().bold(), "latest records"));
            lines.extend(latest(records, count.saturating_sub(lines.len()), columns));
        }
        lines.truncate(count);
        lines
    }

    /// The row below its headers, or only its key if it is not among the rows any more.
    fn row(&self, columns: usize) -> Vec<LiveLine> {
        let keys = self.table.keys();
        if let Some(place) = keys.iter().position(|&key| key == self.key) {
            return self.table.styled(place..place + 1, None, columns);
        }
        let mut line = LiveLine::new(Style::new().bold(), fitted([self.key], columns).join(""));
        line.add(Style::new().dimmed(), "  not among the rows now");
        vec![line]
    }
}

/// The lines of the latest records that fit, in the order in which they were counted. Inputs are named if there are several.
fn latest(records: &[LiveRecord], count: usize, columns: usize) -> Vec<LiveLine> {
    let has_several = records.windows(2).any(|pair| pair[0].source != pair[1].source);
    let mut lines: VecDeque<LiveLine> = VecDeque::new();
    for record in records.iter().rev() {
        let name = if has_several {
            display::escaped(format!("{}: ", record.source).chars())
        } else {
            String::new()
        };
        let wrapped = wrapped(&(name + &display::escaped_bytes(&record.text)), columns);
        if lines.len() + wrapped.len() > count {
            break;
        }
        wrapped.into_iter().rev().for_each(|line| lines.push_front(LiveLine::new(Style::new(), line)));
    }
    lines.into()
}

/// The lines of a record. All but the first are indented. After four lines, `…` stands for the rest.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    let (mut lines, mut rest) = (Vec::new(), text);
    while !rest.is_empty() && lines.len() < MAX_LINES {
        let indent = if lines.is_empty() { "" } else { INDENT };
        let room = columns.saturating_sub(indent.len()).max(1);
        let mut line = display::beginning(rest, room);
        if line.len() < rest.len() && lines.len() + 1 == MAX_LINES {
            line = display::beginning(rest, room - 1);
            lines.push(format!("{indent}{line}…"));
            return lines;
        }
        if line.is_empty() {
            // A wide character in a single column.
            break;
        }
        lines.push(format!("{indent}{line}"));
        rest = &rest[line.len()..];
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    fn text(line: LiveLine) -> String {
        strip_str(&line.drawn(1000, false)).to_string()
    }

    #[test]
    fn the_seconds_that_are_over_are_bars() {
        let mut seconds = Seconds::since(Duration::from_secs(10));
        let shown = |seconds: &Seconds, columns| text(seconds.line(columns));
        assert_eq!(shown(&seconds, 80), "0 records in 0 s since it was opened, 0/s");
        for (millis, records) in [(10_200, 3), (10_900, 4), (11_500, 6), (14_000, 20), (14_100, 24)] {
            seconds.add(Duration::from_millis(millis), records);
        }
        let line = "24 records in 4 s since it was opened, 5.9/s  █▄    max 4/s";
        assert_eq!(shown(&seconds, 80), line);
        assert_eq!(shown(&seconds, 58), line.replace("█▄ ", "▄ "));
        assert_eq!(shown(&seconds, 50), "24 records in 4 s since it was opened, 5.9/s");
        for second in 15..1000 {
            seconds.add(Duration::from_secs(second), 24 + second);
        }
        assert_eq!(seconds.latest.len(), Seconds::MAX);
        let bars = "█".repeat(20);
        let line = format!("1,023 records in 16:29 since it was opened, 1.0/s  {bars}  max 1/s");
        assert_eq!(shown(&seconds, 80), line);
    }

    #[test]
    fn records_are_wrapped_and_cut() {
        for (record, columns, expected) in [
            ("", 9, &[""][..]),
            ("abcdefghi", 9, &["abcdefghi"]),
            ("abcdefghijklmnop", 9, &["abcdefghi", "  jklmnop"]),
            ("日本語日本語", 5, &["日本", "  語", "  日", "  本…"]),
            ("abcdefghijklmnopqrstuv", 7, &["abcdefg", "  hijkl", "  mnopq", "  rstuv"]),
            ("abcdefghijklmnopqrstuvw", 7, &["abcdefg", "  hijkl", "  mnopq", "  rstu…"]),
            ("日", 1, &[""]),
        ] {
            assert_eq!(wrapped(record, columns), expected, "{record} in {columns}");
        }
    }
}
