//! Formats with names, of the product and of a user.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{COMB, Place, answer, directory_with, program, run};

/// A directory with files of formats, and a log.
fn with_formats(formats: &[(&str, &str)], log: &str) -> TempDir {
    let directory = directory_with(&[("app.log", log)]);
    let folder = directory.path().join("finecomb/formats");
    fs::create_dir_all(&folder).expect("a directory");
    for (name, text) in formats {
        fs::write(folder.join(name), text).expect("a file");
    }
    directory
}

/// `comb top` with the formats of a directory.
fn top(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = program(COMB, directory);
    command.arg("top").args(arguments).env("XDG_CONFIG_HOME", directory);
    command
}

const MINE: &str = "title = 'Mine'\ntemplate = '$at|$level|$message'\ntime = 'at'\n[types]\nlevel = 'text'\n";

const LOG: &str = "2026-03-01 10:00:00|warn|a b\n2026-03-01 10:59:59|info|c\n2026-03-01 11:00:00|warn|d\n";

#[test]
fn a_format_of_a_user_is_named_or_recognised() {
    let directory = with_formats(&[("mine.toml", MINE)], LOG);
    let by_level = "2 warn\n1 info\n";
    let text = |arguments: &[&str]| run(&mut top(directory.path(), arguments));
    assert_eq!(text(&["--input", "mine", "-f", "level", "app.log"]), answer(by_level, "", 0));
    assert_eq!(text(&["-f", "level", "app.log"]), answer(by_level, "", 0));
    let hours = "2 2026-03-01T10:00Z\n1 2026-03-01T11:00Z\n";
    assert_eq!(text(&["--every", "1h", "app.log"]), answer(hours, "", 0));
    let (sample, _, _) = text(&["--sample=1", "-f", "level", "app.log"]);
    assert!(sample.starts_with("app.log: format: mine\n"), "{sample}");
    let (_, error, code) = text(&["--input", "mine", "-f", "levle", "app.log"]);
    assert_eq!(
        (error.as_str(), code),
        ("comb: --input mine: no field 'levle' in this log format; did you mean 'level'?\n", Some(2))
    );
}

#[test]
fn a_format_of_a_user_replaces_one_of_the_product() {
    let directory = with_formats(&[("klog.toml", MINE)], LOG);
    let counted = run(&mut top(directory.path(), &["--input", "klog", "-f", "level", "app.log"]));
    assert_eq!(counted, answer("2 warn\n1 info\n", "", 0));
    let (listed, _, _) = run(&mut top(directory.path(), &["--formats"]));
    assert!(listed.starts_with("klog            Mine\n                at level message\n"), "{listed}");
    assert_eq!(listed.lines().filter(|line| line.starts_with("klog")).count(), 1);
}

#[test]
fn formats_are_listed_with_their_fields() {
    let directory = with_formats(&[("mine.toml", MINE)], "");
    let (listed, error, code) = run(&mut top(directory.path(), &["--formats"]));
    assert_eq!((error.as_str(), code), ("", Some(0)));
    assert!(listed.lines().all(|line| line.len() <= 80), "{listed}");
    for part in [
        "mine            Mine\n                at level message\n",
        "haproxy         HAProxy, option httplog\n                syslog process_id client_ip",
        "json            One JSON object per line\n",
        "clf             Access log in the Common Log Format\n                remote_addr ident",
    ] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let (shown, _, code) = run(&mut top(directory.path(), &["--formats", "mine"]));
    let file = directory.path().join("finecomb/formats/mine.toml");
    let expected = format!(
        "mine: Mine\nfile     {}\ntemplate $at|$level|$message\ntime     at\nfield    at\nfield    level: text\nfield    message\n",
        file.display()
    );
    assert_eq!((shown, code), (expected, Some(0)));
    let (shown, _, _) = run(&mut top(directory.path(), &["--formats", "clf"]));
    assert!(shown.starts_with("clf             Access log in the Common Log Format\n"), "{shown}");
}

#[test]
fn a_wrong_file_is_told_with_its_line_where_it_matters() {
    let wrong = "title = 'Mine'\ntemplate = '$a$b'\n";
    let sample = "template = '$a $b'\n[[sample]]\nline = '1 2'\nfields = { b = '3' }\n";
    let directory = with_formats(&[("wrong.toml", wrong), ("sample.toml", sample)], LOG);
    let file = directory.path().join("finecomb/formats/wrong.toml");
    let reason = format!(
        "{}:2: cannot tell where $a ends and $b begins: the log format has no text between them",
        file.display()
    );
    let (_, error, code) = run(&mut top(directory.path(), &["--input", "wrong", "-f", "a", "app.log"]));
    assert!(error.contains(&reason) && code == Some(2), "{error}");
    let (listed, error, code) = run(&mut top(directory.path(), &["--formats"]));
    assert!(error.contains(&format!("comb: {reason}\n")) && code == Some(2), "{error}");
    assert!(error.contains("sample.toml: sample 1: b is '2' instead of '3'\n"), "{error}");
    assert!(listed.contains("klog "), "{listed}");
    // Other formats are not concerned.
    let (_, error, code) = run(&mut top(directory.path(), &["-f", "1", "app.log"]));
    assert_eq!((error.as_str(), code), ("", Some(0)));
    // Perhaps the file has that format.
    let (_, error, code) = run(&mut top(directory.path(), &["-f", "a", "app.log"]));
    assert!(error.contains(&reason) && code == Some(2), "{error}");
}

#[test]
fn names_of_formats_are_completed() {
    let directory = with_formats(&[("haste.toml", MINE)], "");
    let mut command = program(COMB, directory.path());
    command.args(["--", "comb", "top", "--input", "ha"]).env("COMPLETE", "bash");
    let (out, _, _) = run(command.env("XDG_CONFIG_HOME", directory.path()));
    assert_eq!(out.lines().collect::<Vec<_>>(), ["haste", "haproxy", "haproxy_raw"]);
}

#[test]
fn keys_are_the_same_where_a_format_is_detected_and_where_it_is_named() {
    let log = "2026-03-01 06:00:00,250 INFO start\n2026-03-01 06:00:30,000 WARN slow\n   at line 7\n";
    let directory = directory_with(&[("app.log", log)]);
    let keys = "1 2026-03-01 06:00:00,250 INFO start\n1 2026-03-01 06:00:30,000 WARN slow\n";
    directory.prints("comb top --since 2026-01-01 --input python app.log", keys);
    directory.prints("comb top --since 2026-01-01 app.log", keys);
}

#[test]
fn times_at_the_beginning_of_records_are_those_of_the_field() {
    let java = "  Banner 2026-03-01 05:00:00\n2026-03-01 06:00:00,250 INFO [main] a.b.C: from 2026-02-01 05:00:00\n\
                a.b.Exception: 2026-01-01 00:00:00\n\tat a.b.C\n[2026-03-01 07:00:00,000] WARN c (a.b.C)\n";
    let java_of_day = "06:00:00.250 [main] INFO a.C - at 05:00:00\n07:00:00.000 [main] WARN a.C - b\n";
    let python = "WARNING:root:2026-03-01 05:00:00 disk\n2026-03-01 06:00:00,250 - shop - INFO - 2026-02-01 05:00:00\n\
                  Traceback (most recent call last):\nERROR:root:x\n2026-03-01 07:00:00,000 WARN b\n";
    let redis = "1:C 01 Mar 2026 06:00:00.250 # a\n1:M 01 Mar 2026 07:00:00.000 * from 2026-01-01 05:00:00\n";
    let logs = [("java.log", java), ("day.log", java_of_day), ("python.log", python), ("redis.log", redis)];
    let directory = directory_with(&logs);
    for (name, input, field) in [
        ("java.log", "log4j", "time"),
        ("day.log", "log4j", "time"),
        ("python.log", "python", "asctime"),
        ("redis.log", "redis", "time"),
    ] {
        let hours = |of_time: &[&str]| {
            let mut command = top(directory.path(), &["--every", "1h", "--input", input, name]);
            let (hours, notes, _) = run(command.args(of_time));
            (hours, notes.contains("malformed"))
        };
        let (only_times, is_cut) = hours(&[]);
        assert_eq!(only_times, hours(&["--time", field]).0, "{name}");
        assert_eq!(only_times.lines().count(), 2, "{name}: {only_times}");
        assert!(!is_cut, "{name}");
    }
}

#[test]
fn the_time_that_a_definition_names_counts() {
    let rows = "placed,created_at\n2026-03-01 06:00:00,2020-01-01\n2026-03-01 07:00:00,2020-01-01\n";
    let lines = "- 2020-01-01 a\n2026-03-01T06:00:00 2020-01-01 b\n2026-03-01T07:00:00 2020-01-01 c\n";
    let orders = "base = 'csv'\nrecognised = '^placed,'\ntime = 'placed'\n";
    let received = "template = '$received $time $text'\nrecognised = ' [a-z]$'\ntime = 'received'\n";
    let directory = with_formats(&[("orders.toml", orders), ("received.toml", received)], lines);
    fs::write(directory.path().join("orders.csv"), rows).expect("a file");
    let hours = "1 2026-03-01T06:00Z\n1 2026-03-01T07:00Z\n";
    for (input, file) in [("orders", "orders.csv"), ("received", "app.log")] {
        for input in [&["--input", input][..], &[]] {
            let (counted, error, _) = run(top(directory.path(), &["--every", "1h", file]).args(input));
            assert_eq!(counted, hours, "{file} {input:?}: {error}");
        }
    }
    let (sample, _, _) = run(&mut top(directory.path(), &["--sample=1", "--every", "1h", "orders.csv"]));
    assert!(sample.starts_with("orders.csv: format: orders\n"), "{sample}");
}

#[test]
fn headers_of_files_are_no_records() {
    let header = "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status\n";
    let record = "2 1 eni-0 192.0.2.1 192.0.2.2 1 22 6 20 4249 1772346009 1772346069 REJECT OK\n";
    let directory =
        directory_with(&[("flow.log", &format!("{header}{record}{record}")), ("none.log", header)]);
    for command in
        ["comb top -f action flow.log none.log", "comb top --input vpcflow -f action flow.log none.log"]
    {
        directory.prints(command, "2 REJECT\n");
    }
}

#[test]
fn lines_that_name_columns_hold_for_all_records_after_them() {
    let mut log = "#Fields: time sc-status\n".to_owned();
    for day in 0..3 {
        for second in 0..40_000 {
            log +=
                &format!("{:02}:{:02}:{:02} {}\n", second / 3600, second / 60 % 60, second % 60, 200 + day);
        }
    }
    let directory = directory_with(&[("ex.log", &log)]);
    let (days, note, code) = run(program(COMB, directory.path()).args(["top", "--every", "1d", "ex.log"]));
    let counts: Vec<&str> = days.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!((&counts[..], code), (&["40000"; 3][..], Some(0)), "{days}{note}");
    assert!(note.contains("ex.log: times have no date: the last is dated "), "{note}");
    assert!(note.ends_with(", by the last change of the file, and 2 midnights are before it\n"), "{note}");
    let refused = ["top", "--record", "^[0-9]", "-f", "sc-status", "ex.log"];
    let (counted, error, code) = run(program(COMB, directory.path()).args(refused));
    assert_eq!((counted.as_str(), code), ("", Some(2)));
    let expected =
        "comb: ex.log: --record does not apply to w3c; skipped; omit --record, or choose another --input\n";
    assert_eq!(error, expected);
}

#[test]
fn a_definition_that_is_wrong_is_told_where_no_format_is_found() {
    let formats = [("klog.toml", "template = '$a$b'\n"), ("json.toml", MINE), ("my.app.toml", MINE)];
    let directory = with_formats(&formats, "2026-03-01 10:00:00 a\n");
    let folder = directory.path().join("finecomb/formats");
    let (_, error, code) = run(&mut top(directory.path(), &["--every", "1h", "app.log"]));
    let json = format!(
        "{}:1: 'json' cannot be the name of a format; it has letters, digits, '_' and '-', and is no other value of --input",
        folder.join("json.toml").display()
    );
    assert_eq!((error, code), (format!("comb: app.log: unknown format; {json}\n"), Some(0)));
    let (_, error, code) = run(&mut top(directory.path(), &["--formats"]));
    assert!(error.contains(&json) && error.contains("my.app.toml:1: ") && code == Some(2), "{error}");
}
