//! Differential tests of `top` against a simple reference implementation, at any width and block size.

use std::fs;

use finecomb_scan::{Encoding, Inputs, ScanOptions, Width};
use finecomb_top::{
    Answer, Field, FieldList, InputFormat, Measure, MeasureKind, Outcome, Query, QueryOptions, Separator, top,
};
use proptest::prelude::*;
use tempfile::tempdir;

use crate::reference::{self, Expected};

/// Converts an outcome to the form of the reference.
fn found(outcome: Outcome, paths: &[std::path::PathBuf]) -> Expected {
    let answer = outcome.answer;
    let first_skipped = answer.skipped.as_ref().map(|skipped| {
        let place = &skipped.first.as_ref().expect("the first one").place;
        let file = paths.iter().position(|path| Some(path.as_path()) == place.source.path());
        (file.expect("one of the files"), place.find_line().expect("a line number"))
    });
    Expected {
        top: answer.top.into_iter().map(|key| (key.count, key.key)).collect(),
        distinct: answer.distinct,
        records: answer.records,
        skipped: answer.skipped.map_or(0, |skipped| skipped.count),
        first_skipped,
    }
}

/// Frequent words, and a few that hardly repeat.
fn word() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => prop::sample::select(&["a", "b", "bot", "Googlebot", "/index.html", "GET", "12:30:01", "é", "\\\""][..])
            .prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::sample::select(vec![&b"\xFF\xFE"[..], b"\0", b"\"", b"\"q r\"", b"\r", b"\"\""]).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>().prop_filter("no line feeds", |&byte| byte != b'\n'), 0..60),
        1 => (100..700_usize).prop_map(|length| vec![b'x'; length]),
    ]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let gap = prop::sample::select(&[" ", "  ", "\t", " \t "][..]);
    let words = prop::collection::vec((gap, word()), 0..7);
    let end = prop::sample::select(&["\n", "\n", "\n", "\r\n"][..]);
    (words, end, any::<bool>()).prop_map(|(words, end, indented)| {
        let mut line: Vec<u8> =
            words.into_iter().flat_map(|(gap, word)| [gap.as_bytes(), &word].concat()).collect();
        if !indented && !line.is_empty() {
            line.remove(0);
        }
        line.extend_from_slice(end.as_bytes());
        line
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec(line(), 0..40), any::<bool>()).prop_map(|(lines, ended)| {
        let mut file = lines.concat();
        if !ended && file.ends_with(b"\n") {
            file.pop();
        }
        file
    })
}

const PATTERNS: &[&str] = &[
    "bot",
    "^a",
    "b$",
    "GET|é",
    r"\s",
    "",
    "[^a]$",
    r"(?-u)\xFF",
    "x{20}",
    "Google",
    r"\r",
    "(?i)BOT",
    "^.{3}$",
];

fn patterns() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop::sample::select(PATTERNS).prop_map(str::to_owned), 0..3)
}

fn query() -> impl Strategy<Value = (QueryOptions, Vec<(i32, i32)>)> {
    let field = prop_oneof![4 => 1..5_i32, 1 => -3..0_i32];
    let one = field.clone().prop_map(|field| (field, field));
    let range = (field.clone(), field)
        .prop_filter("backwards", |(first, last)| (*first < 0) != (*last < 0) || first <= last);
    let fields = prop_oneof![
        1 => Just(vec![]),
        3 => one.clone().prop_map(|one| vec![one]),
        2 => prop::collection::vec(prop_oneof![one, range], 1..4),
    ];
    let separator = prop_oneof![
        3 => Just(Separator::Blanks),
        1 => Just(Separator::Quotes),
        1 => prop::sample::select(&["b", " ", r"\s+", "é", "[/:]", "[^a-z]"][..]).prop_map(|text| Separator::Regex(text.into())),
    ];
    let edit = (
        prop::sample::select(&["bot", "^[^:]*:", ":.*$", "(.)(.)", "", "x+", "x*"][..]),
        prop::sample::select(&["", "$2$1", "-", "<$0>"][..]),
    );
    let sed = prop::collection::vec(edit, 0..3);
    (1..20_usize, fields, separator, patterns(), patterns(), sed).prop_map(
        |(number, fields, separator, grep, vgrep, sed)| {
            let item = |&(first, last): &(i32, i32)| {
                if first == last { first.to_string() } else { format!("{first}-{last}") }
            };
            let list = fields.iter().map(item).collect::<Vec<_>>().join(",");
            let options = QueryOptions::default()
                .number(number)
                .fields(if fields.is_empty() { FieldList::default() } else { list.parse().expect("a list") })
                .separator(separator)
                .grep(grep)
                .vgrep(vgrep)
                .sed(sed.into_iter().map(|(pattern, with)| (pattern.into(), with.into())).collect());
            (options, fields)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]

    #[test]
    fn answers_are_equal_to_those_of_the_reference(
        files in prop::collection::vec(file(), 1..4),
        (options, fields) in query(),
        width in prop::sample::select(&[1, 2, 3, 8, 64][..]),
        block_size in prop_oneof![1..50_usize, 100..5000_usize, Just(1 << 17)],
    ) {
        let directory = tempdir()?;
        let paths: Vec<_> = (0..files.len()).map(|number| directory.path().join(format!("{number}.log"))).collect();
        for (path, content) in paths.iter().zip(&files) {
            fs::write(path, content)?;
        }
        let query = Query::new(&options).expect("valid patterns");
        let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
        // The reference does not support byte order marks.
        let inputs = Inputs { encoding: Encoding::None, decompress: false, ..Inputs::new(&paths) };
        let outcome = top(&inputs, &scan, &query);
        prop_assert!(outcome.problems.is_empty());
        prop_assert_eq!(found(outcome, &paths), reference::count(&files, &options, &fields));
    }
}

/// There are enough distinct keys that every table grows and has keys in all shards.
#[test]
fn many_keys_are_counted_and_merged_at_every_width() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("keys");
    let lines: Vec<String> = (0..60_000_u64)
        .map(|number| format!("key-{} {}\n", number * number % 9973, number % 40_000))
        .collect();
    let file = lines.concat().into_bytes();
    fs::write(&path, &file).expect("a file");
    for (list, fields) in [("1", vec![(1, 1)]), ("2", vec![(2, 2)]), ("1-2", vec![(1, 2)])] {
        let options = QueryOptions::default().number(50).fields(list.parse().expect("a list"));
        let expected = reference::count(std::slice::from_ref(&file), &options, &fields);
        let query = Query::new(&options).expect("no patterns");
        for width in [1, 2, 3, 8, 64] {
            let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(4096);
            let outcome = top(&Inputs::new([&path]), &scan, &query);
            assert_eq!(found(outcome, std::slice::from_ref(&path)), expected);
        }
    }
}

/// The README states the memory of a key: 64 to 128 bytes for a key of up to 16 bytes, 128 to 256 bytes for up to 48,
/// and beyond that 64 to 128 bytes plus the length of the key. The last chunk of the arena may be nearly empty. A key takes
/// less if it is deferred, which it is not if the answer needs all keys.
#[test]
fn the_memory_of_a_key_is_as_stated() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("keys");
    let query = |number| Query::new(&QueryOptions::default().number(number)).expect("no patterns");
    let scan = ScanOptions::default().width(Width::Fixed(1));
    for (length, stated) in [(12, 64..=128), (30, 128..=256), (100, 164..=228)] {
        for count in [67_500, 125_000] {
            let lines: String = (0..count).map(|number| format!("{number:0length$}\n")).collect();
            fs::write(&path, lines).expect("a file");
            let deferring = top(&Inputs::new([&path]), &scan, &query(10));
            let outcome = top(&Inputs::new([&path]), &scan, &query(usize::MAX));
            assert_eq!((outcome.answer.distinct, deferring.answer.distinct), (count, count));
            assert_eq!(deferring.answer.top, outcome.answer.top[..10]);
            assert!(
                deferring.memory / count < *stated.start(),
                "{length}: {} bytes",
                deferring.memory / count
            );
            let chunk = if length > 48 { 8 << 20 } else { 0 };
            let (least, most) = ((outcome.memory - chunk) / count, outcome.memory / count);
            assert!(least <= *stated.end() && most >= *stated.start(), "{length}: {least} to {most} bytes");
        }
    }
}

/// Counts the records of a file of CSV, with the sum of the column `b`.
fn sums_of(file: &str, options: QueryOptions) -> Outcome {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("table.csv");
    fs::write(&path, file).expect("a file");
    let measure = Measure::Field { kind: MeasureKind::Sum, field: Field::parse("b").expect("a field") };
    let options = options.input(Some(InputFormat::Csv)).measures(vec![measure]);
    let query = Query::new(&options).expect("a query");
    top(&Inputs::new([&path]), &ScanOptions::default(), &query)
}

#[test]
fn a_file_without_the_measured_column_is_reported_and_has_no_keys() {
    let names = Field::parse_list("a").expect("fields");
    let options = QueryOptions::default().number(10).names(names);
    for file in ["a,c\n1,2\n", "c,b\n1,2\n", "\"a,b\n1,2"] {
        let outcome = sums_of(file, options.clone());
        assert_eq!((outcome.answer.records, outcome.problems.len()), (0, 1), "{file:?}");
    }
}

#[test]
fn a_malformed_record_is_not_counted_although_an_expression_finds_its_key() {
    for file in ["a,b\nx1\nx2,3\n", "a,b\nx1\ny\nx2,3\n", "a,b\nx1\n,x2\n"] {
        for each in [false, true] {
            let extract = vec!["[0-9]+".to_owned()];
            let options = QueryOptions::default().number(10).extract(extract).each(each);
            let Answer { malformed, records, .. } = sums_of(file, options).answer;
            let keys = if each && file.contains("x2,3") { 2 } else { 1 };
            assert_eq!((malformed.map(|malformed| malformed.count), records), (Some(1), keys), "{file:?}");
        }
    }
}
