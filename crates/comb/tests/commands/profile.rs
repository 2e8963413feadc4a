//! Tests of `--profile` in all formats, and of `--live`.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{COMB, Place, directory_with, wait_until};
use serde_json::Value;
use tempfile::TempDir;

/// Tolerance between the sum of the phases of a thread and its running time.
const TOLERANCE: f64 = 0.02;

/// A directory with these files and a link `log` to the sample.
fn with_sample(files: &[(&str, &str)]) -> TempDir {
    let directory = directory_with(files);
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/access.log");
    std::os::unix::fs::symlink(log, directory.at("log")).expect("a link");
    directory
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

/// The profile of a script that prints `out`.
#[track_caller]
fn profile(directory: &TempDir, script: &str, out: &str) -> Value {
    let (printed, err, code) = directory.run(script);
    assert_eq!((printed.as_str(), code), (out, Some(0)), "{script}: {err}");
    let profile = json(&err);
    check(&profile);
    profile
}

/// Checks invariants of all profiles.
fn check(profile: &Value) {
    let schema = json(include_str!("../../../../docs/profile.schema.json"));
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors: Vec<_> = validator.iter_errors(profile).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let wall = seconds(&profile["wall_seconds"]);
    assert!(wall > 0.0 && wall <= seconds(&profile["process"]["wall_seconds"]));
    for thread in profile["threads"].as_array().expect("threads") {
        let phases = thread["phases"].as_object().expect("phases");
        let sum: f64 = phases.values().map(seconds).sum();
        assert!((sum - wall).abs() <= TOLERANCE * wall, "{sum} of {wall}: {thread:#}");
        assert_eq!(thread["began_seconds"], phases["start"], "a thread begins with what is before it");
    }
}

#[test]
fn a_json_profile_matches_its_schema() {
    let directory = with_sample(&[("t/a/x.txt", "one\ntwo\n"), ("t/b.txt", "two\n")]);
    let of_top = profile(&directory, "comb top -n1 -f7 -w2 --profile=json log", "193 /\n");
    assert_eq!((&of_top["sum"]["records"], &of_top["sum"]["files"]), (&10_000.into(), &1.into()));
    assert_eq!(of_top["sum"]["bytes"], directory.at("log").metadata().expect("the sample").len());
    assert!(seconds(&of_top["sum"]["phases"]["count"]) > 0.0);
    assert_eq!(of_top["command"], "comb top -n1 -f7 -w2 --profile=json log");
    let of_grep = profile(&directory, "cd t; comb grep -c two --profile=json", "a/x.txt:1\nb.txt:1\n");
    assert_eq!((&of_grep["sum"]["files"], &of_grep["sum"]["bytes"]), (&2.into(), &12.into()));
    assert!(seconds(&of_grep["sum"]["phases"]["walk"]) > 0.0);
    profile(&directory, "cd t; comb grep --files --profile=json", "a/x.txt\nb.txt\n");
}

#[test]
fn decompression_and_writing_full_tables_to_files_are_separate_phases() {
    let directory = directory_with(&[("a.txt", &"some text\n".repeat(100_000))]);
    directory.prints("gzip a.txt", "");
    let of_grep = profile(&directory, "comb grep -zc text --profile=json a.txt.gz", "100000\n");
    assert!(seconds(&of_grep["sum"]["phases"]["decompress"]) > 0.0);

    let lines: String = (0..600_000).map(|number| format!("{} {number}\n", number % 300_000)).collect();
    let directory = directory_with(&[("a.log", &lines)]);
    let query = "comb top -f1 --input lines -n3 a.log";
    let (whole, ..) = directory.run(query);
    let bounded = format!("{query} --memory 32M --temporary-directory . --profile=json");
    let of_top = profile(&directory, &bounded, &whole);
    assert!(seconds(&of_top["sum"]["phases"]["spill"]) > 0.0);
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
}

#[test]
fn a_trace_covers_the_time_of_each_thread() {
    let directory = with_sample(&[]);
    let (_, err, code) = directory.run("comb top -f7 -w2 --block-size 4K --profile=trace log");
    assert_eq!((err.as_str(), code), ("comb: profile written to comb-trace.json\n", Some(0)));
    let trace = json(&directory.read("comb-trace.json"));
    let events = trace["traceEvents"].as_array().expect("events");
    let mut ends = [0.0; 3];
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let thread = event["tid"].as_u64().expect("a number") as usize;
        let (start, length) = (seconds(&event["ts"]), seconds(&event["dur"]));
        // A thread is in exactly one phase at any time. Times are in microseconds.
        let gap = start - ends[thread];
        assert!(ends[thread] == 0.0 || (0.0..0.002).contains(&gap), "{event} after {}", ends[thread]);
        ends[thread] = start + length;
    }
    assert!(ends[1] > 0.0);
    for phase in ["open", "read", "split", "extract", "count", "merge"] {
        assert!(events.iter().any(|event| event["name"] == phase), "there is no {phase}");
    }
}

#[test]
fn html_and_text_profiles_are_written_to_their_files() {
    let directory = with_sample(&[]);
    let (_, err, code) = directory.run("comb top --profile=html log");
    assert_eq!((err.as_str(), code), ("comb: profile written to comb-profile.html\n", Some(0)));
    let page = directory.read("comb-profile.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>read"), "{page}");
    let (_, err, code) = directory.run("comb top --profile --profile-output p.txt log");
    assert!(err.ends_with("comb: profile written to p.txt\n") && code == Some(0), "{err}");
    let text = directory.read("p.txt");
    assert!(text.contains("\nthread 1   ") && !text.contains('\x1b'), "{text}");
}

#[test]
fn a_profile_that_cannot_be_written_is_refused_before_the_job() {
    let directory = with_sample(&[]);
    let no = "comb: no/p.html: cannot write: no such file or directory\n";
    directory.answers("comb top -n1 -f7 --profile=html --profile-output no/p.html log", "", no, 2);
    let refused = "comb: .: cannot write: is a directory\n";
    for command in ["top -f7", "grep a", "grep --files", "symbols"] {
        let script = format!("comb {command} --profile=json --profile-output . log");
        directory.answers(&script, "", refused, 2);
    }
    // A device may fail after all.
    let full = "comb: /dev/full: cannot write: no space left on device\n";
    directory.answers("comb top -n1 -f7 --profile=html --profile-output /dev/full log", "193 /\n", full, 2);
    directory.refuses("comb top --profile-output x log", "--profile");
    directory.refuses("comb top --profile=pie log", "text, json, html, trace");
    directory.refuses("comb top --live log", "--live: standard error is not a terminal; omit --live");
}

/// The last message of a script, and its exit status.
fn last_message(directory: &TempDir, script: &str) -> (String, Option<i32>) {
    let (_, err, code) = directory.run(script);
    (err.lines().last().unwrap_or_default().to_owned(), code)
}

#[test]
fn a_profile_overwrites_neither_an_input_nor_standard_output() {
    let directory = directory_with(&[("log", "a\n")]);
    directory.prints("ln log other", "");
    for command in ["top log", "grep a log", "grep --files log"] {
        for (format, output) in [("", "log"), ("=json", "other"), ("=html", "./log")] {
            let script = format!("comb {command} --profile{format} --profile-output {output}");
            let message = format!("comb: {output}: same file as the input log; use another output");
            let said = directory.refuses(&script, "");
            assert_eq!(said.lines().last(), Some(&*message), "{script}");
        }
    }
    assert_eq!(directory.read("log"), "a\n");
    let message = "/dev/stdout: same file as standard output; use another output";
    directory.refuses("comb top log --profile --profile-output /dev/stdout > out", message);
    assert_eq!(directory.read("out"), "");
}

#[test]
fn a_profile_replaces_only_profiles() {
    let directory = directory_with(&[("log", "a\n"), ("notes", "wall paper\n"), ("empty", "")]);
    let message = "comb: notes: file exists and is not a profile; use another output";
    let written = ("comb: profile written to empty".to_owned(), Some(0));
    for format in ["", "=json", "=html", "=trace"] {
        let script = format!("comb top log --profile{format} --profile-output");
        let said = directory.refuses(&format!("{script} notes"), message);
        assert_eq!(said.lines().last(), Some(message), "{format}");
        // The profile of each format is replaced by one of the next.
        assert_eq!(last_message(&directory, &format!("{script} empty")), written, "{format}");
    }
    assert_eq!(last_message(&directory, "comb top log --profile --profile-output empty"), written);
    assert_eq!(directory.read("notes"), "wall paper\n");
    let trace = "cp notes comb-trace.json; comb top log --profile=trace";
    directory.refuses(trace, "comb: comb-trace.json: file exists");
    let piped = "comb top log --profile=json --profile-output /dev/stdout | grep -c wall_seconds";
    assert_eq!(directory.run(piped).2, Some(0));
}

/// Runs a command line on a terminal, whose output is written to the file `typescript`.
pub(crate) fn on_terminal(directory: &TempDir, line: &str) -> Child {
    Command::new("script")
        .args(["-qfc", line, "typescript"])
        .current_dir(directory.path())
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("script of util-linux")
}

/// Whether a text has been written to the terminal of [`on_terminal`].
pub(crate) fn is_shown(directory: &TempDir, text: &str) -> bool {
    let typescript = fs::read(directory.at("typescript")).unwrap_or_default();
    String::from_utf8_lossy(&typescript).contains(text)
}

/// `comb top --live` on a terminal, with a pipe for its input.
pub(crate) struct Live {
    pub(crate) directory: TempDir,
    terminal: Child,
    pipe: File,
}

impl Live {
    pub(crate) fn start(flags: &str) -> Self {
        let job = format!("'{COMB}' top --live {flags} pipe > out; echo $? > code");
        Self::start_line(&format!("stty cols 80 rows 24; {job}"))
    }

    fn start_line(line: &str) -> Self {
        let directory = directory_with(&[("typescript", "")]);
        directory.prints("mkfifo pipe", "");
        let terminal = on_terminal(&directory, line);
        let pipe = File::options().write(true).open(directory.at("pipe")).expect("a pipe");
        Self { directory, terminal, pipe }
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.pipe.write_all(text.as_bytes()).expect("the pipe is read");
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        is_shown(&self.directory, text)
    }

    /// Types keys that end the job, and returns the result.
    pub(crate) fn end(&mut self, keys: &[u8]) -> String {
        self.type_keys(keys);
        let code = self.directory.at("code");
        wait_until("the end", || fs::read_to_string(&code).is_ok_and(|code| code == "130\n"));
        self.terminal.wait().expect("script ends");
        self.directory.read("out")
    }
}

/// The job reads a pipe without an end, so it runs until q ends it.
#[test]
fn live_shows_the_counts_so_far_and_q_prints_them() {
    let mut live = Live::start("");
    // The screen appears with a delay.
    wait_until("the screen", || {
        live.write(&"twice\nonce\ntwice\n".repeat(10_000));
        live.shows("q stop and print")
    });
    wait_until("the answer so far", || live.shows("twice"));
    // An incomplete key, which the first q completes to an unknown one, does not block later keys.
    let printed = live.end(b"\x1b[qq");
    let counts: Vec<u64> = printed.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    assert!(printed.contains(" twice\n") && counts.len() == 2 && counts[0] > counts[1], "{printed}");
    assert!(live.shows("interrupted after"));
}

/// Shows the screen of a job with these flags that reads this text from a pipe, until it has all of these texts. The pipe delivers
/// nothing more while the job runs. Returns the screens and the result.
fn wait_for_screen(flags: &str, text: &str, wanted: &[&str]) -> (Vec<u8>, String) {
    let mut live = Live::start(flags);
    live.write(text);
    wait_until("the screen", || wanted.iter().all(|text| live.shows(text)));
    let screens = fs::read(live.directory.at("typescript")).expect("a typescript");
    (screens, live.end(b"q"))
}

#[test]
fn live_shows_the_counts_of_a_slow_pipe() {
    let (_, printed) = wait_for_screen("", "twice\nonce\ntwice\nhalf", &["twice", "once", "3 records"]);
    assert_eq!(printed, "2 twice\n1 once\n# partial: interrupted after 3 records\n");
}

/// The less frequent key has the larger sum.
#[test]
fn live_shows_measures_in_the_order_of_sort() {
    let wanted = ["count  percent  sum(2)  sum(2)", "33.33     7.0", "66.67     2.5"];
    let (screens, _) = wait_for_screen("-f 1 --sum 2 --sort sum", "twice 1.5\nonce 7\ntwice 1\n", &wanted);
    let at = |text: &str| screens.windows(text.len()).position(|window| window == text.as_bytes());
    assert!(at(wanted[1]) < at(wanted[2]));
}

const TIMED: &str = "2026-03-01T06:00:07 in\n2026-03-01T06:00:09 in\n2026-03-01T06:00:11 in\n\
                     2026-03-01T06:00:30 out\n2026-03-01T06:02:00 out\n2026-03-01T06:02:01 in\n";

#[test]
fn live_shows_the_latest_buckets_with_bars_and_a_sparkline_for_each_key() {
    let bar = |row: &str, width| format!("{row}  {}", "█".repeat(width));
    let [full, half] = [bar("12    66.67", 20), bar("6    33.33", 10)];
    let wanted = [&full, &half, "2026-03-01T06:00Z", "2026-03-01T06:01Z", "2026-03-01T06:02Z"];
    // The format of a pipe is recognised by its first ten records.
    wait_for_screen("--every 1m --tz UTC", &TIMED.repeat(3), &wanted);
    let wanted = ["2026-03-01T06:00Z to 2026-03-01T06:02Z", "06:00  █ ▃  in", "06:00  █ █  out"];
    wait_for_screen("-f 2 --every 1m --tz UTC", TIMED, &wanted);
}

/// Raw mode and the alternate screen must not outlive the program.
#[test]
fn live_restores_the_terminal_and_prints_on_termination() {
    let job = format!("echo \\$\\$ > pid; exec '{COMB}' top --live pipe > out");
    let mut live =
        Live::start_line(&format!("stty -g > before; sh -c \"{job}\"; stty -g > after; echo > done"));
    wait_until("the screen", || {
        live.write("a line\n");
        live.shows("q stop and print")
    });
    live.directory.prints("kill -TERM $(< pid)", "");
    wait_until("the end", || live.directory.at("done").exists());
    live.terminal.wait().expect("script ends");
    let read = |name: &str| live.directory.read(name);
    assert_eq!(read("before"), read("after"));
    let out = read("out");
    assert!(out.ends_with(" records\n") && out.contains(" a line\n# partial"), "{out}");
    assert!(live.shows("\x1b[?1049l"));
}

impl Live {
    fn type_keys(&mut self, keys: &[u8]) {
        self.terminal.stdin.as_mut().expect("a pipe").write_all(keys).expect("the terminal takes a key");
    }

    /// Types keys, and waits until the screen shows a text.
    #[track_caller]
    fn press(&mut self, keys: &[u8], expected: &str) {
        self.type_keys(keys);
        wait_until(expected, || self.shows(expected));
    }
}

/// The pipe delivers nothing more, so that workers do not look for requests themselves.
#[test]
fn keys_of_the_screen_choose_rows_and_their_order_but_not_the_result() {
    let mut live = Live::start("-f 1 --sum 2");
    live.write("twice 1\nonce 7\ntwice 2\n\u{1b}[2J 9\n");
    wait_until("the screen", || live.shows("twice"));
    live.press(b"?", "sort by the next column");
    live.press(b"xt", "thread 1");
    live.press(b"s", "s sort: sum(2)");
    live.press(b"s", "s sort: key");
    live.press("/日\u{202e}".as_bytes(), "/日\\u{202e}");
    live.press(b"\x7f\x7fTWI\r", "/TWI  ");
    wait_until("the selected row", || {
        // The rows with the text come a moment later.
        live.type_keys(b"\x1b[B");
        live.shows("\x1b[7m    2    50.00")
    });
    live.press(b"p", "paused");
    let screens = fs::read(live.directory.at("typescript")).expect("a typescript");
    assert!(!String::from_utf8_lossy(&screens).contains("\x1b[2J 9"));
    let printed = live.end(b"\x1b\x1bq");
    let expected =
        "count  sum(2)  key\n    2       3  twice\n    1       9  \u{1b}[2J\n    1       7  once\n";
    assert_eq!(printed, format!("{expected}# partial: interrupted after 4 records\n"));
}

/// The counts of a bucket, its measures and the record are of one key.
#[test]
fn enter_shows_the_times_and_the_latest_records_of_a_row() {
    let mut live = Live::start("--input lines --tz UTC --every 5s -f 2,3 --sum 4");
    live.write(
        "2026-03-01T06:00:01Z a b 7\n2026-03-01T06:00:02Z a c 40\n2026-03-01T06:00:11Z a b 1\x1b[2J\n\
         2026-03-01T06:00:12Z a b 30\n",
    );
    wait_until("the screen", || live.shows("  a b") && live.shows("sum(4)"));
    live.press(b"\r", "latest records");
    for expected in ["    2    66.67      30  ", "  2026-03-01T06:00:10Z", "06:00:11Z a b 1\\u{1b}[2J"] {
        wait_until(expected, || live.shows(expected));
    }
    live.write("2026-03-01T06:00:21Z a b 5\n");
    wait_until("the new record", || live.shows("06:00:21Z a b 5") && live.shows("1 record in "));
    live.press(b"\x1b[B", "06:00:02Z a c 40");
    live.press(b"?", "show the times and the latest records of a row");
    live.press(b"x\x7fs", "s sort: sum(4)");
    let printed = live.end(b"q");
    assert!(printed.ends_with("# partial: interrupted after 5 records\n"), "{printed}");
}

/// A slow terminal, such as one over a network, gets the lines that change, and nothing where none does.
#[test]
fn a_screen_that_does_not_change_is_not_drawn_again() {
    let mut live = Live::start("-f 1");
    live.write(&"key 1\n".repeat(100));
    wait_until("the counts", || live.shows("100.00"));
    live.press(b"p", "paused");
    let size = || live.directory.at("typescript").metadata().expect("a typescript").len();
    let before = size();
    thread::sleep(Duration::from_secs(1));
    // The line of the progress, which has the rate and the time, at most seven times.
    let drawn = size() - before;
    assert!(drawn < 7 * 90, "{drawn} bytes");
    live.end(b"q");
}

#[test]
fn the_screen_without_colours_has_none() {
    let job = format!("NO_COLOR=1 '{COMB}' top --live pipe > out; echo $? > code");
    let mut live = Live::start_line(&format!("stty cols 80 rows 24; {job}"));
    live.write("a line\n");
    wait_until("the screen", || live.shows("a line"));
    live.press(b"t", "thread 1");
    for color in ["\x1b[30m", "\x1b[44m", "\x1b[38;", "\x1b[48;"] {
        assert!(!live.shows(color), "{color:?}");
    }
    live.end(b"q");
}
