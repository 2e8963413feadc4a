//! Logs in the format of W3C, whose columns change: compared with a loop over their lines, at any width and block size.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{Field, Outcome, Query, QueryOptions, SortBy, top};
use proptest::prelude::*;
use tempfile::tempdir;

/// Counts of keys, and the numbers of records that are malformed or lack a field of the key.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    keys: BTreeMap<Vec<u8>, u64>,
    malformed: u64,
    missing: u64,
}

fn options(fields: &str) -> QueryOptions {
    QueryOptions::default()
        .input(Some("w3c".parse().expect("a format")))
        .names(Field::parse_list(fields).expect("fields"))
        .number(usize::MAX)
        .sort_by(SortBy::Key)
}

fn count(path: &Path, options: &QueryOptions, width: usize, block_size: usize) -> Outcome {
    let query = Query::new(options).expect("a valid query");
    let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size).max_line(40);
    top(&Inputs::new([path]), &scan, &query)
}

fn found(outcome: &Outcome) -> Expected {
    let number =
        |skipped: &Option<finecomb_top::Skipped>| skipped.as_ref().map_or(0, |skipped| skipped.count);
    Expected {
        keys: outcome.answer.top.iter().map(|key| (key.key.clone(), key.count)).collect(),
        malformed: number(&outcome.answer.malformed),
        missing: number(&outcome.answer.skipped),
    }
}

/// The values of a record, up to a quote that is never closed.
fn values(line: &str) -> Vec<String> {
    if line.contains('\t') {
        return line.split('\t').map(str::to_owned).collect();
    }
    let (mut values, mut rest) = (Vec::new(), line.trim_start_matches(' '));
    while !rest.is_empty() {
        let mut length = 0;
        if rest.starts_with('"') {
            let mut at = 1;
            loop {
                match rest[at..].find('"') {
                    None => return values,
                    Some(quote) if rest[at + quote + 1..].starts_with('"') => at += quote + 2,
                    Some(quote) => break length = at + quote + 1,
                }
            }
        }
        let end = length + rest[length..].find(' ').unwrap_or(rest.len() - length);
        let is_quoted = length > 0 && end == length;
        let value = &rest[..end];
        values.push(if is_quoted { value[1..end - 1].replace("\"\"", "\"") } else { value.to_owned() });
        rest = rest[end..].trim_start_matches(' ');
    }
    values
}

/// A loop over all lines.
fn by_loop(text: &str, fields: &[&str]) -> Expected {
    let (mut expected, mut names): (Expected, Option<Vec<&str>>) = Default::default();
    for line in text.lines().filter(|line| line.len() <= 40 && !line.is_empty()) {
        if let Some(list) = line.strip_prefix("#Fields:") {
            names = Some(list.split(' ').filter(|name| !name.is_empty()).collect());
        }
        if line.starts_with('#') {
            continue;
        }
        let Some(names) = &names else {
            expected.malformed += 1;
            continue;
        };
        let values = values(line);
        let places: Vec<Option<usize>> =
            fields.iter().map(|field| names.iter().position(|name| name == field)).collect();
        let last = places.iter().flatten().max();
        if last.is_some_and(|&last| last >= values.len()) {
            expected.malformed += 1;
            continue;
        }
        let key: Option<Vec<&str>> = places.iter().map(|place| Some(values[(*place)?].as_str())).collect();
        match key {
            Some(key) => *expected.keys.entry(key.join(" ").into_bytes()).or_default() += 1,
            None => expected.missing += 1,
        }
    }
    expected
}

fn texts() -> impl Strategy<Value = String> {
    let names = prop::sample::subsequence(vec!["a", "b", "c", "d"], 0..=4).prop_shuffle();
    let heading = names.prop_map(|names| format!("#Fields: {}", names.join(" ")));
    let value = prop::sample::select(
        &["1", "2", "x", "-", "\"q r\"", "\"q \"\"r\"\"\"", "\"open", "\"a\"b", "é", "#"][..],
    );
    let values = prop::collection::vec(value, 1..5);
    let line = prop_oneof![
        2 => heading,
        1 => Just("#Fields:".to_owned()),
        1 => Just("#Date: 2026-03-01".to_owned()),
        1 => Just("#Fields: a b c d which are too long a line".to_owned()),
        1 => Just(String::new()),
        1 => Just("x #Fields: b a".to_owned()),
        6 => values.clone().prop_map(|values| values.join(" ")),
        3 => values.prop_map(|values| values.join("\t")),
    ];
    let end = prop::sample::select(&["\n", "\n", "\r\n"][..]);
    prop::collection::vec((line, end), 0..40)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

proptest! {
    #[test]
    fn columns_are_those_of_the_last_line_with_names(
        text in texts(), block_size in 1..200_usize, is_open: bool,
    ) {
        let text = if is_open { text.trim_end_matches(['\r', '\n']) } else { &text };
        let directory = tempdir()?;
        let path = directory.path().join("log");
        fs::write(&path, text)?;
        for fields in ["a", "b,a", "d"] {
            let expected = by_loop(text, &fields.split(',').collect::<Vec<_>>());
            for width in [1, 2, 3, 8] {
                let outcome = count(&path, &options(fields), width, block_size);
                prop_assert_eq!(&found(&outcome), &expected, "width {}", width);
                prop_assert_eq!(outcome.answer.records, expected.keys.values().sum::<u64>());
            }
        }
    }
}

/// A log whose columns change every few hundred lines.
fn changing_log() -> String {
    let mut text = String::from("#Version: 1.0\r\n");
    for number in 0..40_000 {
        if number % 700 == 0 {
            let names = if number % 1400 == 0 { "a b" } else { "b c a" };
            text += &format!("#Fields: {names}\r\n#Date: 2026-03-01\r\n");
        }
        let key = number % 3;
        text += &if number / 700 % 2 == 0 { format!("k{key} b\r\n") } else { format!("b\tc\tk{key}\r\n") };
    }
    text
}

#[test]
fn columns_change_in_compressed_files_as_well() {
    let text = changing_log();
    let expected = by_loop(&text, &["a"]);
    assert_eq!(expected.keys.len(), 3);
    let directory = tempdir().expect("a directory");
    let gzip = |text: &[u8]| {
        let path = directory.path().join("text");
        fs::write(&path, text).expect("a file");
        Command::new("gzip").arg("-c").arg(&path).output().expect("gzip").stdout
    };
    for parts in [1, 7] {
        let members: Vec<u8> = text.as_bytes().chunks(text.len().div_ceil(parts)).flat_map(gzip).collect();
        let path = directory.path().join("log.gz");
        fs::write(&path, &members).expect("a file");
        for (width, block_size) in [(1, 1 << 17), (2, 4096), (8, 100), (3, 1 << 17)] {
            let outcome = count(&path, &options("a"), width, block_size);
            assert_eq!(found(&outcome), expected, "{parts} members, width {width}, blocks of {block_size}");
        }
    }
    let path = directory.path().join("log");
    fs::write(&path, &text).expect("a file");
    for (width, block_size) in [(1, 100), (2, 1 << 10), (3, 5000), (8, 1 << 20)] {
        assert_eq!(found(&count(&path, &options("a"), width, block_size)), expected, "{width}, {block_size}");
    }
}
