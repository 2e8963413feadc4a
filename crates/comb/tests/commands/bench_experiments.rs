//! Tests of `comb bench spin`, `spawn`, `overlap` and `serve` as commands. They check the form of the output, not the times.

use crate::support::{Answer, Place, directory_with};
use serde_json::Value;
use tempfile::TempDir;

fn comb(directory: &TempDir, arguments: &str) -> Answer {
    directory.run(&format!("comb bench {arguments}"))
}

/// Output of a command that must succeed without a message.
pub(crate) fn printed(directory: &TempDir, arguments: &str) -> String {
    let (out, messages, code) = comb(directory, arguments);
    assert_eq!((messages.as_str(), code), ("", Some(0)), "{arguments}: {out}");
    out
}

/// Output of an experiment, which begins with `start` and has a table with these first cells. That of its saved result is the same.
pub(crate) fn measured(
    directory: &TempDir,
    experiment: &str,
    flags: &str,
    start: &str,
    cells: &[&str],
) -> String {
    let out = printed(directory, &format!("{experiment} --save saved.json --plot saved.svg {flags}"));
    assert!(out.starts_with(start), "{out}");
    assert_eq!(first_cells(&out), cells);
    let explain = if flags.contains("--explain") { "--explain" } else { "" };
    let again =
        printed(directory, &format!("{experiment} {explain} --from-json saved.json --plot again.svg"));
    assert_eq!((again, directory.read("again.svg")), (out.clone(), directory.read("saved.svg")));
    out
}

/// First cell of each row of a table, without the heading.
fn first_cells(out: &str) -> Vec<&str> {
    let rows = out.lines().skip_while(|line| !line.is_empty()).skip(2).take_while(|line| !line.is_empty());
    rows.map(|row| row.split("  ").find(|cell| !cell.is_empty()).unwrap_or_default().trim()).collect()
}

fn saved(directory: &TempDir) -> Value {
    serde_json::from_str(&directory.read("saved.json")).expect("JSON")
}

#[test]
fn spinning_threads_are_measured_saved_and_plotted() {
    let directory = directory_with(&[]);
    let flags = "--widths 3,1..2 --iterations 1000 --runs 2";
    let start = "Oversubscription with threads that count to 1,000: medians of 2 runs; ";
    measured(&directory, "spin", flags, start, &["1", "2", "3"]);
    let kept = saved(&directory);
    assert_eq!((&kept["experiment"], &kept["version"]), (&"spin".into(), &1.into()));
    assert_eq!(kept["cases"][2]["wall"].as_array().map(Vec::len), Some(2));
    let markdown = printed(&directory, "spin --from-json saved.json --format markdown");
    assert!(markdown.contains("\n| threads | wall ["), "{markdown}");
    for flag in ["--json", "--format json"] {
        let out = printed(&directory, &format!("spin --from-json saved.json {flag}"));
        assert_eq!(out, directory.read("saved.json"));
    }
}

#[test]
fn time_slices_are_plotted() {
    let directory = directory_with(&[]);
    let start = "Time slices of 2 threads over 50 ms, with gaps of more than 200 µs; ";
    measured(&directory, "spin --slices", "--widths 2 --seconds 0.05 --gap 200", start, &["1", "2"]);
    let picture = directory.read("saved.svg");
    assert!(picture.contains("\nthread 2: ") && picture.trim_end().ends_with("</svg>"), "{picture}");
    let message = "comb: saved.json: not a result of experiment 'spin': it is of 'slices'\n";
    directory.answers("comb bench spin --from-json saved.json", "", message, 2);
}

#[test]
fn strategies_are_compared() {
    let directory = directory_with(&[
        ("tree/a", "one\ntwo\n"),
        ("tree/b/c", "three one\n"),
        ("tree/.hidden", "one\n"),
        ("tree/empty", ""),
    ]);
    let start = "Searching tree for '^.*one': single runs, warm cache; ";
    let ways = ["one thread", "thread per file", "pool of 1", "pool of 2", "du -s"];
    let out = measured(&directory, "spawn", "--widths 1,2 --runs 1 '^.*one' tree", start, &ways);
    assert!(out.contains("All strategies found 2 matching lines in 3 files with 18 B."), "{out}");
    assert!(directory.read("saved.svg").contains("du -s"));
    let without_du = "PATH=/nowhere; comb bench spawn --widths 1 --runs 1 one tree";
    let (without_du, _, _) = directory.run(without_du);
    assert!(without_du.contains("du is not installed"), "{without_du}");
}

#[test]
fn prefetching_is_compared_with_a_cold_and_a_warm_cache() {
    let large = "a word, and another\n".repeat(20_000);
    let directory = directory_with(&[("tree/large", &large), ("tree/small", "word\n")]);
    let start = "Reading 400 kB of tree and hashing 80,0";
    let flags = "tree --warm --widths 1,3 --runs 1 --work 2";
    measured(&directory, "overlap", flags, start, &["warm cache"; 4]);
    if rustix::process::geteuid().is_root() {
        // Dropping the caches would affect the whole machine.
        return;
    }
    // Whether caches can be dropped depends on the machine, but the outcome is always reported.
    let cold = printed(&directory, "overlap tree --cold --widths 1 --runs 1");
    assert!(cold.contains("\nCaches were dropped before each cold run "), "{cold}");
    assert_eq!(first_cells(&cold).len(), 2);
}

#[test]
fn a_command_with_a_cold_cache_is_compared_with_reading_and_with_a_warm_cache() {
    let directory =
        directory_with(&[("tree/a.c", "int a(void) { return 42; }\n"), ("tree/README", "text\n")]);
    for (arguments, message) in [
        ("-- index info tree", "comb: 'index' cannot be scaled; use top, grep or symbols, "),
        ("-- symbols tree/README", "comb: no files to read: comb symbols tree/README\n"),
        ("--warm -- symbols tree", "cannot be used with"),
    ] {
        let (_, said, _) = comb(&directory, &format!("overlap {arguments}"));
        assert!(said.contains(message), "{arguments}: {said}");
    }
    if rustix::process::geteuid().is_root() {
        // Dropping the caches would affect the whole machine.
        return;
    }
    for (command, files) in [("symbols tree", "1 file"), ("grep int tree", "2 files")] {
        let flags = format!("--widths 1,2 --runs 1 -- {command}");
        let start = format!("comb {command}, reading ");
        let out = measured(&directory, "overlap", &flags, &start, &["1", "2", "auto"]);
        assert!(out.contains(&format!(" of {files}: ")), "{out}");
    }
}

#[test]
fn a_server_is_compared_with_one_process_per_request() {
    let digits: String =
        (0..2000_u32).map(|number| char::from(b'0' + (number * number / 7 % 10) as u8)).collect();
    let directory = directory_with(&[("pi", &digits)]);
    assert_eq!(directory.run("comb index build pi").2, Some(0));
    let out = printed(&directory, "serve pi.comb --connections 2 --seconds 0.2 --save saved.json");
    assert!(out.starts_with("1,000 distinct queries on pi.comb, 2 concurrent clients; "), "{out}");
    let ways =
        ["server, persistent connections", "server, connection per request", "CGI, process per request"];
    assert_eq!(first_cells(&out), ways);
    for way in saved(&directory)["ways"].as_array().expect("ways") {
        assert!(way["requests"].as_u64() > Some(0), "{way}");
    }
    assert_eq!(printed(&directory, "serve --from-json saved.json"), out);
}

#[test]
fn failed_measurements_are_reported() {
    let directory = directory_with(&[("file", "text\n"), ("tree/.hidden", "x"), ("json", "{}")]);
    for (command, message) in [
        ("spawn a missing", "missing: no such file or directory"),
        ("overlap missing", "missing: no such file or directory"),
        ("spawn a tree", "tree: no files to read"),
        ("overlap tree", "tree: no files to read"),
        ("spawn 'a(' file", "invalid regular expression 'a(': unclosed group"),
        ("serve file", "file: not a comb index; build one with 'comb index build'"),
        ("serve missing", "missing: no such file or directory"),
        (
            "spin --slices --widths 1,2",
            "--slices measures one number of threads; give --widths a single number",
        ),
        ("spin --from-json missing", "missing: no such file or directory"),
        (
            "spawn --from-json json",
            "json: not a result of experiment 'spawn': missing field `experiment` at line 1 column 2",
        ),
        ("overlap --from-json tree", "tree: is a directory"),
    ] {
        directory.answers(&format!("comb bench {command}"), "", &format!("comb: {message}\n"), 2);
    }
}

#[test]
fn invalid_flags_are_rejected_before_anything_runs() {
    let directory = directory_with(&[("file", "text\n")]);
    for (command, reason) in [
        ("spin --widths 0", "expected a list of numbers from 1 to 1024, such as 1,2,4 or 1..64"),
        ("spin --widths 4..2", "the range 4..2 is empty"),
        ("spin --runs 0", "0"),
        ("spin --plot spin.gif", "expected a name that ends with .svg"),
        ("spin --seconds 1", "--slices"),
        ("spin --slices --seconds 0", "expected a number of seconds from 0.01 to 600"),
        ("spin --slices --gap 0", "expected a number of microseconds from 1 to 1000000"),
        ("spawn a", "<PATH>"),
        ("spawn a file --widths x", "expected a list of numbers"),
        ("overlap file --work 0", "0"),
        ("overlap", "<PATH>"),
        ("serve", "<INDEX>"),
        ("serve index --connections 101", "expected a number from 1 to 100"),
        ("serve --from-json a --save b", "--save"),
    ] {
        let message = directory.refuses(&format!("comb bench {command}"), reason);
        assert!(message.starts_with("comb: "), "{command}: {message}");
    }
}

#[test]
fn files_that_are_no_results_or_plots_are_replaced_only_with_force() {
    let directory = directory_with(&[("notes", "a\n"), ("notes.svg", "a\n"), ("empty", "")]);
    let spin = "spin --widths 1..2 --iterations 1 --runs 1";
    for (flags, name, kind) in [("--save", "notes", "a saved result"), ("--plot", "notes.svg", "a plot")] {
        let refused = format!("comb: {name}: file exists and is not {kind}; use --force to replace it\n");
        directory.answers(&format!("comb bench {spin} {flags} {name}"), "", &refused, 2);
        assert_eq!(directory.read(name), "a\n");
    }
    printed(&directory, &format!("{spin} --save empty"));
    printed(&directory, &format!("{spin} --save notes --plot notes.svg --force"));
    // Now they are of these kinds.
    printed(&directory, &format!("{spin} --save notes --plot notes.svg"));
    printed(&directory, "spin --from-json notes --plot empty.svg --json > copy");
    // Results are printed even if they cannot be saved.
    let (out, message, code) = comb(&directory, &format!("{spin} --save /dev/full"));
    assert_eq!(first_cells(&out), ["1", "2"]);
    let full = "comb: /dev/full: cannot write: no space left on device\n";
    assert_eq!((message.as_str(), code), (full, Some(2)));
}
