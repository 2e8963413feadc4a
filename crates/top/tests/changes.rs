//! Changes of counts between two inputs or two windows of time, against separate counts of both.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{
    Answer, Bound, Compare, Every, Field, InputFormat, Measure, MemoryLimit, Query, QueryOptions, SortBy,
    Zone, count_all, top,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tempfile::tempdir;

/// The counts of all keys.
type KeyCounts = BTreeMap<Vec<u8>, u64>;

fn counts(paths: &[PathBuf], options: QueryOptions) -> (KeyCounts, u64) {
    let query = Query::new(&options.number(usize::MAX)).expect("valid options");
    let answer = top(&Inputs::new(paths), &ScanOptions::default(), &query).answer;
    (answer.top.iter().map(|key| (key.key.clone(), key.count)).collect(), answer.records)
}

/// The rows of the changes, each with its key, count, and values as texts.
type ChangeRow = (Vec<u8>, u64, Vec<String>);

fn rows(answer: &Answer) -> Vec<ChangeRow> {
    let values = |key: &finecomb_top::KeyCount| key.values.iter().map(ToString::to_string).collect();
    answer.top.iter().map(|key| (key.key.clone(), key.count, values(key))).collect()
}

/// The rows and numbers of an answer, from separate counts.
fn expected(
    before: &(KeyCounts, u64),
    after: &(KeyCounts, u64),
    number: usize,
) -> (Vec<ChangeRow>, [u64; 5]) {
    let count = |counts: &KeyCounts, key: &Vec<u8>| counts.get(key).copied().unwrap_or(0);
    let mut keys: Vec<&Vec<u8>> = before.0.keys().chain(after.0.keys()).collect();
    keys.sort();
    keys.dedup();
    let both = |key: &Vec<u8>| (count(&before.0, key), count(&after.0, key));
    let new = keys.iter().filter(|key| both(key).0 == 0).count() as u64;
    let gone = keys.iter().filter(|key| both(key).1 == 0).count() as u64;
    let numbers = [before.1 + after.1, before.1, keys.len() as u64, new, gone];
    keys.sort_by_key(|key| {
        let (before, after) = both(key);
        std::cmp::Reverse(before.abs_diff(after))
    });
    let row = |key: &&Vec<u8>| {
        let (before, after) = both(key);
        let percent = (100 * after as i64 - 100 * before as i64) as f64 / before as f64;
        // At most 100 records: no half of a hundredth.
        let percent =
            if before == 0 { String::new() } else { format!("{}", (percent * 100.0).round() / 100.0) };
        let change = after as i64 - before as i64;
        (key.to_vec(), after, vec![before.to_string(), change.to_string(), percent])
    };
    (keys.iter().take(number).map(row).collect(), numbers)
}

/// Compares the answers at all widths.
fn check(
    paths: &[PathBuf],
    options: &QueryOptions,
    block_size: usize,
    expected: &(Vec<ChangeRow>, [u64; 5]),
) -> Result<(), TestCaseError> {
    let query = Query::new(options).expect("valid options");
    for width in [1, 2, 3, 8, 64] {
        let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
        let answer = top(&Inputs::new(paths), &scan, &query).answer;
        let changes = answer.changes.expect("changes");
        let numbers = [answer.records, changes.before, answer.distinct, changes.new, changes.gone];
        let found = rows(&answer).into_iter().map(|(key, count, values)| {
            (
                key,
                count,
                values.into_iter().map(|value| if value == "-" { String::new() } else { value }).collect(),
            )
        });
        prop_assert_eq!(&(found.collect::<Vec<_>>(), numbers), expected, "width {}", width);
    }
    Ok(())
}

proptest! {
    #[test]
    fn inputs_are_compared_like_separate_counts(
        files in [prop::collection::vec(0..9_u8, 0..60), prop::collection::vec(0..9_u8, 0..60)],
        has_condition: bool,
        has_edit: bool,
        in_memory: bool,
        number in prop_oneof![0..5_usize, Just(usize::MAX)],
        block_size in prop_oneof![Just(1_usize), 2..500_usize, Just(1 << 17)],
    ) {
        let directory = tempdir()?;
        let paths = ["old", "new"].map(|name| directory.path().join(name));
        for (path, records) in paths.iter().zip(&files) {
            fs::write(path, records.iter().map(|key| format!("k{key} x\n")).collect::<String>())?;
        }
        let options = QueryOptions::default()
            .fields("1".parse().expect("a list"))
            .condition(has_condition.then(|| "$1 ~ \"[0-6]\"".to_owned()))
            .sed(if has_edit { vec![("[12]".to_owned(), "a".to_owned())] } else { Vec::new() })
            .memory(in_memory.then(|| MemoryLimit { bytes: 32 << 20, directory: directory.path().to_owned() }));
        let [before, after] = [0, 1].map(|side| counts(&paths[side..=side], options.clone()));
        let options = options.compare(Some(Compare::Inputs)).sort_by(SortBy::Measure(1)).number(number);
        let expected = expected(&before, &after, number);
        check(&paths, &options, block_size, &expected)?;
        let query = Query::new(&options).expect("valid options");
        let separate = Query::new(&options.clone().compare(None).sort_by(SortBy::Count)).expect("valid options");
        let [before, after] = [0, 1].map(|side| {
            let inputs = Inputs::new([&paths[side]]);
            let stored = count_all(&inputs, &ScanOptions::default(), &separate).counts.store(b"");
            let mut counts = finecomb_top::Counts::new(&query);
            finecomb_top::StoredCounts::new(&stored).expect("counts").add_to(&mut counts).expect("counts");
            counts
        });
        let answer = after.changes_since(&before);
        let merged: Vec<_> = rows(&answer).into_iter().map(|(key, count, _)| (key, count)).collect();
        prop_assert_eq!(merged, expected.0.into_iter().map(|(key, count, _)| (key, count)).collect::<Vec<_>>());
    }

    #[test]
    fn windows_are_compared_like_separate_counts(
        records in prop::collection::vec((0..60_u8, 0..5_u8), 0..100),
        has_each: bool,
        since in 10..50_u8,
        length in 1..10_u8,
        gap in 0..5_u8,
        block_size in prop_oneof![Just(1_usize), 2..500_usize, Just(1 << 17)],
    ) {
        let directory = tempdir()?;
        let path = [directory.path().join("log")];
        let line = |&(minute, key): &(u8, u8)| format!("{{\"time\":\"2026-03-01T10:{minute:02}:00Z\",\"k\":\"k{key}\"}}\n");
        fs::write(&path[0], records.iter().map(line).collect::<String>())?;
        let bound = |minute: u8| {
            let time = format!("2026-03-01 {:02}:{:02}", 10 + minute / 60, minute % 60);
            Some(Bound::parse(&time, &Zone::UTC, 0).expect("a time"))
        };
        let shift = length + gap;
        let options = QueryOptions::default().input(Some(InputFormat::Json));
        let options = match has_each {
            true => options.extract(vec!["k[0-9]|[13]0".to_owned()]).each(true),
            false => options.names(vec![Field::parse("k").expect("a field")]),
        };
        let until = since + length;
        let of = |since: u8, until: u8| counts(&path, options.clone().since(bound(since)).until(bound(until)));
        let expected = expected(&of(since.saturating_sub(shift), until.saturating_sub(shift)), &of(since, until), 10);
        prop_assume!(since >= shift);
        let options = options
            .clone()
            .since(bound(since))
            .until(bound(until))
            .compare(Some(format!("{shift}m").parse().expect("a duration")))
            .sort_by(SortBy::Measure(1));
        check(&path, &options, block_size, &expected)?;
    }
}

#[test]
fn other_options_that_contradict_a_comparison_are_refused() {
    let options =
        |compare: &str| QueryOptions::default().compare(Some(compare.parse().expect("a comparison")));
    let bound = |text: &str| Some(Bound::parse(text, &Zone::UTC, 0).expect("a time"));
    for (options, reason) in [
        (options("inputs").every(Some("1h".parse::<Every>().expect("a width"))), "bucket"),
        (options("inputs").approximate(Some(1 << 20)), "approximate"),
        (options("inputs").columns(Some(Field::input())), "column"),
        (options("inputs").measures(vec![Measure::share("a").expect("a condition")]), "measures"),
        (options("1d"), "beginning"),
        (options("1d").since(bound("2026-03-01")), "overlap"),
        (options("1d").since(bound("2026-03-01")).until(bound("2026-03-02 00:01")), "overlap"),
    ] {
        let error = Query::new(&options).expect_err("an error").to_string();
        assert!(error.starts_with("comparison: ") && error.contains(reason), "{error}");
    }
    assert!(Query::new(&options("1d").since(bound("2026-03-01")).until(bound("2026-03-02"))).is_ok());
}
