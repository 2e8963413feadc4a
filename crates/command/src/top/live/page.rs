//! Contents of the `--live` screen: progress, counts so far, and activity of the threads.

use std::fmt::Write;
use std::time::Duration;

use anstyle::{AnsiColor, Color, RgbColor, Style};
use finecomb_scan::{Activity, Phase, Progress};
use finecomb_sys::display;
use finecomb_sys::units::{Bytes, Clock, Count, counted};
use finecomb_top::print::{Text, fitted};
use finecomb_top::{Answer, KeyCount, LiveRows};

use crate::top::live::table;

/// Width of the label of a thread.
const LABEL: usize = 12;

/// Width of the count of a key.
const COUNT: usize = 12;

/// Width of the longest bar.
const BAR: usize = 20;

/// Contents of the `--live` screen.
pub(super) struct LivePage<'a> {
    pub(super) progress: &'a Progress,
    pub(super) before: &'a Progress,
    pub(super) answer: &'a Answer,
    /// Kind of the rows of the answer.
    pub(super) rows: LiveRows,
}

impl LivePage<'_> {
    /// Exactly `rows` lines of at most `columns` columns: the head and the gauge, the keys, and at the bottom the
    /// threads, which use at most half of the rows, and the legend.
    pub(super) fn lines(&self, rows: usize, columns: usize) -> Vec<String> {
        let legend = self.legend(columns);
        let threads = self.progress.threads.len().min(rows / 2);
        let keys = rows.saturating_sub(threads + 2 + legend.len()).max(1);
        let mut lines = vec![self.head(columns), self.gauge(columns)];
        lines.extend(self.keys(keys, columns));
        lines.resize_with(2 + keys, LiveLine::default);
        lines.extend((0..threads).map(|thread| self.thread(thread, columns)));
        lines.extend(legend);
        lines.truncate(rows);
        lines.into_iter().map(|line| line.truncated(columns)).collect()
    }

    /// At most `rows` lines: keys and their counts, or below a header keys with sparklines, buckets with bars, or keys with
    /// measures.
    fn keys(&self, rows: usize, columns: usize) -> Vec<LiveLine> {
        let Answer { top, measure_names, series, .. } = self.answer;
        let count = rows.saturating_sub(1).min(top.len());
        let bars = Text { bars: BAR, ..Text::default() };
        let mut headers = 1;
        let lines = match (self.rows, series) {
            (LiveRows::Series, Some(series)) => {
                headers = 2;
                table::sparklines(self.answer, series, rows.saturating_sub(headers), columns)
            }
            (LiveRows::LatestBuckets, _) => {
                table::lines(self.answer, &top[top.len() - count..], bars, columns)
            }
            (LiveRows::Buckets, _) => table::lines(self.answer, &top[..count], bars, columns),
            _ if measure_names.is_empty() => return key_lines(&top[..rows.min(top.len())], columns),
            _ => table::lines(self.answer, &top[..count], Text::default(), columns),
        };
        let lines = lines.into_iter().enumerate();
        lines
            .map(|(row, text)| {
                let mut line = LiveLine::default();
                line.add(if row < headers { Style::new().bold() } else { Style::new() }, text);
                line
            })
            .collect()
    }

    /// Progress of the job, and the key that ends it. On a narrow terminal, parts are omitted, but not the number of records.
    fn head(&self, columns: usize) -> LiveLine {
        const KEYS: &str = "q stops and prints";
        let Progress { done, total, elapsed, .. } = *self.progress;
        let of = total.map(|total| format!(" of {}", Bytes(total))).unwrap_or_default();
        let speed = (done as f64 / elapsed.as_secs_f64().max(1e-9)) as u64;
        let mut parts = vec![
            format!("{}{of}", Bytes(done)),
            format!("{}/s", Bytes(speed)),
            Clock(elapsed).to_string(),
            counted(self.answer.records, "record"),
        ];
        // Least important parts first.
        for part in [1, 1, 0] {
            if parts.join(", ").len() + 3 + KEYS.len() > columns && parts.len() > 1 {
                parts.remove(part.min(parts.len() - 2));
            }
        }
        let text = parts.join(", ") + "   ";
        let keys = if text.len() + KEYS.len() > columns { "q stops" } else { KEYS };
        let mut line = LiveLine::default();
        line.add(Style::new(), text);
        line.add(Style::new().dimmed(), keys);
        line
    }

    /// Progress bar with the percentage in the middle.
    fn gauge(&self, columns: usize) -> LiveLine {
        let mut line = LiveLine::default();
        let Some(total) = self.progress.total.filter(|&total| total > 0) else { return line };
        let share = (self.progress.done as f64 / total as f64).min(1.0);
        let text = format!("{:^columns$}", format!("{:.0}%", share * 100.0));
        let filled = (share * columns as f64).round() as usize;
        let blue = Color::from(AnsiColor::Blue);
        let (left, right) = text.split_at(filled.min(text.len()));
        line.add(Style::new().bg_color(Some(blue)).fg_color(Some(AnsiColor::Black.into())), left);
        line.add(Style::new().fg_color(Some(blue)), right);
        line
    }

    /// Phases of a thread since the last update, each in proportion to its share of the time.
    fn thread(&self, number: usize, columns: usize) -> LiveLine {
        let mut line = LiveLine::default();
        line.add(Style::new(), format!("{:<LABEL$}", format!("thread {}", number + 1)));
        let before = self.before.threads.get(number);
        let spent = Phase::ALL.map(|phase| {
            let before = before.map_or(Duration::ZERO, |before: &Activity| before.spent(phase));
            self.progress.threads[number].spent(phase).saturating_sub(before).as_secs_f64()
        });
        let all: f64 = spent.iter().sum();
        let width = columns.saturating_sub(LABEL) as f64;
        let (mut sum, mut drawn) = (0.0, 0);
        for (phase, spent) in Phase::ALL.into_iter().zip(spent) {
            sum += spent;
            let end = (width * sum / all.max(1e-9)).round() as usize;
            line.add_mark(phase, end - drawn);
            drawn = end;
        }
        line
    }

    /// Legend of the phases so far, except `Start`, which is over when the page is drawn.
    fn legend(&self, columns: usize) -> Vec<LiveLine> {
        let is_there = |phase| self.progress.threads.iter().any(|thread| !thread.spent(phase).is_zero());
        legend(Phase::ALL.into_iter().filter(|&phase| phase != Phase::Start && is_there(phase)), columns)
    }
}

/// Legend of phases, wrapped to `columns`.
fn legend(phases: impl Iterator<Item = Phase>, columns: usize) -> Vec<LiveLine> {
    let mut lines: Vec<LiveLine> = Vec::new();
    let mut width = columns;
    for phase in phases {
        // Mark, space and name.
        let own = 2 + phase.name().len();
        if width + own > columns {
            let mut line = LiveLine::default();
            line.add(Style::new(), " ".repeat(LABEL));
            lines.push(line);
            width = LABEL;
        }
        if let Some(line) = lines.last_mut() {
            line.add_mark(phase, 1);
            line.add(Style::new(), format!(" {phase}  "));
        }
        width += own + 2;
    }
    if lines.is_empty() {
        lines.push(LiveLine::default());
    }
    lines
}

/// Keys and their counts.
fn key_lines(keys: &[KeyCount], columns: usize) -> Vec<LiveLine> {
    let texts = fitted(keys.iter().map(|key| &key.key[..]), columns.saturating_sub(COUNT + 1));
    let lines = keys.iter().zip(texts).map(|(key, text)| {
        let mut line = LiveLine::default();
        line.add(Style::new().bold(), format!("{:>COUNT$} ", Count(key.count)));
        line.add(Style::new(), text);
        line
    });
    lines.collect()
}

/// Styled text that is not yet truncated to the width of the screen.
#[derive(Default)]
struct LiveLine {
    spans: Vec<(Style, String)>,
}

impl LiveLine {
    fn add(&mut self, style: Style, text: impl Into<String>) {
        self.spans.push((style, text.into()));
    }

    fn add_mark(&mut self, phase: Phase, times: usize) {
        let color = Color::Rgb(RgbColor::from(phase.color()));
        let style = Style::new().bg_color(Some(color)).fg_color(Some(AnsiColor::Black.into()));
        self.add(style, String::from(phase.mark()).repeat(times));
    }

    /// The line with its escape sequences, truncated to `columns` of the terminal.
    fn truncated(self, columns: usize) -> String {
        let mut left = columns;
        let mut shown = String::new();
        for (style, text) in self.spans {
            let text = display::beginning(&text, left);
            left = left.saturating_sub(display::width(text));
            if !text.is_empty() {
                let _ = write!(shown, "{style}{text}{style:#}");
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    /// The lines of a page of this many rows and columns.
    fn lines(
        progress: &Progress,
        answer: &Answer,
        rows: LiveRows,
        (height, width): (usize, usize),
    ) -> Vec<String> {
        LivePage { progress, before: &Progress::default(), answer, rows }.lines(height, width)
    }

    #[test]
    fn the_page_has_the_counts_and_a_bar_for_each_thread() {
        let keys = [KeyCount::new(b"/index.html".to_vec(), 1234), KeyCount::new(b"\x1b[31m".to_vec(), 7)];
        let (elapsed, threads) = (Duration::from_secs(2), vec![Activity::default(); 2]);
        let progress = Progress { done: 1_000_000, total: Some(4_000_000), elapsed, threads };
        let answer = Answer { top: keys.to_vec(), records: 9999, ..Answer::default() };
        let lines = lines(&progress, &answer, LiveRows::Keys, (10, 90));
        assert!(lines[0].ends_with("   \x1b[2mq stops and prints\x1b[0m"), "{:?}", lines[0]);
        assert!(lines[1].contains(&format!("\x1b[30m\x1b[44m{}\x1b[0m", " ".repeat(23))), "{:?}", lines[1]);
        let shown: Vec<_> = lines.iter().map(|line| strip_str(line).to_string()).collect();
        assert!(shown[0].starts_with("1.00 MB of 4.00 MB, 500 kB/s, 2 s, 9,999 records   q stops"));
        assert_eq!(shown[1].trim(), "25%");
        let rows =
            ["       1,234 /index.html", "           7 \\u{1b}[31m", "", "", "", "thread 1", "thread 2"];
        assert_eq!(shown[2..9].iter().map(|line| line.trim_end()).collect::<Vec<_>>(), rows);
        assert_eq!(shown.len(), 10);
    }

    #[test]
    fn of_buckets_the_latest_are_shown_with_bars_and_of_ranked_ones_the_first() {
        let top = [("06:01", 4), ("06:02", 2), ("06:03", 0)];
        let top = top.map(|(time, count)| KeyCount::new(time.into(), count)).to_vec();
        let answer = Answer { top, key_names: vec!["time".to_owned()], ..Answer::default() };
        let shown = |rows| {
            let lines = lines(&Progress::default(), &answer, rows, (6, 80)).into_iter().skip(2).take(3);
            lines.map(|line| strip_str(&line).to_string()).collect::<Vec<_>>()
        };
        let (full, half) = ("█".repeat(20), format!("{:20}", "█".repeat(10)));
        let bar = |count: u64, bar: &str, time: &str| format!("{count:>5}  {bar:20}  {time}");
        let header = format!("count  {:20}  time", "");
        assert_eq!(
            shown(LiveRows::LatestBuckets),
            [header.clone(), bar(2, &full, "06:02"), bar(0, "", "06:03")]
        );
        assert_eq!(shown(LiveRows::Buckets), [header, bar(4, &full, "06:01"), bar(2, &half, "06:02")]);
    }

    #[test]
    fn the_head_and_the_legend_fit_narrow_terminals() {
        let progress = Progress {
            done: 123_456_789_012,
            total: Some(987_654_321_098),
            elapsed: Duration::from_secs(1234),
            ..Progress::default()
        };
        let answer = Answer { records: 1_234_567_890, ..Answer::default() };
        for columns in [40, 50, 80, 120] {
            let head = strip_str(&lines(&progress, &answer, LiveRows::Keys, (24, columns))[0]).to_string();
            let end = if columns > 40 { " and prints" } else { "" };
            assert!(head.ends_with(&format!("1,234,567,890 records   q stops{end}")), "{columns}: {head:?}");
            let lines: Vec<_> = legend(Phase::ALL.into_iter(), columns)
                .into_iter()
                .map(|line| strip_str(&line.truncated(columns)).to_string())
                .collect();
            for phase in Phase::ALL {
                let meaning = format!("{} {phase}", phase.mark());
                assert!(lines.iter().any(|line| line.contains(&meaning)), "{columns}: {phase} in {lines:?}");
            }
        }
    }

    #[test]
    fn no_line_is_wider_and_no_page_longer_than_the_terminal() {
        let threads = vec![Activity::default(); 40];
        let progress = Progress { done: 3, total: Some(4), threads, ..Progress::default() };
        let keys = ["ä", "日", "e\u{301}"].map(|text| KeyCount::new(text.repeat(200).into_bytes(), 1));
        let answer = Answer { top: std::iter::repeat_n(keys, 40).flatten().collect(), ..Answer::default() };
        for (rows, columns) in [(1, 1), (3, 5), (2, 20), (24, 80), (100, 300)] {
            let lines = lines(&progress, &answer, LiveRows::Keys, (rows, columns));
            assert_eq!(lines.len(), rows);
            for line in lines {
                assert!(display::width(&strip_str(&line).to_string()) <= columns, "{line:?}");
            }
        }
    }
}
