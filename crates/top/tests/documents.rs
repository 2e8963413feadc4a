//! JSON in arrays and over several lines: keys are those that a parser finds, at any width, block size and in any container.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{Field, Outcome, Query, QueryError, QueryOptions, top};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::tempdir;

fn options(fields: &str) -> QueryOptions {
    QueryOptions::default().names(Field::parse_list(fields).expect("fields")).number(100)
}

fn count(name: &str, bytes: &[u8], options: &QueryOptions, (width, block_size): (usize, usize)) -> Outcome {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join(name);
    fs::write(&path, bytes).expect("a file");
    let query = Query::new(options).expect("a valid query");
    top(
        &Inputs::new([path]),
        &ScanOptions::default().width(Width::Fixed(width)).block_size(block_size),
        &query,
    )
}

/// Keys with their counts, and the number of malformed records.
fn counts(outcome: &Outcome) -> (BTreeMap<String, u64>, u64) {
    let key = |key: &finecomb_top::KeyCount| (String::from_utf8_lossy(&key.key).into_owned(), key.count);
    let malformed = outcome.answer.malformed.as_ref().map_or(0, |skipped| skipped.count);
    (outcome.answer.top.iter().map(key).collect(), malformed)
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("nothing fails in memory")
}

fn objects() -> impl Strategy<Value = Vec<Value>> {
    let text = "[a-c\"\\\\{}\\[\\], \n]{0,6}";
    let object = (0..4, text, prop::collection::vec(text, 0..3), any::<bool>()).prop_map(
        |(key, text, list, has_key)| {
            let mut object = json!({"text": text, "list": list, "nested": {"k": [{}, {"k": text}]}});
            if has_key {
                object["k"] = json!(format!("k{key}"));
            }
            object
        },
    );
    prop::collection::vec(object, 0..120)
}

/// A text of documents, and the path of the arrays in them.
fn written(values: &[Value], shape: usize, is_pretty: bool) -> (String, Option<&'static str>) {
    let write = |value: &Value| {
        let text = if is_pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        text.expect("nothing fails in memory")
    };
    let (one, two) = values.split_at(values.len() / 3);
    match shape {
        0 => (write(&json!(values)), None),
        1 => (write(&json!(one)) + "\n" + &write(&json!(two)), None),
        2 => (values.iter().map(write).collect::<Vec<_>>().join("\n"), None),
        3 => (values.iter().map(write).collect(), None),
        _ => {
            let wrap = |values: &[Value]| {
                write(&json!({"a": {"k": [{"k": 1}], "r": values, "z": {"r": [{}]}}, "k": 2}))
            };
            (wrap(one) + &wrap(two) + "\n", Some(".a.r"))
        }
    }
}

proptest! {
    #[test]
    fn records_are_those_that_a_parser_finds(
        values in objects(),
        (shape, is_pretty) in (0..5_usize, any::<bool>()),
        width in prop::sample::select(vec![1, 2, 3, 8]),
        block_size in prop_oneof![1..100_usize, 1000..5000_usize],
        is_packed in any::<bool>(),
    ) {
        let (text, array) = written(&values, shape, is_pretty);
        let mut expected = BTreeMap::new();
        for value in &values {
            let key = value["k"].as_str().unwrap_or("none");
            *expected.entry(key.to_owned()).or_insert(0) += 1;
        }
        let array = array.map(|path| Field::parse(path).expect("a path"));
        let options = options("k").missing(Some("none".to_owned())).records(array);
        let (name, bytes) = match is_packed {
            true => ("a.gz", text.as_bytes().chunks(3000).flat_map(gzip).collect()),
            false => ("a", text.into_bytes()),
        };
        prop_assert_eq!(counts(&count(name, &bytes, &options, (width, block_size))), (expected, 0));
    }
}

#[test]
fn malformed_parts_cost_only_themselves() {
    let cases = [
        ("[{\"k\":1},\n{\"z\":2,\n{\"k\":3},\n{\"k\":4}]\n", "1 3 4", 1),
        ("[{\"k\":1},\n{\"z\":x\"y},\n{\"k\":3}]", "1 3", 1),
        ("[{\"k\":1}, 7, \"{\", {\"k\":3}, [{\"z\":1}], null]", "1 3", 3),
        ("[\n{\"k\":1}\n]\nstarted {now}\n[\n{\"k\":2}\n]\n", "1 2", 1),
        ("[\n {\n  \"k\": 1\n },\n {\n  \"z\": {\n },\n {\n  \"k\": 2\n }\n]", "1 2", 1),
        ("{\n\"k\": 1\n}\n{\n\"z\": \"\n}\n{\n\"k\": 2\n}\n", "1 2", 1),
    ];
    for (text, keys, malformed) in cases {
        for setting in [(1, 1 << 17), (3, 1), (2, 20), (8, 7)] {
            let query =
                options("k").missing(Some("none".to_owned())).vgrep(vec!["^\\{\"z\":1\\}".to_owned()]);
            let (mut found, skipped) = counts(&count("a", text.as_bytes(), &query, setting));
            // The record before the wanted field is read to its end.
            let none = found.remove("none").unwrap_or(0);
            let found = found.into_keys().collect::<Vec<_>>().join(" ");
            assert_eq!((found.as_str(), skipped + none), (keys, malformed), "{text} {setting:?}");
        }
    }
}

#[test]
fn documents_without_the_array_are_malformed() {
    let array = Some(Field::parse(".r").expect("a path"));
    let text = "{\"r\":[{\"k\":1}]}\n{\"k\":2}\n{\"r\":{\"k\":3}}\n{\"r\":[{\"k\":4},5]}";
    for setting in [(1, 1 << 17), (3, 1), (2, 20)] {
        let outcome = count("a", text.as_bytes(), &options("k").records(array.clone()), setting);
        let (found, malformed) = counts(&outcome);
        assert_eq!((found.into_keys().collect::<Vec<_>>().join(" "), malformed), ("1 4".to_owned(), 3));
    }
}

#[test]
fn documents_with_the_array_are_in_no_other() {
    let array = Some(Field::parse(".r").expect("a path"));
    for text in ["[{\"r\":[{\"k\":1}]},{\"r\":[{\"k\":2}]}]", " \n[]"] {
        let outcome = count("a", text.as_bytes(), &options("k").records(array.clone()), (2, 1));
        assert!(outcome.problems[0].to_string().contains("found an array"), "{:?}", outcome.problems);
    }
}

#[test]
fn only_paths_of_members_in_json_lead_to_records() {
    let refused = |path: &str, format: Option<&str>| {
        let format = format.map(|format| format.parse().expect("a format"));
        let options = options("k").records(Some(Field::parse(path).expect("a field"))).input(format);
        match Query::new(&options) {
            Err(QueryError::Records { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused("a[0]", None).contains("elements of arrays"));
    assert!(refused("7", None).contains("such as .Records"));
    assert!(refused("a", Some("csv")).contains("json"));
    assert!(refused(&"a".repeat(127), None).contains("127 bytes"));
}
