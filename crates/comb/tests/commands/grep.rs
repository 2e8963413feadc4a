//! Tests of `comb grep` that need more than a command line: permissions, special files, streams, memory, rules of git.

use std::fs::{self, File, FileTimes};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::{TempDir, tempdir};

use crate::support::{
    COMB, Place, answer, directory_with, interruptible, program, run, text, unprivileged, wait_until, write,
};

/// `comb grep` in a directory.
fn grep(directory: &TempDir, arguments: &[&str]) -> Command {
    let mut command = program(COMB, directory.path());
    command.arg("grep").args(arguments);
    command
}

/// Files that all match.
fn with_one(names: &[&str]) -> TempDir {
    directory_with(&names.iter().map(|&name| (name, "one\n")).collect::<Vec<_>>())
}

#[test]
fn unreadable_files_do_not_stop_the_search() {
    let directory = with_one(&["a", "closed/file", "secret", "z"]);
    let grep = |arguments: &str| unprivileged(&directory, &format!("comb grep {arguments}"));
    directory.prints("chmod 0 closed secret", "");
    let answers = [grep("one ."), grep("--no-messages one secret a")];
    let asked = grep("-q one .");
    directory.prints("chmod 755 closed", "");
    let message = "comb: ./closed: cannot list directory: permission denied\n\
                   comb: ./secret: permission denied\n";
    assert_eq!(answers, [answer("./a:one\n./z:one\n", message, 2), answer("a:one\n", "", 2)]);
    assert_eq!((asked.0.as_str(), asked.2), ("", Some(0)));
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
                (0..20).for_each(|number| drop(fs::remove_dir_all(directory.at(&number.to_string()))));
            }
        });
        let answers: Vec<_> = (0..20).map(|_| run(&mut grep(&directory, &["-j8", "one", "."]))).collect();
        done.store(true, Ordering::Relaxed);
        for (out, err, code) in answers {
            assert!(matches!(code, Some(0..=2)), "{code:?}: {err}");
            assert_eq!(code == Some(2), !err.is_empty(), "{err}");
            let is_missing =
                |line: &str| line.starts_with("comb: ./") && line.ends_with("no such file or directory");
            assert!(err.lines().all(is_missing), "{err}");
            let found = |line: &'_ str| line.strip_suffix(":one").expect("a match")[2..].to_owned();
            let found: Vec<String> = out.lines().map(found).collect();
            assert!(found.is_sorted() && found.iter().all(|name| names.contains(name)), "{out}");
        }
    });
}

#[test]
fn links_are_followed_on_request_and_loops_are_skipped() {
    let directory = with_one(&["a/file", "elsewhere/other"]);
    directory.prints("ln -s .. a/up; ln -s ../elsewhere a/link; ln -s nowhere a/broken", "");
    directory.prints("comb grep one a", "a/file:one\n");
    directory.prints("comb grep one a/link", "a/link/other:one\n");
    let found = "./a/file:one\n./a/link/other:one\n./elsewhere/other:one\n";
    let messages = "comb: ./a/broken: no such file or directory\n\
                    comb: ./a/up: symlink loop: points back to .; skipped\n";
    directory.answers("comb grep -L one .", found, messages, 2);
}

#[test]
fn hidden_and_ignored_symlink_loops_are_reported() {
    let directory = directory_with(&[("t/file", "one\n"), ("t/.ignore", "ignored\n")]);
    directory.prints("ln -s . t/.hidden; ln -s ../t t/ignored", "");
    let message = "comb: t/.hidden: symlink loop: points back to t; skipped\n\
                   comb: t/ignored: symlink loop: points back to t; skipped\n";
    directory.answers("comb grep -L one t", "t/file:one\n", message, 2);
    directory.prints("comb grep one t", "t/file:one\n");
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
    directory.prints("comb grep one .", &format!("{path}:one\n"));
    directory.prints("comb grep --files .", &format!("{path}\n"));
}

#[test]
fn a_line_of_two_gigabytes_is_skipped_with_a_message() {
    let directory = with_one(&["other"]);
    File::create(directory.at("line")).expect("a file").set_len(2 << 30).expect("a hole");
    let message = "comb: line: skipped the line at byte 0: longer than 64 MiB; \
                   use --max-line to raise the limit\n";
    directory.answers("comb grep -a --max-line 64M one line other", "other:one\n", message, 2);
}

#[test]
fn special_files_in_directories_are_skipped() {
    let directory = with_one(&["file"]);
    let _socket = UnixListener::bind(directory.at("socket")).expect("a socket");
    directory.prints("mkfifo pipe; ln -s /dev/zero zero; ln -s /dev/null null", "");
    directory.prints("comb grep one .", "./file:one\n");
    directory.prints("comb grep -L one .", "./file:one\n");
    directory.answers("comb grep one /dev/null", "", "", 1);
    let message = "comb: socket: no such device or address\n";
    directory.answers("comb grep one socket file", "file:one\n", message, 2);
}

#[test]
fn pipes_and_standard_input_are_read_by_name_or_by_default() {
    let directory = directory_with(&[("file", "two\none\n"), ("patterns", "one\n")]);
    directory.prints(
        "mkfifo pipe; printf 'one more\\n' > pipe & comb grep one pipe file; wait",
        "pipe:one more\nfile:one\n",
    );
    directory.prints("rm pipe; comb grep -n one <(cat file)", "2:one\n");
    for script in ["comb grep one < file", "cat file | comb grep one", "comb grep one - < file"] {
        directory.prints(script, "one\n");
    }
    directory.prints("comb grep -n one - file < file", "<stdin>:2:one\nfile:2:one\n");
    directory.prints("comb grep -f - file < patterns", "one\n");
    directory.prints("comb grep -l one", "file\npatterns\n");
    let message = "comb: standard input: closed; name a file, or redirect input from a file or a pipe\n";
    directory.answers("comb grep one - file <&-", "file:one\n", message, 2);
    directory.prints("comb grep one <&-", "file:one\npatterns:one\n");
}

#[test]
fn a_failed_write_to_standard_output_is_an_error() {
    let directory = with_one(&["file"]);
    let full = "comb: standard output: no space left on device\n";
    for flags in ["one", "-c one", "-l one", "--json one", "--stats one", "--files"] {
        directory.answers(&format!("comb grep {flags} file > /dev/full"), "", full, 2);
    }
    let closed = "comb: standard output: closed; redirect output to a file or a pipe\n";
    directory.answers("comb grep one file >&-", "", closed, 2);
}

#[test]
fn a_closed_pipe_ends_the_command_silently_but_does_not_hide_errors() {
    let directory = directory_with(&[("file", &"one\n".repeat(200_000))]);
    directory.prints("comb grep -n one file | head -n 1", "1:one\n");
    let message = "comb: nowhere: no such file or directory\n";
    directory.answers("comb grep -I one nowhere file | head -n 1", "one\n", message, 2);
}

#[test]
fn the_output_file_is_not_searched() {
    let directory = with_one(&["a", "z"]);
    for (to, before) in [(">", ""), (">>", "one\n")] {
        write(&directory, "out", "one\n");
        directory.prints(&format!("comb grep one . {to} out"), "");
        assert_eq!(directory.read("out"), format!("{before}./a:one\n./z:one\n"));
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

/// Searches with a bar between them.
const FORMS: &str = "one|-n one|-c one|-bo one|-v one|-nA2 -B3 another|-m5 one|--json another|--passthru another|\
                     --heading -n one|-l one|--files-without-match one|-U one\\n|--files";

/// Output of a search without the times.
fn output_without_times(directory: &TempDir, form: &str, how: &[&str]) -> String {
    let (out, err, code) = run(grep(directory, how).args(form.split(' ')).arg("."));
    assert_eq!((err.as_str(), code), ("", Some(0)), "{form:?} {how:?}");
    if !form.contains("--json") {
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
fn output_is_independent_of_the_number_of_threads_and_the_block_size() {
    let large: &[_] = &[("-j2", "256K"), ("-j3", "4K"), ("-j8", "4K"), ("-j64", "256K")];
    let small: &[_] =
        &[("-j1", "1"), ("-j3", "1"), ("-j8", "1"), ("-j1", "100"), ("-j3", "100"), ("-j8", "100")];
    for (lines, ways) in [(60_000, large), (300, small)] {
        let directory = tree(lines);
        for form in FORMS.split('|') {
            let expected = output_without_times(&directory, form, &["-j1"]);
            assert!(!expected.is_empty(), "{form:?}");
            for &(width, size) in ways {
                let printed = output_without_times(&directory, form, &[width, "--block-size", size]);
                assert!(printed == expected, "{form:?} {width} {size}");
            }
        }
    }
}

#[test]
fn files_are_ordered_by_path() {
    let directory = tree(10);
    directory.prints("comb grep --files", "a/large\na/no\na.b\nb/c/deeper\nz\n");
    directory.prints("comb grep -l one z b a.b a", "z\nb/c/deeper\na.b\na/large\n");
}

/// Three files with a match, whose times have another order than their names, and one without.
fn files_with_times(set: fn(SystemTime) -> FileTimes) -> TempDir {
    let directory = with_one(&["a", "b", "c"]);
    write(&directory, "none", "\n");
    for (name, seconds) in [("a", 2), ("b", 3), ("c", 1), ("none", 4)] {
        let file = File::options().write(true).open(directory.at(name)).expect("opening");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_times(set(time)).expect("setting times");
    }
    directory
}

#[test]
fn files_can_be_ordered_by_time() {
    let directory = files_with_times(|time| FileTimes::new().set_modified(time));
    directory.prints("comb grep -l --sort=modified one", "c\na\nb\n");
    directory.prints("comb grep -l --sortr=modified one", "b\na\nc\n");
}

/// To search a file changes this time, on most file systems if it is older than that of the text.
#[test]
fn files_can_be_ordered_by_the_time_of_last_access_before_the_search() {
    for (flag, expected) in [("--sort=accessed", "c\na\nb\n"), ("--sortr=accessed", "b\na\nc\n")] {
        let directory = files_with_times(|time| FileTimes::new().set_accessed(time));
        directory.prints(&format!("comb grep -l {flag} one"), expected);
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
    File::options().write(true).open(directory.at(pipe)).expect("opening the pipe")
}

#[test]
fn matches_are_printed_before_the_search_is_complete() {
    let directory = with_one(&["file"]);
    directory.prints("mkfifo pipe", "");
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
    let directory = with_one(&["file"]);
    directory.prints("mkfifo pipe", "");
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
        fs::hard_link(directory.at("000"), directory.at(&format!("{number:03}"))).expect("a link");
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
    let directory = with_one(&["file"]);
    for (flags, printed) in [("-q", ""), ("-m1", "one\n"), ("-l", "<stdin>\n")] {
        let script = format!("set +o pipefail; yes one | comb grep {flags} one; exit ${{PIPESTATUS[1]}}");
        directory.prints(&script, printed);
    }
    directory.prints("mkfifo pipe; comb grep -q one file pipe", "");
    directory.answers("comb grep -q two file", "", "", 1);
}

#[test]
fn arguments_of_the_configuration_file_come_first() {
    let directory = directory_with(&[("file", "One\nnone\n"), (".conf", "# taste\n-i\n\n--line-number\n")]);
    directory.prints("export COMB_CONFIG=.conf; comb grep -w one", "file:1:One\n");
    directory.prints("export COMB_CONFIG=.conf; comb grep -w -s -N One", "file:One\n");
    directory.prints("export COMB_CONFIG=.conf; comb grep --no-config none", "file:none\n");
    directory.prints("export COMB_CONFIG=; comb grep none", "file:none\n");
    let message = "comb: COMB_CONFIG: nowhere: no such file or directory\n";
    directory.answers("export COMB_CONFIG=nowhere; comb grep none", "file:none\n", message, 0);
    // The value of a flag may be on the next line.
    directory.prints("printf '%s\\n' -g '!*.x' --max-colums=3 -i > .wrong", "");
    let wrong = directory
        .refuses("export COMB_CONFIG=.wrong; comb grep one", "comb: COMB_CONFIG: .wrong:3: --max-colums=3\n");
    assert!(wrong.contains("'--max-columns'"), "{wrong}");
}

/// `one line to find` and a line feed, compressed, in Base64.
const COMPRESSED: [(&str, &str); 5] = [
    ("file.gz", GZIP),
    ("file.zst", "KLUv/SQRiQAAb25lIGxpbmUgdG8gZmluZApKBu1a"),
    ("file.bz2", "QlpoOTFBWSZTWbC2CDAAAAfRgAAQQAAHJYQAIAAiDTQyEAMAjCnNQW02fF3JFOFCQsLYIMA="),
    (
        "file.xz",
        "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAQb25lIGxpbmUgdG8gZmluZAoAAAAAR2BjYslO3esAASkRMgpwDh+2830BAAAAAARZWg==",
    ),
    ("file.lz4", "BCJNGGRApxEAAIBvbmUgbGluZSB0byBmaW5kCgAAAAA4rXbF"),
];

const GZIP: &str = "H4sIAAAAAAACA8vPS1XIyQQSJfkKaZl5KVwAzJWg7hEAAAA=";

fn decoded(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).expect("base64")
}

#[test]
fn compressed_files_are_searched_on_request() {
    let directory = directory_with(&[("plain", "find\n")]);
    COMPRESSED.iter().for_each(|(name, text)| write(&directory, name, decoded(text)));
    directory.answers("comb grep 'line to'", "", "", 1);
    let expected =
        ["bz2", "gz", "lz4", "xz", "zst"].map(|end| format!("file.{end}:1:one line to find\n")).concat();
    directory.prints("comb grep -zn 'line to'", &expected);
    directory.prints("comb grep -zc find - < file.gz", "1\n");
    directory.prints("cat file.gz file.gz > two.gz; comb grep -zc find two.gz", "2\n");
    // Brotli is recognised by its name, and the format of compress by its first bytes.
    directory.prints("rm file.* two.gz", "");
    write(&directory, "old.Z", b"\x1f\x9d\x90\x6f\xdc\x94\x51\x00");
    write(&directory, "new.br", b"\x8f\x01\x80one\n\x03");
    write(&directory, "text.br", "one\n");
    directory.prints("comb grep -z one", "new.br:one\nold.Z:one\ntext.br:one\n");
    directory.prints("comb grep -ac one", "new.br:1\ntext.br:1\n");
}

#[test]
fn corrupt_compressed_files_are_searched_up_to_the_fault() {
    let directory = directory_with(&[("plain", "find\n"), ("wrong.gz", "find\n")]);
    let gzip = decoded(GZIP);
    write(&directory, "cut.gz", &gzip[..gzip.len() - 4]);
    write(&directory, "bad.Z", b"\x1f\x9d\x90\xff\xff");
    let message = |what: &str| format!("comb: {what}; the data before that was read\n");
    let truncated = message("cut.gz: cannot decode: gzip: compressed data truncated");
    let printed = "cut.gz:one line to find\nplain:find\n";
    directory.answers("comb grep -z find cut.gz plain", printed, &truncated, 2);
    directory.prints("comb grep -z find wrong.gz", "find\n");
    let corrupt = message("bad.Z: cannot decode: compress: compressed data corrupt");
    directory.answers("comb grep -z one bad.Z", "", &corrupt, 2);
}

#[test]
fn utf_16_is_recognised_by_the_byte_order_mark() {
    let directory = tempdir().expect("a directory");
    let bytes =
        |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    write(&directory, "big", bytes("\u{feff}zwei\nfünf 𝄞\n", u16::to_be_bytes));
    write(&directory, "little", bytes("\u{feff}zwei\nfünf\n", u16::to_le_bytes));
    write(&directory, "unmarked", bytes("zwei\nfünf\n", u16::to_le_bytes));
    directory.prints("comb grep -n fünf", "big:2:fünf 𝄞\nlittle:2:fünf\n");
    directory.prints("comb grep -E utf-16le fünf unmarked", "fünf\n");
    directory.answers("comb grep -E none fünf", "", "", 1);
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

/// Sorted list of the files that a script selects.
fn selected(directory: &TempDir, script: &str) -> String {
    let (out, err, code) = directory.run(script);
    assert_eq!((err.as_str(), code), ("", Some(0)), "{script}");
    out.lines().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_kind_of_ignore_rules_can_be_disabled() {
    let directory = with_one(&["ag", "dot", "exclude", "git", "global", "plain", "rg"]);
    for (file, rule) in [
        (".git/info/exclude", "exclude"),
        (".gitignore", "git"),
        (".ignore", "dot"),
        (".rgignore", "rg"),
        (".agignore", "ag"),
        (".home/git/ignore", "global"),
    ] {
        write(&directory, file, format!("{rule}\n"));
    }
    for (flags, files) in [
        ("", "plain"),
        ("--no-ignore-dot", "ag dot plain rg"),
        ("--no-ignore-vcs", "exclude git global plain"),
        ("--no-ignore-exclude", "exclude plain"),
        ("--no-ignore-global", "global plain"),
        ("--no-ignore", "ag dot exclude git global plain rg"),
        ("-u --ignore-dot", "exclude git global plain"),
    ] {
        let script = format!("XDG_CONFIG_HOME=$PWD/.home comb grep --files {flags}");
        assert_eq!(selected(&directory, &script), files, "{flags}");
    }
}

#[test]
fn ignore_rules_apply_to_subdirectories_and_nearer_files_take_precedence() {
    let directory = with_one(&[
        "a.log",
        "top",
        "sub/top",
        "sub/a.log",
        "sub/keep.log",
        "sub/a.txt",
        "always.log",
        "build/x",
    ]);
    write(&directory, ".git/HEAD", "");
    write(&directory, ".gitignore", "*.log\n/top\nbuild/\n!always.log\n");
    write(&directory, "sub/.gitignore", "!keep.log\n");
    write(&directory, "sub/.ignore", "*.txt\n");
    for (script, files) in [
        ("comb grep --files", "always.log sub/keep.log sub/top"),
        ("comb grep --files -g '*.log'", "a.log always.log sub/a.log sub/keep.log"),
        ("cd sub; comb grep --files", "keep.log top"),
        ("cd sub; comb grep --files --no-ignore-parent", "a.log keep.log top"),
        ("comb grep --files build sub/a.log", "build/x sub/a.log"),
    ] {
        assert_eq!(selected(&directory, script), files, "{script}");
    }
}

#[test]
fn rules_of_git_apply_in_repositories_only() {
    let directory = directory_with(&[(".gitignore", "a\n"), ("a", "one\n"), ("b", "one\n"), ("more", "b\n")]);
    let files = |flags: &str| selected(&directory, &format!("comb grep --files {flags}"));
    assert_eq!(files(""), "a b more");
    assert_eq!(files("--no-require-git"), "b more");
    assert_eq!(files("--ignore-file more"), "a more");
    assert_eq!(files("--ignore-file more --no-ignore-files"), "a b more");
}

#[test]
fn global_rules_match_paths_as_given() {
    let directory = directory_with(&[("a/b/x", ""), ("a/c/x", ""), ("a/c/y", ""), ("a/.git/HEAD", "")]);
    for (rules, path, files) in [
        ("/x\n", "..", "b/x c/x c/y"),
        ("../c/x\n", "..", "b/x c/y"),
        ("../c/x\n", "../c", "c/y"),
        ("x\n", "..", "c/y"),
    ] {
        write(&directory, "home/git/ignore", rules);
        let script = format!("export XDG_CONFIG_HOME=$PWD/home; cd a/b; comb grep --files {path}");
        assert_eq!(selected(&directory, &script).replace("../", ""), files, "{rules} {path}");
    }
}

#[test]
fn colours_and_hyperlinks_are_printed_on_request() {
    let directory = directory_with(&[("file", "two\none\n")]);
    let colored = |flags: &str| directory.run(&format!("NO_COLOR=1 comb grep --color=always {flags}")).0;
    let path = "\x1b[0m\x1b[35mfile\x1b[0m";
    let one = "\x1b[0m\x1b[1m\x1b[31mone\x1b[0m";
    assert_eq!(colored("-n one"), format!("{path}:\x1b[0m\x1b[32m2\x1b[0m:{one}\n"));
    assert_eq!(colored("-l one"), format!("{path}\n"));
    assert_eq!(
        colored("--colors=path:none --colors=match:none --colors=match:fg:blue one"),
        "\x1b[0mfile\x1b[0m:\x1b[0m\x1b[34mone\x1b[0m\n"
    );
    assert_eq!(colored("--hyperlink-format='x:{line}/{path}' -l one").matches("\x1b]8;;").count(), 2);
}

#[test]
fn null_prints_a_nul_byte_after_paths() {
    let directory = with_one(&["a", "b"]);
    directory.prints("comb grep -0l one", "a\0b\0");
    directory.prints("comb grep -0c one", "a\x001\nb\x001\n");
    directory.prints("comb grep --null --files", "a\0b\0");
}

#[test]
fn a_terminal_gets_headings_line_numbers_and_colours() {
    let directory = with_one(&["a", "b"]);
    let on_a_terminal = |variable: &str, arguments: &str| {
        let line = format!("'{COMB}' grep {arguments}");
        let script = format!("TERM=xterm {variable} script -qec \"{line}\" /dev/null");
        directory.run(&script).0.replace("\r\n", "\n")
    };
    assert_eq!(on_a_terminal("NO_COLOR=1", "one a b"), "a\n1:one\n\nb\n1:one\n");
    let colored = "\x1b[0m\x1b[32m1\x1b[0m:\x1b[0m\x1b[1m\x1b[31mone\x1b[0m\n";
    assert_eq!(on_a_terminal("COLORTERM=", "one a"), colored);
    assert_eq!(on_a_terminal("COLORTERM=", "--color=never one a"), "1:one\n");
}

#[test]
fn an_invalid_glob_is_an_error_above_a_named_directory_only() {
    let directory = with_one(&["p/sub/a", "q/a"]);
    write(&directory, "p/.ignore", "{a\n");
    write(&directory, "q/.ignore", "{a\n");
    let (out, err, code) = directory.run("comb grep one p/sub");
    assert_eq!((out.as_str(), code), ("p/sub/a:one\n", Some(2)));
    assert!(err.contains("p/.ignore:1: error parsing glob '{a'"), "{err}");
    for flags in ["", "--no-ignore-messages --ignore-messages"] {
        let (out, err, code) = directory.run(&format!("comb grep {flags} one q"));
        assert_eq!((out.as_str(), code), ("q/a:one\n", Some(0)));
        assert!(err.starts_with("comb: q/.ignore:1: error parsing glob '{a'"), "{err}");
    }
    directory.prints("comb grep --no-ignore-messages one q", "q/a:one\n");
}

#[test]
fn a_later_search_mode_overrides_a_list_of_files_or_types() {
    let directory = with_one(&["file"]);
    for list in ["--files", "--type-list"] {
        directory.prints(&format!("comb grep {list} -c one ."), "./file:1\n");
        directory.prints(&format!("comb grep {list} -l one ."), "./file\n");
    }
    directory.prints("comb grep -c --files .", "./file\n");
    directory.prints("comb grep -c --files -c one .", "./file:1\n");
}

#[test]
fn statistics_count_printed_bytes_without_colours() {
    let directory = directory_with(&[("a", "one one\ntwo\none\n"), ("b", "one\n"), ("c", "one\n\0")]);
    // The last one searches across lines, which is another piece of code.
    for flags in
        ["-n", "-nH --heading", "-o --column", "-A1 --vimgrep", "--trim", "-U --passthru -e 'two\\none' -e"]
    {
        let out = |more: &str| directory.run(&format!("comb grep {more} {flags} one a b c")).0;
        let expected = format!("{} bytes printed", out("").len());
        for color in ["never", "always"] {
            let out = out(&format!("--stats --color={color}"));
            assert_eq!(out.lines().find(|line| line.ends_with("bytes printed")), Some(&*expected), "{flags}");
        }
    }
}

#[test]
fn values_may_begin_with_a_hyphen() {
    let directory = directory_with(&[("file", "one\n"), ("-rules", "file\n")]);
    directory.answers("comb grep --ignore-file -rules -l one", "", "", 1);
    for flag in ["--type-clear", "--hostname-bin"] {
        directory.prints(&format!("comb grep {flag} -x one ."), "./file:one\n");
    }
}

#[test]
fn invalid_patterns_are_accepted_if_nothing_can_match() {
    let directory = with_one(&["file"]);
    directory.answers("comb grep -m0 '(' .", "", "", 1);
    let four = "comb: -u can be repeated at most three times; -uuu searches all files\n";
    directory.answers("comb grep -uuuu one .", "", four, 2);
}

#[test]
fn skipped_lines_are_counted_but_not_printed_as_context() {
    let long = "x".repeat(50);
    let directory = directory_with(&[("file", &format!("one\na\n{long}\none\ntwo\none\n{long}\n"))]);
    let message = "comb: file: skipped the line at byte 6: longer than 10 bytes (and 1 more such line); \
                   use --max-line to raise the limit\n";
    for size in ["1", "7", "256K"] {
        let grep = format!("comb grep --max-line=10 --block-size {size}");
        directory.answers(&format!("{grep} -nb one file"), "1:0:one\n4:57:one\n6:65:one\n", message, 2);
        let context = "1:one\n--\n4:one\n5-two\n6:one\n";
        directory.answers(&format!("{grep} -nB1 one file"), context, message, 2);
        let (out, ..) = directory.run(&format!("{grep} --stats one file"));
        assert!(out.contains("\n120 bytes searched\n"), "{size}: {out}");
    }
}

#[test]
fn flags_of_ag_have_the_meaning_of_ag() {
    let directory = with_one(&["a", "b/c", "b/d/e"]);
    for (flags, expected) in [
        ("--depth 0", "a\n"),
        ("--depth=1", "a\nb/c\n"),
        ("--depth -1", "a\nb/c\nb/d/e\n"),
        ("--depth=0 -d3", "a\nb/c\nb/d/e\n"),
        ("-d 1", "a\n"),
        ("-d3 --depth=0", "a\n"),
    ] {
        directory.prints(&format!("comb grep -l one {flags}"), expected);
    }
    // comb may end before the pipe is written to.
    let parallel = "set +o pipefail; echo one | comb grep --parallel -l one";
    directory.prints(parallel, "a\nb/c\nb/d/e\n");
    let message = "comb: missing PATTERN; comb grep --files -g '*.c' prints file names\n";
    directory.answers("comb grep -g '*.c'", "", message, 2);
}

#[test]
fn a_preprocessor_makes_the_text_of_files() {
    let directory = with_one(&["a.txt", "b.txt", "c.md", "d.bad"]);
    let script = "#!/bin/sh\ncase $1 in *.bad) echo two; echo broken >&2; exit 3;; *) tr a-z A-Z;; esac\n";
    write(&directory, "upper", script);
    // One that stops as soon as nothing more is wanted.
    write(&directory, "endless", "#!/bin/sh\nexec yes one\n");
    directory.prints("chmod +x upper endless; echo zipped | gzip > z.gz", "");
    for (flags, expected) in [
        ("ONE", "a.txt:ONE\nb.txt:ONE\n"),
        ("--pre-glob 'b*' -i one", "a.txt:one\nb.txt:ONE\n"),
        ("--pre-glob '!b*' -i one", "a.txt:ONE\nb.txt:one\n"),
        ("--no-pre one", "a.txt:one\nb.txt:one\n"),
        ("--pre= one", "a.txt:one\nb.txt:one\n"),
        ("-z one", "a.txt:one\nb.txt:one\n"),
    ] {
        directory.prints(&format!("comb grep -g '*.txt' --pre ./upper {flags}"), expected);
    }
    for (flags, is_read) in [
        // An empty COMMAND and --no-pre do not touch -z; another COMMAND does, also if it is taken back.
        ("-z --pre=", true),
        ("--pre= -z", true),
        ("--no-pre -z", true),
        ("-z --no-pre", true),
        ("--pre ./upper -z --pre=", true),
        ("-z --pre ./upper --pre=", false),
        ("-z --pre ./upper --no-pre", false),
        // -z removes a COMMAND, also if it is taken back.
        ("--pre ./upper -z --no-search-zip", false),
    ] {
        let script = format!("comb grep -g z.gz {flags} zipped");
        assert_eq!(directory.run(&script).2 == Some(0), is_read, "{flags}");
    }
    directory.prints("comb grep --pre ./upper -z --no-search-zip one a.txt", "one\n");
    directory.prints("comb grep --pre ./endless -m1 one a.txt", "one\n");
    // What it printed before it failed is searched.
    let message =
        "comb: d.bad: preprocessor ./upper failed with exit status 3: broken; its output was read\n";
    directory.answers("comb grep --pre ./upper two d.bad", "two\n", message, 2);
    // A program that is not there is reported once.
    let missing = "comb: a.txt: cannot start the preprocessor ./nothing: no such file or directory; skipped";
    for (paths, more) in
        [("a.txt", ""), ("a.txt b.txt", " (and 1 more file)"), ("a.txt b.txt d.bad", " (and 2 more files)")]
    {
        let script = format!("comb grep --pre ./nothing one {paths}");
        directory.answers(&script, "", &format!("{missing}{more}\n"), 2);
    }
}

#[test]
fn preprocessors_end_with_the_search() {
    let directory = directory_with(&[("a", ""), ("b", ""), ("c", "")]);
    write(&directory, "endless", b"#!/bin/sh\necho $$ >> started\nexec yes one\n");
    directory.prints("chmod +x endless", "");
    // A closed pipe ends the search.
    for (arguments, reader) in
        [("-q one", "cat"), ("-l one", "cat"), ("-m2 one", "cat"), ("one", "head -n 1")]
    {
        write(&directory, "started", "");
        let script = format!("comb grep -j3 --pre ./endless {arguments} a b c | {reader}");
        assert_eq!(directory.run(&script).1, "", "{arguments}");
        let started = directory.read("started");
        assert!(!started.is_empty(), "{arguments}");
        for id in started.lines() {
            assert!(!Path::new("/proc").join(id).exists(), "{arguments}: {id} still runs");
        }
    }
}

#[test]
fn an_invalid_pattern_of_a_condition_is_reported_with_its_flag() {
    let directory = with_one(&["a"]);
    let message = "regex parse error:\n    (\n    ^\nerror: unclosed group\n";
    for flag in ["--and", "--not", "--file-and", "--file-not"] {
        let error = format!("comb: {flag}: {message}");
        directory.answers(&format!("comb grep one {flag} '('"), "", &error, 2);
        let error = format!("comb: {flag}: PCRE2: error compiling pattern");
        directory.refuses(&format!("comb grep -P one {flag} '('"), &error);
    }
    directory.answers("comb grep '(' --and one", "", &format!("comb: {message}"), 2);
}

#[test]
fn files_are_selected_by_the_time_of_their_last_change() {
    let directory = with_one(&["new", "old", "sub/older"]);
    directory.prints("touch -d '3 days ago' old; touch -d 2020-02-03T04:05:06 sub/older", "");
    for (arguments, expected) in [
        ("-l one --changed-within 2d", "new\n"),
        ("-l one --changed-within 2021-01-01", "new\nold\n"),
        ("-l one --changed-before 2d", "old\nsub/older\n"),
        ("--files --newer 2020-02-03T04:05:06 --older 1h", "old\nsub/older\n"),
        ("--files --changed-within 2020-02-03T04:05:07 --changed-before 1h", "old\n"),
        // A named file is always searched.
        ("-l one --changed-within 2d old", "old\n"),
    ] {
        directory.prints(&format!("comb grep {arguments}"), expected);
    }
    let reason = "comb: --changed-within: expected a time such as";
    directory.refuses("comb grep one --changed-within soon", reason);
}

#[test]
fn conditions_restrict_the_lines_and_the_files() {
    let directory = directory_with(&[("a", "foo bar\nfoo baz\nqux\n"), ("b", "foo\nbar\nbaz\n")]);
    for (arguments, expected) in [
        ("foo --and bar", "a:foo bar\n"),
        ("foo --and ba --not bar", "a:foo baz\n"),
        ("-n foo --not ba", "b:1:foo\n"),
        ("-c foo --not bar", "a:1\nb:1\n"),
        ("-o ba. --and foo --not z", "a:bar\n"),
        ("-v foo --and bar", "a:foo baz\na:qux\nb:foo\nb:bar\nb:baz\n"),
        ("-i FOO --and BAZ", "a:foo baz\n"),
        ("-F a --and b --not r", "a:foo baz\nb:baz\n"),
        ("-A1 qux --file-not '^foo$'", "a:qux\n"),
        ("-l foo --file-and qux", "a\n"),
        ("--files-without-match foo --file-and qux", "b\n"),
        ("-v foo --file-and '^foo$'", "b:bar\nb:baz\n"),
        ("-c foo --include-zero --file-not qux", "a:0\nb:1\n"),
        ("-U 'foo\\n' --and 'foo$'", "b:foo\n"),
        ("'(b)a(.)' --and foo -r '$2$1'", "a:foo rb\na:foo zb\n"),
        ("-P 'foo.\\Kba(r)' -r '<$1>' --and foo", "a:foo <r>\n"),
    ] {
        assert_eq!(directory.run(&format!("comb grep {arguments}")).0, expected, "{arguments}");
    }
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
        let (out, err, code) = directory.run(&script);
        assert_eq!((err.as_str(), code), ("", Some(0)), "{script}");
        assert!(out.contains(expected), "{script}: {out}");
        // The statistics count what is printed before them.
        let before = out.split_inclusive('\n').take_while(|line| !line.starts_with("{\"type\":\"end"));
        let printed: usize = before.map(str::len).sum();
        assert!(out.contains(&format!(r#""bytes_printed":{printed},"#)), "{script}: {printed} {out}");
    }
}

#[test]
fn a_separator_is_printed_also_if_the_first_block_of_a_file_prints_nothing() {
    let directory = directory_with(&[("a", "foo\n"), ("b", "a\n\n\nb\n")]);
    for size in ["1", "128k"] {
        let grep = format!("comb grep -j1 --block-size {size} --no-heading -H -U -o -A1");
        directory.prints(&format!("{grep} --record '^[a-z]' -e '\\n\\n' -e foo a b"), "a:foo\n--\nb-b\n");
    }
}
