//! Records of several lines are counted as a plain loop over the lines does it, at any width and block size.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{
    Every, Field, FieldList, InputFormat, Query, QueryError, QueryOptions, RecordBegin, Zone, sample, top,
};
use proptest::prelude::*;
use tempfile::tempdir;

/// Keys with their counts, as text.
type Keys = BTreeMap<String, u64>;

/// The records of a log: an oracle that knows how the lines of [`logs`] begin.
fn records(log: &str, rule: &RecordBegin) -> Vec<String> {
    let mut records: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in log.split_inclusive('\n') {
        let begins = match rule {
            RecordBegin::Time => line.starts_with("2026-03-01") || line.starts_with("[ERROR] 2026"),
            RecordBegin::Regex(_) => line.contains("ERROR"),
            RecordBegin::Indent => {
                let continues = ["\n", "\r", " ", "\t", "Caused by:", "... 2 more", "Traceback"];
                let other = !continues.iter().any(|start| line.starts_with(start));
                let is_exception = other && is_open;
                is_open = line.starts_with("Traceback") || is_open && !other;
                other && !is_exception
            }
        };
        match records.last_mut().filter(|_| !begins) {
            Some(record) => record.push_str(line),
            None => records.push(line.to_owned()),
        }
    }
    let end = |record: String| {
        let record = record.strip_suffix('\n').unwrap_or(&record);
        record.strip_suffix('\r').unwrap_or(record).to_owned()
    };
    records.into_iter().map(end).collect()
}

fn first_line(record: &str) -> &str {
    record.lines().next().unwrap_or_default()
}

/// Logs of messages, stack traces and tracebacks.
fn logs() -> impl Strategy<Value = String> {
    let message = (0..4_u8, prop::sample::select(vec!["a", "b\r"]))
        .prop_map(|(second, text)| format!("2026-03-01 06:20:0{second},252 ERROR {text}\n"));
    let line = prop::sample::select(vec![
        "[ERROR] 2026-03-01 06:20:09 c\n",
        "2026-03-01 06:20:09 INFO d\n",
        "e\n",
        "a.b.OrderException: f\n",
        "Caused by: a.b.OtherException: g\n",
        "... 2 more\n",
        "Traceback (most recent call last):\n",
        "ValueError: 2026-03-01 06:20:09\n",
        "\n",
    ]);
    let frames = (1..60_usize, any::<bool>())
        .prop_map(|(count, is_long)| if is_long { "\tat a.b.C(C.java:1)\n" } else { "  h\n" }.repeat(count));
    let part = prop_oneof![3 => message, 3 => line.prop_map(str::to_owned), 2 => frames];
    (prop::collection::vec(part, 0..60), any::<bool>()).prop_map(|(parts, has_end)| {
        let log = parts.concat();
        if has_end { log } else { log.trim_end_matches('\n').to_owned() }
    })
}

/// A query, and the key that it gives a record.
type Question = (QueryOptions, fn(&str) -> Option<String>);

fn questions() -> Vec<Question> {
    let options = || QueryOptions::default().number(usize::MAX);
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let fields = |list: &str| list.parse::<FieldList>().expect("a list of fields");
    vec![
        (options(), |record| Some(first_line(record).to_owned())),
        (options().grep(texts(&["Exception", "a.b"])).vgrep(texts(&["Other"])), |record| {
            let is_selected =
                record.contains("Exception") && record.contains("a.b") && !record.contains("Other");
            is_selected.then(|| first_line(record).to_owned())
        }),
        (options().grep(texts(&[r"a\n\tat"])), |record| {
            record.contains("a\n\tat").then(|| first_line(record).to_owned())
        }),
        (options().extract(texts(&["(?s).+"])), |record| (!record.is_empty()).then(|| record.to_owned())),
        (options().extract(texts(&[r"(?m)^[\w.]+Exception"])), |record| {
            let line = record.split('\n').find(|line| line.starts_with("a.b.OrderException"));
            line.map(|_| "a.b.OrderException".to_owned())
        }),
        (options().fields(fields("3")), |record| {
            first_line(record).split([' ', '\t']).filter(|field| !field.is_empty()).nth(2).map(str::to_owned)
        }),
        (options().condition(Some("$4 == 'a'".to_owned())), |record| {
            let mut fields = first_line(record).split([' ', '\t']).filter(|field| !field.is_empty());
            (fields.nth(3) == Some("a")).then(|| first_line(record).to_owned())
        }),
        (
            options()
                .input(Some(InputFormat::Regex(r"(?s)ERROR (?<text>\w).*(?<frame>\S\(C.java:1)".to_owned())))
                .names(Field::parse_list("text,frame").expect("fields")),
            |record| {
                let (_, rest) = record.split_once("ERROR ")?;
                let text = rest.chars().next().filter(|text| text.is_alphanumeric())?;
                rest.contains("C(C.java:1").then(|| format!("{text} C(C.java:1"))
            },
        ),
        // A log of one of the named formats has malformed records otherwise.
        (
            options()
                .input(Some(InputFormat::Lines))
                .every(Some("1h".parse::<Every>().expect("a width")))
                .zone(Zone::UTC),
            |record| {
                let line = first_line(record);
                line.contains("2026-03-01 06:20:0").then(|| "2026-03-01T06:00Z".to_owned())
            },
        ),
    ]
}

fn counted(path: &Path, options: &QueryOptions, width: usize, block_size: usize) -> Keys {
    let query = Query::new(options).expect("a valid query");
    let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
    let outcome = top(&Inputs::new([path]), &scan, &query);
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    let keys = outcome.answer.top.into_iter();
    keys.map(|key| (String::from_utf8_lossy(&key.key).into_owned(), key.count)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]

    #[test]
    fn records_are_counted_as_by_a_loop_over_the_lines(
        log in logs(),
        repeated in prop_oneof![3 => Just(1_usize), 1 => 2..30_usize],
        question in 0..questions().len(),
        rule in prop::sample::select(vec![
            RecordBegin::Time, RecordBegin::Indent, RecordBegin::Regex("ERROR".to_owned()),
        ]),
    ) {
        let log = format!("{}\n", log.trim_end_matches('\n')).repeat(repeated - 1) + &log;
        let directory = tempdir()?;
        let path = directory.path().join("a.log");
        fs::write(&path, &log)?;
        let (options, key) = questions().swap_remove(question);
        let mut expected = Keys::new();
        for record in records(&log, &rule) {
            if let Some(key) = key(&record) {
                *expected.entry(key).or_default() += 1;
            }
        }
        let options = options.record(Some(rule));
        for width in [1, 2, 3, 8] {
            for block_size in [1, 100, 1 << 10, 1 << 13, 1 << 20] {
                let keys = counted(&path, &options, width, block_size);
                prop_assert_eq!(&keys, &expected, "width {}, blocks of {}", width, block_size);
            }
        }
    }
}

#[test]
fn a_sample_shows_whole_records_with_the_number_of_their_first_lines() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.log");
    fs::write(&path, "a\n  b\n\nc\nd\n e\n").expect("a file");
    let options = QueryOptions::default().record(Some(RecordBegin::Indent));
    let query = Query::new(&options).expect("a valid query");
    let name = path.display();
    let expected = format!(
        "{name}: format: lines\n{name}:1: taken\n  record  a\n  b\n\n  key     a\n\
         {name}:4: taken\n  record  c\n  key     c\n{name}:5: taken\n  record  d\n e\n  key     d\n"
    );
    for block_size in [1, 3, 1 << 17] {
        let scan = ScanOptions::default().block_size(block_size);
        let text = sample(&Inputs::new([&path]), &scan, &query, 5).text;
        assert_eq!(String::from_utf8_lossy(&text), expected);
    }
}

#[test]
fn formats_with_records_of_their_own_are_refused() {
    let options = |format| QueryOptions::default().input(Some(format)).record(Some(RecordBegin::Time));
    for format in [InputFormat::Csv, InputFormat::Tsv] {
        assert!(matches!(Query::new(&options(format)), Err(QueryError::Input { .. })));
    }
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("a.csv");
    fs::write(&path, "a,b\n1,2\n3,4\n").expect("a file");
    let names = Field::parse_list("a").expect("fields");
    let query = Query::new(&options(InputFormat::Auto).names(names)).expect("a valid query");
    let outcome = top(&Inputs::new([&path]), &ScanOptions::default(), &query);
    let problems: Vec<String> = outcome.problems.iter().map(|problem| problem.kind.to_string()).collect();
    assert_eq!(problems, ["--record does not apply to csv; skipped"]);
    let invalid = QueryOptions::default().record(Some(RecordBegin::Regex("(".to_owned())));
    assert!(matches!(Query::new(&invalid), Err(QueryError::Pattern { option: "record", .. })));
}
