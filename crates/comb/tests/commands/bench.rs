//! Tests of `comb bench` as a command.

use crate::bench_experiments::{measured, printed};
use crate::support::{COMB, Place, directory_with};

const LOG: &str = "1 a\n2 b\n3 a\n4 c\n5 a\n";

#[test]
fn a_signal_ends_the_measured_job() {
    let directory = directory_with(&[]);
    // The job waits for a pipe without a writer.
    let script = format!(
        "mkfifo pipe; exec 3<> pipe; '{COMB}' bench scale --runs 1 --widths 1 -- top pipe & \
         until cat /proc/$!/task/*/children > list 2> none && [ -s list ]; do :; done; \
         kill $!; wait $!; echo $?; while kill -0 $(< list) 2> none; do :; done; echo ended"
    );
    directory.prints(&script, "143\nended\n");
}

#[test]
fn a_job_runs_with_all_numbers_of_threads() {
    let directory = directory_with(&[("log", LOG)]);
    let start = "comb top -f 2 log: medians of 2 runs, warm cache; ";
    let flags = "--explain --runs 2 --widths 4,1,2,2,auto -- top -f 2 log";
    let out = measured(&directory, "scale", flags, start, &["1", "2", "4", "auto"]);
    for said in [
        "Output: 12 B, identical at every width.",
        "times as long as the best fixed width",
        "Amdahl's law: ",
        "contention σ = ",
    ] {
        assert!(out.contains(said), "{said}: {out}");
    }
    // Without --explain, only what was found.
    let (short, _, _) = directory.run("comb bench scale --from-json saved.json");
    assert!(short.contains("\nAmdahl's law: ") && !short.contains("Output: "), "{short}");
    let svg = directory.read("saved.svg");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert!(svg.contains("Universal Scalability Law") && svg.contains("CPU time"), "{svg}");
    let json: serde_json::Value = serde_json::from_str(&directory.read("saved.json")).expect("json");
    assert_eq!((&json["experiment"], &json["version"]), (&"scale".into(), &1.into()));
    assert_eq!(json["cases"][3]["width"], "auto");
    assert_eq!(json["cases"][0]["runs"].as_array().map(Vec::len), Some(2));

    let (out, _, _) = directory.run("comb bench scale --from-json saved.json --format markdown");
    assert!(out.contains("\n| width | wall [") && out.contains("\n- Output: 12 B, identical"), "{out}");
}

#[test]
fn lists_of_definitions_are_scaled() {
    let directory =
        directory_with(&[("src/a.c", "int answer(void) { return 42; }\n"), ("src/b.py", "def b(): pass\n")]);
    let out = printed(&directory, "scale --explain --runs 1 --widths 1,2,auto -- symbols src");
    assert!(out.starts_with("comb symbols src: single runs, warm cache; "), "{out}");
    assert!(out.contains("Output: 78 B, identical at every width."), "{out}");
    // As root, dropping the caches would affect the whole machine.
    if !rustix::process::geteuid().is_root() {
        let out = printed(&directory, "scale --cold --runs 1 --widths 1,2 -- symbols -d answer src");
        assert!(out.contains("\nCaches were dropped before each cold run "), "{out}");
    }
}

#[test]
fn a_pipe_can_be_the_input() {
    let directory = directory_with(&[("log", LOG)]);
    let out = printed(&directory, "scale --explain --runs 1 --widths 1,2 --pipe log -- grep -c a");
    assert!(out.starts_with("cat log | comb grep -c a: single runs, warm cache; "), "{out}");
    for part in [
        "Output: 2 B, identical at every width.",
        "The Universal Scalability Law cannot be fitted: it needs 3 different widths",
    ] {
        assert!(out.contains(part), "{out}");
    }
}

#[test]
fn errors_are_one_line() {
    let directory =
        directory_with(&[("log", LOG), ("spin.json", "{\"experiment\": \"spin\", \"version\": 1}")]);
    for (arguments, message) in [
        (
            "-- top -f 2 nix",
            "comb top -f 2 nix --width 1 exited with status 2: comb: nix: no such file or directory; '-f nix' counts by a field",
        ),
        (
            "-- index info log",
            "'index' cannot be scaled; use top, grep or symbols, as in 'comb bench scale -- top -f 7 access.log'",
        ),
        ("-- top -w 2 log", "remove -w: 'comb bench scale' sets the width from --widths"),
        ("--pipe nix -- top", "nix: no such file or directory"),
        ("--save nix/s.json -- top log", "nix/s.json: cannot write: no such file or directory"),
        ("--plot log/s.svg -- top log", "log/s.svg: cannot write: not a directory"),
        ("--from-json nix", "nix: no such file or directory"),
        ("--from-json spin.json", "spin.json: not a result of experiment 'scale': it is of 'spin'"),
        (
            "--from-json log",
            "log: not a result of experiment 'scale': invalid type: integer `1`, expected an object at line 1 column 1",
        ),
    ] {
        directory.answers(&format!("comb bench scale {arguments}"), "", &format!("comb: {message}\n"), 2);
    }
}

#[test]
fn invalid_arguments_are_rejected_before_anything_runs() {
    let directory = directory_with(&[("log", LOG)]);
    for (arguments, message) in [
        ("--widths 1025 -- top log", "expected auto or a number from 1 to 1024"),
        ("--widths 1,x -- top log", "invalid value 'x' for '--widths <LIST>'"),
        ("--runs 0 -- top log", "expected a number from 1 to 100000"),
        ("--plot plot.pdf -- top log", "expected a name that ends with .svg"),
        ("", "<JOB>..."),
        ("--from-json log -- top log", "cannot be used with"),
    ] {
        let said = directory.refuses(&format!("comb bench scale {arguments}"), message);
        assert!(said.starts_with("comb: "), "{arguments}: {said}");
    }
}
