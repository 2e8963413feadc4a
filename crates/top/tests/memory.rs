//! Counts in bounded memory, against counts without a bound.

use std::fs;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{
    Answer, Field, InputFormat, Measure, MeasureKind, MemoryLimit, Percentile, Query, QueryOptions, SortBy,
    Zone, top,
};
use proptest::prelude::*;

/// Records of keys that repeat, some of them long, with a time and a value.
fn records() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        8 => (0..3000_i64, 0..4_usize).prop_map(|(number, places)| format!("{:.places$}", number as f64 / 8.0)),
        1 => Just("-".to_owned()),
        1 => Just("-12345678901234567890.123456".to_owned()),
        1 => Just("none".to_owned()),
    ];
    let record = (
        prop_oneof![0..5_000_u32, 0..3_u32],
        prop_oneof![9 => Just(0_usize), 1 => 20..90_usize],
        0..40_u32,
        value,
    );
    prop::collection::vec(record, 1..3_000).prop_map(|records| {
        let record = |(key, padding, minute, value): (u32, usize, u32, String)| {
            format!("2026-03-01T06:{minute:02}:00Z,{key}{},{value}\n", "x".repeat(padding))
        };
        "time,key,value\n".to_owned() + &records.into_iter().map(record).collect::<String>()
    })
}

fn measures() -> impl Strategy<Value = Vec<Measure>> {
    let percentile = |text: &str| MeasureKind::Percentile(Percentile::parse(text).expect("a percentile"));
    let all = [
        MeasureKind::Sum,
        MeasureKind::Mean,
        MeasureKind::Min,
        MeasureKind::Max,
        percentile("95"),
        MeasureKind::Distinct,
        MeasureKind::Share,
    ];
    let field = prop::sample::select(vec!["value", "value", "key"]);
    let measure = (prop::sample::select(all.to_vec()), field);
    prop_oneof![
        Just(Vec::new()),
        prop::collection::vec(measure, 1..5).prop_map(|measures| {
            let measure =
                |(kind, field)| Measure::Field { kind, field: Field::parse(field).expect("a field") };
            measures.into_iter().map(measure).collect()
        })
    ]
}

fn query() -> impl Strategy<Value = QueryOptions> {
    let number = prop_oneof![Just(3), Just(usize::MAX), Just(0)];
    let sort_by = prop::sample::select(vec![SortBy::Count, SortBy::Key, SortBy::Measure(0)]);
    (number, sort_by, any::<bool>(), 0..3_u64, 0..4_usize, measures()).prop_map(
        |(number, sort_by, reverse, min_count, kind, measures)| {
            let names: &[&str] = [&["key"][..], &["value", "key"], &[], &["key"]][kind];
            QueryOptions::default()
                .number(number)
                .sort_by(if measures.is_empty() && sort_by == SortBy::Measure(0) {
                    SortBy::Key
                } else {
                    sort_by
                })
                .reverse(reverse)
                .min_count(min_count)
                .every((kind >= 2).then(|| "1m".parse().expect("a width")))
                .zone(Zone::UTC)
                .input(Some(InputFormat::Csv))
                .names(names.iter().map(|name| Field::parse(name).expect("a field")).collect())
                .measures(measures)
        },
    )
}

fn shown(answer: &Answer) -> (u64, u64, String) {
    (answer.records, answer.distinct, format!("{:?} {:?}", answer.top, answer.series))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn a_bound_changes_nothing(
        text in records(),
        options in query(),
        width in prop::sample::select(vec![1, 2, 3, 8]),
        block_size in prop::sample::select(vec![1_000, 4_096, 100_000]),
        bytes in prop::sample::select(vec![1, 100_000, 1_000_000, 1 << 30]),
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let log = directory.path().join("log");
        fs::write(&log, text).expect("room");
        let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
        let count = |options: &QueryOptions| {
            let outcome = top(&Inputs::new([&log]), &scan, &Query::new(options).expect("a query"));
            assert_eq!(outcome.failure, None);
            outcome
        };
        let unbounded = count(&options);
        let memory = Some(MemoryLimit { bytes, directory: directory.path().to_owned() });
        let bounded = count(&options.memory(memory));
        prop_assert_eq!(shown(&bounded.answer), shown(&unbounded.answer));
        let is_expected = match bytes {
            ..1_000_000 => bounded.spilled > 0,
            1_000_000 => true,
            _ => bounded.spilled == 0,
        };
        prop_assert!(is_expected, "{} bytes were spilled", bounded.spilled);
        prop_assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
    }
}

#[test]
fn a_key_may_be_longer_than_what_is_read_at_a_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let long = |byte: &str| byte.repeat(1_000_000);
    fs::write(&log, format!("{0}\na\n{1}\n{0}\n\n", long("x"), long("y"))).expect("room");
    let memory = Some(MemoryLimit { bytes: 1, directory: directory.path().to_owned() });
    let query = Query::new(&QueryOptions::default().memory(memory)).expect("a query");
    let options = ScanOptions::default().width(Width::Fixed(2)).block_size(10);
    let outcome = top(&Inputs::new([&log]), &options, &query);
    let counts: Vec<(usize, u64)> = outcome.answer.top.iter().map(|key| (key.key.len(), key.count)).collect();
    assert_eq!(counts, [(1_000_000, 2), (0, 1), (1, 1), (1_000_000, 1)]);
}

#[test]
fn without_a_directory_for_files_there_is_no_answer() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    fs::write(&log, "a\n".repeat(1000)).expect("room");
    let missing = directory.path().join("missing");
    let memory = Some(MemoryLimit { bytes: 1, directory: missing.clone() });
    let query = Query::new(&QueryOptions::default().memory(memory)).expect("a query");
    let outcome = top(&Inputs::new([&log]), &ScanOptions::default().block_size(100), &query);
    let expected = format!("temporary file in {}: no such file or directory", missing.display());
    assert_eq!(outcome.failure, Some(expected));
}
