//! Approximate counts against exact ones, at any width and block size.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use finecomb_scan::{Inputs, ScanOptions, Stop, Width};
use finecomb_top::{Approximation, Field, KeyCount, Outcome, Query, QueryOptions, top};
use proptest::prelude::*;
use tempfile::tempdir;

/// Width and block size.
type Way = (usize, usize);

/// The way of counting that others are compared with.
const FIRST: Way = (1, 128 << 10);

/// Others, which must not matter.
const OTHERS: [Way; 5] = [(1, 7), (2, 1), (3, 100), (8, 1000), (64, 64)];

/// Little memory, so that most keys get lost.
const MEMORY: usize = 2 << 10;

fn count(paths: &[PathBuf], options: &QueryOptions, (width, block_size): Way) -> Outcome {
    let query = Query::new(options).expect("a valid query");
    let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
    top(&Inputs::new(paths), &scan, &query)
}

/// Counts approximately, the same in all these ways.
fn approximate(paths: &[PathBuf], options: &QueryOptions, memory: usize, others: &[Way]) -> Outcome {
    let options = options.clone().approximate(Some(memory));
    let first = count(paths, &options, FIRST);
    for &way in others {
        let other = count(paths, &options, way);
        assert_eq!(format!("{:?}", other.answer), format!("{:?}", first.answer), "{way:?}");
        assert_eq!(format!("{:?}", other.problems), format!("{:?}", first.problems));
    }
    first
}

fn bound(outcome: &Outcome) -> u64 {
    outcome.answer.approximation.expect("an approximate answer").bound
}

/// Checks the approximate counts of a query, with and without a second pass, against the exact ones.
fn check(paths: &[PathBuf], options: &QueryOptions, number: usize, memory: usize, others: &[Way]) {
    let of = |number| options.clone().number(number);
    let exact = count(paths, &of(usize::MAX), (2, 128 << 10));
    let counts: HashMap<Vec<u8>, u64> =
        exact.answer.top.iter().map(|key| (key.key.clone(), key.count)).collect();
    let all = approximate(paths, &of(usize::MAX), memory, others);
    let bound_of_all = bound(&all);
    check_keys(&all.answer.top, &counts, bound_of_all);
    let found: HashMap<&[u8], u64> = all.answer.top.iter().map(|key| (&key.key[..], key.count)).collect();
    let lost = counts.iter().filter(|(key, _)| !found.contains_key(&key[..]));
    for (key, &count) in lost {
        assert!(count <= bound_of_all, "{key:?} occurs {count} times");
    }
    assert!(all.answer.top.iter().all(|key| !key.is_uncertain), "all keys are wanted");
    assert!(all.answer.distinct <= exact.answer.distinct);
    let best = &exact.answer.top[..number.min(exact.answer.top.len())];
    let some = approximate(paths, &of(number), memory, others);
    check_top(&some, best, &counts);
    let recounted = approximate(paths, &of(number).recount(true), memory, others);
    check_top(&recounted, best, &counts);
    assert_eq!((bound(&some), bound(&recounted)), (bound_of_all, bound_of_all));
    assert!(!recounted.answer.approximation.is_some_and(|approximation| approximation.has_changed));
    let certain = |outcome: &Outcome| outcome.answer.top.iter().filter(|key| !key.is_uncertain).count();
    assert!(certain(&recounted) >= certain(&some));
    if bound_of_all == 0 {
        assert_eq!(some.answer.top, best);
        assert_eq!(some.answer.distinct, exact.answer.distinct);
    }
    for outcome in [&all, &some, &recounted] {
        let (ours, theirs) = (&outcome.answer, &exact.answer);
        assert_eq!(
            (ours.records, &ours.skipped, &ours.malformed),
            (theirs.records, &theirs.skipped, &theirs.malformed)
        );
        assert_eq!((&ours.unmatched, &ours.absent), (&theirs.unmatched, &theirs.absent));
        assert_eq!((&ours.key_names, &ours.key_fields), (&theirs.key_names, &theirs.key_fields));
        assert_eq!(format!("{:?}", outcome.problems), format!("{:?}", exact.problems));
        assert_eq!(outcome.bytes, exact.bytes);
    }
}

fn check_keys(keys: &[KeyCount], counts: &HashMap<Vec<u8>, u64>, bound: u64) {
    for KeyCount { key, count, error, .. } in keys {
        assert!((*count..=count + error).contains(&counts[key]), "{} is not in {count}+{error}", counts[key]);
        assert!(*error <= bound);
    }
    let order = |one: &KeyCount, other: &KeyCount| one.cmp(other).is_lt();
    assert!(keys.is_sorted_by(order));
}

fn check_top(outcome: &Outcome, best: &[KeyCount], counts: &HashMap<Vec<u8>, u64>) {
    let keys = &outcome.answer.top;
    check_keys(keys, counts, bound(outcome));
    assert!(keys.len() <= best.len());
    for key in keys.iter().filter(|key| !key.is_uncertain) {
        assert!(best.iter().any(|best| best.key == key.key), "{key:?} is not one of the most frequent ones");
    }
}

/// Keys as numbers: some frequent, many rare.
fn keys() -> impl Strategy<Value = Vec<u32>> {
    let key = prop_oneof![3 => 0..8_u32, 2 => 0..60_u32, 3 => 0..2000_u32];
    prop::collection::vec(key, 0..700)
}

/// Two of the other ways.
fn others() -> impl Strategy<Value = Vec<Way>> {
    prop::sample::subsequence(OTHERS.to_vec(), 2)
}

/// Writes files of lines into a directory: the keys, in this many files.
fn files(directory: &tempfile::TempDir, keys: &[u32], number: usize) -> Vec<PathBuf> {
    let size = keys.len().div_ceil(number).max(1);
    let write = |(number, keys): (usize, &[u32])| {
        let folder = directory.path().join(format!("{}", number % 3));
        fs::create_dir_all(&folder).expect("a directory");
        let path = folder.join(format!("{number}.log"));
        let lines: String = keys.iter().map(|key| format!("a {key} b{}\n", key % 7)).collect();
        fs::write(&path, lines).expect("a file");
        path
    };
    keys.chunks(size).enumerate().map(write).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 10))]
    #[test]
    fn counts_of_files_are_within_their_bounds(
        keys in keys(),
        number in prop::sample::select(vec![0, 1, 3, 10, 40, 1000]),
        memory in prop::sample::select(vec![MEMORY, 6 << 10, 1 << 20]),
        others in others(),
    ) {
        let directory = tempdir().expect("a directory");
        let paths = files(&directory, &keys, 1);
        let options = QueryOptions::default().fields("2".parse().expect("a field"));
        check(&paths, &options, number, memory, &others);
        let options = QueryOptions::default().grep(vec!["[1-3]".to_owned()]);
        check(&paths, &options, number, memory, &others);
    }

    #[test]
    fn counts_of_several_files_and_directories_are_within_their_bounds(
        keys in keys(),
        number in 2..80_usize,
        others in others(),
    ) {
        let directory = tempdir().expect("a directory");
        let paths = files(&directory, &keys, number);
        let options = QueryOptions::default().fields("2,3".parse().expect("fields"));
        check(&paths, &options, 10, MEMORY, &others);
        check(&[directory.path().to_owned()], &options, 10, MEMORY, &others);
    }

    #[test]
    fn keys_by_expression_and_of_formats_are_counted(keys in keys(), each: bool, others in others()) {
        let directory = tempdir().expect("a directory");
        let (json, csv) = (directory.path().join("a.json"), directory.path().join("b.csv"));
        let objects: String = keys.iter().map(|key| format!("{{\"id\": {key}, \"no\": [{}, {}]}}\n", key % 5, key)).collect();
        let rows: String = keys.iter().map(|key| format!("\"{}\nx\",{}\n", key, key % 3)).collect();
        fs::write(&json, objects).expect("a file");
        fs::write(&csv, format!("id,no\n{rows}")).expect("a file");
        let names = Field::parse_list("id").expect("a field");
        let options = QueryOptions::default().names(names).condition(Some("no != 2".to_owned()));
        check(&[json.clone(), csv], &options, 10, MEMORY, &others);
        let options = QueryOptions::default().extract(vec![r"\d+".to_owned()]).each(each);
        check(&[json], &options, 10, MEMORY, &others);
    }
}

/// Lines of numbers.
fn lines(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(|number| format!("{number}\n")).collect()
}

#[test]
fn compressed_files_and_plain_ones_have_the_same_counts() {
    let directory = tempdir().expect("a directory");
    let plain = directory.path().join("lines");
    fs::write(&plain, lines((0..60_000).map(|number| number * number % 3011))).expect("a file");
    let [one, parts] = ["one.gz", "parts.gz"].map(|name| directory.path().join(name));
    let compress = "gzip -c lines > one.gz; split -l 9000 lines part-; for part in part-*; do gzip -c $part; done > parts.gz";
    let status = Command::new("sh").args(["-c", compress]).current_dir(directory.path()).status();
    assert!(status.expect("gzip").success());
    let options = QueryOptions::default().number(100);
    let [expected, one, parts] =
        [plain, one, parts].map(|path| approximate(&[path], &options, 20 << 10, &OTHERS).answer.top);
    assert!(expected.iter().any(|key| key.error > 0));
    assert_eq!(one, expected);
    assert_eq!(parts, expected);
}

#[test]
fn keys_that_are_frequent_in_the_last_file_only_are_found() {
    let directory = tempdir().expect("a directory");
    for number in 0..50 {
        let from = number * 1000;
        fs::write(directory.path().join(format!("{number:02}")), lines(from..from + 1000)).expect("a file");
    }
    fs::write(directory.path().join("99"), lines([7777; 1500])).expect("a file");
    let path = [directory.path().to_owned()];
    let options = QueryOptions::default().number(1);
    let found = approximate(&path, &options, 4 << 10, &OTHERS);
    let KeyCount { key, count, error, is_uncertain, .. } = &found.answer.top[0];
    assert_eq!((&key[..], *is_uncertain), (&b"7777"[..], false));
    assert!(*error > 0 && *count <= 1501 && count + error >= 1501);
    let found = approximate(&path, &options.recount(true), 4 << 10, &OTHERS);
    assert_eq!(found.answer.top, [KeyCount::new(b"7777".to_vec(), 1501)]);
}

#[test]
fn a_key_that_takes_much_of_the_memory_is_counted_again() {
    let directory = tempdir().expect("a directory");
    let path = [directory.path().join("lines")];
    let long = "x".repeat(400);
    fs::write(&path[0], lines(0..2000) + &format!("{long}\n").repeat(300) + &lines(0..10)).expect("a file");
    let options = QueryOptions::default().number(1).recount(true);
    let found = approximate(&path, &options, 8 << 10, &OTHERS);
    assert_eq!(found.answer.top, [KeyCount::new(long.into_bytes(), 300)]);
    assert!(!found.answer.approximation.is_none_or(|approximation| approximation.has_changed));
}

#[test]
fn an_interrupted_count_is_partial() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("lines");
    fs::write(&path, lines(0..10_000)).expect("a file");
    let query = Query::new(&QueryOptions::default().approximate(Some(MEMORY)));
    let stop = Arc::new(Stop::new().expect("a stop"));
    stop.raise();
    let scan = ScanOptions::default().stop(Some(stop));
    let outcome = top(&Inputs::new([path]), &scan, &query.expect("a valid query"));
    assert!(outcome.answer.partial);
    assert_eq!(outcome.answer.records, 0);
}

#[test]
fn an_exact_count_has_no_bound() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("lines");
    fs::write(&path, lines(0..10)).expect("a file");
    let outcome = approximate(std::slice::from_ref(&path), &QueryOptions::default(), 1 << 20, &OTHERS);
    assert_eq!(outcome.answer.approximation, Some(Approximation::default()));
    assert_eq!(count(&[path], &QueryOptions::default(), (1, 100)).answer.approximation, None);
}
