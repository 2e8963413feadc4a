//! The name of the input as a field, against records that have it as a field of their own.

use std::fs;
use std::path::PathBuf;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{Field, InputFormat, KeyCount, Measure, MeasureKind, Query, QueryOptions, SortBy, top};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tempfile::tempdir;

/// Name of the field of records with the name of their input.
const OWN: &str = "own";

/// Options of a count by the name of the input, which is in this field.
fn options(own: &str, each: bool, has_measures: bool, has_condition: bool) -> QueryOptions {
    let field = |name: &str| Field::parse(name).expect("a field");
    let measures = if has_measures {
        vec![
            Measure::Field { kind: MeasureKind::Distinct, field: field(own) },
            Measure::share(&format!("{own} ~ \"[13]$\" && n > 1")).expect("a condition"),
        ]
    } else {
        Vec::new()
    };
    let condition = has_condition.then(|| format!("{own} !~ \"2$\" || n == 0"));
    QueryOptions::default()
        .input(Some(InputFormat::Json))
        .names(vec![field(own), field("n")])
        .extract(if each { vec!["[ab]+".to_owned()] } else { Vec::new() })
        .each(each)
        .measures(measures)
        .condition(condition)
        .sort_by(SortBy::Key)
        .number(usize::MAX)
}

fn keys(paths: &[PathBuf], options: &QueryOptions, scan: &ScanOptions<'_>) -> Vec<KeyCount> {
    let query = Query::new(options).expect("valid options");
    let outcome = top(&Inputs::new(paths), scan, &query);
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.answer.top
}

proptest! {
    #[test]
    fn the_name_of_the_input_is_like_a_field_of_its_records(
        files in prop::collection::vec(prop::collection::vec(0..4_u8, 0..30), 1..5),
        each: bool,
        has_measures: bool,
        has_condition: bool,
        block_size in prop_oneof![Just(1_usize), 2..500_usize, Just(1 << 17)],
    ) {
        let directory = tempdir()?;
        let write = |(number, records): (usize, &Vec<u8>)| {
            let path = directory.path().join(number.to_string());
            let record = |n: &u8| format!("{{\"{OWN}\":{:?},\"n\":{n},\"@file\":\"no\"}}\n", path.to_str().unwrap_or(""));
            fs::write(&path, records.iter().map(record).collect::<String>())?;
            Ok(path)
        };
        let paths = files.iter().enumerate().map(write).collect::<Result<Vec<_>, TestCaseError>>()?;
        let options = |own| options(own, each, has_measures, has_condition);
        let expected = keys(&paths, &options(OWN), &ScanOptions::default());
        for width in [1, 2, 3, 8, 64] {
            let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
            prop_assert_eq!(&keys(&paths, &options("@file"), &scan), &expected);
        }
    }
}

#[test]
fn in_quotes_it_is_a_field_of_records() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a");
    fs::write(&path, "{\"@file\":\"x\"}\n").expect("a file");
    for (field, condition, expected) in [
        ("@file", "@file ~ \"a$\"", path.to_str().unwrap_or_default()),
        ("\"@file\"", "`@file` == \"x\"", "x"),
        (".@file", ".@file == \"x\"", "x"),
    ] {
        let names = vec![Field::parse(field).expect("a field")];
        let options = QueryOptions::default()
            .input(Some(InputFormat::Json))
            .names(names)
            .condition(Some(condition.to_owned()));
        let found = keys(std::slice::from_ref(&path), &options, &ScanOptions::default());
        assert_eq!(found, [KeyCount::new(expected.into(), 1)], "{field}");
    }
}
