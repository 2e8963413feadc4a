//! Tests of `comb top` on records with a format, with conditions and measures.

use serde_json::Value;

use crate::pager::shown;
use crate::support::{Place, directory_with};

const ACCESS: &str = "1.2.3.4 - - [17/May/2015:10:05:03 +0000] \"GET /a?b=c HTTP/1.1\" 200 17 \"-\" \"curl/8\"\n\
     1.2.3.5 - - [17/May/2015:10:05:04 +0000] \"GET /b HTTP/1.1\" 404 - \"-\" \"curl/8\"\n\
     1.2.3.4 - - [17/May/2015:10:05:05 +0000] \"-\" 408 - \"-\" \"-\"\n";

const LIST: &str = "name,kind,price\n\"a, b\",x,1.5\nc,y,free\n";

#[test]
fn a_measured_field_that_a_file_lacks_costs_only_this_file() {
    let directory = directory_with(&[("access.log", ACCESS), ("list.csv", LIST)]);
    let (out, errors, code) = directory.run("comb top -w 1 -f name --max price list.csv access.log list.csv");
    assert_eq!(out, "count  max(price)  name\n    2         1.5  a, b\n    2           -  c\n");
    assert!(errors.contains("access.log: no field 'name'"), "{errors}");
    assert_eq!(code, Some(2));
    for arguments in ["-f path --sum size", "-f size --sum bytes", "--distinct 7 -f 7 --p99 bytes"] {
        let (out, errors, code) = directory.run(&format!("comb top {arguments} access.log"));
        assert!(errors.starts_with("comb: access.log: "), "{arguments}: {errors}");
        assert_eq!((out.as_str(), code), ("", Some(2)), "{arguments}");
    }
}

#[test]
fn every_json_answer_follows_the_schema() {
    let directory = directory_with(&[("access.log", ACCESS), ("list.csv", LIST)]);
    directory
        .run("printf 'a caf\\xe9\\n' > latin1; : > empty; printf 'a=1 b=caf\\xe9\\na=1\\n' > latin1.logfmt");
    let schema = include_str!("../../../../docs/top.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let answer = |arguments: &str| {
        let (out, errors, code) = directory.run(&format!("comb top --json {arguments}"));
        assert!(code < Some(2), "{arguments}: {errors}");
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
        let violations: Vec<_> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(violations.is_empty(), "{arguments}: {violations:?}: {out}");
        answer
    };
    assert_eq!(answer("-f 9 access.log")["top"][0]["count"], 1);
    assert_eq!(answer("-n 0 access.log")["top"], Value::Array(Vec::new()));
    assert_eq!(answer("--where 'status == 500' -f path access.log")["records"], 0);
    let shares = answer("-f status --percent --cumulative --totals access.log");
    assert_eq!(shares["top"][2]["cumulative_percent"], 100.0);
    let skipped = answer(
        "-f path --sum bytes --mean bytes --p99 bytes --distinct user --percentile 99.9:bytes access.log",
    );
    assert_eq!((&skipped["skipped"], &skipped["top"][1]["sum(bytes)"]), (&1.into(), &Value::Null));
    let fields = answer("-f name,price --min price --max price --sort 'max(price)' list.csv");
    assert_eq!((&fields["not_numbers"], &fields["top"][0]["key"]["name"]), (&1.into(), &"a, b".into()));
    assert_eq!(answer("-f price -n all --missing none list.csv")["distinct"], 2);
    assert_eq!(answer("-e 'GET (\\S+)' access.log")["unmatched"], 1);
    assert_eq!(answer("--input json -f a list.csv")["malformed"], 3);
    let changes = answer("--diff -f name,kind list.csv empty");
    assert_eq!(
        (&changes["before"], &changes["gone"], &changes["top"][0]["change"]),
        (&2.into(), &2.into(), &(-1).into())
    );
    let columns = answer("-f name --columns kind --sum price list.csv");
    assert_eq!(columns["top"][0]["columns"], serde_json::json!({"x": 1.5, "y": null}));
    assert_eq!(answer("-f 2 latin1")["top"][0]["key_base64"], "Y2Fm6Q==");
    let bytes = answer("--input logfmt -f a,b latin1.logfmt");
    assert_eq!(bytes["top"][0]["key_base64"]["b"], "Y2Fm6Q==");
}

#[test]
fn values_of_a_field_are_columns_of_every_output() {
    let list = "name,kind,price\na,x,1\na,y,2\nb,x,4\na,\"p|\tq\",8\nb,count,16\nc,,32\nd\n";
    let directory = directory_with(&[("list.csv", list), ("access.log", ACCESS)]);
    let skipped = "comb: skipped 1 malformed of 7 records; the first is list.csv:8:2: too few columns: d\n";
    let top = |arguments: &str, out: &str| {
        directory.answers(&format!("comb top --columns kind {arguments} list.csv"), out, skipped, 0);
    };
    top(
        "-f name",
        "count  kind=  kind=count  p|\tq  x  y  name\n    3      0           0     1  1  1  a\n    2      0           1     0  1  0  b\n    1      1           0     0  0  0  c\n",
    );
    top(
        "-f name -n 1 --sum price",
        "count  kind=  kind=count  p|\tq  x  y  name\n    3      -           -     8  1  2  a\n",
    );
    top("-f name -n 1 --format csv", "count,kind=,kind=count,p|\tq,x,y,name\n3,0,0,1,1,1,a\n");
    top("-f name -n 1 --format tsv", "count\tkind=\tkind=count\tp|\\tq\tx\ty\tname\n3\t0\t0\t1\t1\t1\ta\n");
    top(
        "-f name -n 0 --format markdown",
        "| count | kind= | kind=count | p\\| q | x | y | name |\n| ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
    );
    top("--format csv --percent", "count,percent,kind=,kind=count,p|\tq,x,y\n6,100.00,1,1,1,2,1\n");
    top(
        "-f name --sort key --reverse -n 1 --totals",
        "count  kind=  kind=count  p|\tq  x  y  name\n    1      1           0     0  0  0  c\n# 6 records, 3 distinct keys, 1 shown\n",
    );
    directory.run("comb top -f name --columns kind -n 0 --save-counts a list.csv; comb top -f name --columns kind --save-counts b -n 0 list.csv");
    directory.answers(
        "comb top --merge a b -n 1 --format csv",
        "count,kind=,kind=count,p|\tq,x,y,name\n6,0,0,2,2,2,a\n",
        "comb: skipped 2 malformed of 14 records\n",
        0,
    );
    directory.prints("seq 60 | awk '{ print \"a\", $1 }' | comb top -f 1 --columns 2 --format csv 2> note | wc -l; cat note", "2\ncomb: --columns 2: the 50 most frequent of 60 values have a column; the others have 10 records\n");
    for (arguments, message) in [
        (
            "--columns status --every 1h",
            "the argument '--columns <FIELD>' cannot be used with '--every <WIDTH>'",
        ),
        (
            "--columns status --sum bytes --max bytes",
            "comb: --columns: one measure at most is in the columns",
        ),
        (
            "--columns status --sum bytes --sort sum",
            "comb: --columns: the rows are in the order of the count or the key",
        ),
        ("--columns state -f path", "comb: access.log: no field 'state' in this log format; "),
    ] {
        let (out, errors, code) = directory.run(&format!("comb top {arguments} access.log"));
        assert!(errors.contains(message), "{errors}");
        assert_eq!((out.as_str(), code), ("", Some(2)));
    }
}

#[test]
fn counts_of_two_inputs_and_two_windows_are_compared() {
    let line = |hour: u8, path: &str| {
        format!("1.2.3.4 - - [17/May/2015:{hour:02}:05:03 +0000] \"GET {path} HTTP/1.1\" 200 17\n")
    };
    let old = [line(10, "/a").repeat(3), line(10, "/b"), line(10, "/c")].concat();
    let new = [line(11, "/a").repeat(4), line(12, "/c"), line(11, "/d").repeat(3)].concat();
    let directory = directory_with(&[("old", &old), ("new", &new), ("d/all", &(old.clone() + &new))]);
    let rows = "    3       0       3               -  /d\n    4       3       1           33.33  /a\n";
    let header = "count  before  change  change_percent  path\n";
    let top = |arguments: &str, out: &str| directory.prints(&format!("comb top {arguments}"), out);
    let gone = "    0       1      -1         -100.00  /b\n    1       1       0            0.00  /c\n";
    let totals = "# 5 -> 8 records, 4 distinct keys, 1 new, 1 gone, 4 shown\n";
    top("--diff -f path --totals old new", &[header, rows, gone, totals].concat());
    directory.prints("comb top --diff -f path --totals - new < old", &[header, rows, gone, totals].concat());
    top(
        "--diff -f path -n 2 --min-count 2 new old --format csv",
        "count,before,change,change_percent,path\n0,3,-3,-100,/d\n3,4,-1,-25,/a\n",
    );
    top(
        "--diff -f path --sort before -n 1 --format tsv old new",
        "count\tbefore\tchange\tchange_percent\tpath\n4\t3\t1\t33.33\t/a\n",
    );
    top(
        "--diff -f 7 -n 1 --format markdown old new",
        "| count | before | change | change\\_percent | key |\n| ---: | ---: | ---: | ---: | --- |\n| 3 | 0 | 3 |  | /d |\n",
    );
    let window = "--since 2015-05-17T11:00Z --until 2015-05-17T12:00Z -f path d";
    let rows = "    3       0       3               -  /d\n    4       3       1           33.33  /a\n    0       1      -1         -100.00  /b\n    0       1      -1         -100.00  /c\n";
    top(&format!("--diff=1h {window}"), &[header, rows].concat());
    directory.run("for side in old new; do comb top -f path -n 0 --save-counts $side.counts $side; done");
    let rows = "    3       0       3               -  /d\n    4       3       1           33.33  /a\n";
    top("--merge --diff -n 2 old.counts new.counts", &[header, rows].concat());
    for (arguments, message) in [
        (
            "--diff -f path old",
            "comb: --diff: expected two inputs, such as --diff old.log new.log; found 1. To compare windows of time: --diff=1d --since TIME",
        ),
        (
            "--diff=1h -f path old",
            "comb: --diff: a window of time needs a beginning; add --since TIME or --last DURATION",
        ),
        (
            "--diff=30m --since 2015-05-17T11:00Z --until 2015-05-17T12:00Z -f path d",
            "comb: --diff: the windows of time overlap",
        ),
        ("--diff --sum bytes -f path old new", "comb: --diff: only counts are compared, not measures"),
        (
            "--diff --sort sum -f path old new",
            "comb: --sort 'sum': with --diff, expected one of change, count, before, key",
        ),
        ("--diff --columns status old new", "cannot be used with"),
        ("--diff=x old new", "expected a duration of at least 1s"),
        (
            "--merge --diff=1h old.counts new.counts",
            "comb: --diff=1h: the counts in a file are of one window; --diff compares two files",
        ),
        ("--diff -f path none.log new", "comb: none.log: no such file or directory"),
        ("--merge --diff none old.counts", "comb: none: no such file or directory"),
    ] {
        let (out, errors, code) = directory.run(&format!("comb top {arguments}"));
        assert!(errors.contains(message), "{errors}");
        assert_eq!((out.as_str(), code), ("", Some(2)), "{arguments}");
    }
}

#[test]
fn overviews_follow_their_schema() {
    let directory = directory_with(&[("access.log", ACCESS), ("list.csv", LIST), ("empty", "")]);
    directory.run("printf '{\"a\":\"caf\\xe9\"}\\n{\"a\":{\"b\":1}}\\n' > latin1.json");
    directory.run(&format!("printf '{}%s\\n' a b > long", "x".repeat(300)));
    let schema = include_str!("../../../../docs/overview.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let answer = |arguments: &str| {
        let (out, errors, code) = directory.run(&format!("comb top --overview --json --tz UTC {arguments}"));
        assert!(code < Some(2), "{arguments}: {errors}");
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
        let violations: Vec<_> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(violations.is_empty(), "{arguments}: {violations:?}: {out}");
        answer
    };
    let field = |answer: &Value, name: &str| {
        let fields = answer["fields"].as_array().expect("a list");
        fields.iter().find(|field| field["name"] == name).cloned().unwrap_or_default()
    };
    let access = answer("access.log");
    assert_eq!(
        (&access["formats"][0]["format"], &access["times"]["seconds"]),
        (&"combined".into(), &2.0.into())
    );
    assert_eq!(field(&access, "status")["numbers"]["median"], 404);
    assert_eq!(field(&access, "bytes")["values"], 1);
    let selected = answer("--where 'status == 200' -g curl --since 2015-05-17 access.log");
    assert_eq!(
        (&selected["records"], &field(&selected, "path")["top"][0]["value"]),
        (&1.into(), &"/a".into())
    );
    let list = answer("list.csv access.log");
    assert_eq!((list["records"].as_u64(), field(&list, "name")["values"].as_u64()), (Some(5), Some(2)));
    let latin1 = answer("latin1.json");
    assert_eq!(field(&latin1, "a")["top"][0]["value_base64"], "Y2Fm6Q==");
    assert_eq!(field(&latin1, "a.b")["top"][0]["count"], 1);
    assert_eq!(field(&answer("long"), "message")["top"][0]["cut"], true);
    let malformed = answer("--input json access.log");
    assert_eq!((&malformed["records"], &malformed["malformed"]), (&0.into(), &3.into()));
    assert_eq!(answer("empty")["fields"], Value::Array(Vec::new()));
}

#[test]
fn an_overview_refuses_flags_of_counts() {
    let directory = directory_with(&[("access.log", ACCESS)]);
    for flags in
        ["-f 7", "-e x", "--sum bytes", "--every 1h", "-n 3", "--percent", "--sample", "--approx", "--tail"]
    {
        let (out, errors, code) = directory.run(&format!("comb top --overview {flags} access.log"));
        assert!(errors.contains("cannot be used with"), "{flags}: {errors}");
        assert_eq!((out.as_str(), code), ("", Some(2)), "{flags}");
    }
    for format in ["csv", "tsv"] {
        let (_, errors, code) = directory.run(&format!("comb top --overview --format {format} access.log"));
        assert_eq!(errors, "comb: --overview: expected --format text, json or markdown\n");
        assert_eq!(code, Some(2));
    }
}

/// The tip is for people: it is on a terminal, and where the counts of whole records say nothing.
#[test]
fn a_terminal_names_the_overview_where_nearly_all_records_are_different() {
    let lines = |count: usize| (0..count).map(|line| format!("line {line}\n")).collect::<String>();
    let (most, half) = (lines(19) + "line 0\nline 0\n", lines(20) + &lines(20));
    let directory = directory_with(&[("most", &most), ("half", &half), ("few", &lines(5))]);
    let tip = "19 of 21 records are different; --overview shows the fields of the records and their values\n";
    for (arguments, is_named) in [
        ("most", true),
        ("-g line most", true),
        ("-n 3 --json most", true),
        ("half", false),
        ("few", false),
        ("-f 2 most", false),
        ("-e '[0-9]+' most", false),
        ("--sum 2 most", false),
        ("--overview most", false),
    ] {
        let shown = shown(&directory, &format!("comb top {arguments}"));
        assert_eq!(shown.contains(tip), is_named, "{arguments}: {shown}");
        let (_, errors, _) = directory.run(&format!("comb top {arguments}"));
        assert!(!errors.contains("--overview"), "{arguments}: {errors}");
    }
}

#[test]
fn an_overview_is_text_of_80_columns_and_markdown() {
    let directory = directory_with(&[("access.log", ACCESS)]);
    let (_, errors, _) = directory.run("comb top --overview --input json access.log");
    assert!(errors.starts_with("comb: skipped 3 malformed of 3 records; "), "{errors}");
    let (out, _, code) = directory.run("comb top --overview --tz UTC access.log");
    assert!(
        out.starts_with(
            "3 records of combined\n2015-05-17T10:05:03Z to 2015-05-17T10:05:05Z: 2.00 s, 1.50 per second\n"
        ),
        "{out}"
    );
    assert!(
        out.contains("\nstatus       3 distinct, each once\n  min 200  median 404  p95 408  max 408\n"),
        "{out}"
    );
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert_eq!(code, Some(0));
    let (out, ..) = directory.run("comb top --overview --tz UTC --format markdown access.log");
    assert!(
        out.contains(
            "\n| status | 3 | 3 | 200 33.3 %<br>404 33.3 %<br>408 33.3 % | 200 | 404 | 408 | 408 |\n"
        ),
        "{out}"
    );
}

#[test]
fn the_schema_refuses_other_objects() {
    let schema = include_str!("../../../../docs/top.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let answer = |key: &str| {
        format!("{{\"partial\":false,\"records\":1,\"distinct\":1,\"skipped\":0,\"top\":[{key}]}}")
    };
    let is_valid = |text: &str| validator.is_valid(&serde_json::from_str(text).expect("JSON"));
    assert!(is_valid(&answer(r#"{"count":1,"sum(a)":2,"key":"x"}"#)));
    for key in [r#"{"count":-1,"key":"x"}"#, r#"{"count":1}"#, r#"{"count":1,"key":"x","total(a)":2}"#] {
        assert!(!is_valid(&answer(key)), "{key}");
    }
    assert!(!is_valid("{}"));
}

#[test]
fn places_in_unwrapped_records_are_those_of_the_records_around_them() {
    let record = |number: u32, unit: &str| {
        format!("{{\"log\":\"{{\\\"d\\\":{number}{unit}}}\\n\",\"stream\":\"stdout\"}}\n")
    };
    let log: String =
        (0..60).map(|number| record(number, if number < 5 { "" } else { "e0" })).collect::<String>();
    let log = log + &"{\"log\":\"{\\\"d\\\":\\\"3ms\\\"}\\n\",\"stream\":\"stdout\"}\n".repeat(3);
    let directory = directory_with(&[("app.log", &log)]);
    for size in ["1", "300", "1k", "1m"] {
        let command = format!("comb top --unwrap log -f stream --sum d --block-size {size} app.log");
        let (out, errors, _) = directory.run(&command);
        assert_eq!(out, "count  sum(d)  stream\n   63   0.009  stdout\n", "{errors}");
        assert!(errors.contains("the first is app.log:1:"), "{size}: {errors}");
    }
}

#[test]
fn a_malformed_record_around_the_text_is_reported_if_it_lacks_a_field() {
    let line = "{\"log\":\"{\\\"a\\\":1}\",\"p\":\"1\",\"q\":\"2\",\"r\":\"unclosed\n";
    let directory = directory_with(&[("app.log", line)]);
    let unwrap = "comb top --input json --unwrap log=json";
    directory.prints(&format!("{unwrap} -f a app.log"), "1 1\n");
    directory.prints(&format!("{unwrap} -f p app.log"), "1 1\n");
    let (out, errors, _) = directory.run(&format!("{unwrap} -f p,r --missing ? app.log"));
    assert_eq!(out, "");
    assert!(errors.starts_with("comb: skipped 1 malformed of 1 record; "), "{errors}");
    // A format that reads the first line of a record reads that of the record around the text.
    let lines = "a=1 msg=\"x=1 y=2\"\n  b=2 c=3\na=2 msg=\"x=1 y=2\"\n";
    let directory = directory_with(&[("app.log", lines)]);
    let unwrap = "comb top --record indent --input logfmt --unwrap msg";
    directory.prints(&format!("{unwrap} -f x app.log"), "2 1\n");
    directory.prints(&format!("{unwrap} -f a app.log"), "1 1\n1 2\n");
}
