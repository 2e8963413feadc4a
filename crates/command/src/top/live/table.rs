//! Keys of the `--live` screen with their measures.

use finecomb_sys::display;
use finecomb_top::print::{Format, Text};
use finecomb_top::{Answer, KeyCount, Series, SortBy};

/// Minimum width that is left for the key.
const MIN_KEY: usize = 20;

/// Returns a header and the lines of these keys of an answer. Measures that leave no room for the key in `columns` are left
/// out, from the last one on, but not the one that the keys are sorted by, and not all.
pub(super) fn lines(answer: &Answer, keys: &[KeyCount], text: Text, columns: usize) -> Vec<String> {
    let mut shown = Answer { top: keys.to_vec(), ..answer.clone() };
    loop {
        let lines = written(&shown, &Text { terminal: Some(columns.max(MIN_KEY)), ..text });
        let names = display::width(&shown.key_names.join("  "));
        let before = lines.first().map_or(0, |header| display::width(header).saturating_sub(names));
        match last_measure(&shown).filter(|_| shown.measure_names.len() > 1) {
            Some(last) if before + MIN_KEY > columns => remove(&mut shown, last),
            _ => return lines,
        }
    }
}

/// Returns the span of the buckets, and below it a header and the first `rows` keys of a series with their sparklines.
pub(super) fn sparklines(answer: &Answer, series: &Series, rows: usize, columns: usize) -> Vec<String> {
    let shown =
        Answer { series: Some(series.first(rows)), key_names: answer.key_names.clone(), ..Answer::default() };
    written(&shown, &Text { terminal: Some(columns), sparklines: true, ..Text::default() })
}

fn written(answer: &Answer, text: &Text) -> Vec<String> {
    let mut written = Vec::new();
    // Writing to memory does not fail.
    let _ = text.write(answer, &mut written);
    String::from_utf8_lossy(&written).lines().map(str::to_owned).collect()
}

/// The last measure that the keys are not sorted by.
fn last_measure(answer: &Answer) -> Option<usize> {
    (0..answer.measure_names.len()).rev().find(|&measure| answer.sort_by != SortBy::Measure(measure))
}

fn remove(answer: &mut Answer, measure: usize) {
    answer.measure_names.remove(measure);
    for key in &mut answer.top {
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
    use finecomb_top::{Quantity, SeriesCount};

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
            ..Answer::default()
        }
    }

    fn shown(answer: &Answer, keys: usize, columns: usize) -> Vec<String> {
        lines(answer, &answer.top[..keys], Text::default(), columns)
    }

    #[test]
    fn measures_are_columns_below_a_header() {
        assert_eq!(
            shown(&answer(SortBy::Count), 2, 80),
            [
                "count  sum(bytes)  p99(time)  distinct(user)  path",
                " 1234           -          -               -  /index.html",
                "    7           -          -               -  \\u{1b}[31m",
            ]
        );
    }

    #[test]
    fn measures_that_do_not_fit_are_left_out_but_not_the_one_that_the_keys_are_sorted_by() {
        let header = |sort_by, columns| shown(&answer(sort_by), 2, columns).remove(0);
        assert_eq!(header(SortBy::Count, 50), "count  sum(bytes)  p99(time)  path");
        assert_eq!(header(SortBy::Count, 40), "count  sum(bytes)  path");
        assert_eq!(header(SortBy::Count, 1), "count  sum(bytes)  path");
        assert_eq!(header(SortBy::Measure(1), 40), "count  p99(time)  path");
        assert_eq!(header(SortBy::Measure(2), 55), "count  sum(bytes)  distinct(user)  path");
        assert_eq!(header(SortBy::Measure(2), 1), "count  distinct(user)  path");
    }

    #[test]
    fn without_keys_there_are_no_lines() {
        assert!(shown(&answer(SortBy::Count), 0, 80).is_empty());
    }

    #[test]
    fn sparklines_of_the_first_keys_are_below_the_span_of_the_buckets() {
        let keys = [("/", 12), ("\x1b", 4), ("rare", 1)].map(|(key, count)| KeyCount::new(key.into(), count));
        let series = Series {
            buckets: (1..=4).map(|day| format!("2026-03-{day:02}")).collect(),
            keys: keys.to_vec(),
            counts: [(0, 1, 1), (0, 2, 1), (1, 0, 8), (3, 0, 4), (3, 1, 3)]
                .map(|(bucket, key, count)| SeriesCount { bucket, key, count })
                .to_vec(),
        };
        let key_names = ["time", "path"].map(str::to_owned).to_vec();
        let answer = Answer { key_names, ..Answer::default() };
        assert_eq!(
            sparklines(&answer, &series, 2, 80),
            [
                "2026-03-01 to 2026-03-04",
                "count  max  at                path",
                "   12    8  2026-03-02   █ ▄  /",
                "    4    3  2026-03-04  ▃  █  \\u{1b}"
            ]
        );
        assert_eq!(sparklines(&answer, &Series::default(), 2, 80), [""; 0]);
    }
}
