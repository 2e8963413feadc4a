//! Records in the text of a field of other records: counts are those of the texts in a file of their own.

use std::fs;
use std::path::Path;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_top::{
    Bound, Field, InputFormat, Measure, MeasureKind, Outcome, Query, QueryError, QueryOptions, Zone, top,
};
use proptest::prelude::*;
use serde_json::json;
use tempfile::tempdir;

fn options(unwrap: Option<&str>, fields: &str) -> QueryOptions {
    let options =
        QueryOptions::default().unwrap(unwrap.map(|field| field.parse().expect("a field"))).number(100);
    match fields.parse() {
        Ok(positions) => options.fields(positions),
        Err(_) => options.names(Field::parse_list(fields).expect("fields")),
    }
}

fn count(path: &Path, options: &QueryOptions, (width, block_size): (usize, usize)) -> Outcome {
    let query = Query::new(options).expect("a valid query");
    let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
    top(&Inputs::new([path]), &scan, &query)
}

/// Keys with their counts, the numbers of records that were left out, and the first ones of these with their lines.
fn shown(outcome: &Outcome) -> Vec<String> {
    let answer = &outcome.answer;
    let keys = answer.top.iter().map(|key| format!("{key:?}"));
    let left_out =
        [&answer.skipped, &answer.malformed, &answer.not_numbers, &answer.unmatched, &answer.untimed];
    let left_out = left_out.into_iter().map(|skipped| {
        let first = skipped.as_ref().and_then(|skipped| skipped.first.as_ref());
        format!(
            "{:?} {:?}",
            skipped.as_ref().map(|skipped| skipped.count),
            first.map(|first| first.place.offset)
        )
    });
    keys.chain(left_out).collect()
}

/// The records of Docker around lines.
fn wrapped(lines: &[String]) -> String {
    let wrap = |line: &String| json!({"log": format!("{line}\n"), "stream": "stderr", "time": "2026-03-01T06:20:09Z"});
    lines.iter().map(|line| wrap(line).to_string() + "\n").collect()
}

/// Answers without the places of records, which differ.
fn keys(outcome: &Outcome) -> Vec<String> {
    let left_out = [&outcome.answer.skipped, &outcome.answer.malformed, &outcome.answer.not_numbers];
    let counts = left_out.map(|skipped| format!("{:?}", skipped.as_ref().map(|skipped| skipped.count)));
    outcome.answer.top.iter().map(|key| format!("{key:?}")).chain(counts).collect()
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    let text = "[a-c\"\\\\= \u{e9}]{0,5}";
    let json = (text, 0..9).prop_map(|(text, number)| json!({"k": text, "n": number}).to_string());
    let logfmt = ("[a-c]{0,3}", 0..9).prop_map(|(text, number)| format!("k={text} n={number}ms x=\"y z\""));
    let access = ("[a-c]{0,3}", 0..9).prop_map(|(text, number)| {
        format!("192.0.2.{number} - - [01/Mar/2026:06:20:09 +0100] \"GET /{text} HTTP/1.1\" 200 {number} \"-\" \"curl\"")
    });
    let plain = text.prop_map(|text| format!("plain {text} line"));
    prop_oneof![
        prop::collection::vec(json.clone(), 1..60),
        prop::collection::vec(logfmt, 1..60),
        prop::collection::vec(access, 1..60),
        prop::collection::vec(prop_oneof![9 => json, 1 => plain.clone()], 1..60),
        prop::collection::vec(plain, 1..60),
    ]
}

proptest! {
    #[test]
    fn counts_are_those_of_the_texts_alone(
        lines in lines(),
        fields in prop::sample::select(vec!["k", "n,k", "path", "2", "1"]),
        has_filter in any::<bool>(),
        width in prop::sample::select(vec![1, 2, 3, 8]),
        block_size in prop_oneof![1..400_usize, Just(1 << 17)],
    ) {
        let directory = tempdir()?;
        let [inner, outer] = ["inner", "outer"].map(|name| directory.path().join(name));
        fs::write(&inner, lines.join("\n") + "\n")?;
        fs::write(&outer, wrapped(&lines))?;
        let with = |options: QueryOptions| {
            let filter = if has_filter { vec!["[ab]".to_owned()] } else { Vec::new() };
            let measure = Measure::Field { kind: MeasureKind::Sum, field: Field::named("n") };
            let measures = if fields == "k" { vec![measure] } else { Vec::new() };
            options.grep(filter).missing(Some("none".to_owned())).measures(measures)
        };
        let expected = count(&inner, &with(options(None, fields)), (1, 1 << 17));
        // A file that is not recognised has no fields; a text has those of the record around it.
        prop_assume!(expected.problems.is_empty());
        let options = with(options(Some("log"), fields));
        let found = count(&outer, &options, (width, block_size));
        prop_assert_eq!(keys(&found), keys(&expected));
        prop_assert_eq!(shown(&found), shown(&count(&outer, &options, (1, 1 << 17))));
    }
}

/// The keys of a log with their counts, which are the same at any width and block size.
fn counted(text: &str, options: &QueryOptions) -> String {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("log");
    fs::write(&path, text).expect("a file");
    let all = [(1, 1 << 17), (3, 1), (2, 50), (8, 300)].map(|setting| count(&path, options, setting));
    assert!(all.iter().all(|outcome| shown(outcome) == shown(&all[0])), "{:?}", all.map(|one| shown(&one)));
    let keys = all[0].answer.top.iter();
    keys.map(|key| format!("{}:{}", String::from_utf8_lossy(&key.key), key.count))
        .collect::<Vec<_>>()
        .join(" ")
}

const DOCKER: &str = r#"{"log":"{\"level\":\"warn\",\"time\":\"2026-03-01T05:20:09Z\"}\n","stream":"stdout","time":"2026-03-01T06:20:09Z"}
{"log":"{\"level\":\"info\",\"time\":\"2026-03-01T05:30:09Z\"}\n","stream":"stderr","time":"2026-03-01T06:20:09Z"}
{"log":"{\"level\":\"warn\"}\n","stream":"stdout","time":"2026-03-01T06:20:09Z"}
{"stream":"stdout"}
{"log":"{broken\n","stream":"stdout"}
{"log":"{broken\n","stream":"stderr"}
"#;

#[test]
fn fields_that_a_text_lacks_are_those_of_the_record_around_it() {
    for unwrap in ["log", "log=json"] {
        assert_eq!(counted(DOCKER, &options(Some(unwrap), "level")), "warn:2 info:1");
        assert_eq!(counted(DOCKER, &options(Some(unwrap), "stream,level")), "stdout warn:2 stderr info:1");
        // A broken text has no fields.
        assert_eq!(counted(DOCKER, &options(Some(unwrap), "stream")), "stdout:3 stderr:2");
        let condition = options(Some(unwrap), "level").condition(Some("stream == \"stdout\"".to_owned()));
        assert_eq!(counted(DOCKER, &condition), "warn:2");
    }
    let several = "{\"log\":\"failed\\n at a\\n\"}\n{\"log\":\"failed\\n at b\"}\n";
    let first_lines = QueryOptions::default().unwrap("log".parse().ok());
    assert_eq!(counted(several, &first_lines), "failed:2");
    assert_eq!(counted(several, &first_lines.grep(vec!["at b".to_owned()])), "failed:1");
    let by_hour = options(Some("log"), "time").condition(Some("level ~ \".\"".to_owned()));
    assert!(counted(DOCKER, &by_hour).contains("2026-03-01T06:20:09Z:1"));
    let plain =
        "{\"log\":\"GET /a 200\\n\",\"stream\":\"stdout\"}\n{\"log\":\"GET /b 404\",\"stream\":\"stderr\"}\n";
    assert_eq!(counted(plain, &options(Some("log"), "3")), "200:1 404:1");
    assert_eq!(counted(plain, &options(Some("log"), "stream")), "stderr:1 stdout:1");
    assert_eq!(
        counted(plain, &QueryOptions::default().unwrap("log".parse().ok())),
        "GET /a 200:1 GET /b 404:1"
    );
    let groups = QueryOptions::default().unwrap("log".parse().ok()).extract(vec!["/([a-z])".to_owned()]);
    assert_eq!(counted(plain, &groups.each(true)), "a:1 b:1");
}

#[test]
fn records_around_texts_may_have_any_format() {
    let csv =
        "id,message\n1,\"level=info msg=\"\"a b\"\" n=1\"\n2,level=warn msg=c n=2\n3,level=warn msg=d n=3\n";
    assert_eq!(counted(csv, &options(Some("message"), "level")), "warn:2 info:1");
    assert_eq!(counted(csv, &options(Some("message"), "id,msg")), "1 a b:1 2 c:1 3 d:1");
    let cri = "2026-03-01T06:20:09Z stdout F {\"a\":1}\n2026-03-01T06:20:10Z stdout F {\"a\":1}\n";
    let format =
        Some(InputFormat::Regex("^(?<time>\\S+) (?<stream>\\S+) (?<tag>\\S+) (?<message>.*)".to_owned()));
    assert_eq!(counted(cri, &options(Some("message"), "stream,a").input(format)), "stdout 1:2");
    let array =
        serde_json::to_string_pretty(&json!([{"log": "{\"a\":1}"}, {"log": "{\"a\":2}"}])).expect("valid");
    assert_eq!(counted(&array, &options(Some("log"), "a")), "1:1 2:1");
}

const CRI: &str = r#"2026-03-01T06:20:09.5+01:00 stdout F {"level":"error","msg":"order failed"}
2026-03-01T06:20:10.5+01:00 stderr F {"level":"warn","msg":"late"}
2026-03-01T07:20:11.5+01:00 stdout F {"level":"error","msg":"order failed"}
"#;

const AUDIT: &str = r#"type=SYSCALL msg=audit(1772346009.123:4567): success=no exit=-13 comm="cat" exe="/usr/bin/cat" key="secrets"
type=USER_LOGIN msg=audit(1772346010.456:4568): pid=812 uid=0 msg='op=login acct="ann" addr=192.0.2.7 terminal=ssh res=failed'
"#;

#[test]
fn named_formats_say_which_text_is_the_record() {
    let named = |name: &str, fields: &str| {
        options(None, fields).input(Some(name.parse::<InputFormat>().expect("a format")))
    };
    let detected = |fields: &str| options(None, fields);
    for (text, options, expected) in [
        (CRI, named("cri", "level,msg"), "error order failed:2 warn late:1"),
        (CRI, detected("level,msg"), "error order failed:2 warn late:1"),
        (CRI, detected("stream"), "stdout:2 stderr:1"),
        (CRI, detected("stream,level").condition(Some("level != \"warn\"".to_owned())), "stdout error:2"),
        (CRI, named("cri", "2").grep(vec!["stderr".to_owned()]), ""),
        (CRI, named("cri", "stream").unwrap("logtag".parse().ok()), "stdout:2 stderr:1"),
        (DOCKER, named("docker", "level"), "warn:2 info:1"),
        (DOCKER, detected("level"), "warn:2 info:1"),
        (AUDIT, named("auditd", "exe,key").missing(Some("-".to_owned())), "- -:1 /usr/bin/cat secrets:1"),
        (AUDIT, named("auditd", "type,addr"), "USER_LOGIN 192.0.2.7:1"),
        (AUDIT, named("auditd", "serial,res"), "4568 failed:1"),
    ] {
        assert_eq!(counted(text, &options), expected, "{options:?}");
    }
    let until = Bound::parse("2026-03-01 06:00", &Zone::UTC, 0).expect("a time");
    let early = named("cri", "level").until(Some(until));
    assert_eq!(counted(CRI, &early), "error:1 warn:1");
    // The order is that of the times around the texts.
    let sorted = named("cri", "stream").until(Some(until)).sorted(Some("60s".parse().expect("a slack")));
    assert_eq!(counted(CRI, &sorted), "stderr:1 stdout:1");
}

#[test]
fn records_without_the_field_and_broken_texts_are_malformed() {
    let directory = tempdir().expect("a directory");
    let path = directory.path().join("log");
    fs::write(&path, DOCKER).expect("a file");
    let outcome = count(&path, &options(Some("log"), "level"), (1, 1 << 17));
    let malformed = outcome.answer.malformed.expect("malformed records");
    assert_eq!((malformed.count, outcome.answer.records), (3, 3));
    assert_eq!(outcome.answer.examined, 6);
    let first = malformed.first.expect("the first");
    assert_eq!(first.place.offset, DOCKER.find("{\"stream\"").expect("a record") as u64);
}

#[test]
fn sorted_files_are_not_searched_for_times_in_texts() {
    let since = Bound::parse("2026-01-01", &Zone::UTC, 0).expect("a time");
    let options = options(Some("log"), "level").since(Some(since));
    let sorted = options.sorted(Some("60s".parse().expect("a slack")));
    assert!(matches!(Query::new(&sorted), Err(QueryError::SortedUnwrapped)));
}
