//! `comb top --tail`: logs that grow while they are counted.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{COMB, Place, answer, directory_with, program, run, text, wait_until};

/// A count that follows a log.
struct Tail {
    directory: TempDir,
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Tail {
    fn start(files: &[(&str, &str)], arguments: &[&str]) -> Self {
        let directory = directory_with(files);
        let mut command = Command::new(COMB);
        command.args(["top", "--tail", "--tz", "UTC"]).args(arguments).current_dir(directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("running comb");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { directory, child, out }
    }

    fn append(&self, name: &str, text: &str) {
        append(&self.directory.at(name), text);
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("output");
        line
    }

    fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).expect("JSON")
    }

    /// Waits for a state in which this many records are counted.
    fn await_records(&mut self, records: u64) -> Value {
        loop {
            let state = self.json();
            if state["records"] == records {
                return state;
            }
            assert!(state["records"].as_u64() < Some(records), "{state}");
        }
    }

    /// Sends a signal and returns the rest of the output, the messages and the exit status.
    fn end(mut self, signal: Signal) -> (String, String, Option<i32>) {
        kill_process(Pid::from_child(&self.child), signal).expect("sending a signal");
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.out, &mut rest).expect("output");
        let (_, err, code) = text(self.child.wait_with_output().expect("waiting"));
        (rest, err, code)
    }
}

fn append(path: &Path, text: &str) {
    let mut file = File::options().append(true).create(true).open(path).expect("a file");
    file.write_all(text.as_bytes()).expect("room");
}

/// A record at a second of a minute.
fn record(minute: u32, second: u32, key: &str) -> String {
    format!("2026-03-01T06:{minute:02}:{second:02}Z {key}\n")
}

#[test]
fn buckets_are_printed_as_they_end_and_the_rest_at_the_end() {
    let log: String = [(0, 1), (0, 2), (3, 1)].map(|(minute, second)| record(minute, second, "a")).concat();
    let mut tail = Tail::start(&[("a.log", &log)], &["--every", "1m", "a.log"]);
    assert_eq!(tail.line(), "2 2026-03-01T06:00Z\n");
    tail.append("a.log", &record(4, 0, "a"));
    let rows = [tail.line(), tail.line(), tail.line()];
    assert_eq!(rows, ["0 2026-03-01T06:01Z\n", "0 2026-03-01T06:02Z\n", "1 2026-03-01T06:03Z\n"]);
    tail.append("a.log", &record(3, 5, "late"));
    assert_eq!(tail.line(), "1 2026-03-01T06:03Z\n");
    assert_eq!(tail.end(Signal::INT), ("1 2026-03-01T06:04Z\n".to_owned(), String::new(), Some(0)));
}

#[test]
fn each_bucket_has_its_own_first_keys() {
    let keys = [(0, "a"), (0, "a"), (0, "b"), (0, "c"), (1, "b"), (1, "b"), (1, "a"), (2, "c")];
    let log: String = keys.map(|(minute, key)| record(minute, 0, key)).concat();
    let arguments = ["--every", "1m", "-f", "2", "-n", "1", "--format", "csv", "a.log"];
    let mut tail = Tail::start(&[("a.log", &log)], &arguments);
    let rows = [tail.line(), tail.line(), tail.line()];
    assert_eq!(rows, ["count,time,key\n", "2,2026-03-01T06:00Z,a\n", "2,2026-03-01T06:01Z,b\n"]);
    assert_eq!(tail.end(Signal::TERM), ("1,2026-03-01T06:02Z,c\n".to_owned(), String::new(), Some(143)));
}

#[test]
fn json_is_a_line_for_each_state() {
    let mut tail = Tail::start(&[("a.log", "a\nb\n")], &["--json", "."]);
    let state = tail.json();
    assert_eq!((&state["records"], &state["distinct"]), (&2.into(), &2.into()));
    fs::rename(tail.directory.at("a.log"), tail.directory.at("a.log.1")).expect("a file");
    tail.append("a.log", "a\n");
    tail.append("a.log.1", "a\n");
    let state = tail.await_records(4);
    assert_eq!(state["top"], serde_json::json!([{"count": 3, "key": "a"}, {"count": 1, "key": "b"}]));
    assert_eq!(tail.end(Signal::INT), (String::new(), String::new(), Some(0)));
}

#[test]
fn late_records_are_marked_in_json() {
    let log = [record(0, 0, "a"), record(1, 0, "a")].concat();
    let mut tail = Tail::start(&[("a.log", &log)], &["--every", "1m", "--json", "a.log"]);
    assert_eq!(tail.json().get("late"), None);
    tail.append("a.log", &record(0, 1, "a"));
    let row = tail.json();
    assert_eq!((&row["late"], &row["top"][0]["key"]), (&true.into(), &"2026-03-01T06:00Z".into()));
    assert_eq!(tail.end(Signal::INT).2, Some(0));
}

#[test]
fn a_file_may_be_missing_at_first_and_the_rest_is_printed_at_the_end() {
    let mut tail = Tail::start(&[("a.log", "a\na\nb\n")], &["a.log", "b.log"]);
    let mut err = BufReader::new(tail.child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    err.read_line(&mut line).expect("a message");
    assert_eq!(line, "comb: b.log: no such file or directory; waiting for it\n");
    tail.append("b.log", "b\nb\nnot finished");
    let out = tail.end(Signal::INT).0;
    line.clear();
    err.read_line(&mut line).expect("a message");
    assert_eq!(out, "3 b\n2 a\n");
    assert_eq!(line, "comb: b.log: the record at byte 4 has no end yet; not counted\n");
}

#[test]
fn a_pipe_is_followed_to_its_end() {
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("printf 'a\\na\\nb' | '{COMB}' top --tail")).stdin(Stdio::null());
    assert_eq!(run(&mut command), answer("2 a\n1 b\n", "", 0));
}

#[test]
fn the_last_minutes_are_counted_and_older_records_forgotten() {
    let at = |ago: i64| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        format!("{} key{ago}\n", now.saturating_add_signed(-ago))
    };
    let log = [at(10_000), at(400), at(250), at(1)].concat();
    let directory = directory_with(&[("a.log", &log)]);
    let count = ["top", "--last", "5m", "-f", "2", "a.log"];
    let (out, _, code) = run(program(COMB, directory.path()).args(count));
    assert_eq!((out.as_str(), code), ("1 key1\n1 key250\n", Some(0)));

    let log = [at(10_000), at(400), at(0)].concat();
    let mut tail = Tail::start(&[("a.log", &log)], &["--last", "2s", "-f", "2", "--json", "a.log"]);
    let mut state = tail.json();
    assert_eq!(state["top"], serde_json::json!([{"count": 1, "key": "key0"}]));
    while state["records"] != 0 {
        state = tail.json();
    }
    tail.append("a.log", &at(-1));
    while state["records"] != 1 {
        state = tail.json();
    }
    assert_eq!(state["top"][0]["key"], "key-1");
    assert_eq!(tail.end(Signal::INT).2, Some(0));
}

#[test]
fn a_log_is_followed_with_few_descriptors_and_files_that_come_and_go_are_counted_or_reported() {
    let directory = directory_with(&[("logs/a.log", "0\n")]);
    let script = format!("ulimit -n 64; exec '{COMB}' top --tail -n all logs");
    let mut command = program("bash", directory.path());
    command.args(["-c", &script]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("running comb");
    let log = directory.at("logs/a.log");
    let is_watched = || {
        let files = fs::read_dir(format!("/proc/{}/fdinfo", child.id())).into_iter().flatten().flatten();
        let mut texts = files.map(|file| fs::read_to_string(file.path()).unwrap_or_default());
        texts.any(|text| text.matches("inotify wd").count() >= 3)
    };
    wait_until("comb watches nothing", is_watched);
    for number in 0..150 {
        append(&log, &format!("{number}\n"));
        fs::rename(&log, directory.at("logs/a.log.1")).expect("a file");
        thread::sleep(Duration::from_millis(number % 3 * 8));
    }
    append(&log, "last\n");
    kill_process(Pid::from_child(&child), Signal::INT).expect("sending a signal");
    let (out, err, code) = text(child.wait_with_output().expect("waiting"));
    let lost = |line: &str| {
        let number = line.strip_prefix("comb: logs: ")?.split_once(" file")?.0;
        line.ends_with("removed or renamed before being read; not counted")
            .then(|| number.parse::<u64>())?
            .ok()
    };
    let lost: u64 = err.lines().filter_map(lost).sum();
    let count = |line: &str| line.split_whitespace().next().and_then(|count| count.parse::<u64>().ok());
    let counted: u64 = out.lines().filter_map(count).sum();
    assert_eq!(counted + lost, 152, "{err}");
    assert_eq!(code, Some(if lost > 0 { 2 } else { 0 }), "{err}");
    assert!(!err.contains("too many open files"), "{err}");
}
