//! Outputs that are not files: devices, pipes and the standard output.

use crate::support::{Place, directory_with};

/// Commands that write to the path that is added to them.
const COMMANDS: [&str; 6] = [
    "comb symbols --format ctags a.c -o",
    "comb symbols --format ctags a.c --append -o",
    "comb index build text -o",
    "comb pi 10 -o",
    "comb top log --save-counts",
    "comb top log -f 2 --force -o",
];

#[test]
fn an_answer_is_written_to_a_file() {
    let log = "2026-01-01T00:00:00Z a\n2026-01-01T00:00:01Z a\n";
    let directory = directory_with(&[("log", log), ("out", "")]);
    directory.prints("comb top -f 2 -o out log; cat out", "2 a\n");
    directory.prints("comb top -f 2 --json --force --output=out log; grep -c count out", "1\n");
    directory.prints("comb top --overview --force -o out log; head -n 1 out", "2 records of lines\n");
    directory.prints("comb top --sample=1 -f 2 --force -o out log; tail -n 1 out", "  key     a\n");
    let save = "comb top -f 2 --force --save-counts counts -o out log; cat out";
    directory.prints(&format!("{save}; comb top --merge counts -o new; cat new"), "2 a\n2 a\n");
    let both = "comb top -f 2 --save-counts - --force -o out log > counts; cat out";
    directory.prints(&format!("{both}; comb top --merge counts"), "2 a\n2 a\n");
    directory.prints("comb top -f 2 -o - log; test ! -e ./-", "2 a\n");
    for (arguments, reason) in [
        ("-o log", "log: file exists; use --force to replace it"),
        ("-o log --force log", "log: same file as the input log; use another output"),
        ("-o none/out log", "none: no such directory"),
        ("-o out --tail log", "cannot be used with '--tail'"),
    ] {
        directory.refuses(&format!("comb top {arguments} < /dev/null"), reason);
    }
    assert_eq!(directory.read("log"), log);
}

#[test]
fn an_output_that_is_a_stream_is_written_to() {
    let log = "2026-01-01T00:00:00Z a\n2026-01-01T00:00:01Z b\n";
    let directory = directory_with(&[("a.c", "int a;\n"), ("text", "a text"), ("log", log)]);
    directory.prints("mkfifo pipe.svg", "");
    let picture = "comb top log --every 1s --plot";
    for command in COMMANDS.into_iter().chain([picture]) {
        let run = |script: &str| {
            let (_, err, code) = directory.run(&script.replace("COMB", command));
            assert_eq!(code, Some(0), "{command}, {script}: {err}");
        };
        run("rm -f file.svg; COMB file.svg");
        run("COMB /dev/null; test -c /dev/null");
        run("cat pipe.svg > got & COMB pipe.svg > table; wait; test -p pipe.svg; cmp file.svg got");
    }
    for command in COMMANDS.into_iter().filter(|command| !command.contains("top")) {
        let run = |script: &str| {
            let script = format!("set -o pipefail; rm -f file; {command} file; {script}");
            let (_, err, code) = directory.run(&script.replace("COMB", command));
            assert_eq!(code, Some(0), "{command}, {script}: {err}");
        };
        run("COMB /dev/stdout | cmp - file");
        run("COMB /dev/stdout > got; cmp got file");
        run(
            "cat file file > twice; cp file got; COMB /dev/stdout >> got; cmp got twice; test -h /dev/stdout",
        );
        // A reader that has seen enough; an index is of no use without its end.
        if !command.contains("index") {
            run("COMB /dev/stdout | true");
        }
    }
}

#[test]
fn a_write_beyond_the_limit_of_file_sizes_is_reported_and_leaves_nothing() {
    let log: String = (0..400_000_u64)
        .map(|number| format!("{:x}\n", number.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect();
    let source: String = (0..9_000).map(|number| format!("int a{number};\n")).collect();
    let directory = directory_with(&[("log", &log), ("text", &log), ("a.c", &source)]);
    directory.prints("mkdir tmp", "");
    for command in [
        "comb top --memory 32M log",
        "comb top -n all log",
        "comb top -n all --json log",
        "comb top log -n all --save-counts OUT",
        "comb grep '' log",
        "comb index build text -o OUT",
        "comb symbols --format ctags a.c -o OUT",
        "comb pi 300000 -o OUT",
    ] {
        let script = format!("ulimit -f 64; export TMPDIR=$PWD/tmp; {command} > out");
        let (_, err, code) = directory.run(&script);
        assert_eq!(code, Some(2), "{command}: {err}");
        assert!(err.contains("file too large"), "{command}: {err}");
        directory.prints("ls tmp; ls | grep -v '^out$' | tr '\\n' ' '", "a.c log text tmp ");
    }
}
