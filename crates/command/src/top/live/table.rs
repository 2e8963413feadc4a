//! The rows of the `--live` screen.

use std::ops::Range;

use anstyle::Style;
use finecomb_sys::display;
use finecomb_top::print::{Format, Layout, Text};
use finecomb_top::{Answer, KeyCount, LiveRows, SortBy};

use crate::top::live::line::LiveLine;

/// Minimum width that is left for the key.
const MIN_KEY: usize = 20;

/// Width of the longest bar.
const BAR: usize = 20;

/// The rows of an answer: keys or buckets with bars, or keys with their sparklines.
pub(super) struct LiveTable<'a> {
    pub(super) answer: &'a Answer,
    pub(super) rows: LiveRows,
}

impl LiveTable<'_> {
    /// The keys of all rows, in order.
    pub(super) fn keys(&self) -> Vec<&[u8]> {
        let keys = match (self.rows, &self.answer.series) {
            (LiveRows::Series, Some(series)) => &series.keys,
            _ => &self.answer.top,
        };
        keys.iter().map(|key| &key.key[..]).collect()
    }

    /// Number of lines above the rows.
    pub(super) fn headers(&self) -> usize {
        if self.rows == LiveRows::Series { 2 } else { 1 }
    }

    /// The places of at most `count` rows that are shown: those around the selected one, or else the first, or the latest of
    /// buckets.
    pub(super) fn shown(&self, count: usize, selected: Option<usize>) -> Range<usize> {
        let all = self.keys().len();
        let first = if self.rows == LiveRows::LatestBuckets { all.saturating_sub(count) } else { 0 };
        let first = selected.map_or(first, |row| first.min(row).max((row + 1).saturating_sub(count.max(1))));
        first..all.min(first + count)
    }

    /// Headers in bold, and the rows at these places, with the selected one marked.
    pub(super) fn styled(
        &self,
        places: Range<usize>,
        selected: Option<usize>,
        columns: usize,
    ) -> Vec<LiveLine> {
        let headers = self.headers();
        let marked = selected.map(|row| headers + row - places.start);
        let style = |line: usize| match line {
            line if line < headers => Style::new().bold(),
            line if Some(line) == marked => Style::new().invert(),
            _ => Style::new(),
        };
        let lines = self.lines(places, columns).into_iter().enumerate();
        lines.map(|(line, text)| LiveLine::new(style(line), text)).collect()
    }

    /// Returns headers and the rows at these places. Measures that leave no room for the key in `columns` are left
    /// out, from the last one on, but not the one that the keys are sorted by, and not all; then the share goes.
    fn lines(&self, places: Range<usize>, columns: usize) -> Vec<String> {
        let mut shown = self.part(places);
        let mut layout = Layout { percent: true, ..Layout::default() };
        let terminal = Some(columns.max(MIN_KEY));
        while self.width_of_numbers(&shown, layout) + MIN_KEY > columns {
            match last_measure(&shown).filter(|_| shown.measure_names.len() > 1) {
                Some(last) => remove(&mut shown, last),
                None if layout.percent => layout.percent = false,
                None => break,
            }
        }
        written(
            &shown,
            &Text { layout, terminal, bars: BAR, keeps_bars: true, sparklines: true, ..Text::default() },
        )
    }

    /// Width of the columns before the key, without bars or with the narrowest sparklines.
    fn width_of_numbers(&self, answer: &Answer, layout: Layout) -> usize {
        let mut bare = Answer { key_names: vec![String::new(); self.headers()], ..answer.clone() };
        for key in keys_of(&mut bare) {
            key.key.clear();
            key.fields.clear();
        }
        let lines = written(&bare, &Text { layout, sparklines: true, terminal: Some(0), ..Text::default() });
        lines.get(self.headers() - 1).map_or(0, |header| display::width(header))
    }

    /// The answer with only the rows at these places.
    fn part(&self, places: Range<usize>) -> Answer {
        let Answer { top, series, key_names, measure_names, sort_by, records, .. } = self.answer;
        let series = series.as_ref().filter(|_| self.rows == LiveRows::Series);
        Answer {
            top: if series.is_some() { Vec::new() } else { top[places.clone()].to_vec() },
            series: series.map(|series| series.part(places)),
            key_names: key_names.clone(),
            measure_names: measure_names.clone(),
            sort_by: *sort_by,
            records: *records,
            ..Answer::default()
        }
    }
}

fn written(answer: &Answer, text: &Text) -> Vec<String> {
    let mut written = Vec::new();
    // Writing to memory does not fail.
    let _ = text.write(answer, &mut written);
    String::from_utf8_lossy(&written).lines().map(str::to_owned).collect()
}

/// The keys of the rows of a part.
fn keys_of(answer: &mut Answer) -> &mut [KeyCount] {
    answer.series.as_mut().map_or(&mut answer.top, |series| &mut series.keys)
}

/// The last measure that the keys are not sorted by.
fn last_measure(answer: &Answer) -> Option<usize> {
    (0..answer.measure_names.len()).rev().find(|&measure| answer.sort_by != SortBy::Measure(measure))
}

fn remove(answer: &mut Answer, measure: usize) {
    answer.measure_names.remove(measure);
    for key in keys_of(answer).iter_mut().filter(|key| measure < key.values.len()) {
        key.values.remove(measure);
    }
    if let SortBy::Measure(number) = &mut answer.sort_by
        && *number > measure
    {
        *number -= 1;
    }
}

#[cfg(test)]
mod tests {
    use finecomb_top::{Quantity, Series, SeriesCount};

    use super::*;

    fn answer(sort_by: SortBy) -> Answer {
        let key = |key: &str, count| KeyCount {
            values: vec![Quantity::None; 3],
            ..KeyCount::new(key.as_bytes().to_vec(), count)
        };
        Answer {
            top: vec![key("/index.html", 1234), key("\x1b[31m", 7), key("/", 1)],
            key_names: vec!["path".to_owned()],
            measure_names: ["sum(bytes)", "p99(time)", "distinct(user)"].map(str::to_owned).to_vec(),
            sort_by,
            records: 1242,
            ..Answer::default()
        }
    }

    /// The lines of the first keys.
    fn shown(answer: &Answer, rows: LiveRows, keys: usize, columns: usize) -> Vec<String> {
        LiveTable { answer, rows }.lines(0..keys, columns)
    }

    #[test]
    fn share_measures_and_bars_are_columns_below_a_header() {
        let full = "█".repeat(20);
        assert_eq!(
            shown(&answer(SortBy::Count), LiveRows::Keys, 2, 100),
            [
                format!("count  percent  sum(bytes)  p99(time)  distinct(user)  {:20}  path", ""),
                format!(" 1234    99.36           -          -               -  {full}  /index.html"),
                format!("    7     0.56           -          -               -  {:20}  \\u{{1b}}[31m", ""),
            ]
        );
    }

    #[test]
    fn measures_that_do_not_fit_are_left_out_but_not_the_one_that_the_keys_are_sorted_by() {
        let header = |sort_by, columns| {
            let header = shown(&answer(sort_by), LiveRows::Keys, 2, columns).remove(0);
            // Bars take the rest.
            header.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(header(SortBy::Count, 60), "count percent sum(bytes) p99(time) path");
        assert_eq!(header(SortBy::Count, 50), "count percent sum(bytes) path");
        assert_eq!(header(SortBy::Count, 40), "count sum(bytes) path");
        assert_eq!(header(SortBy::Count, 1), "count sum(bytes) path");
        assert_eq!(header(SortBy::Measure(1), 40), "count p99(time) p99(time) path");
        assert_eq!(header(SortBy::Measure(2), 66), "count percent sum(bytes) distinct(user) path");
        assert_eq!(header(SortBy::Measure(2), 1), "count distin…user) path");
    }

    #[test]
    fn without_keys_there_are_no_lines() {
        assert!(shown(&answer(SortBy::Count), LiveRows::Keys, 0, 80).is_empty());
        let series = Answer { series: Some(Series::default()), ..Answer::default() };
        assert!(shown(&series, LiveRows::Series, 0, 80).is_empty());
    }

    #[test]
    fn rows_around_the_selected_one_are_shown_or_else_the_first_or_the_latest_buckets() {
        let answer = answer(SortBy::Count);
        for (rows, count, selected, expected) in [
            (LiveRows::Keys, 2, None, 0..2),
            (LiveRows::Keys, 9, None, 0..3),
            (LiveRows::Keys, 2, Some(2), 1..3),
            (LiveRows::LatestBuckets, 2, None, 1..3),
            (LiveRows::LatestBuckets, 2, Some(0), 0..2),
            (LiveRows::Keys, 0, Some(2), 2..2),
        ] {
            let table = LiveTable { answer: &answer, rows };
            assert_eq!(table.shown(count, selected), expected, "{rows:?} {count} {selected:?}");
        }
    }

    #[test]
    fn keys_by_bucket_have_their_share_measures_and_sparklines_below_the_span() {
        let key = |key: &str, count| KeyCount {
            values: vec![Quantity::None],
            ..KeyCount::new(key.as_bytes().to_vec(), count)
        };
        let series = Series {
            buckets: (1..=4).map(|day| format!("2026-03-{day:02}")).collect(),
            keys: vec![key("/", 12), key("\x1b", 4), key("rare", 1)],
            counts: [(0, 1, 1), (0, 2, 1), (1, 0, 8), (3, 0, 4), (3, 1, 3)]
                .map(|(bucket, key, count)| SeriesCount { bucket, key, count })
                .to_vec(),
        };
        let answer = Answer {
            series: Some(series),
            key_names: ["time", "path"].map(str::to_owned).to_vec(),
            measure_names: vec!["max(t)".to_owned()],
            records: 17,
            ..Answer::default()
        };
        let table = LiveTable { answer: &answer, rows: LiveRows::Series };
        assert_eq!(
            table.lines(0..2, 80),
            [
                "2026-03-01 to 2026-03-04",
                "count  percent  max(t)  max  at                path",
                "   12    70.59       -    8  2026-03-02   █ ▄  /",
                "    4    23.53       -    3  2026-03-04  ▃  █  \\u{1b}"
            ]
        );
        assert_eq!(table.lines(2..3, 80)[2], "    1     5.88       -    1  2026-03-01  █     rare");
        assert_eq!(table.keys(), [&b"/"[..], b"\x1b", b"rare"]);
    }
}
