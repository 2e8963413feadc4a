//! Tests that need more than a command line: closed streams, full disks, signals, permissions, changing files.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::{TempDir, tempdir};

use crate::support::{Answer, COMB, copy_of_comb, directory_with, interruptible, run, text, wait_until};

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/access.log")
}

fn comb(arguments: &[&str]) -> Command {
    let mut command = Command::new(COMB);
    command.args(arguments).stdin(Stdio::null()).env_remove("NO_COLOR");
    command
}

/// A shell command in which `comb` is the program under test.
fn shell(script: &str) -> Command {
    let mut command = Command::new("bash");
    let script = format!("set -o pipefail; comb() {{ '{COMB}' \"$@\"; }}; {script}");
    command.arg("-c").arg(script).stdin(Stdio::null()).env("LC_ALL", "C");
    command
}

fn path(directory: &TempDir, name: &str) -> String {
    directory.path().join(name).to_str().expect("UTF-8").to_owned()
}

fn has_open(child: &Child, file: &Path) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
    descriptors
        .map(|entry| fs::read_link(entry.path()))
        .any(|target| target.is_ok_and(|target| target == file))
}

fn interrupt(child: &Child) {
    let pid = Pid::from_child(child);
    kill_process(pid, Signal::INT).expect("sending a signal");
}

#[test]
fn output_is_independent_of_threads_and_block_size() {
    let log = sample();
    let log = log.to_str().expect("UTF-8");
    for query in [&["-f", "7"][..], &["-f", "1,7", "-g", "bot"], &["-q", "-f", "-1"], &["-v", "Mozilla"]] {
        let (expected, ..) = run(comb(&["top", "-n", "50", "-w", "1"]).args(query).arg(log));
        assert_eq!(expected.lines().count(), 50);
        for width in ["2", "3", "8", "64"] {
            for block_size in ["100", "4K", "128K", "64M"] {
                let scan = ["top", "-n", "50", "-w", width, "--block-size", block_size];
                let (out, err, code) = run(comb(&scan).args(query).arg(log));
                assert_eq!((out.as_str(), err.as_str(), code), (expected.as_str(), "", Some(0)));
            }
        }
    }
}

/// Compares each command with the pipeline that it replaces, on a log of another format.
#[test]
fn results_equal_those_of_awk_and_sort() {
    let log = sample();
    let log = log.display();
    let count = "sort | uniq -c | sort -k1,1nr -k2 | head -n 24 | sed 's/^ *//'";
    let pairs = [
        ("-f 1", "awk '{print $1}' FILE"),
        ("-f 7 -g bot -v Googlebot", "grep bot FILE | grep -v Googlebot | awk '{print $7}'"),
        ("-f -1", "awk '{print $NF}' FILE"),
        ("-f 9,6", "awk '{print $9, $6}' FILE"),
        ("-p '\"' -f 2", "awk -F'\"' '{print $2}' FILE"),
        (
            r"-f 4 -s '\[[^:]*:' '' -s ':.*$' ''",
            r"awk '{print $4}' FILE | sed -e 's/\[[^:]*://g' -e 's/:.*$//'",
        ),
        ("", "cat FILE"),
    ];
    for (query, pipeline) in pairs {
        let (ours, ..) = run(&mut shell(&format!("comb top -n 24 {query} {log}")));
        let pipeline = pipeline.replace("FILE", &log.to_string());
        let (theirs, ..) = run(&mut shell(&format!("set +o pipefail; {pipeline} | {count}")));
        assert_eq!(ours, theirs, "{query}");
        assert!(ours.lines().count() > 3, "{query}: {ours}");
    }
}

#[test]
fn standard_input_may_be_a_pipe_or_a_file() {
    let log = sample();
    let log = log.display();
    let (expected, ..) = run(&mut shell(&format!("comb top -f 7 {log}")));
    for script in [
        "cat LOG | comb top -f 7",
        "comb top -f 7 < LOG",
        "comb top -f 7 - < LOG",
        "comb top -f 7 <(cat LOG)",
    ] {
        let (out, err, code) = run(&mut shell(&script.replace("LOG", &log.to_string())));
        assert_eq!((out.as_str(), err.as_str(), code), (expected.as_str(), "", Some(0)), "{script}");
    }
}

#[test]
fn a_file_on_standard_input_is_read_from_its_current_offset() {
    let directory = directory_with(&[("log", "first\nx\nx\n")]);
    let script = format!("{{ read -r line; comb top; cat; }} < {}", path(&directory, "log"));
    assert_eq!(run(&mut shell(&script)), ("2 x\n".into(), String::new(), Some(0)));
}

#[test]
fn skipped_records_of_a_stream_have_a_line_number() {
    let (out, err, code) = run(&mut shell("printf 'a b\\nc\\nd e\\n' | comb top -f 2"));
    assert_eq!((out.as_str(), code), ("1 b\n1 e\n", Some(0)));
    assert_eq!(err, "comb: skipped 1 of 3 records with too few fields; the first is standard input:2: c\n");
}

#[test]
fn closed_standard_input_is_an_error() {
    let (out, err, code) = run(&mut shell("comb top <&-"));
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert_eq!(err, "comb: standard input: closed; name a file, or redirect input from a file or a pipe\n");
    assert_eq!(run(&mut shell("comb top < /dev/null")), (String::new(), String::new(), Some(1)));
}

#[test]
fn a_failed_write_to_standard_output_is_an_error() {
    let directory = directory_with(&[("log", "a\n")]);
    let log = path(&directory, "log");
    let (_, err, code) = run(&mut shell(&format!("comb top {log} > /dev/full")));
    assert_eq!((err.as_str(), code), ("comb: standard output: no space left on device\n", Some(2)));
    let (_, err, code) = run(&mut shell(&format!("comb top --sample {log} > /dev/full")));
    assert_eq!((err.as_str(), code), ("comb: standard output: no space left on device\n", Some(2)));
    let (_, err, code) = run(&mut shell(&format!("comb top {log} >&-")));
    assert_eq!(
        (err.as_str(), code),
        ("comb: standard output: closed; redirect output to a file or a pipe\n", Some(2))
    );
}

#[test]
fn a_closed_pipe_ends_the_command_silently() {
    let lines: String = (0..200_000).map(|number| format!("{number}\n")).collect();
    let directory = directory_with(&[("log", &lines)]);
    let script = format!("comb top -n 200000 {} | head -n 1", path(&directory, "log"));
    assert_eq!(run(&mut shell(&script)), ("1 0\n".into(), String::new(), Some(0)));
}

#[test]
fn an_unreadable_directory_does_not_stop_the_count() {
    let directory = directory_with(&[("log", "a\n")]);
    let closed = directory.path().join("closed");
    fs::create_dir(&closed).expect("a directory");
    for (path, mode) in [(directory.path(), 0o755), (&closed, 0o000)] {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("setting permissions");
    }
    // Root may read everything.
    let is_root = rustix::process::geteuid().is_root();
    let program = copy_of_comb(&directory, "comb");
    let mut command = Command::new(if is_root { "setpriv" } else { "env" });
    if is_root {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command.arg(&program).args(["top", "-f", "1"]).args([directory.path().join("log"), closed.clone()]);
    let (out, err, code) = run(command.stdin(Stdio::null()));
    fs::set_permissions(&closed, PermissionsExt::from_mode(0o755)).expect("setting permissions");
    assert_eq!((out.as_str(), code), ("1 a\n", Some(2)));
    assert_eq!(err, format!("comb: {}: cannot list directory: permission denied\n", closed.display()));
}

/// Counts two files, and truncates the first to one line meanwhile.
fn truncated_while_read(log: &Path, other: &Path) -> Answer {
    // Reads one byte at a time, so that the file is truncated before its end is read.
    let mut command = comb(&["top", "--block-size", "1"]);
    let child = command.arg(log).arg(other).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().expect("running comb");
    wait_until("opening the log", || has_open(&child, log));
    OpenOptions::new().write(true).open(log).expect("opening").set_len(11).expect("truncating");
    text(child.wait_with_output().expect("waiting"))
}

#[test]
fn a_file_truncated_while_it_is_read_is_reported() {
    let directory = directory_with(&[("other", "x\nx\n")]);
    let log = directory.path().join("log");
    // On a busy machine, the whole file may have been read before it is truncated.
    let (out, err, code) = (0..20)
        .map(|_| {
            fs::write(&log, "0123456789\n".repeat(2_000_000)).expect("a file");
            truncated_while_read(&log, &directory.path().join("other"))
        })
        .find(|(_, err, _)| !err.is_empty())
        .expect("a file that was cut in time");
    // If the file was cut at once, its keys are rarer than the keys of the other file.
    assert!(out.lines().any(|line| line == "2 x"), "{out}");
    assert!(err.contains(": file truncated while it was read: it had 22.0 MB, now"), "{err}");
    assert_eq!((err.lines().count(), code), (1, Some(2)));
}

/// A job that has counted two records and waits for more.
fn waiting_job(directory: &TempDir, arguments: &[&str]) -> (Child, File) {
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut command = interruptible(directory.path());
    command.arg("top").args(arguments).arg(&pipe).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("running comb");
    let mut writer = OpenOptions::new().write(true).open(&pipe).expect("opening the pipe");
    writer.write_all(b"a\na\nhalf a li").expect("writing");
    wait_until("reading the pipe", || rustix::io::ioctl_fionread(&writer).is_ok_and(|unread| unread == 0));
    (child, writer)
}

#[test]
fn an_interrupt_ends_the_command_immediately() {
    let directory = tempdir().expect("a directory");
    let (child, _writer) = waiting_job(&directory, &[]);
    interrupt(&child);
    assert_eq!(text(child.wait_with_output().expect("waiting")), (String::new(), String::new(), None));
}

#[test]
fn an_interrupt_prints_the_counts_so_far_with_partial() {
    let directory = tempdir().expect("a directory");
    let (child, _writer) = waiting_job(&directory, &["--partial"]);
    interrupt(&child);
    let (out, err, code) = text(child.wait_with_output().expect("waiting"));
    assert_eq!((out.as_str(), code), ("2 a\n# partial: interrupted after 2 records\n", Some(130)));
    assert_eq!(err, "comb: interrupted after 2 records (4 B); the counts are partial\n");
}

#[test]
fn termination_prints_the_counts_so_far_with_partial_and_has_its_own_exit_status() {
    let directory = tempdir().expect("a directory");
    let (child, _writer) = waiting_job(&directory, &["--partial"]);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    let (out, _, code) = text(child.wait_with_output().expect("waiting"));
    assert_eq!((out.as_str(), code), ("2 a\n# partial: interrupted after 2 records\n", Some(143)));
}

#[test]
fn an_interrupt_ends_a_job_that_waits_for_an_idle_pipe() {
    let directory = directory_with(&[("log", "a\na\n")]);
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let mut command = comb(&["top", "--partial", "-w", "1"]);
    command.args([directory.path().join("log"), pipe.clone()]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("running comb");
    wait_until("opening the pipe", || has_open(&child, &pipe));
    interrupt(&child);
    let (out, _, code) = text(child.wait_with_output().expect("waiting"));
    assert_eq!((out.as_str(), code), ("2 a\n# partial: interrupted after 2 records\n", Some(130)));
}

#[test]
fn a_pipe_that_is_named_twice_is_read_once() {
    let slow = "for i in $(seq 100); do printf 'half a'; printf ' line\\n'; done";
    for names in ["- -", "- - -", "/dev/stdin /dev/stdin", "- /dev/stdin"] {
        let (out, err, code) = run(&mut shell(&format!("{{ {slow}; }} | comb top -w 8 {names}")));
        assert_eq!((out.as_str(), err.as_str(), code), ("100 half a line\n", "", Some(0)), "{names}");
    }
}

#[test]
fn the_count_succeeds_with_fewer_threads_than_requested() {
    let directory = directory_with(&[("log", &"a\nb\na\n".repeat(1000))]);
    fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).expect("setting permissions");
    copy_of_comb(&directory, "comb");
    let job = "./comb top -w 64 --block-size 10 log";
    // Root has no limit on threads, so root becomes a user without other processes.
    let limited = format!("setpriv --reuid=65533 --regid=65533 --clear-groups bash -c 'ulimit -u 8; {job}'");
    let script = if rustix::process::geteuid().is_root() { &limited } else { job };
    let answer = run(shell(script).current_dir(&directory));
    assert_eq!(answer, ("2000 a\n1000 b\n".into(), String::new(), Some(0)));
}

#[test]
fn with_little_memory_there_are_fewer_threads_or_one_error() {
    let directory = directory_with(&[("log", &"14159\n".repeat(20_000))]);
    let many = "seq 1 300000 > many; comb top -n 1 -w 8 many";
    let jobs = [
        (many, "1 1\n"),
        ("comb top -w 8 --block-size 1000 log", "20000 14159\n"),
        ("comb grep -j 8 -c 141 log", "20000\n"),
        ("comb pi -j 8 5", "14159\n"),
        (
            "seq 20000 > few; comb index build few -j 2 2> /dev/null; comb index verify -j 8 few.comb && echo valid",
            "valid\n",
        ),
    ];
    // The least that the program itself takes.
    let starts = |mebibytes| {
        run(&mut shell(&format!("ulimit -v $(({mebibytes} << 10)); comb --version"))).2 == Some(0)
    };
    let (mut too_little, mut least) = (0_u32, 4096);
    while least - too_little > 2 {
        let middle = too_little.midpoint(least);
        if starts(middle) { least = middle } else { too_little = middle }
    }
    for (job, expected) in jobs {
        for mebibytes in [least + 2, least + 40] {
            let script =
                format!("cd '{}'; ulimit -v $(({mebibytes} << 10)); {job}", directory.path().display());
            let (out, err, code) = run(&mut shell(&script));
            let is_short = code == Some(2)
                && (err.starts_with("comb: out of memory: cannot allocate ") || err.contains("memory"))
                && err.lines().count() == 1;
            let is_right = code == Some(0) && out == expected;
            assert!(is_right || is_short, "{mebibytes} MiB, {job}: {code:?} {out} {err}");
        }
    }
    let (_, err, code) = run(&mut shell(&format!(
        "cd '{}'; ulimit -v $(({least} + 18 << 10)); {many}",
        directory.path().display()
    )));
    assert!(err.starts_with("comb: out of memory: cannot allocate ") && code == Some(2), "{code:?} {err}");
    assert!(err.ends_with("B; use fewer threads (-j 1)\n"), "{err}");
}

#[test]
fn a_file_with_a_wrong_reported_size_is_not_truncated() {
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    if Path::new(file).exists() {
        let (out, err, code) = run(&mut comb(&["top", file]));
        assert_eq!((out.lines().count(), err.as_str(), code), (1, "", Some(0)));
    }
}

#[test]
fn a_closed_pipe_does_not_hide_errors() {
    let lines: String = (0..200_000).map(|number| format!("{number}\n")).collect();
    let directory = directory_with(&[("log", &lines)]);
    let script = format!("comb top -n 200000 nowhere.log {} | head -n 1", path(&directory, "log"));
    let (out, err, code) = run(&mut shell(&script));
    assert_eq!((out.as_str(), code), ("1 0\n", Some(2)));
    assert_eq!(err, "comb: nowhere.log: no such file or directory\n");
}

#[test]
fn json_contains_the_exact_bytes_of_keys_that_are_not_utf8() {
    let directory = tempdir().expect("a directory");
    let log = directory.path().join("log");
    fs::write(&log, b"caf\xE9\n").expect("a file");
    let (out, ..) = run(comb(&["top", "--format", "json"]).arg(&log));
    let answer: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(answer["top"][0]["key_base64"], "Y2Fm6Q==");
}

#[test]
fn unusual_lines_are_records() {
    let directory = tempdir().expect("a directory");
    let log = directory.path().join("log");
    fs::write(&log, b"a\0b\r\n\r\n\na\0b").expect("a file");
    let output = comb(&["top"]).arg(&log).output().expect("running comb");
    assert_eq!(output.stdout, b"2 \n2 a\0b\n");
}

#[test]
fn directories_are_walked_and_special_files_are_skipped() {
    let directory = directory_with(&[("b.log", "x\n"), ("a.log", "x\n"), (".hidden", "x\n")]);
    fs::create_dir(directory.path().join("deeper")).expect("a directory");
    fs::write(directory.path().join("deeper/c.log"), "x\n").expect("a file");
    std::os::unix::fs::symlink("a.log", directory.path().join("link")).expect("a link");
    assert!(Command::new("mkfifo").arg(directory.path().join("pipe")).status().expect("mkfifo").success());
    assert_eq!(run(comb(&["top"]).arg(directory.path())), ("4 x\n".into(), String::new(), Some(0)));
}

#[test]
fn colours_are_for_terminals_by_default() {
    let directory = directory_with(&[("log", "a\n")]);
    let log = path(&directory, "log");
    assert_eq!(run(&mut comb(&["top", &log])).0, "1 a\n");
    assert_eq!(run(&mut comb(&["top", "--color", "always", &log])).0, "\x1b[1m1\x1b[0m a\n");
    assert_eq!(
        run(comb(&["top", "--color", "auto", &log]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")).0,
        "1 a\n"
    );
}

#[test]
fn a_profile_accounts_for_every_byte() {
    let (out, err, code) = run(comb(&["top", "-w", "2", "-n", "1", "-f", "7", "--profile"]).arg(sample()));
    assert_eq!((out.lines().count(), code), (1, Some(0)));
    let size = fs::metadata(sample()).expect("the sample").len();
    let row = err.lines().find(|line| line.starts_with("MB ")).expect("a row of bytes");
    assert!(row.ends_with(&format!("{:.1}", size as f64 / 1e6)), "{err}");
    for phase in ["read", "split", "extract", "count", "total"] {
        assert!(err.lines().any(|line| line.starts_with(phase)), "{phase}: {err}");
    }
}

#[test]
fn an_unknown_command_has_no_manual_page() {
    let (_, err, code) = run(&mut comb(&["man", "bench", "nothing"]));
    assert_eq!(
        (err.as_str(), code),
        ("comb: unknown command 'nothing'; 'comb bench --help' lists all commands\n", Some(2))
    );
    let (_, err, code) = run(&mut comb(&["man", "nothing"]));
    assert_eq!(
        (err.as_str(), code),
        ("comb: unknown command 'nothing'; 'comb --help' lists all commands\n", Some(2))
    );
}

#[test]
fn the_version_lists_commit_features_and_simd() {
    let (short, err, code) = run(&mut comb(&["-V"]));
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let rest = short.strip_prefix(concat!("comb ", env!("CARGO_PKG_VERSION"))).expect("the version");
    // Commit and date, as in " (abc1234 2026-11-22)"; empty outside of a clone.
    let is_commit = |text: &str| {
        let (commit, date) = text.split_once(' ').expect("a commit and its date");
        commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()) && date.len() == 10
    };
    let rest = rest.strip_suffix('\n').expect("one line");
    assert!(
        rest.is_empty()
            || rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')).is_some_and(is_commit)
    );
    let (long, ..) = run(&mut comb(&["--version"]));
    let lines: Vec<_> = long.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, short.trim_end()));
    assert_eq!(lines[1], "features: +all-languages +parquet +pcre2");
    assert!(["simd: AVX2", "simd: none"].contains(&lines[2]), "{long}");
}

#[test]
fn help_has_a_short_and_a_long_form() {
    let (short, ..) = run(&mut comb(&["top", "-h"]));
    let (long, ..) = run(&mut comb(&["top", "--help"]));
    assert!(!short.contains("Examples:") && long.contains("Examples:") && long.contains("Exit status:"));
    let mut pipe = comb(&["top", "--help"]).stdout(Stdio::piped()).spawn().expect("running comb");
    let mut first = [0; 10];
    pipe.stdout.take().expect("a pipe").read_exact(&mut first).expect("reading");
    assert_eq!(pipe.wait().expect("waiting").code(), Some(0));
}
