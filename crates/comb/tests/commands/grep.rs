//! Tests of `comb grep` that need more than a command line: permissions, special files, streams, memory, rules of git.

use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::{TempDir, tempdir};

use crate::support::{
    COMB, answer, copy_of_comb, directory_with, interruptible, program, run, shell, text, wait_until, write,
};

/// `comb grep` in a directory.
fn grep(directory: &TempDir, arguments: &[&str]) -> Command {
    let mut command = program(COMB, directory.path());
    command.arg("grep").args(arguments);
    command
}

fn make_pipe(directory: &TempDir, name: &str) {
    let made = program("mkfifo", directory.path()).arg(name).status();
    assert!(made.expect("mkfifo").success());
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("setting permissions");
}

/// `comb grep` as an unprivileged user, as root may read everything.
fn grep_unprivileged(directory: &TempDir, arguments: &[&str]) -> Command {
    permit(directory.path(), 0o755);
    let copy = copy_of_comb(directory, ".comb");
    let mut command = if rustix::process::geteuid().is_root() {
        let mut command = program("setpriv", directory.path());
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy);
        command
    } else {
        program(copy.to_str().expect("UTF-8"), directory.path())
    };
    command.arg("grep").args(arguments);
    command
}

#[test]
fn unreadable_files_do_not_stop_the_search() {
    let directory =
        directory_with(&[("a", "one\n"), ("closed/file", "one\n"), ("secret", "one\n"), ("z", "one\n")]);
    let hidden = [directory.path().join("closed"), directory.path().join("secret")];
    hidden.iter().for_each(|path| permit(path, 0o000));
    let searched = run(&mut grep_unprivileged(&directory, &["one", "."]));
    let asked = run(&mut grep_unprivileged(&directory, &["-q", "one", "."]));
    let named = run(&mut grep_unprivileged(&directory, &["--no-messages", "one", "secret", "a"]));
    hidden.iter().for_each(|path| permit(path, 0o755));
    let message = "comb: ./closed: cannot list directory: permission denied\n\
                   comb: ./secret: permission denied\n";
    assert_eq!(searched, answer("./a:one\n./z:one\n", message, 2));
    assert_eq!((asked.0.as_str(), asked.2), ("", Some(0)));
    assert_eq!(named, answer("a:one\n", "", 2));
}

#[test]
fn files_deleted_during_the_search_cause_messages_at_most() {
    let directory = tempdir().expect("a directory");
    let names: Vec<String> = (0..1000).map(|number| format!("{}/{number:03}", number % 20)).collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                names.iter().for_each(|name| write(&directory, name, "one\n"));
                (0..20)
                    .for_each(|number| drop(fs::remove_dir_all(directory.path().join(number.to_string()))));
            }
        });
        let answers: Vec<_> = (0..20).map(|_| run(&mut grep(&directory, &["-j8", "one", "."]))).collect();
        done.store(true, Ordering::Relaxed);
        for (out, err, code) in answers {
            assert!(matches!(code, Some(0..=2)), "{code:?}: {err}");
            assert_eq!(code == Some(2), !err.is_empty(), "{err}");
            assert!(
                err.lines()
                    .all(|line| line.starts_with("comb: ./") && line.ends_with("no such file or directory")),
                "{err}"
            );
            let lines: Vec<&str> =
                out.lines().map(|line| line.strip_suffix(":one").expect("a match")).collect();
            assert!(
                lines.is_sorted() && lines.iter().all(|line| names.iter().any(|name| line[2..] == *name)),
                "{out}"
            );
        }
    });
}

#[test]
fn links_are_followed_on_request_and_loops_are_skipped() {
    let directory = directory_with(&[("a/file", "one\n"), ("elsewhere/other", "one\n")]);
    symlink("..", directory.path().join("a/up")).expect("a link");
    symlink("../elsewhere", directory.path().join("a/link")).expect("a link");
    symlink("nowhere", directory.path().join("a/broken")).expect("a link");
    assert_eq!(run(&mut grep(&directory, &["one", "a"])), answer("a/file:one\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["one", "a/link"])), answer("a/link/other:one\n", "", 0));
    let (out, err, code) = run(&mut grep(&directory, &["-L", "one", "."]));
    assert_eq!(out, "./a/file:one\n./a/link/other:one\n./elsewhere/other:one\n");
    assert_eq!(
        err,
        "comb: ./a/broken: no such file or directory\n\
         comb: ./a/up: symlink loop: points back to .; skipped\n"
    );
    assert_eq!(code, Some(2));
}

#[test]
fn paths_longer_than_the_limit_of_the_system_are_searched() {
    let directory = tempdir().expect("a directory");
    let name = "n".repeat(250);
    let mut below =
        rustix::fs::openat(CWD, directory.path(), OFlags::DIRECTORY, Mode::empty()).expect("opening");
    for _ in 0..20 {
        rustix::fs::mkdirat(&below, &name, Mode::RWXU).expect("a directory");
        below = rustix::fs::openat(&below, &name, OFlags::DIRECTORY, Mode::empty()).expect("opening");
    }
    let file =
        rustix::fs::openat(&below, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).expect("a file");
    File::from(file).write_all(b"one\n").expect("writing");
    let path = format!("./{}file", format!("{name}/").repeat(20));
    assert!(path.len() > 4096);
    assert_eq!(run(&mut grep(&directory, &["one", "."])), answer(&format!("{path}:one\n"), "", 0));
    assert_eq!(run(&mut grep(&directory, &["--files", "."])), answer(&format!("{path}\n"), "", 0));
}

#[test]
fn a_line_of_two_gigabytes_is_skipped_with_a_message() {
    let directory = directory_with(&[("other", "one\n")]);
    File::create(directory.path().join("line")).expect("a file").set_len(2 << 30).expect("a hole");
    let message = "comb: line: skipped the line at byte 0: longer than 64 MiB; \
                   use --max-line to raise the limit\n";
    let searched = run(&mut grep(&directory, &["-a", "--max-line", "64M", "one", "line", "other"]));
    assert_eq!(searched, answer("other:one\n", message, 2));
}

#[test]
fn special_files_in_directories_are_skipped() {
    let directory = directory_with(&[("file", "one\n")]);
    make_pipe(&directory, "pipe");
    let _socket = UnixListener::bind(directory.path().join("socket")).expect("a socket");
    symlink("/dev/zero", directory.path().join("zero")).expect("a link");
    symlink("/dev/null", directory.path().join("null")).expect("a link");
    assert_eq!(run(&mut grep(&directory, &["one", "."])), answer("./file:one\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["-L", "one", "."])), answer("./file:one\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["one", "/dev/null"])), answer("", "", 1));
    let (out, err, code) = run(&mut grep(&directory, &["one", "socket", "file"]));
    assert_eq!((out.as_str(), code), ("file:one\n", Some(2)));
    assert_eq!(err, "comb: socket: no such device or address\n");
}

#[test]
fn a_named_pipe_on_the_command_line_is_read() {
    let directory = directory_with(&[("file", "one\n")]);
    make_pipe(&directory, "pipe");
    let script = "printf 'one more\\n' > pipe & comb grep one pipe file; wait";
    assert_eq!(run(&mut shell(&directory, script)), answer("pipe:one more\nfile:one\n", "", 0));
    assert_eq!(run(&mut shell(&directory, "comb grep -n one <(cat file)")), answer("1:one\n", "", 0));
}

#[test]
fn standard_input_is_searched_by_name_or_by_default() {
    let directory = directory_with(&[("file", "two\none\n"), ("patterns", "one\n")]);
    for script in ["comb grep one < file", "cat file | comb grep one", "comb grep one - < file"] {
        assert_eq!(run(&mut shell(&directory, script)), answer("one\n", "", 0), "{script}");
    }
    let both = "comb grep -n one - file < file";
    assert_eq!(run(&mut shell(&directory, both)), answer("<stdin>:2:one\nfile:2:one\n", "", 0));
    assert_eq!(run(&mut shell(&directory, "comb grep -f - file < patterns")), answer("one\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["-l", "one"])), answer("file\npatterns\n", "", 0));
}

#[test]
fn closed_standard_input_is_an_error() {
    let directory = directory_with(&[("file", "one\n")]);
    let message = "comb: standard input: closed; name a file, or redirect input from a file or a pipe\n";
    assert_eq!(run(&mut shell(&directory, "comb grep one - file <&-")), answer("file:one\n", message, 2));
    assert_eq!(run(&mut shell(&directory, "comb grep one <&-")), answer("file:one\n", "", 0));
}

#[test]
fn a_failed_write_to_standard_output_is_an_error() {
    let directory = directory_with(&[("file", "one\n")]);
    let full = "comb: standard output: no space left on device\n";
    for flags in ["", "-c", "-l", "--json", "--stats", "--files"] {
        let script = format!("comb grep {flags} one file > /dev/full").replace("--files one", "--files");
        assert_eq!(run(&mut shell(&directory, &script)), answer("", full, 2), "{flags}");
    }
    let closed = "comb: standard output: closed; redirect output to a file or a pipe\n";
    assert_eq!(run(&mut shell(&directory, "comb grep one file >&-")), answer("", closed, 2));
}

#[test]
fn a_closed_pipe_ends_the_command_silently() {
    let directory = directory_with(&[("file", &"one\n".repeat(200_000))]);
    let script = "comb grep -n one file | head -n 1";
    assert_eq!(run(&mut shell(&directory, script)), answer("1:one\n", "", 0));
}

#[test]
fn a_closed_pipe_does_not_hide_errors() {
    let directory = directory_with(&[("file", &"one\n".repeat(200_000))]);
    let message = "comb: nowhere: no such file or directory\n";
    let script = "comb grep -I one nowhere file | head -n 1";
    assert_eq!(run(&mut shell(&directory, script)), answer("one\n", message, 2));
}

#[test]
fn the_output_file_is_not_searched() {
    let directory = directory_with(&[("a", "one\n"), ("z", "one\n")]);
    for (script, before) in [("comb grep one . > out", ""), ("comb grep one . >> out", "one\n")] {
        write(&directory, "out", "one\n");
        assert_eq!(run(&mut shell(&directory, script)), answer("", "", 0), "{script}");
        let out = fs::read_to_string(directory.path().join("out")).expect("the output");
        assert_eq!(out, format!("{before}./a:one\n./z:one\n"));
    }
}

/// Files. One of them is searched in several blocks, unless blocks are very large.
fn tree(lines: usize) -> TempDir {
    let line = |number| match number % 7 {
        0 => format!("{number} one\n"),
        1 => format!("{number} one, and another one\n"),
        2 => "\n".to_owned(),
        _ => format!("{number} two\n"),
    };
    let large: String = (0..lines).map(line).collect();
    directory_with(&[
        ("a/large", &large),
        ("a/no", "two\n"),
        ("a.b", "one"),
        ("b/c/deeper", "two\none\ntwo\none\n"),
        ("z", "one\r\ntwo\n"),
    ])
}

const FORMS: &[&[&str]] = &[
    &["one"],
    &["-n", "one"],
    &["-c", "one"],
    &["-bo", "one"],
    &["-v", "one"],
    &["-nA2", "-B3", "another"],
    &["-m5", "one"],
    &["--json", "another"],
    &["--passthru", "another"],
    &["--heading", "-n", "one"],
    &["-l", "one"],
    &["--files-without-match", "one"],
    &["-U", "one\\n"],
    &["--files"],
];

/// Output of a search without the times.
fn output_without_times(directory: &TempDir, form: &[&str], how: &[&str]) -> String {
    let (out, err, code) = run(grep(directory, form).args(how).arg("."));
    assert_eq!((err.as_str(), code), ("", Some(0)), "{form:?} {how:?}");
    if !form.contains(&"--json") {
        return out;
    }
    let blank = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        line["data"]["elapsed_total"] = "".into();
        line["data"]["stats"]["elapsed"] = "".into();
        format!("{line}\n")
    };
    out.lines().map(blank).collect()
}

#[test]
fn output_is_independent_of_the_number_of_threads() {
    let directory = tree(60_000);
    for form in FORMS {
        let expected = output_without_times(&directory, form, &["-j1"]);
        assert!(!expected.is_empty(), "{form:?}");
        for how in [
            ["-j2", "--block-size=256K"],
            ["-j3", "--block-size=4K"],
            ["-j8", "--block-size=4K"],
            ["-j64", "--block-size=256K"],
        ] {
            assert!(output_without_times(&directory, form, &how) == expected, "{form:?} {how:?}");
        }
    }
}

#[test]
fn output_is_independent_of_the_block_size() {
    let directory = tree(300);
    for form in FORMS {
        let expected = output_without_times(&directory, form, &["-j1"]);
        for size in ["--block-size=1", "--block-size=100"] {
            for width in ["-j1", "-j3", "-j8"] {
                assert!(
                    output_without_times(&directory, form, &[size, width]) == expected,
                    "{form:?} {size} {width}"
                );
            }
        }
    }
}

#[test]
fn files_are_ordered_by_path() {
    let directory = tree(10);
    let (out, ..) = run(&mut grep(&directory, &["--files"]));
    assert_eq!(out, "a/large\na/no\na.b\nb/c/deeper\nz\n");
    let (out, ..) = run(&mut grep(&directory, &["-l", "one", "z", "b", "a.b", "a"]));
    assert_eq!(out, "z\nb/c/deeper\na.b\na/large\n");
}

#[test]
fn files_can_be_ordered_by_time() {
    let directory = directory_with(&[("a", "one\n"), ("b", "one\n"), ("c", "one\n")]);
    for (name, seconds) in [("a", 2), ("b", 3), ("c", 1)] {
        let file = OpenOptions::new().write(true).open(directory.path().join(name)).expect("opening");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("setting a time");
    }
    assert_eq!(run(&mut grep(&directory, &["-l", "--sort=modified", "one"])), answer("c\na\nb\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["-l", "--sortr=modified", "one"])), answer("b\na\nc\n", "", 0));
}

/// To search a file changes this time, on most file systems if it is older than that of the text.
#[test]
fn files_can_be_ordered_by_the_time_of_last_access_before_the_search() {
    for (flag, expected) in [("--sort=accessed", "c\na\nb\n"), ("--sortr=accessed", "b\na\nc\n")] {
        let directory = directory_with(&[("a", "one\n"), ("b", "one\n"), ("c", "one\n"), ("none", "\n")]);
        for (name, seconds) in [("a", 2), ("b", 3), ("c", 1), ("none", 4)] {
            let file = OpenOptions::new().write(true).open(directory.path().join(name)).expect("opening");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            file.set_times(FileTimes::new().set_accessed(time)).expect("setting a time");
        }
        assert_eq!(run(&mut grep(&directory, &["-l", flag, "one"])), answer(expected, "", 0));
    }
}

/// Starts a child whose output is read as it arrives.
fn start(command: &mut Command) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("running comb");
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    (child, out)
}

fn next_line(out: &mut impl BufRead) -> String {
    let mut line = String::new();
    out.read_line(&mut line).expect("reading");
    line
}

fn writer(directory: &TempDir, pipe: &str) -> File {
    OpenOptions::new().write(true).open(directory.path().join(pipe)).expect("opening the pipe")
}

#[test]
fn matches_are_printed_before_the_search_is_complete() {
    let directory = directory_with(&[("file", "one\n")]);
    make_pipe(&directory, "pipe");
    let (child, mut out) = start(&mut grep(&directory, &["-j2", "one", "file", "pipe"]));
    let mut pipe = writer(&directory, "pipe");
    assert_eq!(next_line(&mut out), "file:one\n");
    pipe.write_all(b"one more\n").expect("writing");
    drop(pipe);
    assert_eq!(next_line(&mut out), "pipe:one more\n");
    assert_eq!(text(child.wait_with_output().expect("waiting")), answer("", "", 0));
}

#[test]
fn input_from_a_pipe_is_searched_as_it_arrives() {
    let directory = tempdir().expect("a directory");
    let (mut child, mut out) = start(grep(&directory, &["-n", "-A1", "one"]).stdin(Stdio::piped()));
    let mut input = child.stdin.take().expect("a pipe");
    let steps = [
        ("nothing here, but in the next line\none\n", "2:one\n"),
        ("three\n", "3-three\n"),
        ("a one", ""),
        ("\n", "4:a one\n"),
    ];
    for (written, printed) in steps {
        input.write_all(written.as_bytes()).expect("writing");
        if !printed.is_empty() {
            assert_eq!(next_line(&mut out), printed);
        }
    }
    drop(input);
    assert_eq!(text(child.wait_with_output().expect("waiting")), answer("", "", 0));
}

#[test]
fn an_interrupt_ends_the_command_immediately() {
    let directory = directory_with(&[("file", "one\n")]);
    make_pipe(&directory, "pipe");
    let mut command = interruptible(directory.path());
    let (child, mut out) = start(command.args(["grep", "one", "file", "pipe"]));
    let _pipe = writer(&directory, "pipe");
    assert_eq!(next_line(&mut out), "file:one\n");
    kill_process(Pid::from_child(&child), Signal::INT).expect("sending a signal");
    assert_eq!(text(child.wait_with_output().expect("waiting")), (String::new(), String::new(), None));
}

/// CPU time of a process in ticks.
fn ticks(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("a process");
    let fields = stat.rsplit(')').next().expect("fields").split_whitespace();
    fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number")).sum()
}

/// Peak memory of a process in megabytes.
fn megabytes(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    peak.trim_end_matches("kB").trim().parse::<u64>().expect("a number") / 1024
}

#[test]
fn unread_output_is_not_buffered_without_bound() {
    let line = format!("{}\n", "one ".repeat(255));
    let directory = directory_with(&[("000", &line.repeat(1024))]);
    for number in 1..300 {
        let link = directory.path().join(format!("{number:03}"));
        fs::hard_link(directory.path().join("000"), link).expect("a link");
    }
    let (child, mut out) = start(&mut grep(&directory, &["-j64", "^one"]));
    let mut before = u64::MAX;
    wait_until("a stand", || {
        thread::sleep(Duration::from_millis(200));
        std::mem::replace(&mut before, ticks(&child)) == before
    });
    assert!(megabytes(&child) < 150, "{} MB", megabytes(&child));
    let bytes = std::io::copy(&mut out, &mut std::io::sink()).expect("reading");
    assert_eq!(bytes, 300 * 1024 * (line.len() + "000:".len()) as u64);
    assert_eq!(text(child.wait_with_output().expect("waiting")), answer("", "", 0));
}

#[test]
fn the_search_stops_when_the_result_is_known() {
    let directory = directory_with(&[("file", "one\n")]);
    for (flags, printed) in [("-q", ""), ("-m1", "one\n"), ("-l", "<stdin>\n")] {
        let script = format!("set +o pipefail; yes one | comb grep {flags} one; exit ${{PIPESTATUS[1]}}");
        assert_eq!(run(&mut shell(&directory, &script)), answer(printed, "", 0), "{flags}");
    }
    make_pipe(&directory, "pipe");
    assert_eq!(run(&mut grep(&directory, &["-q", "one", "file", "pipe"])), answer("", "", 0));
    assert_eq!(run(&mut grep(&directory, &["-q", "two", "file"])), answer("", "", 1));
}

#[test]
fn arguments_of_the_configuration_file_come_first() {
    let directory = directory_with(&[("file", "One\nnone\n"), (".conf", "# taste\n-i\n\n--line-number\n")]);
    let configured =
        |arguments: &[&str], file: &str| run(grep(&directory, arguments).env("COMB_CONFIG", file));
    assert_eq!(configured(&["-w", "one"], ".conf"), answer("file:1:One\n", "", 0));
    assert_eq!(configured(&["-w", "-s", "-N", "One"], ".conf"), answer("file:One\n", "", 0));
    assert_eq!(configured(&["--no-config", "none"], ".conf"), answer("file:none\n", "", 0));
    let message = "comb: COMB_CONFIG: nowhere: no such file or directory\n";
    assert_eq!(configured(&["none"], "nowhere"), answer("file:none\n", message, 0));
    assert_eq!(configured(&["none"], ""), answer("file:none\n", "", 0));
}

/// `one line to find` and a line feed, compressed by the named programs.
const COMPRESSED: &[(&str, &[u8])] = &[
    ("file.gz", GZIP),
    (
        "file.zst",
        b"\x28\xb5\x2f\xfd\x24\x11\x89\x00\x00\x6f\x6e\x65\x20\x6c\x69\x6e\x65\x20\x74\x6f\x20\x66\x69\x6e\x64\x0a\
          \x4a\x06\xed\x5a",
    ),
    (
        "file.bz2",
        b"\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xb0\xb6\x08\x30\x00\x00\x07\xd1\x80\x00\x10\x40\x00\x07\x25\x84\
          \x00\x20\x00\x22\x0d\x34\x32\x10\x03\x00\x8c\x29\xcd\x41\x6d\x36\x7c\x5d\xc9\x14\xe1\x42\x42\xc2\xd8\x20\
          \xc0",
    ),
    (
        "file.xz",
        b"\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\x01\x00\
          \x10\x6f\x6e\x65\x20\x6c\x69\x6e\x65\x20\x74\x6f\x20\x66\x69\x6e\x64\x0a\x00\x00\x00\x00\x47\x60\x63\x62\
          \xc9\x4e\xdd\xeb\x00\x01\x29\x11\x32\x0a\x70\x0e\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a",
    ),
    (
        "file.lz4",
        b"\x04\x22\x4d\x18\x64\x40\xa7\x11\x00\x00\x80\x6f\x6e\x65\x20\x6c\x69\x6e\x65\x20\x74\x6f\x20\x66\x69\x6e\
          \x64\x0a\x00\x00\x00\x00\x38\xad\x76\xc5",
    ),
];

const GZIP: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcf\x4b\x55\xc8\xc9\x04\x12\x25\xf9\x0a\x69\x99\x79\
    \x29\x5c\x00\xcc\x95\xa0\xee\x11\x00\x00\x00";

#[test]
fn compressed_files_are_searched_on_request() {
    let directory = directory_with(&[("plain", "find\n")]);
    COMPRESSED.iter().for_each(|(name, bytes)| write(&directory, name, bytes));
    assert_eq!(run(&mut grep(&directory, &["line to"])), answer("", "", 1));
    let expected =
        ["bz2", "gz", "lz4", "xz", "zst"].map(|end| format!("file.{end}:1:one line to find\n")).concat();
    assert_eq!(run(&mut grep(&directory, &["-zn", "line to"])), answer(&expected, "", 0));
    assert_eq!(run(&mut shell(&directory, "comb grep -zc find - < file.gz")), answer("1\n", "", 0));
    write(&directory, "two.gz", [GZIP, GZIP].concat());
    assert_eq!(run(&mut grep(&directory, &["-zc", "find", "two.gz"])), answer("2\n", "", 0));
}

#[test]
fn a_truncated_compressed_file_is_searched_up_to_its_end() {
    let directory = directory_with(&[("plain", "find\n")]);
    write(&directory, "cut.gz", &GZIP[..GZIP.len() - 4]);
    write(&directory, "wrong.gz", b"find\n");
    let message =
        "comb: cut.gz: cannot decode: gzip: compressed data truncated; the data before that was read\n";
    let (out, err, code) = run(&mut grep(&directory, &["-z", "find", "cut.gz", "plain"]));
    assert_eq!(
        (out.as_str(), err.as_str(), code),
        ("cut.gz:one line to find\nplain:find\n", message, Some(2))
    );
    assert_eq!(run(&mut grep(&directory, &["-z", "find", "wrong.gz"])), answer("find\n", "", 0));
}

#[test]
fn utf_16_is_recognised_by_the_byte_order_mark() {
    let directory = tempdir().expect("a directory");
    let bytes =
        |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    write(&directory, "big", bytes("\u{feff}zwei\nfünf 𝄞\n", u16::to_be_bytes));
    write(&directory, "little", bytes("\u{feff}zwei\nfünf\n", u16::to_le_bytes));
    write(&directory, "unmarked", bytes("zwei\nfünf\n", u16::to_le_bytes));
    assert_eq!(run(&mut grep(&directory, &["-n", "fünf"])), answer("big:2:fünf 𝄞\nlittle:2:fünf\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["-E", "utf-16le", "fünf", "unmarked"])), answer("fünf\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["-E", "none", "fünf"])), answer("", "", 1));
}

#[test]
fn invalid_utf8_is_printed_unchanged() {
    let directory = tempdir().expect("a directory");
    write(&directory, "file", b"caf\xe9 one\n");
    let output = grep(&directory, &["one"]).output().expect("running comb");
    assert_eq!(output.stdout, b"file:caf\xe9 one\n");
    let (out, ..) = run(&mut grep(&directory, &["--json", r"(?-u)\xe9"]));
    let found: serde_json::Value = serde_json::from_str(out.lines().nth(1).expect("a match")).expect("JSON");
    assert_eq!(found["data"]["lines"]["bytes"], "Y2Fm6SBvbmUK");
    assert_eq!(found["data"]["submatches"][0]["match"]["bytes"], "6Q==");
}

/// Sorted list of the files selected for a search.
fn selected(command: &mut Command) -> String {
    let (out, err, code) = run(command);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    out.lines().collect::<Vec<_>>().join(" ")
}

fn files(directory: &TempDir, flags: &[&str]) -> String {
    selected(grep(directory, &["--files"]).args(flags))
}

#[test]
fn each_kind_of_ignore_rules_can_be_disabled() {
    let directory = directory_with(&[
        (".git/info/exclude", "exclude\n"),
        (".gitignore", "git\n"),
        (".ignore", "dot\n"),
        (".rgignore", "rg\n"),
        (".agignore", "ag\n"),
        (".home/git/ignore", "global\n"),
    ]);
    for name in ["ag", "dot", "exclude", "git", "global", "plain", "rg"] {
        write(&directory, name, "one\n");
    }
    let home = directory.path().join(".home");
    let files =
        |flags: &[&str]| selected(grep(&directory, &["--files"]).env("XDG_CONFIG_HOME", &home).args(flags));
    assert_eq!(files(&[]), "plain");
    assert_eq!(files(&["--no-ignore-dot"]), "ag dot plain rg");
    assert_eq!(files(&["--no-ignore-vcs"]), "exclude git global plain");
    assert_eq!(files(&["--no-ignore-exclude"]), "exclude plain");
    assert_eq!(files(&["--no-ignore-global"]), "global plain");
    assert_eq!(files(&["--no-ignore"]), "ag dot exclude git global plain rg");
    assert_eq!(files(&["-u", "--ignore-dot"]), "exclude git global plain");
}

#[test]
fn ignore_rules_apply_to_subdirectories_and_nearer_files_take_precedence() {
    let directory = directory_with(&[
        (".git/HEAD", ""),
        (".gitignore", "*.log\n/top\nbuild/\n!always.log\n"),
        ("sub/.gitignore", "!keep.log\n"),
        ("sub/.ignore", "*.txt\n"),
    ]);
    for name in ["a.log", "top", "sub/top", "sub/a.log", "sub/keep.log", "sub/a.txt", "always.log", "build/x"]
    {
        write(&directory, name, "one\n");
    }
    assert_eq!(files(&directory, &[]), "always.log sub/keep.log sub/top");
    assert_eq!(files(&directory, &["-g", "*.log"]), "a.log always.log sub/a.log sub/keep.log");
    let below = directory.path().join("sub");
    assert_eq!(selected(grep(&directory, &["--files"]).current_dir(&below)), "keep.log top");
    assert_eq!(
        selected(grep(&directory, &["--files", "--no-ignore-parent"]).current_dir(&below)),
        "a.log keep.log top"
    );
    assert_eq!(files(&directory, &["build", "sub/a.log"]), "build/x sub/a.log");
}

#[test]
fn rules_of_git_apply_in_repositories_only() {
    let directory = directory_with(&[(".gitignore", "a\n"), ("a", "one\n"), ("b", "one\n"), ("more", "b\n")]);
    assert_eq!(files(&directory, &[]), "a b more");
    assert_eq!(files(&directory, &["--no-require-git"]), "b more");
    assert_eq!(files(&directory, &["--ignore-file", "more"]), "a more");
    assert_eq!(files(&directory, &["--ignore-file", "more", "--no-ignore-files"]), "a b more");
}

#[test]
fn colours_and_hyperlinks_are_printed_on_request() {
    let directory = directory_with(&[("file", "two\none\n")]);
    let colored =
        |flags: &[&str]| run(grep(&directory, &["--color=always"]).args(flags).env("NO_COLOR", "1")).0;
    let path = "\x1b[0m\x1b[35mfile\x1b[0m";
    let one = "\x1b[0m\x1b[1m\x1b[31mone\x1b[0m";
    assert_eq!(colored(&["-n", "one"]), format!("{path}:\x1b[0m\x1b[32m2\x1b[0m:{one}\n"));
    assert_eq!(colored(&["-l", "one"]), format!("{path}\n"));
    assert_eq!(
        colored(&["--colors=path:none", "--colors=match:none", "--colors=match:fg:blue", "one"]),
        "\x1b[0mfile\x1b[0m:\x1b[0m\x1b[34mone\x1b[0m\n"
    );
    assert_eq!(colored(&["--hyperlink-format=x:{line}/{path}", "-l", "one"]).matches("\x1b]8;;").count(), 2);
}

#[test]
fn null_prints_a_nul_byte_after_paths() {
    let directory = directory_with(&[("a", "one\n"), ("b", "one\n")]);
    assert_eq!(run(&mut grep(&directory, &["-0l", "one"])), answer("a\0b\0", "", 0));
    assert_eq!(run(&mut grep(&directory, &["-0c", "one"])), answer("a\x001\nb\x001\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["--null", "--files"])), answer("a\0b\0", "", 0));
}

/// Output on a terminal; `None` if the program that provides a terminal is not installed.
fn on_a_terminal(directory: &TempDir, arguments: &str, variable: (&str, &str)) -> Option<String> {
    let line = format!("'{COMB}' grep {arguments}");
    let mut script = program("script", directory.path());
    let output =
        script.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env(variable.0, variable.1).output();
    let (out, ..) = text(output.ok()?);
    Some(out.replace("\r\n", "\n")).filter(|out| !out.is_empty())
}

#[test]
fn a_terminal_gets_headings_line_numbers_and_colours() {
    let directory = directory_with(&[("a", "one\n"), ("b", "one\n")]);
    let Some(plain) = on_a_terminal(&directory, "one a b", ("NO_COLOR", "1")) else { return };
    assert_eq!(plain, "a\n1:one\n\nb\n1:one\n");
    let colored = on_a_terminal(&directory, "one a", ("COLORTERM", "")).expect("a terminal");
    assert_eq!(colored, "\x1b[0m\x1b[32m1\x1b[0m:\x1b[0m\x1b[1m\x1b[31mone\x1b[0m\n");
    let never = on_a_terminal(&directory, "--color=never one a", ("COLORTERM", "")).expect("a terminal");
    assert_eq!(never, "1:one\n");
}

#[test]
fn an_invalid_glob_is_an_error_above_a_named_directory_only() {
    let directory = directory_with(&[
        ("p/.ignore", "{a\n"),
        ("p/sub/a", "one\n"),
        ("q/.ignore", "{a\n"),
        ("q/a", "one\n"),
    ]);
    let (out, err, code) = run(&mut grep(&directory, &["one", "p/sub"]));
    assert_eq!((out.as_str(), code), ("p/sub/a:one\n", Some(2)));
    assert!(err.contains("p/.ignore:1: error parsing glob '{a'"), "{err}");
    let (out, err, code) = run(&mut grep(&directory, &["one", "q"]));
    assert_eq!((out.as_str(), code), ("q/a:one\n", Some(0)));
    assert!(err.starts_with("comb: q/.ignore:1: error parsing glob '{a'"), "{err}");
    let silent = &["--no-ignore-messages", "one", "q"];
    assert_eq!(run(&mut grep(&directory, silent)), answer("q/a:one\n", "", 0));
    let (_, err, _) = run(&mut grep(&directory, &["--no-ignore-messages", "--ignore-messages", "one", "q"]));
    assert!(!err.is_empty());
}

#[test]
fn hidden_and_ignored_symlink_loops_are_reported() {
    let directory = directory_with(&[("t/file", "one\n"), ("t/.ignore", "ignored\n")]);
    symlink(".", directory.path().join("t/.hidden")).expect("a link");
    symlink("../t", directory.path().join("t/ignored")).expect("a link");
    let message = "comb: t/.hidden: symlink loop: points back to t; skipped\n\
                   comb: t/ignored: symlink loop: points back to t; skipped\n";
    assert_eq!(run(&mut grep(&directory, &["-L", "one", "t"])), answer("t/file:one\n", message, 2));
    assert_eq!(run(&mut grep(&directory, &["one", "t"])), answer("t/file:one\n", "", 0));
}

#[test]
fn global_rules_match_paths_as_given() {
    let directory = directory_with(&[("a/b/x", ""), ("a/c/x", ""), ("a/c/y", "")]);
    fs::create_dir(directory.path().join("a/.git")).expect("a directory");
    let home = directory.path().join("home");
    let files = |rules: &str, path: &str| {
        write(&directory, "home/git/ignore", rules);
        let below = directory.path().join("a/b");
        let mut command = grep(&directory, &["--files", path]);
        selected(command.current_dir(below).env("XDG_CONFIG_HOME", &home)).replace("../", "")
    };
    assert_eq!(files("/x\n", ".."), "b/x c/x c/y");
    assert_eq!(files("../c/x\n", ".."), "b/x c/y");
    assert_eq!(files("../c/x\n", "../c"), "c/y");
    assert_eq!(files("x\n", ".."), "c/y");
}

#[test]
fn a_later_search_mode_overrides_a_list_of_files_or_types() {
    let directory = directory_with(&[("file", "one\n")]);
    for list in ["--files", "--type-list"] {
        assert_eq!(run(&mut grep(&directory, &[list, "-c", "one", "."])), answer("./file:1\n", "", 0));
        assert_eq!(run(&mut grep(&directory, &[list, "-l", "one", "."])), answer("./file\n", "", 0));
    }
    assert_eq!(run(&mut grep(&directory, &["-c", "--files", "."])), answer("./file\n", "", 0));
    assert_eq!(run(&mut grep(&directory, &["-c", "--files", "-c", "one", "."])), answer("./file:1\n", "", 0));
}

#[test]
fn statistics_count_printed_bytes_without_colours() {
    let directory = directory_with(&[("a", "one one\ntwo\none\n"), ("b", "one\n"), ("c", "one\n\0")]);
    // The last one searches across lines, which is another piece of code.
    let across = ["-U", "--passthru", "-e", "two\\none", "-e"];
    for flags in
        [&["-n"][..], &["-nH", "--heading"], &["-o", "--column"], &["-A1", "--vimgrep"], &["--trim"], &across]
    {
        let printed = |color: &str| {
            let (out, ..) =
                run(grep(&directory, &["--stats", color]).args(flags).args(["one", "a", "b", "c"]));
            out.lines().find(|line| line.ends_with("bytes printed")).map(str::to_owned)
        };
        assert!(printed("--color=never").is_some());
        let plain = run(grep(&directory, flags).args(["one", "a", "b", "c"])).0;
        assert_eq!(printed("--color=never"), Some(format!("{} bytes printed", plain.len())), "{flags:?}");
        assert_eq!(printed("--color=always"), printed("--color=never"), "{flags:?}");
    }
}

#[test]
fn values_may_begin_with_a_hyphen() {
    let directory = directory_with(&[("file", "one\n"), ("-rules", "file\n")]);
    assert_eq!(run(&mut grep(&directory, &["--ignore-file", "-rules", "-l", "one"])), answer("", "", 1));
    for flag in ["--type-clear", "--hostname-bin"] {
        assert_eq!(run(&mut grep(&directory, &[flag, "-x", "one", "."])), answer("./file:one\n", "", 0));
    }
}

#[test]
fn invalid_patterns_are_accepted_if_nothing_can_match() {
    let directory = directory_with(&[("file", "one\n")]);
    assert_eq!(run(&mut grep(&directory, &["-m0", "(", "."])), answer("", "", 1));
    let four = "comb: -u can be repeated at most three times; -uuu searches all files\n";
    assert_eq!(run(&mut grep(&directory, &["-uuuu", "one", "."])), answer("", four, 2));
}

#[test]
fn brotli_is_recognised_by_its_name_and_the_format_of_compress_by_its_first_bytes() {
    let directory = directory_with(&[("plain", "one\n"), ("text.br", "one\n")]);
    write(&directory, "old.Z", b"\x1f\x9d\x90\x6f\xdc\x94\x51\x00");
    write(&directory, "new.br", b"\x8f\x01\x80one\n\x03");
    let all = "new.br:one\nold.Z:one\nplain:one\ntext.br:one\n";
    assert_eq!(run(&mut grep(&directory, &["-z", "one"])), answer(all, "", 0));
    write(&directory, "bad.Z", b"\x1f\x9d\x90\xff\xff");
    let message =
        "comb: bad.Z: cannot decode: compress: compressed data corrupt; the data before that was read\n";
    assert_eq!(run(&mut grep(&directory, &["-z", "one", "bad.Z"])), answer("", message, 2));
    assert_eq!(run(&mut grep(&directory, &["-ac", "one"])), answer("new.br:1\nplain:1\ntext.br:1\n", "", 0));
}

#[test]
fn skipped_lines_are_counted_but_not_printed_as_context() {
    let long = "x".repeat(50);
    let directory = directory_with(&[("file", &format!("one\na\n{long}\none\ntwo\none\n{long}\n"))]);
    let message = "comb: file: skipped the line at byte 6: longer than 10 bytes (and 1 more such line); \
                   use --max-line to raise the limit\n";
    for size in ["1", "7", "256K"] {
        let limits = ["--max-line=10", "--block-size", size];
        let print = |flags: &[&str]| run(grep(&directory, &limits).args(flags).args(["one", "file"]));
        let numbered = "1:0:one\n4:57:one\n6:65:one\n";
        assert_eq!(print(&["-nb"]), answer(numbered, message, 2), "{size}");
        let context = "1:one\n--\n4:one\n5-two\n6:one\n";
        assert_eq!(print(&["-nB1"]), answer(context, message, 2), "{size}");
        let (out, ..) = print(&["--stats"]);
        assert!(out.contains("\n120 bytes searched\n"), "{size}: {out}");
    }
}

#[test]
fn flags_of_ag_have_the_meaning_of_ag() {
    let directory = directory_with(&[("a", "one\n"), ("b/c", "one\n"), ("b/d/e", "one\n")]);
    let found = |flags: &[&str]| run(grep(&directory, &["-l", "one"]).args(flags)).0.replace('\n', " ");
    assert_eq!([found(&["--depth", "0"]), found(&["--depth=1"])], ["a ", "a b/c "]);
    assert_eq!([found(&["--depth", "-1"]), found(&["--depth=0", "-d3"])], ["a b/c b/d/e "; 2]);
    assert_eq!([found(&["-d", "1"]), found(&["-d3", "--depth=0"])], ["a "; 2]);
    // comb may end before the pipe is written to.
    let parallel = "set +o pipefail; echo one | comb grep --parallel -l one";
    assert_eq!(run(&mut shell(&directory, parallel)), answer("a\nb/c\nb/d/e\n", "", 0));
    let message = "comb: missing PATTERN; comb grep --files -g '*.c' prints file names\n";
    assert_eq!(run(&mut grep(&directory, &["-g", "*.c"])), answer("", message, 2));
}

#[test]
fn a_preprocessor_makes_the_text_of_files() {
    let directory =
        directory_with(&[("a.txt", "one\n"), ("b.txt", "one\n"), ("c.md", "one\n"), ("d.bad", "one\n")]);
    let script = "#!/bin/sh\ncase $1 in *.bad) echo two; echo broken >&2; exit 3;; *) tr a-z A-Z;; esac\n";
    write(&directory, "upper", script.as_bytes());
    run(&mut shell(&directory, "chmod +x upper"));
    let grep = |arguments: &[&str]| run(&mut grep(&directory, arguments));
    let txt = ["-g", "*.txt", "--pre", "./upper"];
    assert_eq!(grep(&[&txt[..], &["ONE"]].concat()), answer("a.txt:ONE\nb.txt:ONE\n", "", 0));
    assert_eq!(
        grep(&[&txt[..], &["--pre-glob", "b*", "-i", "one"]].concat()),
        answer("a.txt:one\nb.txt:ONE\n", "", 0)
    );
    assert_eq!(
        grep(&[&txt[..], &["--pre-glob", "!b*", "-i", "one"]].concat()),
        answer("a.txt:ONE\nb.txt:one\n", "", 0)
    );
    assert_eq!(grep(&[&txt[..], &["--no-pre", "one"]].concat()), answer("a.txt:one\nb.txt:one\n", "", 0));
    assert_eq!(grep(&[&txt[..], &["--pre=", "one"]].concat()), answer("a.txt:one\nb.txt:one\n", "", 0));
    assert_eq!(grep(&[&txt[..], &["-z", "one"]].concat()), answer("a.txt:one\nb.txt:one\n", "", 0));
    // An empty COMMAND and --no-pre do not touch -z; another COMMAND does, also if it is taken back.
    run(&mut shell(&directory, "echo zipped | gzip > z.gz"));
    let is_read = |flags: &[&str]| grep(&[&["-g", "z.gz"], flags, &["zipped"]].concat()).2 == Some(0);
    assert!(is_read(&["-z", "--pre="]) && is_read(&["--pre=", "-z"]) && is_read(&["--no-pre", "-z"]));
    assert!(is_read(&["-z", "--no-pre"]) && is_read(&["--pre", "./upper", "-z", "--pre="]));
    assert!(!is_read(&["-z", "--pre", "./upper", "--pre="]));
    assert!(!is_read(&["-z", "--pre", "./upper", "--no-pre"]));
    // -z removes a COMMAND, also if it is taken back.
    assert!(!is_read(&["--pre", "./upper", "-z", "--no-search-zip"]));
    assert_eq!(grep(&["--pre", "./upper", "-z", "--no-search-zip", "one", "a.txt"]), answer("one\n", "", 0));
    // What it printed before it failed is searched.
    let message =
        "comb: d.bad: preprocessor ./upper failed with exit status 3: broken; its output was read\n";
    assert_eq!(grep(&["--pre", "./upper", "two", "d.bad"]), answer("two\n", message, 2));
    // A program that is not there is reported once.
    let message = "comb: a.txt: cannot start the preprocessor ./nothing: no such file or directory; skipped";
    let missing = |paths: &[&str]| grep(&[&["--pre", "./nothing", "one"], paths].concat());
    assert_eq!(missing(&["a.txt"]), answer("", &format!("{message}\n"), 2));
    assert_eq!(missing(&["a.txt", "b.txt"]), answer("", &format!("{message} (and 1 more file)\n"), 2));
    assert_eq!(
        missing(&["a.txt", "b.txt", "d.bad"]),
        answer("", &format!("{message} (and 2 more files)\n"), 2)
    );
    // It stops as soon as nothing more is wanted.
    write(&directory, "endless", b"#!/bin/sh\nexec yes one\n");
    run(&mut shell(&directory, "chmod +x endless"));
    assert_eq!(grep(&["--pre", "./endless", "-m1", "one", "a.txt"]), answer("one\n", "", 0));
}

#[test]
fn preprocessors_end_with_the_search() {
    let directory = directory_with(&[("a", ""), ("b", ""), ("c", "")]);
    write(&directory, "endless", b"#!/bin/sh\necho $$ >> started\nexec yes one\n");
    run(&mut shell(&directory, "chmod +x endless"));
    let search = |arguments: &str, reader: &str| {
        write(&directory, "started", "");
        let script = format!("comb grep -j3 --pre ./endless {arguments} a b c | {reader}");
        let (_, error, _) = run(&mut shell(&directory, &script));
        assert_eq!(error, "", "{arguments}");
        let started = fs::read_to_string(directory.path().join("started")).expect("a file");
        assert!(!started.is_empty(), "{arguments}");
        for id in started.lines() {
            assert!(!Path::new("/proc").join(id).exists(), "{arguments}: {id} still runs");
        }
    };
    search("-q one", "cat");
    search("-l one", "cat");
    search("-m2 one", "cat");
    // A closed pipe ends the search.
    search("one", "head -n 1");
}

#[test]
fn an_invalid_pattern_of_a_condition_is_reported_with_its_flag() {
    let directory = directory_with(&[("a", "one\n")]);
    let message = "regex parse error:\n    (\n    ^\nerror: unclosed group\n";
    for flag in ["--and", "--not", "--file-and", "--file-not"] {
        let error = format!("comb: {flag}: {message}");
        assert_eq!(run(&mut grep(&directory, &["one", flag, "("])), answer("", &error, 2));
        let (_, error, code) = run(&mut grep(&directory, &["-P", "one", flag, "("]));
        assert!(error.starts_with(&format!("comb: {flag}: PCRE2: error compiling pattern")), "{error}");
        assert_eq!(code, Some(2));
    }
    assert_eq!(
        run(&mut grep(&directory, &["(", "--and", "one"])),
        answer("", &format!("comb: {message}"), 2)
    );
}

#[test]
fn files_are_selected_by_the_time_of_their_last_change() {
    let directory = directory_with(&[("new", "one\n"), ("old", "one\n"), ("sub/older", "one\n")]);
    run(&mut shell(&directory, "touch -d '3 days ago' old; touch -d 2020-02-03T04:05:06 sub/older"));
    let grep = |arguments: &str| run(&mut grep(&directory, &arguments.split(' ').collect::<Vec<_>>()));
    assert_eq!(grep("-l one --changed-within 2d"), answer("new\n", "", 0));
    assert_eq!(grep("-l one --changed-within 2021-01-01"), answer("new\nold\n", "", 0));
    assert_eq!(grep("-l one --changed-before 2d"), answer("old\nsub/older\n", "", 0));
    assert_eq!(grep("--files --newer 2020-02-03T04:05:06 --older 1h"), answer("old\nsub/older\n", "", 0));
    assert_eq!(
        grep("--files --changed-within 2020-02-03T04:05:07 --changed-before 1h"),
        answer("old\n", "", 0)
    );
    // A named file is always searched.
    assert_eq!(grep("-l one --changed-within 2d old"), answer("old\n", "", 0));
    let (_, error, code) = grep("one --changed-within soon");
    assert!(error.starts_with("comb: --changed-within: expected a time such as"), "{error}");
    assert_eq!(code, Some(2));
}

#[test]
fn conditions_restrict_the_lines_and_the_files() {
    let directory = directory_with(&[("a", "foo bar\nfoo baz\nqux\n"), ("b", "foo\nbar\nbaz\n")]);
    let grep = |arguments: &str| run(&mut grep(&directory, &arguments.split(' ').collect::<Vec<_>>())).0;
    assert_eq!(grep("foo --and bar"), "a:foo bar\n");
    assert_eq!(grep("foo --and ba --not bar"), "a:foo baz\n");
    assert_eq!(grep("-n foo --not ba"), "b:1:foo\n");
    assert_eq!(grep("-c foo --not bar"), "a:1\nb:1\n");
    assert_eq!(grep("-o ba. --and foo --not z"), "a:bar\n");
    assert_eq!(grep("-v foo --and bar"), "a:foo baz\na:qux\nb:foo\nb:bar\nb:baz\n");
    assert_eq!(grep("-i FOO --and BAZ"), "a:foo baz\n");
    assert_eq!(grep("-F a --and b --not r"), "a:foo baz\nb:baz\n");
    assert_eq!(grep("-A1 qux --file-not ^foo$"), "a:qux\n");
    assert_eq!(grep("-l foo --file-and qux"), "a\n");
    assert_eq!(grep("--files-without-match foo --file-and qux"), "b\n");
    assert_eq!(grep("-v foo --file-and ^foo$"), "b:bar\nb:baz\n");
    assert_eq!(grep("-c foo --include-zero --file-not qux"), "a:0\nb:1\n");
    assert_eq!(grep("-U foo\\n --and foo$"), "b:foo\n");
    assert_eq!(grep("(b)a(.) --and foo -r $2$1"), "a:foo rb\na:foo zb\n");
    assert_eq!(grep("-P foo.\\Kba(r) -r <$1> --and foo"), "a:foo <r>\n");
}

#[test]
fn the_pattern_of_each_match_is_named_in_json() {
    let directory = directory_with(&[("a", "foo bar\nfoo\n")]);
    let expected = concat!(
        r#"{"match":{"text":"foo"},"start":0,"end":3,"pattern":{"text":"fo+"}},"#,
        r#"{"match":{"text":"bar"},"start":4,"end":7,"pattern":{"text":"b.."}}"#,
    );
    // A pattern that spans lines is searched by ripgrep's own searcher.
    for flags in ["-e fo+ -e foo -e b..", "-U -e fo+ -e foo -e b.. -e 'z\n'", "-P -e fo+ -e foo -e b.."] {
        let script = format!("comb grep --json --which-pattern {flags} a");
        let (out, err, code) = run(&mut shell(&directory, &script));
        assert_eq!((err.as_str(), code), ("", Some(0)), "{script}");
        assert!(out.contains(expected), "{script}: {out}");
        // The statistics count what is printed before them.
        let before = out.split_inclusive('\n').take_while(|line| !line.starts_with("{\"type\":\"end"));
        let printed: usize = before.map(str::len).sum();
        assert!(out.contains(&format!(r#""bytes_printed":{printed},"#)), "{script}: {printed} {out}");
    }
}
