//! Keys of the `--live` screen with their measures.

use finecomb_top::output::{Format, Text};
use finecomb_top::{Answer, KeyCount, SortBy};

use crate::message;

/// Minimum width that is left for the key.
const MIN_KEY: usize = 20;

/// Returns a header and the lines of the first `keys` keys. Measures that leave no room for the key in `columns` are left
/// out, from the last one on, but not the one that the keys are sorted by, and not all.
pub(super) fn lines(answer: &Answer, keys: usize, columns: usize) -> Vec<String> {
    let top = answer.top.iter().take(keys).map(readable).collect();
    let mut shown = Answer { top, ..answer.clone() };
    loop {
        let lines = written(&shown);
        let names = shown.key_names.join("  ").chars().count();
        let before = lines.first().map_or(0, |header| header.chars().count().saturating_sub(names));
        match last_measure(&shown).filter(|_| shown.measure_names.len() > 1) {
            Some(last) if before + MIN_KEY > columns => remove(&mut shown, last),
            _ => return lines,
        }
    }
}

/// A key without control characters.
fn readable(key: &KeyCount) -> KeyCount {
    let readable = |text: &Vec<u8>| message::excerpt(text).into_bytes();
    KeyCount { key: readable(&key.key), fields: key.fields.iter().map(readable).collect(), ..key.clone() }
}

fn written(answer: &Answer) -> Vec<String> {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = Text::default().write(answer, &mut text);
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
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
    use finecomb_top::Quantity;

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

    #[test]
    fn measures_are_columns_below_a_header() {
        assert_eq!(
            lines(&answer(SortBy::Count), 2, 80),
            [
                "count  sum(bytes)  p99(time)  distinct(user)  path",
                " 1234           -          -               -  /index.html",
                "    7           -          -               -  \\u{1b}[31m",
            ]
        );
    }

    #[test]
    fn measures_that_do_not_fit_are_left_out_but_not_the_one_that_the_keys_are_sorted_by() {
        let header = |sort_by, columns| lines(&answer(sort_by), 2, columns).remove(0);
        assert_eq!(header(SortBy::Count, 50), "count  sum(bytes)  p99(time)  path");
        assert_eq!(header(SortBy::Count, 40), "count  sum(bytes)  path");
        assert_eq!(header(SortBy::Count, 1), "count  sum(bytes)  path");
        assert_eq!(header(SortBy::Measure(1), 40), "count  p99(time)  path");
        assert_eq!(header(SortBy::Measure(2), 55), "count  sum(bytes)  distinct(user)  path");
        assert_eq!(header(SortBy::Measure(2), 1), "count  distinct(user)  path");
    }

    #[test]
    fn without_keys_there_are_no_lines() {
        assert!(lines(&answer(SortBy::Count), 0, 80).is_empty());
    }
}
