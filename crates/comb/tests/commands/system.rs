//! Tests that need more than a command line: closed streams, full disks, signals, permissions, changing files.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::{
    Answer, COMB, Place, answer, copy_of_comb, directory_with, interruptible, text, unprivileged, wait_until,
    write,
};

fn comb(arguments: &[&str]) -> Command {
    let mut command = Command::new(COMB);
    command.args(arguments).stdin(Stdio::null()).env_remove("NO_COLOR");
    command
}

/// A directory with a link `log` to the sample.
fn sample() -> TempDir {
    let directory = directory_with(&[]);
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/access.log");
    std::os::unix::fs::symlink(log, directory.at("log")).expect("a link");
    directory
}

/// A directory with a log of many keys.
fn numbers() -> TempDir {
    directory_with(&[("log", &(0..200_000).map(|number| format!("{number}\n")).collect::<String>())])
}

fn has_open(child: &Child, file: &Path) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
    descriptors
        .map(|entry| fs::read_link(entry.path()))
        .any(|target| target.is_ok_and(|target| target == file))
}

#[test]
fn output_is_independent_of_threads_and_block_size() {
    let directory = sample();
    for query in ["-f 7", "-f 1,7 -g bot", "-q -f -1", "-v Mozilla"] {
        let comb = format!("comb top -n 50 {query} log");
        let (expected, ..) = directory.run(&format!("{comb} -w 1"));
        assert_eq!(expected.lines().count(), 50);
        for width in [2, 3, 8, 64] {
            for block_size in ["100", "4K", "128K", "64M"] {
                directory.prints(&format!("{comb} -w {width} --block-size {block_size}"), &expected);
            }
        }
    }
}

/// Compares each command with the pipeline that it replaces, on a log of another format.
#[test]
fn results_equal_those_of_awk_and_sort() {
    let directory = sample();
    let count = "sort | uniq -c | sort -k1,1nr -k2 | head -n 24 | sed 's/^ *//'";
    for (query, pipeline) in [
        ("-f 1", "awk '{print $1}' log"),
        ("-f 7 -g bot -v Googlebot", "grep bot log | grep -v Googlebot | awk '{print $7}'"),
        ("-f -1", "awk '{print $NF}' log"),
        ("-f 9,6", "awk '{print $9, $6}' log"),
        ("-p '\"' -f 2", "awk -F'\"' '{print $2}' log"),
        (
            r"-f 4 -s '\[[^:]*:' '' -s ':.*$' ''",
            r"awk '{print $4}' log | sed -e 's/\[[^:]*://g' -e 's/:.*$//'",
        ),
        ("", "cat log"),
    ] {
        let (ours, ..) = directory.run(&format!("comb top -n 24 {query} log"));
        let (theirs, ..) = directory.run(&format!("set +o pipefail; {pipeline} | {count}"));
        assert_eq!(ours, theirs, "{query}");
        assert!(ours.lines().count() > 3, "{query}: {ours}");
    }
}

#[test]
fn standard_input_may_be_a_pipe_or_a_file() {
    let directory = sample();
    let (expected, ..) = directory.run("comb top -f 7 log");
    for script in [
        "cat log | comb top -f 7",
        "comb top -f 7 < log",
        "comb top -f 7 - < log",
        "comb top -f 7 <(cat log)",
    ] {
        directory.prints(script, &expected);
    }
    // A file is read from its current offset.
    directory.prints("printf 'first\\nx\\nx\\n' > lines; { read -r line; comb top; cat; } < lines", "2 x\n");
    let message = "comb: skipped 1 of 3 records with too few fields; the first is standard input:2: c\n";
    directory.answers("printf 'a b\\nc\\nd e\\n' | comb top -f 2", "1 b\n1 e\n", message, 0);
    let closed = "comb: standard input: closed; name a file, or redirect input from a file or a pipe\n";
    directory.answers("comb top <&-", "", closed, 2);
    directory.answers("comb top < /dev/null", "", "comb: the input has no records\n", 1);
}

#[test]
fn a_failed_write_to_standard_output_is_an_error() {
    let directory = directory_with(&[("log", "a\n")]);
    let full = "comb: standard output: no space left on device\n";
    directory.answers("comb top log > /dev/full", "", full, 2);
    directory.answers("comb top --sample log > /dev/full", "", full, 2);
    let closed = "comb: standard output: closed; redirect output to a file or a pipe\n";
    directory.answers("comb top log >&-", "", closed, 2);
}

#[test]
fn a_closed_pipe_ends_the_command_silently_but_does_not_hide_errors() {
    let directory = numbers();
    directory.prints("comb top -n 200000 log | head -n 1", "1 0\n");
    let message = "comb: nowhere.log: no such file or directory\n";
    directory.answers("comb top -n 200000 nowhere.log log | head -n 1", "1 0\n", message, 2);
}

#[test]
fn an_unreadable_directory_does_not_stop_the_count() {
    let directory = directory_with(&[("log", "a\n")]);
    directory.prints("mkdir -m 0 closed", "");
    let counted = unprivileged(&directory, "comb top -f 1 log closed");
    directory.prints("chmod 755 closed", "");
    let message = "comb: closed: cannot list directory: permission denied\n";
    assert_eq!(counted, answer("1 a\n", message, 2));
}

/// Counts two files, and truncates the first to one line meanwhile.
fn truncated_while_read(log: &Path, other: &Path) -> Answer {
    // Reads one byte at a time, so that the file is truncated before its end is read.
    let child = start(comb(&["top", "--block-size", "1"]).arg(log).arg(other));
    wait_until("opening the log", || has_open(&child, log));
    File::options().write(true).open(log).expect("opening").set_len(11).expect("truncating");
    text(child.wait_with_output().expect("waiting"))
}

#[test]
fn a_file_truncated_while_it_is_read_is_reported() {
    let directory = directory_with(&[("other", "x\nx\n")]);
    // On a busy machine, the whole file may have been read before it is truncated.
    let (out, err, code) = (0..20)
        .map(|_| {
            write(&directory, "log", "0123456789\n".repeat(2_000_000));
            truncated_while_read(&directory.at("log"), &directory.at("other"))
        })
        .find(|(_, err, _)| !err.is_empty())
        .expect("a file that was cut in time");
    // If the file was cut at once, its keys are rarer than the keys of the other file.
    assert!(out.lines().any(|line| line == "2 x"), "{out}");
    assert!(err.contains(": file truncated while it was read: it had 22.0 MB, now"), "{err}");
    assert_eq!((err.lines().count(), code), (1, Some(2)));
}

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("running comb")
}

/// The answer of a job that gets a signal.
fn stopped(child: Child, signal: Signal) -> Answer {
    kill_process(Pid::from_child(&child), signal).expect("sending a signal");
    text(child.wait_with_output().expect("waiting"))
}

/// A job that has counted two records and waits for more gets a signal.
fn stopped_while_waiting(arguments: &[&str], signal: Signal) -> Answer {
    let directory = directory_with(&[]);
    directory.prints("mkfifo pipe", "");
    let child = start(interruptible(directory.path()).arg("top").args(arguments).arg("pipe"));
    let mut writer = File::options().write(true).open(directory.at("pipe")).expect("opening the pipe");
    writer.write_all(b"a\na\nhalf a li").expect("writing");
    wait_until("reading the pipe", || rustix::io::ioctl_fionread(&writer).is_ok_and(|unread| unread == 0));
    stopped(child, signal)
}

const PARTIAL: &str = "2 a\n# partial: interrupted after 2 records\n";

#[test]
fn an_interrupt_ends_the_command_immediately() {
    assert_eq!(stopped_while_waiting(&[], Signal::INT), (String::new(), String::new(), None));
}

#[test]
fn a_signal_prints_the_counts_so_far_with_partial_and_has_its_own_exit_status() {
    let message = "comb: interrupted after 2 records (4 B); the counts are partial\n";
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        assert_eq!(stopped_while_waiting(&["--partial"], signal), answer(PARTIAL, message, code));
    }
}

#[test]
fn an_interrupt_ends_a_job_that_waits_for_an_idle_pipe() {
    let directory = directory_with(&[("log", "a\na\n")]);
    directory.prints("mkfifo pipe", "");
    let pipe = directory.at("pipe");
    let child = start(comb(&["top", "--partial", "-w", "1"]).arg(directory.at("log")).arg(&pipe));
    wait_until("opening the pipe", || has_open(&child, &pipe));
    let (out, _, code) = stopped(child, Signal::INT);
    assert_eq!((out.as_str(), code), (PARTIAL, Some(130)));
}

#[test]
fn a_pipe_that_is_named_twice_is_read_once() {
    let slow = "for i in $(seq 100); do printf 'half a'; printf ' line\\n'; done";
    for names in ["- -", "- - -", "/dev/stdin /dev/stdin", "- /dev/stdin"] {
        let script = format!("{{ {slow}; }} | comb top -w 8 {names}");
        directory_with(&[]).prints(&script, "100 half a line\n");
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
    directory.prints(script, "2000 a\n1000 b\n");
}

#[test]
fn with_little_memory_there_are_fewer_threads_or_one_error() {
    let directory = directory_with(&[("log", &"14159\n".repeat(20_000))]);
    let within =
        |mebibytes: u32, job: &str| directory.run(&format!("ulimit -v $(({mebibytes} << 10)); {job}"));
    let many = "seq 1 300000 > many; comb top -n 1 -w 8 many";
    let index = "seq 20000 > few; comb index build few -j 2 2> /dev/null; \
                 comb index verify -j 8 few.comb && echo valid";
    // The least that the program itself takes.
    let (mut too_little, mut least) = (0_u32, 4096);
    while least - too_little > 2 {
        let middle = too_little.midpoint(least);
        if within(middle, "comb --version").2 == Some(0) { least = middle } else { too_little = middle }
    }
    for (job, expected) in [
        (many, "1 1\n"),
        ("comb top -w 8 --block-size 1000 log", "20000 14159\n"),
        ("comb grep -j 8 -c 141 log", "20000\n"),
        ("comb pi -j 8 5", "14159\n"),
        (index, "valid\n"),
    ] {
        for mebibytes in [least + 2, least + 40] {
            let (out, err, code) = within(mebibytes, job);
            let is_short = code == Some(2)
                && (err.starts_with("comb: out of memory: cannot allocate ") || err.contains("memory"))
                && err.lines().count() == 1;
            let is_right = code == Some(0) && out == expected;
            assert!(is_right || is_short, "{mebibytes} MiB, {job}: {code:?} {out} {err}");
        }
    }
    let (_, err, code) = within(least + 18, many);
    assert!(err.starts_with("comb: out of memory: cannot allocate ") && code == Some(2), "{code:?} {err}");
    assert!(err.ends_with("B; use fewer threads (-j 1)\n"), "{err}");
}

#[test]
fn unusual_files_are_counted() {
    let directory = directory_with(&[]);
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    if Path::new(file).exists() {
        // A file with a wrong reported size is not truncated.
        let (out, err, code) = directory.run(&format!("comb top {file}"));
        assert_eq!((out.lines().count(), err.as_str(), code), (1, "", Some(0)));
    }
    write(&directory, "latin1", b"caf\xE9\n");
    let answer: serde_json::Value =
        serde_json::from_str(&directory.run("comb top --format json latin1").0).expect("JSON");
    assert_eq!(answer["top"][0]["key_base64"], "Y2Fm6Q==");
    write(&directory, "nul", b"a\0b\r\n\r\n\na\0b");
    directory.prints("comb top nul", "2 \n2 a\0b\n");
}

#[test]
fn directories_are_walked_and_special_files_are_skipped() {
    let directory =
        directory_with(&[("b.log", "x\n"), ("a.log", "x\n"), (".hidden", "x\n"), ("deeper/c.log", "x\n")]);
    directory.prints("ln -s a.log link; mkfifo pipe; comb top .", "4 x\n");
}

#[test]
fn colours_are_for_terminals_by_default() {
    let directory = directory_with(&[("log", "a\n")]);
    directory.prints("comb top log", "1 a\n");
    directory.prints("comb top --color always log", "\x1b[1m1\x1b[0m a\n");
    directory.prints("CLICOLOR_FORCE=1 NO_COLOR=1 comb top --color auto log", "1 a\n");
}

#[test]
fn a_profile_accounts_for_every_byte() {
    let directory = sample();
    let (out, err, code) = directory.run("comb top -w 2 -n 1 -f 7 --profile log");
    assert_eq!((out.lines().count(), code), (1, Some(0)));
    let size = directory.at("log").metadata().expect("the sample").len();
    let row = err.lines().find(|line| line.starts_with("MB ")).expect("a row of bytes");
    assert!(row.ends_with(&format!("{:.1}", size as f64 / 1e6)), "{err}");
    for phase in ["read", "split", "extract", "count", "total"] {
        assert!(err.lines().any(|line| line.starts_with(phase)), "{phase}: {err}");
    }
}

#[test]
fn an_unknown_command_has_no_manual_page() {
    let directory = directory_with(&[]);
    for (words, of) in [("bench nothing", "comb bench"), ("nothing", "comb")] {
        let message = format!("comb: unknown command 'nothing'; '{of} --help' lists all commands\n");
        directory.answers(&format!("comb man {words}"), "", &message, 2);
    }
}

#[test]
fn the_version_lists_commit_features_and_simd() {
    let (short, err, code) = directory_with(&[]).run("comb -V");
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
    let (long, ..) = directory_with(&[]).run("comb --version");
    let lines: Vec<_> = long.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, short.trim_end()));
    assert_eq!(lines[1], "features: +all-languages +arrow +openmp +parquet +pcre2 -portable +symbols");
    assert!(["simd: AVX2", "simd: none"].contains(&lines[2]), "{long}");
    for command in ["grep", "grep -i x", "top", "symbols", "find", "index build", "pi", "bench", "serve"] {
        for (flag, text) in [("-V", &short), ("--version", &long)] {
            directory_with(&[]).prints(&format!("comb {command} {flag}"), text);
        }
    }
    directory_with(&[("a", "-V\n")]).prints("comb grep -e -V a", "-V\n");
}

#[test]
fn help_has_a_short_and_a_long_form() {
    let (short, ..) = directory_with(&[]).run("comb top -h");
    let (long, ..) = directory_with(&[]).run("comb top --help");
    assert!(!short.contains("Examples:") && long.contains("Examples:") && long.contains("Exit status:"));
    let mut pipe = comb(&["top", "--help"]).stdout(Stdio::piped()).spawn().expect("running comb");
    let mut first = [0; 10];
    pipe.stdout.take().expect("a pipe").read_exact(&mut first).expect("reading");
    assert_eq!(pipe.wait().expect("waiting").code(), Some(0));
}
