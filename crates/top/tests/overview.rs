//! Overviews of random records in several formats against a plain implementation, at any width and block size.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::print::{Json, OverviewFormat};
use finecomb_top::{FieldOverview, InputFormat, Overview, Query, QueryOptions, overview};
use proptest::prelude::*;
use tempfile::tempdir;

/// A record: the values of its fields by their indexes in [`NAMES`].
type Row = BTreeMap<usize, String>;

const NAMES: [&str; 5] = ["a", "time", "n", "text", "late"];

const FORMATS: [InputFormat; 4] =
    [InputFormat::Json, InputFormat::Logfmt, InputFormat::Csv, InputFormat::Tsv];

fn write(format: &InputFormat, rows: &[Row]) -> String {
    let mut text = String::new();
    let of_row = |row: &Row, pair: &dyn Fn(&str, &str) -> String, between: &str| {
        row.iter().map(|(&name, value)| pair(NAMES[name], value)).collect::<Vec<_>>().join(between)
    };
    let delimiter = if *format == InputFormat::Tsv { "\t" } else { "," };
    if matches!(format, InputFormat::Csv | InputFormat::Tsv) {
        text = NAMES.join(delimiter) + "\n";
    }
    for row in rows {
        text += &match format {
            InputFormat::Json => {
                format!("{{{}}}", of_row(row, &|name, value| format!("\"{name}\":\"{value}\""), ","))
            }
            InputFormat::Logfmt => of_row(row, &|name, value| format!("{name}=\"{value}\""), " "),
            _ => {
                let value = |name| row.get(&name).map_or("", String::as_str);
                (0..NAMES.len()).map(value).collect::<Vec<_>>().join(delimiter)
            }
        };
        text.push('\n');
    }
    text
}

fn query(format: &InputFormat, condition: Option<&str>) -> Query {
    let options = QueryOptions::default().overview(true).input(Some(format.clone()));
    Query::new(&options.condition(condition.map(str::to_owned))).expect("a query")
}

fn describe(paths: &[PathBuf], query: &Query, width: usize, block_size: usize) -> Overview {
    let options = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
    let outcome = overview(&Inputs::new(paths), &options, query);
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.overview
}

fn json(overview: &Overview) -> String {
    let mut out = Vec::new();
    Json::default().write_overview(overview, &mut out).expect("writing to memory");
    String::from_utf8(out).expect("UTF-8")
}

/// The overview at one width, which is that of all others.
fn at_all_widths(paths: &[PathBuf], query: &Query) -> Overview {
    let all = describe(paths, query, 1, 1 << 20);
    let expected = json(&all);
    for (width, block_size) in [(1, 1), (2, 16), (3, 100), (8, 1), (8, 4096)] {
        assert_eq!(json(&describe(paths, query, width, block_size)), expected, "{width} {block_size}");
    }
    all
}

/// The part of the overview of a field that a plain implementation finds: values, distinct ones, the most frequent ones, and numbers.
type Plain = (u64, u64, Vec<(String, u64)>, Option<[String; 4]>);

fn plain(values: &[&str]) -> Plain {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
    let mut top: Vec<_> = counts.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect();
    top.sort_by(|(one, count), (other, most)| most.cmp(count).then(one.cmp(other)));
    top.truncate(3);
    let mut numbers: Vec<i64> = values.iter().filter_map(|value| value.parse().ok()).collect();
    numbers.sort_unstable();
    let others = values.len() - numbers.len();
    let at = |percent: usize| numbers[(numbers.len() * percent).div_ceil(100).max(1) - 1].to_string();
    let summary = (!numbers.is_empty() && 10 * others <= numbers.len())
        .then(|| [numbers[0].to_string(), at(50), at(95), numbers[numbers.len() - 1].to_string()]);
    (values.len() as u64, counts.len() as u64, top, summary)
}

fn found(field: &FieldOverview) -> Plain {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let top = field.top.iter().map(|value| (text(&value.value), value.count)).collect();
    let numbers = field.numbers.as_ref();
    let numbers = numbers.map(|numbers| {
        [numbers.min, numbers.median, numbers.p95, numbers.max].map(|value| value.to_string())
    });
    (field.values, field.distinct, top, numbers)
}

fn row() -> impl Strategy<Value = Row> {
    let second = (0..2000_i64).prop_map(|second| {
        let time = jiff::Timestamp::from_second(1_772_323_200 + second).expect("in range");
        time.to_string()
    });
    let value = |strategy: BoxedStrategy<String>| prop::option::weighted(0.8, strategy);
    (
        value(prop::sample::select(vec!["x", "y", "z", "-", ""]).prop_map(str::to_owned).boxed()),
        value(second.boxed()),
        value(prop_oneof![20 => (-50..50_i64).prop_map(|number| number.to_string()), 1 => Just("none".to_owned())].boxed()),
        value("[a-c ]{0,3}é?".boxed()),
        prop::option::weighted(0.02, Just("1".to_owned()).boxed()),
    )
        .prop_map(|(a, time, n, text, late)| {
            let values = [a, time, n, text, late].into_iter().enumerate();
            values.filter_map(|(name, value)| Some((name, value?))).collect()
        })
}

/// Writes the rows in two files.
fn files(directory: &Path, format: &InputFormat, rows: &[Row], cut: usize) -> Vec<PathBuf> {
    let (one, other) = rows.split_at(cut);
    let file = |name: &str, rows: &[Row]| {
        let path = directory.join(name);
        fs::write(&path, write(format, rows)).expect("a file");
        path
    };
    vec![file("one", one), file("other", other)]
}

proptest! {
    #[test]
    fn fields_are_those_of_a_plain_loop(
        format in prop::sample::select(&FORMATS[..]),
        rows in prop::collection::vec(row(), 1..80),
        cut in any::<prop::sample::Index>(),
        has_condition in any::<bool>(),
    ) {
        let directory = tempdir().expect("a directory");
        let paths = files(directory.path(), &format, &rows, cut.index(rows.len()));
        let condition = has_condition.then_some("text ~ \"a\"");
        let overview = at_all_widths(&paths, &query(&format, condition));
        let is_table = matches!(format, InputFormat::Csv | InputFormat::Tsv);
        let selected: Vec<&Row> = rows
            .iter()
            // A line without anything is no record of a table.
            .filter(|row| !has_condition || row.get(&3).is_some_and(|text| text.contains('a')))
            .collect();
        prop_assert_eq!(overview.records, selected.len() as u64);
        let has_records = !selected.is_empty();
        let known = |name: &usize| if is_table { has_records } else { selected.iter().any(|row| row.contains_key(name)) };
        let names: BTreeSet<&str> = (0..NAMES.len()).filter(known).map(|name| NAMES[name]).collect();
        let shown: BTreeSet<&str> = overview.fields.iter().map(|field| &field.name[..]).collect();
        prop_assert_eq!(shown, names);
        for field in &overview.fields {
            let index = NAMES.iter().position(|name| *name == field.name).expect("a name");
            let values = selected.iter().filter_map(|row| row.get(&index)).map(String::as_str);
            let values: Vec<&str> = values.filter(|value| !value.is_empty() && *value != "-").collect();
            prop_assert!(field.is_exact);
            prop_assert_eq!(found(field), plain(&values), "{}", field.name);
        }
        let mut times: Vec<&String> = selected.iter().filter_map(|row| row.get(&1)).collect();
        times.sort_unstable();
        let count = overview.times.as_ref().map_or(0, |times| times.count);
        // The field of the time is recognised by the first records of each file.
        prop_assert!(count <= times.len() as u64);
        if let Some(found) = overview.times.as_ref().filter(|found| found.count == times.len() as u64) {
            prop_assert_eq!((&found.first, &found.last), (times[0], times[times.len() - 1]));
        }
    }
}

#[test]
fn many_values_are_estimated_alike_at_all_widths() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("many.json");
    let line = |number: u64| {
        let id = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let user = if number.is_multiple_of(4) { "frequent".to_owned() } else { format!("user {id}") };
        format!("{{\"id\":{id},\"user\":\"{user}\",\"long\":\"{}{id}\"}}\n", "x".repeat(300))
    };
    fs::write(&path, (0..40_000).map(line).collect::<String>()).expect("a file");
    let paths = [path];
    let query = query(&InputFormat::Json, None);
    let all = describe(&paths, &query, 1, 1 << 20);
    for (width, block_size) in [(2, 1 << 14), (8, 1 << 12)] {
        assert_eq!(json(&describe(&paths, &query, width, block_size)), json(&all));
    }
    let [id, user, long] = &all.fields[..] else { panic!("{:?}", all.fields) };
    for (field, expected) in [(id, 40_000), (user, 30_001), (long, 40_000)] {
        assert!(!field.is_exact && field.distinct.abs_diff(expected) < expected / 30, "{}", field.distinct);
    }
    let [frequent] = &user.top[..] else { panic!("{:?}", user.top) };
    assert!(frequent.value == b"frequent" && frequent.count.abs_diff(10_000) < 1000, "{frequent:?}");
    assert!(id.top.is_empty() && user.numbers.is_none());
    let numbers = id.numbers.as_ref().expect("numbers");
    let mut ids: Vec<u64> =
        (0..40_000_u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32).collect();
    ids.sort_unstable();
    assert_eq!(numbers.min.to_string(), ids[0].to_string());
    assert_eq!(numbers.max.to_string(), ids[39_999].to_string());
    let median = numbers.median.to_f64().expect("a number");
    assert!((median / ids[19_999] as f64 - 1.0).abs() < 1.0 / 256.0, "{median}");
}

/// The names of the fields of a text in a format, and the number of malformed records.
fn contents(format: &str, text: &str) -> (String, u64) {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("text");
    fs::write(&path, text).expect("a file");
    let overview = at_all_widths(&[path], &query(&format.parse().expect("a format"), None));
    let names = overview.fields.iter().map(|field| format!("{}:{}", field.name, field.values));
    (names.collect::<Vec<_>>().join(" "), overview.malformed.map_or(0, |skipped| skipped.count))
}

#[test]
fn fields_of_each_format_are_found() {
    let access = "::1 - - [01/Mar/2026:00:22:48 +0000] \"GET /a?b HTTP/1.1\" 304 0 \"-\" \"curl\"\n";
    for (format, text, expected, malformed) in [
        (
            "auto",
            access,
            "remote_addr:1 ident:0 user:0 time:1 method:1 path:1 query:1 protocol:1 status:1 bytes:1 referer:0 user_agent:1 request_time:0",
            0,
        ),
        ("json", "{\"b\":{\"x.y\":1,\"z\":[1]},\"a\":null}\n{\"c\":{}}\n", "b.\"x.y\":1 b.z:1 a:0", 0),
        ("json", "{\"a\":1,\"a\":2}\n{\"a\":{\"b\":3}}\n{\"a\":1} x\n{\"z\":1,\n[1]\n\n", "a:1 a.b:1", 3),
        ("logfmt", "level=info msg=\"a b=c\" word dur=1\nlevel=\"x\ny=\n", "level:1 msg:1 dur:1 y:0", 1),
        ("csv", "id,,id,x y\n1,2,3,4\n5\n", "id:1 2:1 x y:1", 1),
        ("tsv", "a\tb\n1\t2\n", "a:1 b:1", 0),
        ("regex:(?<host>[a-z]+) (?<n>[0-9]+)", "a 1\nb\n", "host:1 n:1", 1),
        ("w3c", "#Fields: a b\n1 2\n3 4\n#Fields: b c\n5 6\n", "a:2 b:3", 0),
        ("lines", "a b\nc d\ne f\n", "1:3 2:3", 0),
        ("lines", "one 17\ntwo words here\none 4\n", "message:3 length:3", 0),
        ("json", "", "", 0),
    ] {
        assert_eq!(contents(format, text), (expected.to_owned(), malformed), "{format} {text}");
    }
}

/// With a condition, times are read before the other fields, else from these.
#[test]
fn times_are_the_same_with_a_condition_that_holds_for_all_records() {
    let access = |time: &str, rest: &str| format!("::1 - - [{time}] \"GET /a HTTP/1.1\" 304 0 {rest}\n");
    let access = [
        access("01/Mar/2026:00:22:48 +0000", "\"-\" \"curl\""),
        access("-", "\"-\" \"curl\""),
        access("01/Mar/2026:00:22:50 +0000", "\"-\" \"unclosed"),
        "::1 - - [01/Mar/2026\n".to_owned(),
        access("01/Mar/2026:02:22:51 +0100", "\"-\" \"\""),
    ]
    .concat();
    let w3c = "#Fields: n time\n1 2026-03-01T00:22:48Z\n#Fields: time n\n2026-03-01T01:22:51Z 3\n- 4\n";
    let regex = "1 2026-03-01T00:22:48Z\nx\n2 2026-03-01T01:22:51Z\n3 -\n";
    for (format, text, condition, [times, malformed]) in [
        ("combined", access.as_str(), "status == 304", [2, 2]),
        ("w3c", w3c, "n > 0", [2, 0]),
        ("regex:(?<n>[0-9]+) (?<time>.*)", regex, "n > 0", [2, 1]),
    ] {
        let directory = tempdir().expect("a directory");
        let paths = [directory.path().join("text")];
        fs::write(&paths[0], text).expect("a file");
        let format = format.parse().expect("a format");
        let overview = at_all_widths(&paths, &query(&format, None));
        assert_eq!(json(&overview), json(&at_all_widths(&paths, &query(&format, Some(condition)))), "{text}");
        let found = overview.times.as_ref().map(|times| (times.count, &times.first[..19], &times.last[..19]));
        assert_eq!(found, Some((times, "2026-03-01T00:22:48", "2026-03-01T01:22:51")), "{text}");
        assert_eq!(overview.malformed.map_or(0, |skipped| skipped.count), malformed, "{text}");
    }
}

#[test]
fn the_fields_that_are_kept_do_not_depend_on_the_order_of_records() {
    let line = |number: usize| {
        format!("{{\"o\":{{\"deep{number}\":1}},\"k{:03}\":{number},\"k{:03}\":0}}\n", number, number + 1)
    };
    for order in [true, false] {
        let mut lines: Vec<String> = (0..300).map(line).collect();
        if order {
            lines.reverse();
        }
        let directory = tempdir().expect("a directory");
        let path = directory.path().join("wide.json");
        fs::write(&path, lines.concat()).expect("a file");
        let overview = at_all_widths(&[path], &query(&InputFormat::Json, None));
        let names: BTreeSet<String> = overview.fields.iter().map(|field| field.name.clone()).collect();
        assert_eq!(names, (0..200).map(|number| format!("k{number:03}")).collect());
        assert_eq!(overview.fields_left_out, 101 + 300);
        let values: u64 = overview.fields.iter().map(|field| field.values).sum();
        assert_eq!(values, 399);
    }
}
