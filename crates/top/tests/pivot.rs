//! Counts by the values of a field, against counts of keys that have this field as their last.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{
    Answer, Every, Field, InputFormat, Measure, MeasureKind, MemoryLimit, Query, QueryOptions, SortBy,
    count_all, top,
};
use proptest::prelude::*;
use tempfile::tempdir;

/// Fields `a`, `b` and `n` of a record; any may be missing.
type Record = [Option<u8>; 3];

fn record() -> impl Strategy<Value = Record> {
    let value = |most: u8| prop_oneof![9 => (0..most).prop_map(Some), 1 => Just(None)];
    [value(4), value(6), value(20)]
}

/// Texts of the values of `b`, with some that need care.
const TEXTS: [&str; 6] = ["200", "404", "count", "", "key", "a b"];

fn line(record: &Record) -> String {
    let [a, b, n] = record;
    let a = a.map(|a| format!("\"a\":\"/{a}\""));
    let b = b.map(|b| format!("\"b\":\"{}\"", TEXTS[usize::from(b)]));
    let n = n.map(|n| format!("\"n\":{n}"));
    format!("{{{}}}\n", [a, b, n].into_iter().flatten().collect::<Vec<_>>().join(","))
}

fn field(name: &str) -> Field {
    Field::parse(name).expect("a field")
}

fn answers(path: &Path, options: &QueryOptions, block_size: usize) -> Vec<Answer> {
    let query = Query::new(options).expect("valid options");
    let inputs = Inputs::new([path]);
    let scan = |width| ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
    let mut answers: Vec<Answer> =
        [1, 2, 3, 8, 64].map(|width| top(&inputs, &scan(width), &query).answer).into();
    answers.push(count_all(&inputs, &scan(2), &query).counts.answer());
    answers
}

/// The texts of all cells by key, and by text of the value.
type Cells = BTreeMap<(Vec<u8>, String), String>;

/// The name of the column of a value.
fn name(value: &str) -> String {
    match value {
        "" | "count" | "key" => format!("b={value}"),
        value => value.to_owned(),
    }
}

fn pivoted(answer: &Answer) -> Cells {
    let of_row = |row: &finecomb_top::KeyCount| {
        let cells = answer.measure_names.iter().zip(&row.values);
        cells.map(|(name, value)| ((row.key.clone(), name.clone()), value.to_string())).collect::<Vec<_>>()
    };
    answer.top.iter().flat_map(of_row).collect()
}

proptest! {
    #[test]
    fn the_cells_are_the_counts_of_pairs(
        records in prop::collection::vec(record(), 0..80),
        has_missing: bool,
        has_measure: bool,
        ignore_case: bool,
        has_edit: bool,
        in_memory: bool,
        block_size in prop_oneof![Just(1_usize), 2..500_usize, Just(1 << 17)],
    ) {
        let directory = tempdir()?;
        let path = directory.path().join("a");
        fs::write(&path, records.iter().map(line).collect::<String>())?;
        let options = QueryOptions::default()
            .input(Some(InputFormat::Json))
            .missing(has_missing.then(|| "404".to_owned()))
            .ignore_case(ignore_case)
            .measures(has_measure.then(|| Measure::Field { kind: MeasureKind::Sum, field: field("n") }).into_iter().collect())
            .memory(in_memory.then(|| MemoryLimit { bytes: 32 << 20, directory: directory.path().to_owned() }))
            .sort_by(SortBy::Key)
            .number(usize::MAX);
        let edits = if has_edit { vec![("/[12]".to_owned(), "x".to_owned())] } else { Vec::new() };
        let pairs = top(
            &Inputs::new([&path]),
            &ScanOptions::default(),
            &Query::new(&options.clone().names(vec![field("a"), field("b")])).expect("valid options"),
        )
        .answer;
        let edited = |key: &[u8]| match key {
            b"/1" | b"/2" if has_edit => b"x".to_vec(),
            key => key.to_vec(),
        };
        let (mut expected, mut rows, mut values) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        for pair in &pairs.top {
            let (key, value) = (edited(&pair.fields[0]), String::from_utf8_lossy(&pair.fields[1]).into_owned());
            *rows.entry(key.clone()).or_insert(0_u64) += pair.count;
            let number = match pair.values.first() {
                Some(sum) => sum.to_string().parse::<i64>().ok(),
                None => i64::try_from(pair.count).ok(),
            };
            let cell: &mut Option<i64> = expected.entry((key, name(&value))).or_default();
            *cell = cell.map_or(number, |known| Some(known + number.unwrap_or(0)));
            values.insert(value);
        }
        let none = || if has_measure { None } else { Some(0) };
        let expected: Cells = rows
            .keys()
            .flat_map(|key| values.iter().map(|value| (key.clone(), name(value))))
            .map(|cell| {
                let number = expected.get(&cell).copied().unwrap_or_else(none);
                (cell, number.map_or_else(|| "-".to_owned(), |number| number.to_string()))
            })
            .collect();
        let options = options.names(vec![field("a")]).columns(Some(field("b"))).sed(edits);
        for answer in answers(&path, &options, block_size) {
            let found: Cells = pivoted(&answer).into_iter().map(|(cell, text)| (cell, if text.is_empty() { "-".to_owned() } else { text })).collect();
            prop_assert_eq!(&found, &expected);
            let found: Vec<(Vec<u8>, u64)> = answer.top.iter().map(|row| (row.key.clone(), row.count)).collect();
            prop_assert_eq!(found, rows.clone().into_iter().collect::<Vec<_>>());
            prop_assert_eq!(answer.distinct, rows.len() as u64);
            prop_assert_eq!(answer.records, pairs.records);
            prop_assert_eq!(answer.skipped.as_ref().map(|skipped| skipped.count), pairs.skipped.as_ref().map(|skipped| skipped.count));
        }
    }
}

#[test]
fn other_options_that_contradict_columns_are_refused() {
    let sum = Measure::Field { kind: MeasureKind::Sum, field: field("n") };
    let options = || QueryOptions::default().columns(Some(field("b")));
    for options in [
        options().every(Some("1h".parse::<Every>().expect("a width"))),
        options().approximate(Some(1 << 20)),
        options().measures(vec![sum.clone(), sum.clone()]),
        options().measures(vec![sum]).sort_by(SortBy::Measure(0)),
    ] {
        let error = Query::new(&options).expect_err("an error").to_string();
        assert!(error.starts_with("columns: "), "{error}");
    }
}
