//! Contents of the `--live` screen: progress, counts so far, and on demand the activity of the threads.

use anstyle::Style;
use finecomb_scan::Progress;
use finecomb_top::print::fitted;
use finecomb_top::{Answer, LiveRows, OpenedRow, SortBy};

use crate::top::live::controls::{Controls, Mode};
use crate::top::live::head;
use crate::top::live::line::LiveLine;
use crate::top::live::opened::{OpenedPage, Seconds};
use crate::top::live::rates::Rates;
use crate::top::live::table::LiveTable;
use crate::top::live::threads::ThreadsActivity;

/// Number of rows of a screen that has room for all lines of the head.
const HIGH: usize = 8;

/// Contents of the `--live` screen.
pub(super) struct LivePage<'a> {
    /// The command line.
    pub(super) command: &'a str,
    pub(super) progress: &'a Progress,
    pub(super) before: &'a Progress,
    pub(super) rates: &'a Rates,
    pub(super) answer: &'a Answer,
    /// Kind of the rows of the answer.
    pub(super) rows: LiveRows,
    pub(super) opened: &'a OpenedRow,
    pub(super) seconds: &'a Seconds,
    pub(super) controls: &'a Controls,
    /// Whether keys can be chosen by their text.
    pub(super) has_keys: bool,
    pub(super) has_colors: bool,
}

impl LivePage<'_> {
    /// Exactly `rows` lines of at most `columns` columns: the head, the keys, the threads, which use at most half of the rows,
    /// and the keys of the terminal.
    pub(super) fn lines(&self, rows: usize, columns: usize) -> Vec<String> {
        let mut lines = self.head(rows, columns);
        let threads = if self.controls.has_threads { self.threads(rows, columns) } else { Vec::new() };
        let hints = head::hints(self.controls, self.sorted_by(), self.has_keys, columns);
        let body = rows.saturating_sub(lines.len() + threads.len() + 1).max(1);
        let end = lines.len() + body;
        match self.controls.mode {
            Mode::Help => lines.extend(head::help().take(body)),
            Mode::Rows | Mode::Filter => lines.extend(self.rows(body, columns)),
        }
        lines.resize_with(end, LiveLine::default);
        lines.extend(threads);
        lines.push(hints);
        lines.truncate(rows);
        lines.into_iter().map(|line| line.drawn(columns, self.has_colors)).collect()
    }

    /// The progress, and above it the command and below it the gauge where there is room.
    fn head(&self, rows: usize, columns: usize) -> Vec<LiveLine> {
        let progress = head::progress(self.progress, self.answer.records, self.rates, columns);
        if rows < HIGH {
            return vec![progress];
        }
        let command = fitted([self.command.as_bytes()], columns).join("");
        let gauge = head::gauge(self.progress, columns, self.has_colors);
        vec![LiveLine::new(Style::new().bold(), command), progress, gauge]
    }

    fn threads(&self, rows: usize, columns: usize) -> Vec<LiveLine> {
        let Self { progress, before, .. } = *self;
        ThreadsActivity { progress, before }.lines(rows / 2, columns)
    }

    /// At most `count` lines: headers and rows, with the selected one marked, or the opened row.
    fn rows(&self, count: usize, columns: usize) -> Vec<LiveLine> {
        let table = LiveTable { answer: self.answer, rows: self.rows };
        if let Some(key) = self.controls.selected.as_deref().filter(|_| self.controls.is_open) {
            return OpenedPage { opened: self.opened, seconds: self.seconds, table, key }
                .lines(count, columns);
        }
        let selected = self.controls.position(&table.keys());
        let places = table.shown(count.saturating_sub(table.headers()), selected);
        let mut lines = table.styled(places, selected, columns);
        lines.truncate(count);
        lines
    }

    /// Name of the criterion of the order.
    fn sorted_by(&self) -> &str {
        let Answer { sort_by, measure_names, .. } = self.answer;
        match *sort_by {
            SortBy::Count => "count",
            SortBy::Key if self.has_keys => "key",
            SortBy::Key => "time",
            SortBy::Measure(number) => measure_names.get(number).map_or("count", |name| name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anstream::adapter::strip_str;
    use finecomb_scan::Activity;
    use finecomb_sys::display;
    use finecomb_top::KeyCount;

    use super::*;

    /// The lines of a page of this many rows and columns.
    fn lines(
        (progress, answer): (&Progress, &Answer),
        rows: LiveRows,
        controls: &Controls,
        (height, width): (usize, usize),
    ) -> Vec<String> {
        let mut rates = Rates::default();
        rates.add(progress.elapsed, answer.records, false);
        let page = LivePage {
            command: "comb top --live access.log",
            progress,
            before: &Progress::default(),
            rates: &rates,
            answer,
            rows,
            opened: &OpenedRow::default(),
            seconds: &Seconds::default(),
            controls,
            has_keys: rows == LiveRows::Keys,
            has_colors: true,
        };
        page.lines(height, width)
    }

    /// The same without styles and blanks at the end.
    fn texts(
        job: (&Progress, &Answer),
        rows: LiveRows,
        controls: &Controls,
        size: (usize, usize),
    ) -> Vec<String> {
        let lines = lines(job, rows, controls, size).into_iter();
        lines.map(|line| strip_str(&line).to_string().trim_end().to_owned()).collect()
    }

    fn job() -> (Progress, Answer) {
        let keys = [KeyCount::new(b"/index.html".to_vec(), 1234), KeyCount::new(b"\x1b[31m".to_vec(), 7)];
        let (elapsed, threads) = (Duration::from_secs(2), vec![Activity::default(); 2]);
        let progress = Progress { done: 1_000_000, total: Some(4_000_000), elapsed, threads };
        let key_names = vec!["path".to_owned()];
        (progress, Answer { top: keys.to_vec(), records: 9999, key_names, ..Answer::default() })
    }

    #[test]
    fn the_page_has_the_command_the_rates_the_counts_and_the_keys() {
        let (progress, answer) = job();
        let controls = Controls::default();
        let styled = lines((&progress, &answer), LiveRows::Keys, &controls, (10, 90));
        assert!(styled[2].contains(&format!("\x1b[30m\x1b[44m{}\x1b[0m", " ".repeat(23))), "{:?}", styled[2]);
        let shown = texts((&progress, &answer), LiveRows::Keys, &controls, (10, 90));
        let bar = "█".repeat(20);
        let expected = [
            "comb top --live access.log",
            "9,999 records, 5,000/s now, 5,000/s mean, 1.00 MB of 4.00 MB, 500 kB/s, 2 s",
            &format!("{:43}25%", ""),
            &format!("count  percent  {:20}  path", ""),
            &format!(" 1234    12.34  {bar}  /index.html"),
            &format!("    7     0.07  {:20}  \\u{{1b}}[31m", ""),
            "",
            "",
            "",
            "q stop and print  ? help  s sort: count  p pause  / text  ↑↓ select  Enter open",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn threads_are_shown_on_demand() {
        let (progress, answer) = job();
        let controls = Controls { has_threads: true, ..Controls::default() };
        let shown = texts((&progress, &answer), LiveRows::Keys, &controls, (10, 90));
        assert_eq!(shown[7..9], ["thread 1", "thread 2"]);
    }

    #[test]
    fn what_was_chosen_is_in_the_last_line_and_the_selected_row_is_marked() {
        let (progress, answer) = job();
        let controls = Controls {
            is_paused: true,
            filter: "日\u{202e}".to_owned(),
            selected: Some(b"/index.html".to_vec()),
            ..Controls::default()
        };
        let styled = lines((&progress, &answer), LiveRows::Keys, &controls, (10, 90));
        assert!(styled[4].starts_with("\x1b[7m 1234 "), "{:?}", styled[4]);
        let last = strip_str(&styled[9]).to_string();
        assert!(last.starts_with("paused  /日\\u{202e}  q stop and print  ? help"), "{last}");
        let typing = Controls { mode: Mode::Filter, filter: "ab".to_owned(), ..Controls::default() };
        let shown = texts((&progress, &answer), LiveRows::Keys, &typing, (10, 40));
        assert_eq!(shown[9], "/ab   Enter keeps, Escape clears");
    }

    #[test]
    fn the_opened_row_has_its_own_page_also_when_it_is_gone() {
        let (progress, answer) = job();
        let controls =
            |key: &[u8]| Controls { selected: Some(key.to_vec()), is_open: true, ..Controls::default() };
        let shown = |key: &[u8]| texts((&progress, &answer), LiveRows::Keys, &controls(key), (10, 60));
        let of_row = shown(b"/index.html");
        assert!(of_row[3].ends_with("  path") && of_row[4].ends_with("█  /index.html"), "{of_row:?}");
        let rest = ["0 records in 0 s since it was opened, 0/s", "", "no record so far", ""];
        assert_eq!(of_row[5..9], rest);
        assert_eq!(of_row[9], "Escape all rows  q stop and print  ? help  p pause");
        assert_eq!(shown(b"/\xff\x1b")[3], "/\\xff\\u{1b}  not among the rows now");
    }

    #[test]
    fn colours_are_left_out_where_they_are_not_wanted() {
        let (progress, answer) = job();
        let (rates, controls) = (Rates::default(), Controls { has_threads: true, ..Controls::default() });
        let page = LivePage {
            command: "",
            progress: &progress,
            before: &Progress::default(),
            rates: &rates,
            answer: &answer,
            rows: LiveRows::Keys,
            opened: &OpenedRow::default(),
            seconds: &Seconds::default(),
            controls: &controls,
            has_keys: true,
            has_colors: false,
        };
        let drawn = page.lines(24, 80).join("");
        assert!(
            drawn.contains("\x1b[7m") && !drawn.contains("\x1b[3") && !drawn.contains("\x1b[4"),
            "{drawn:?}"
        );
    }

    #[test]
    fn of_buckets_the_latest_are_shown_with_bars_and_of_ranked_ones_the_first() {
        let top = [("06:01", 4), ("06:02", 2), ("06:03", 0)];
        let top = top.map(|(time, count)| KeyCount::new(time.into(), count)).to_vec();
        let answer = Answer { top, key_names: vec!["time".to_owned()], records: 8, ..Answer::default() };
        let job = (&Progress::default(), &answer);
        let shown = |rows| texts(job, rows, &Controls::default(), (5, 80))[1..4].to_vec();
        let (full, half) = ("█".repeat(20), format!("{:20}", "█".repeat(10)));
        let row = |count: u64, percent: &str, bar: &str, time: &str| {
            format!("{count:>5}  {percent:>7}  {bar:20}  {time}")
        };
        let header = format!("count  percent  {:20}  time", "");
        assert_eq!(
            shown(LiveRows::LatestBuckets),
            [header.clone(), row(2, "25.00", &full, "06:02"), row(0, "0.00", "", "06:03")]
        );
        assert_eq!(
            shown(LiveRows::Buckets),
            [header, row(4, "50.00", &full, "06:01"), row(2, "25.00", &half, "06:02")]
        );
    }

    #[test]
    fn the_head_fits_narrow_terminals() {
        let progress = Progress {
            done: 123_456_789_012,
            total: Some(987_654_321_098),
            elapsed: Duration::from_secs(1234),
            ..Progress::default()
        };
        let answer = Answer { records: 1_234_567_890, ..Answer::default() };
        for (columns, expected) in [
            (30, "1,234,567,890 records"),
            (40, "1,234,567,890 records, 1,000,460/s now"),
            (80, "1,234,567,890 records, 1,000,460/s now, 1,000,460/s mean, 123 GB of 988 GB"),
        ] {
            let shown = texts((&progress, &answer), LiveRows::Keys, &Controls::default(), (24, columns));
            assert_eq!(shown[1], expected);
        }
    }

    #[test]
    fn no_line_is_wider_and_no_page_longer_than_the_terminal() {
        let threads = vec![Activity::default(); 40];
        let progress = Progress { done: 3, total: Some(4), threads, ..Progress::default() };
        let keys = ["ä", "日", "e\u{301}"].map(|text| KeyCount::new(text.repeat(200).into_bytes(), 1));
        let answer = Answer {
            top: std::iter::repeat_n(keys, 40).flatten().collect(),
            key_names: vec!["key".to_owned()],
            ..Answer::default()
        };
        for mode in [Mode::Rows, Mode::Filter, Mode::Help] {
            let filter = "日".repeat(100);
            let controls =
                Controls { mode, filter, has_threads: true, is_paused: true, ..Controls::default() };
            for size in [(1, 1), (3, 5), (2, 20), (10, 40), (24, 80), (100, 300)] {
                let lines = lines((&progress, &answer), LiveRows::Keys, &controls, size);
                assert_eq!(lines.len(), size.0);
                for line in lines {
                    assert!(display::width(&strip_str(&line).to_string()) <= size.1, "{line:?}");
                }
            }
        }
    }
}
