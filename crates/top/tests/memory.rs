//! Counts in bounded memory, against counts without a bound.

use std::fs;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{Answer, Field, InputFormat, MemoryLimit, Query, QueryOptions, SortBy, Zone, top};
use proptest::prelude::*;

/// Lines of keys that repeat, some of them long, after a time.
fn lines() -> impl Strategy<Value = String> {
    let line = (0..5_000_u32, prop_oneof![9 => Just(0_usize), 1 => 20..90_usize], 0..40_u32);
    prop::collection::vec(line, 1..3_000).prop_map(|lines| {
        let line = |(key, padding, minute): (u32, usize, u32)| {
            format!("2026-03-01T06:{minute:02}:00Z {key}{}\n", "x".repeat(padding))
        };
        lines.into_iter().map(line).collect()
    })
}

fn query() -> impl Strategy<Value = QueryOptions> {
    let number = prop_oneof![Just(3), Just(usize::MAX), Just(0)];
    let sort_by = prop::sample::select(vec![SortBy::Count, SortBy::Key]);
    (number, sort_by, any::<bool>(), 0..3_u64, 0..4).prop_map(
        |(number, sort_by, reverse, min_count, kind)| {
            let every = (kind >= 2).then(|| "1m".parse().expect("a width"));
            QueryOptions {
                number,
                sort_by,
                reverse,
                min_count,
                every,
                zone: Zone::UTC,
                input: Some(InputFormat::Lines),
                fields: if kind == 1 { "2".parse().expect("fields") } else { QueryOptions::default().fields },
                names: if kind == 3 { vec![Field::parse("2").expect("a field")] } else { Vec::new() },
                ..QueryOptions::default()
            }
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
        text in lines(),
        options in query(),
        width in prop::sample::select(vec![1, 2, 3, 8]),
        block_size in prop::sample::select(vec![100, 4_096, 100_000]),
        bytes in prop::sample::select(vec![1, 100_000, 1_000_000, 1 << 30]),
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let log = directory.path().join("log");
        fs::write(&log, text).expect("room");
        let scan = ScanOptions { width: Width::Fixed(width), block_size, ..ScanOptions::default() };
        let count = |options: &QueryOptions| {
            let outcome = top(&Inputs::new([&log]), &scan, &Query::new(options).expect("a query"));
            assert_eq!(outcome.failure, None);
            outcome
        };
        let unbounded = count(&options);
        let memory = Some(MemoryLimit { bytes, directory: directory.path().to_owned() });
        let bounded = count(&QueryOptions { memory, ..options });
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
    let query = Query::new(&QueryOptions { memory, ..QueryOptions::default() }).expect("a query");
    let options = ScanOptions { width: Width::Fixed(2), block_size: 10, ..ScanOptions::default() };
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
    let query = Query::new(&QueryOptions { memory, ..QueryOptions::default() }).expect("a query");
    let outcome =
        top(&Inputs::new([&log]), &ScanOptions { block_size: 100, ..ScanOptions::default() }, &query);
    let expected = format!(
        "temporary file in {}: no such file or directory; use --temporary-directory for another directory, or raise --memory",
        missing.display()
    );
    assert_eq!(outcome.failure, Some(expected));
}
