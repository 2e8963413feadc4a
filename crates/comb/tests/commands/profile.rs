//! Tests of `--profile` in all formats, and of `--live`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{COMB, directory_with, program, run, shell, wait_until, write};
use serde_json::Value;
use tempfile::TempDir;

/// Tolerance between the sum of the phases of a thread and its running time.
const TOLERANCE: f64 = 0.02;

fn sample() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/access.log").to_owned()
}

fn comb(directory: &TempDir, arguments: &[&str]) -> Command {
    let mut command = program(COMB, directory.path());
    command.args(arguments);
    command
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
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
    let directory = directory_with(&[("a/x.txt", "one\ntwo\n"), ("b.txt", "two\n")]);
    let log = sample();
    let (out, err, code) = run(&mut comb(&directory, &["top", "-n1", "-f7", "-w2", "--profile=json", &log]));
    assert_eq!((out.as_str(), code), ("193 /\n", Some(0)));
    let profile = json(&err);
    check(&profile);
    assert_eq!(profile["sum"]["records"], 10_000);
    assert_eq!(profile["sum"]["files"], 1);
    assert_eq!(profile["sum"]["bytes"].as_u64(), fs::metadata(&log).ok().map(|data| data.len()));
    assert!(seconds(&profile["sum"]["phases"]["count"]) > 0.0);
    assert_eq!(profile["command"], format!("comb top -n1 -f7 -w2 --profile=json {log}"));

    let (out, err, code) = run(&mut comb(&directory, &["grep", "-c", "two", "--profile=json"]));
    assert_eq!((out.as_str(), code), ("a/x.txt:1\nb.txt:1\n", Some(0)));
    let profile = json(&err);
    check(&profile);
    assert_eq!((&profile["sum"]["files"], &profile["sum"]["bytes"]), (&2.into(), &12.into()));
    assert!(seconds(&profile["sum"]["phases"]["walk"]) > 0.0);
    let (out, err, code) = run(&mut comb(&directory, &["grep", "--files", "--profile=json"]));
    assert_eq!((out.as_str(), code), ("a/x.txt\nb.txt\n", Some(0)));
    check(&json(&err));
}

#[test]
fn decompression_is_a_separate_phase() {
    let directory = directory_with(&[("a.txt", &"some text\n".repeat(100_000))]);
    let packed = run(&mut shell(&directory, "gzip a.txt; comb grep -zc text --profile=json a.txt.gz"));
    assert_eq!((packed.0.as_str(), packed.2), ("100000\n", Some(0)), "{}", packed.1);
    let profile = json(&packed.1);
    check(&profile);
    assert!(seconds(&profile["sum"]["phases"]["decompress"]) > 0.0);
}

#[test]
fn writing_full_tables_to_files_is_a_separate_phase() {
    let lines: String = (0..600_000).map(|number| format!("{} {number}\n", number % 300_000)).collect();
    let directory = directory_with(&[("a.log", &lines)]);
    let query = ["top", "-f1", "--input", "lines", "-n3", "a.log"];
    let (whole, ..) = run(&mut comb(&directory, &query));
    let bounds = ["--memory", "32M", "--temporary-directory", ".", "--profile=json"];
    let (out, err, code) = run(comb(&directory, &query).args(bounds));
    assert_eq!((out, code), (whole, Some(0)), "{err}");
    let profile = json(&err);
    check(&profile);
    assert!(seconds(&profile["sum"]["phases"]["spill"]) > 0.0);
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
}

#[test]
fn a_trace_covers_the_time_of_each_thread() {
    let directory = directory_with(&[]);
    let arguments = ["top", "-f7", "-w2", "--block-size", "4K", "--profile=trace", &sample()];
    let (_, err, code) = run(&mut comb(&directory, &arguments));
    assert_eq!((err.as_str(), code), ("comb: profile written to comb-trace.json\n", Some(0)));
    let trace = fs::read_to_string(directory.path().join("comb-trace.json")).expect("a trace");
    let trace = json(&trace);
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
    let phases = ["open", "read", "split", "extract", "count", "merge"];
    for phase in phases {
        assert!(events.iter().any(|event| event["name"] == phase), "there is no {phase}");
    }
}

#[test]
fn html_and_text_profiles_are_written_to_their_files() {
    let directory = directory_with(&[]);
    let log = sample();
    let (_, err, code) = run(&mut comb(&directory, &["top", "--profile=html", &log]));
    assert_eq!((err.as_str(), code), ("comb: profile written to comb-profile.html\n", Some(0)));
    let page = fs::read_to_string(directory.path().join("comb-profile.html")).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>read"), "{page}");

    let text = ["top", "--profile", "--profile-output", "p.txt", &log];
    let (_, err, code) = run(&mut comb(&directory, &text));
    assert!(err.ends_with("comb: profile written to p.txt\n") && code == Some(0), "{err}");
    let text = fs::read_to_string(directory.path().join("p.txt")).expect("a text");
    assert!(text.contains("\nthread 1   ") && !text.contains('\x1b'), "{text}");
}

#[test]
fn a_profile_that_cannot_be_written_is_refused_before_the_job() {
    let directory = directory_with(&[]);
    let arguments = ["top", "-n1", "-f7", "--profile=html", "--profile-output", "no/p.html", &sample()];
    let (out, err, code) = run(&mut comb(&directory, &arguments));
    assert_eq!(
        (out.as_str(), err.as_str(), code),
        ("", "comb: no/p.html: cannot write: no such file or directory\n", Some(2))
    );
    let refused = "comb: .: cannot write: is a directory\n";
    for command in ["top -f7", "grep a", "grep --files", "symbols"] {
        let script = format!("comb {command} --profile=json --profile-output . {}", sample());
        let (out, err, code) = run(&mut shell(&directory, &script));
        assert_eq!((out.as_str(), err.as_str(), code), ("", refused, Some(2)), "{script}");
    }
    // A device may fail after all.
    let full = ["top", "-n1", "-f7", "--profile=html", "--profile-output", "/dev/full", &sample()];
    let (out, err, code) = run(&mut comb(&directory, &full));
    assert_eq!(
        (out.as_str(), err.as_str(), code),
        ("193 /\n", "comb: /dev/full: cannot write: no space left on device\n", Some(2))
    );
    let (_, err, code) = run(&mut comb(&directory, &["top", "--profile-output", "x", &sample()]));
    assert!(err.contains("--profile") && code == Some(2), "{err}");
    let (_, err, code) = run(&mut comb(&directory, &["top", "--profile=pie", &sample()]));
    assert!(err.contains("text, json, html, trace") && code == Some(2), "{err}");
}

#[test]
fn a_profile_does_not_overwrite_an_input() {
    let directory = directory_with(&[("log", "a\n")]);
    assert_eq!(run(&mut shell(&directory, "ln log other")).2, Some(0));
    for command in ["top log", "grep a log", "grep --files log"] {
        for (format, output) in [("", "log"), ("=json", "other"), ("=html", "./log")] {
            let script = format!("comb {command} --profile{format} --profile-output {output}");
            let (out, err, code) = run(&mut shell(&directory, &script));
            let message = format!("comb: {output}: same file as the input log; use another output");
            assert_eq!((err.lines().last(), code), (Some(&*message), Some(2)), "{script}");
            assert_eq!(out, "", "{script}");
        }
    }
    assert_eq!(fs::read_to_string(directory.path().join("log")).ok().as_deref(), Some("a\n"));
}

#[test]
fn a_profile_replaces_only_profiles() {
    let directory = directory_with(&[("log", "a\n"), ("notes", "wall paper\n"), ("empty", "")]);
    let message = "comb: notes: file exists and is not a profile; use another output";
    let written = "comb: profile written to empty";
    for format in ["", "=json", "=html", "=trace"] {
        let script = format!("comb top log --profile{format} --profile-output notes");
        let (out, err, code) = run(&mut shell(&directory, &script));
        assert_eq!((out.as_str(), err.lines().last(), code), ("", Some(message), Some(2)), "{script}");

        // The profile of each format is replaced by one of the next.
        let script = format!("comb top log --profile{format} --profile-output empty");
        let (_, err, code) = run(&mut shell(&directory, &script));
        assert_eq!((err.lines().last(), code), (Some(written), Some(0)), "{script}");
    }
    let (_, err, code) = run(&mut shell(&directory, "comb top log --profile --profile-output empty"));
    assert_eq!((err.lines().last(), code), (Some(written), Some(0)));
    assert_eq!(fs::read_to_string(directory.path().join("notes")).ok().as_deref(), Some("wall paper\n"));

    let (_, err, code) =
        run(&mut shell(&directory, "cp notes comb-trace.json; comb top log --profile=trace"));
    assert!(err.contains("comb: comb-trace.json: file exists") && code == Some(2), "{err}");
    let piped = "comb top log --profile=json --profile-output /dev/stdout | grep -c wall_seconds";
    assert_eq!(run(&mut shell(&directory, piped)).2, Some(0));
}

#[test]
fn a_profile_does_not_overwrite_standard_output() {
    let directory = directory_with(&[("log", "a\n")]);
    let script = "comb top log --profile --profile-output /dev/stdout > out";
    let (_, err, code) = run(&mut shell(&directory, script));
    assert!(err.contains("/dev/stdout: same file as standard output; use another output"), "{err}");
    assert_eq!((fs::read_to_string(directory.path().join("out")).ok().as_deref(), code), (Some(""), Some(2)));
}

#[test]
fn live_needs_a_terminal() {
    let directory = directory_with(&[]);
    let (out, err, code) = run(&mut comb(&directory, &["top", "--live", &sample()]));
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(err.contains("--live: standard error is not a terminal; omit --live"), "{err}");
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
    let typescript = fs::read(directory.path().join("typescript")).unwrap_or_default();
    String::from_utf8_lossy(&typescript).contains(text)
}

/// The job reads a pipe without an end, so it runs until q ends it.
#[test]
fn live_shows_the_counts_so_far_and_q_prints_them() {
    let directory = directory_with(&[]);
    write(&directory, "typescript", "");
    run(&mut shell(&directory, "mkfifo pipe"));
    let line = format!("stty cols 100 rows 30; '{COMB}' top --live pipe > out; echo $? > code");
    let mut terminal = on_terminal(&directory, &line);
    let mut pipe = OpenOptions::new().write(true).open(directory.path().join("pipe")).expect("a pipe");
    let shown = |text: &str| is_shown(&directory, text);
    // The screen appears with a delay.
    wait_until("the screen", || {
        pipe.write_all("twice\nonce\ntwice\n".repeat(10_000).as_bytes()).expect("the pipe is read");
        // Spaces are not drawn on an empty screen.
        shown("thread")
    });
    wait_until("the answer so far", || shown("twice"));
    // An incomplete key, which the first q completes to an unknown one, does not block later keys.
    terminal.stdin.as_mut().expect("a pipe").write_all(b"\x1b[qq").expect("the terminal takes a key");
    wait_until("the end", || directory.path().join("code").exists() && terminal_is_done(directory.path()));
    terminal.wait().expect("script ends");
    drop(pipe);
    let printed = fs::read_to_string(directory.path().join("out")).expect("an answer");
    let counts: Vec<u64> = printed.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    assert!(printed.contains(" twice\n") && counts.len() == 2 && counts[0] > counts[1], "{printed}");
    assert!(shown("interrupted after"));
}

/// The pipe delivers three lines, and then nothing while the job runs.
#[test]
fn live_shows_the_counts_of_a_slow_pipe() {
    let directory = directory_with(&[("typescript", "")]);
    run(&mut shell(&directory, "mkfifo pipe"));
    let line = format!("stty cols 100 rows 30; '{COMB}' top --live pipe > out; echo $? > code");
    let mut terminal = on_terminal(&directory, &line);
    let mut pipe = OpenOptions::new().write(true).open(directory.path().join("pipe")).expect("a pipe");
    pipe.write_all(b"twice\nonce\ntwice\nhalf").expect("the pipe is read");
    let shown = |text: &str| is_shown(&directory, text);
    wait_until("the counts", || shown("twice") && shown("once") && shown("3 records"));
    terminal.stdin.as_mut().expect("a pipe").write_all(b"q").expect("the terminal takes a key");
    wait_until("the end", || directory.path().join("code").exists() && terminal_is_done(directory.path()));
    terminal.wait().expect("script ends");
    let printed = fs::read_to_string(directory.path().join("out")).expect("an answer");
    assert_eq!(printed, "2 twice\n1 once\n# partial: interrupted after 3 records\n");
}

/// The less frequent key has the larger sum.
#[test]
fn live_shows_measures_in_the_order_of_sort() {
    let directory = directory_with(&[("typescript", "")]);
    run(&mut shell(&directory, "mkfifo pipe"));
    let flags = "-f 1 --sum 2 --sort sum";
    let line = format!("stty cols 100 rows 30; '{COMB}' top --live {flags} pipe > out; echo $? > code");
    let mut terminal = on_terminal(&directory, &line);
    let mut pipe = OpenOptions::new().write(true).open(directory.path().join("pipe")).expect("a pipe");
    pipe.write_all(b"twice 1.5\nonce 7\ntwice 1\n").expect("the pipe is read");
    let shown = |text: &str| is_shown(&directory, text);
    wait_until("the measures", || shown("count  sum(2)  key") && shown("7.0  once") && shown("2.5  twice"));
    let screens = fs::read(directory.path().join("typescript")).expect("a typescript");
    let at = |text: &[u8]| screens.windows(text.len()).position(|window| window == text);
    assert!(at(b"7.0  once") < at(b"2.5  twice"));
    terminal.stdin.as_mut().expect("a pipe").write_all(b"q").expect("the terminal takes a key");
    wait_until("the end", || directory.path().join("code").exists() && terminal_is_done(directory.path()));
    terminal.wait().expect("script ends");
}

/// Shows the screen of a job with these flags that reads this text from a pipe, until it has all of these texts.
fn wait_for_screen(flags: &str, text: &str, wanted: &[&str]) {
    let directory = directory_with(&[("typescript", "")]);
    run(&mut shell(&directory, "mkfifo pipe"));
    let line = format!("stty cols 80 rows 24; '{COMB}' top --live {flags} pipe > out; echo $? > code");
    let mut terminal = on_terminal(&directory, &line);
    let mut pipe = OpenOptions::new().write(true).open(directory.path().join("pipe")).expect("a pipe");
    pipe.write_all(text.as_bytes()).expect("the pipe is read");
    wait_until("the screen", || wanted.iter().all(|text| is_shown(&directory, text)));
    terminal.stdin.as_mut().expect("a pipe").write_all(b"q").expect("the terminal takes a key");
    wait_until("the end", || directory.path().join("code").exists() && terminal_is_done(directory.path()));
    terminal.wait().expect("script ends");
}

const TIMED: &str = "2026-03-01T06:00:07 in\n2026-03-01T06:00:09 in\n2026-03-01T06:00:11 in\n\
                     2026-03-01T06:00:30 out\n2026-03-01T06:02:00 out\n2026-03-01T06:02:01 in\n";

#[test]
fn live_shows_the_latest_buckets_with_bars() {
    // Runs of blanks are not drawn.
    let [full, half] = [(12, 20), (6, 10)].map(|(count, width)| format!("{count}  {}", "█".repeat(width)));
    let times = [0, 1, 2].map(|minute| format!("2026-03-01T06:0{minute}Z"));
    // The format of a pipe is recognised by its first ten records.
    wait_for_screen(
        "--every 1m --tz UTC",
        &TIMED.repeat(3),
        &[&full, &half, &times[0], &times[1], &times[2]],
    );
}

#[test]
fn live_shows_a_sparkline_for_each_key() {
    let wanted = ["2026-03-01T06:00Z to 2026-03-01T06:02Z", "4  █ ▃  in", "2  ▃ ▃  out"];
    wait_for_screen("-f 2 --every 1m --tz UTC", TIMED, &wanted);
}

fn terminal_is_done(directory: &Path) -> bool {
    fs::read_to_string(directory.join("code")).is_ok_and(|code| code == "130\n")
}

/// Raw mode and the alternate screen must not outlive the program.
#[test]
fn live_restores_the_terminal_and_prints_on_termination() {
    let directory = directory_with(&[("typescript", "")]);
    run(&mut shell(&directory, "mkfifo pipe"));
    let job = format!("echo $$ > pid; exec '{COMB}' top --live pipe > out");
    let line =
        format!("stty -g > before; sh -c \"{}\"; stty -g > after; echo > done", job.replace('$', "\\$"));
    let mut terminal = on_terminal(&directory, &line);
    let mut pipe = OpenOptions::new().write(true).open(directory.path().join("pipe")).expect("a pipe");
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap_or_default();
    wait_until("the screen", || {
        pipe.write_all(b"a line\n").expect("the pipe is read");
        read("typescript").contains("thread")
    });
    run(program("kill", directory.path()).args(["-TERM", read("pid").trim()]));
    wait_until("the end", || directory.path().join("done").exists());
    terminal.wait().expect("script ends");
    assert_eq!(read("before"), read("after"));
    assert!(
        read("out").ends_with(" records\n") && read("out").contains(" a line\n# partial"),
        "{}",
        read("out")
    );
    assert!(read("typescript").contains("\x1b[?1049l"));
}
