//! Tests of `comb bench spin`, `spawn`, `overlap` and `serve` as commands. They check the form of the output, not the times.

use crate::support::{Answer, COMB, Place, directory_with, program, run};
use serde_json::Value;
use tempfile::TempDir;

fn comb(directory: &TempDir, script: &str) -> Answer {
    directory.run(script)
}

/// Output of a command that must succeed without a message.
fn printed(directory: &TempDir, script: &str) -> String {
    let (out, messages, code) = comb(directory, script);
    assert_eq!((messages.as_str(), code), ("", Some(0)), "{script}: {out}");
    out
}

/// First cell of each row of a table, without the heading.
fn first_cells(out: &str) -> Vec<&str> {
    let rows = out.lines().skip_while(|line| !line.is_empty()).skip(2).take_while(|line| !line.is_empty());
    rows.map(|row| row.split("  ").find(|cell| !cell.is_empty()).unwrap_or_default().trim()).collect()
}

fn json(directory: &TempDir, name: &str) -> Value {
    let text = directory.read(name);
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn spinning_threads_are_measured_saved_and_plotted() {
    let directory = directory_with(&[]);
    let out = printed(
        &directory,
        "comb bench spin --widths 3,1..2 --iterations 1000 --runs 2 --save spin.json --plot spin.svg",
    );
    assert!(
        out.starts_with("Oversubscription with threads that count to 1,000: medians of 2 runs; "),
        "{out}"
    );
    assert_eq!(first_cells(&out), ["1", "2", "3"]);
    let kept = json(&directory, "spin.json");
    assert_eq!((&kept["experiment"], &kept["version"]), (&"spin".into(), &1.into()));
    assert_eq!(kept["cases"][2]["wall"].as_array().map(Vec::len), Some(2));
    assert_eq!(printed(&directory, "comb bench spin --from-json spin.json --plot again.svg"), out);
    let picture = |name| directory.read(name);
    assert_eq!(picture("spin.svg"), picture("again.svg"));
    let markdown = printed(&directory, "comb bench spin --from-json spin.json --format markdown");
    assert!(markdown.contains("\n| threads | wall ["), "{markdown}");
}

#[test]
fn time_slices_are_plotted() {
    let directory = directory_with(&[]);
    let out = printed(
        &directory,
        "comb bench spin --slices --widths 2 --seconds 0.05 --gap 200 --save slices.json --plot slices.svg",
    );
    assert!(out.starts_with("Time slices of 2 threads over 50 ms, with gaps of more than 200 µs; "), "{out}");
    assert_eq!(first_cells(&out), ["1", "2"]);
    assert_eq!(printed(&directory, "comb bench spin --slices --from-json slices.json"), out);
    let picture = directory.read("slices.svg");
    assert!(picture.contains("\nthread 2: ") && picture.trim_end().ends_with("</svg>"), "{picture}");
    let (_, message, code) = comb(&directory, "comb bench spin --from-json slices.json");
    assert_eq!(
        (message.as_str(), code),
        ("comb: slices.json: not a result of experiment 'spin': it is of 'slices'\n", Some(2))
    );
}

#[test]
fn strategies_are_compared() {
    let files = [
        ("tree/a", "one\ntwo\n"),
        ("tree/b/c", "three one\n"),
        ("tree/.hidden", "one\n"),
        ("tree/empty", ""),
    ];
    let directory = directory_with(&files);
    let out = printed(
        &directory,
        "comb bench spawn --widths 1,2 --runs 1 --save spawn.json --plot spawn.svg '^.*one' tree",
    );
    assert!(out.starts_with("Searching tree for '^.*one': single runs, warm cache; "), "{out}");
    let ways = ["one thread", "thread per file", "pool of 1", "pool of 2", "du -s"];
    assert_eq!(first_cells(&out), ways);
    assert!(out.contains("All strategies found 2 matching lines in 3 files with 18 B."), "{out}");
    assert_eq!(printed(&directory, "comb bench spawn --from-json spawn.json"), out);
    assert!(directory.read("spawn.svg").contains("du -s"));
    let mut command = program(COMB, directory.path());
    command.args(["bench", "spawn", "--widths", "1", "--runs", "1", "one", "tree"]).env("PATH", "/nowhere");
    let (without_du, _, _) = run(&mut command);
    assert!(without_du.contains("du is not installed"), "{without_du}");
}

#[test]
fn prefetching_is_compared_with_a_cold_and_a_warm_cache() {
    let large = "a word, and another\n".repeat(20_000);
    let directory = directory_with(&[("tree/large", &large), ("tree/small", "word\n")]);
    let out = printed(
        &directory,
        "comb bench overlap tree --warm --widths 1,3 --runs 1 --work 2 --save overlap.json --plot a.svg",
    );
    assert!(out.starts_with("Reading 400 kB of tree and hashing 80,0"), "{out}");
    assert_eq!(first_cells(&out), ["warm cache"; 4]);
    assert_eq!(printed(&directory, "comb bench overlap --from-json overlap.json"), out);
    if rustix::process::geteuid().is_root() {
        // Dropping the caches would affect the whole machine.
        return;
    }
    // Whether caches can be dropped depends on the machine, but the outcome is always reported.
    let cold = printed(&directory, "comb bench overlap tree --cold --widths 1 --runs 1");
    assert!(cold.contains("\nCaches were dropped before each cold run "), "{cold}");
    assert_eq!(first_cells(&cold).len(), 2);
}

#[test]
fn a_command_with_a_cold_cache_is_compared_with_reading_and_with_a_warm_cache() {
    let directory =
        directory_with(&[("tree/a.c", "int a(void) { return 42; }\n"), ("tree/README", "text\n")]);
    let refused = |arguments: &str| comb(&directory, &format!("comb bench overlap {arguments}")).1;
    assert_eq!(
        refused("-- index info tree"),
        "comb: 'index' cannot be scaled; use top, grep or symbols, as in 'comb bench scale -- top -f 7 access.log'\n"
    );
    assert_eq!(refused("-- symbols tree/README"), "comb: no files to read: comb symbols tree/README\n");
    assert!(refused("--warm -- symbols tree").contains("cannot be used with"));
    if rustix::process::geteuid().is_root() {
        // Dropping the caches would affect the whole machine.
        return;
    }
    for (command, files) in [("symbols tree", "1 file"), ("grep int tree", "2 files")] {
        let out = printed(
            &directory,
            &format!("comb bench overlap --widths 1,2 --runs 1 --save o.json --plot o.svg -- {command}"),
        );
        assert!(out.starts_with(&format!("comb {command}, reading ")), "{out}");
        assert!(out.contains(&format!(" of {files}: ")), "{out}");
        assert_eq!(first_cells(&out), ["1", "2", "auto"]);
        assert_eq!(printed(&directory, "comb bench overlap --from-json o.json"), out);
    }
}

#[test]
fn a_server_is_compared_with_one_process_per_request() {
    let digits: String =
        (0..2000_u32).map(|number| char::from(b'0' + (number * number / 7 % 10) as u8)).collect();
    let directory = directory_with(&[("pi", &digits)]);
    assert_eq!(comb(&directory, "comb index build pi").2, Some(0));
    let out = printed(&directory, "comb bench serve pi.comb --connections 2 --seconds 0.2 --save serve.json");
    assert!(out.starts_with("1,000 distinct queries on pi.comb, 2 concurrent clients; "), "{out}");
    assert_eq!(
        first_cells(&out),
        ["server, persistent connections", "server, connection per request", "CGI, process per request"]
    );
    let kept = json(&directory, "serve.json");
    for way in kept["ways"].as_array().expect("ways") {
        assert!(way["requests"].as_u64() > Some(0), "{way}");
    }
    assert_eq!(printed(&directory, "comb bench serve --from-json serve.json"), out);
}

#[test]
fn failed_measurements_are_reported() {
    let directory = directory_with(&[("file", "text\n"), ("tree/.hidden", "x"), ("json", "{}")]);
    for (command, message) in [
        ("spawn a missing", "comb: missing: no such file or directory\n"),
        ("overlap missing", "comb: missing: no such file or directory\n"),
        ("spawn a tree", "comb: tree: no files to read\n"),
        ("overlap tree", "comb: tree: no files to read\n"),
        ("spawn 'a(' file", "comb: invalid regular expression 'a(': unclosed group\n"),
        ("serve file", "comb: file: not a comb index; build one with 'comb index build'\n"),
        ("serve missing", "comb: missing: no such file or directory\n"),
        (
            "spin --slices --widths 1,2",
            "comb: --slices measures one number of threads; give --widths a single number\n",
        ),
        ("spin --from-json missing", "comb: missing: no such file or directory\n"),
        (
            "spawn --from-json json",
            "comb: json: not a result of experiment 'spawn': missing field `experiment` at line 1 column 2\n",
        ),
        ("overlap --from-json tree", "comb: tree: is a directory\n"),
    ] {
        assert_eq!(
            comb(&directory, &format!("comb bench {command}")),
            (String::new(), message.to_owned(), Some(2))
        );
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
        let (out, message, code) = comb(&directory, &format!("comb bench {command}"));
        assert_eq!((out.as_str(), code), ("", Some(2)), "{command}");
        assert!(message.starts_with("comb: ") && message.contains(reason), "{command}: {message}");
    }
}

#[test]
fn files_that_are_no_results_or_plots_are_replaced_only_with_force() {
    let directory = directory_with(&[("notes", "a\n"), ("notes.svg", "a\n"), ("empty", "")]);
    let spin = "comb bench spin --widths 1..2 --iterations 1 --runs 1";
    for (flags, name, kind) in [("--save", "notes", "a saved result"), ("--plot", "notes.svg", "a plot")] {
        let (out, message, code) = comb(&directory, &format!("{spin} {flags} {name}"));
        let refused = format!("comb: {name}: file exists and is not {kind}; use --force to replace it\n");
        assert_eq!((out.as_str(), message, code), ("", refused, Some(2)));
        assert_eq!(directory.read(name), "a\n");
    }
    printed(&directory, &format!("{spin} --save empty"));
    printed(&directory, &format!("{spin} --save notes --plot notes.svg --force"));
    // Now they are of these kinds.
    printed(&directory, &format!("{spin} --save notes --plot notes.svg"));
    let (_, message, code) =
        comb(&directory, "comb bench spin --from-json notes --plot empty.svg --json > copy");
    assert_eq!((message.as_str(), code), ("", Some(0)));
}

#[test]
fn results_are_printed_even_if_they_cannot_be_saved() {
    let directory = directory_with(&[]);
    let (out, message, code) =
        comb(&directory, "comb bench spin --widths 1 --iterations 1 --runs 1 --save /dev/full");
    assert_eq!(first_cells(&out), ["1"]);
    assert_eq!(
        (message.as_str(), code),
        ("comb: /dev/full: cannot write: no space left on device\n", Some(2))
    );
}

#[test]
fn saved_results_can_be_printed() {
    let directory = directory_with(&[]);
    printed(&directory, "comb bench spin --widths 1 --iterations 1000 --runs 1 --save spin.json");
    for flag in ["--json", "--format json"] {
        let out = printed(&directory, &format!("comb bench spin --from-json spin.json {flag}"));
        assert_eq!(out, directory.read("spin.json"));
    }
}
