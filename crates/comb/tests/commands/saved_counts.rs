//! Tests of `comb top --save-counts` and `--merge`.

use std::fs;

use crate::support::{Answer, COMB, Place, directory_with, program, run, write};
use tempfile::TempDir;

const ONE: &str =
    "2026-03-01T06:00:07 in 1.5\n2026-03-01T06:00:09 out 3\n2026-03-01T06:00:30 in none\nshort\n";
const TWO: &str = "2026-03-01T06:02:00 in 9\n2026-03-01T06:02:01 up 0.25\n\n2026-03-01T06:03:01 out -\n";

fn comb(directory: &TempDir, arguments: &[&str]) -> Answer {
    run(program(COMB, directory.path()).arg("top").args(arguments))
}

fn logs() -> TempDir {
    directory_with(&[("one.log", ONE), ("two.log", TWO)])
}

/// Counts each log with these flags, and saves the counts.
fn saved(flags: &[&str]) -> TempDir {
    let directory = logs();
    for name in ["one", "two"] {
        let (log, counts) = (format!("{name}.log"), format!("{name}.counts"));
        let answer = comb(&directory, &[flags, &["-n", "0", "--save-counts", &counts, &log]].concat());
        assert_eq!((answer.0.as_str(), answer.2), ("", Some(0)), "{flags:?}: {}", answer.1);
    }
    directory
}

#[test]
fn merged_counts_are_printed_as_those_of_all_files() {
    for flags in [
        "-f 2",
        "-f 2 --sum 3 --p99 3 --distinct 3 --mean 1",
        "-f 2 --share $3>2 --sum 3 --share !($3)",
        "--every 1m --tz UTC -f 2 --share $3>=1.5",
        "-f 2,3 -i -s ^i x --missing ?",
        "--every 1m --tz UTC",
        "--every 1m --tz Europe/Berlin -f 2 --max 3",
        "-e (in|up)\\s(.*) --where $3>0 --min 3",
        "--since 2026-03-01T06:00:08 --until 2026-03-01T06:02:01 --tz UTC",
    ] {
        let flags: Vec<&str> = flags.split(' ').collect();
        let directory = saved(&flags);
        for output in ["--json", "--format csv", "--percent --totals", "-n 1 --reverse", "--sort key"] {
            let output: Vec<&str> = output.split(' ').collect();
            let (expected, _, code) =
                comb(&directory, &[&flags[..], &output, &["one.log", "two.log"]].concat());
            let merged = comb(&directory, &[&["--merge", "two.counts", "one.counts"][..], &output].concat());
            assert_eq!((merged.0, merged.2), (expected, code), "{flags:?} {output:?}: {}", merged.1);
        }
    }
}

#[test]
fn records_that_were_left_out_are_reported_again_without_their_places() {
    let directory = saved(&["-f", "2", "--sum", "3", "--min", "4"]);
    let messages = "comb: skipped 2 of 8 records with too few fields\n\
                    comb: left 1 value out of the measures, as it is not a number\n\
                    comb: min(4): no record has the field 4\n";
    let merged = "count  sum(3)  min(4)  key\n    3    10.5       -  in\n";
    directory.answers("comb top --merge one.counts two.counts -n 1", merged, messages, 0);
}

#[test]
fn counts_are_the_same_bytes_at_any_width_and_however_they_were_merged() {
    let directory = logs();
    let save = |arguments: &str, file: &str| {
        let script = format!("comb top {arguments} --save-counts {file}");
        let (_, err, code) = directory.run(&script);
        assert_eq!(code, Some(0), "{err}");
        (fs::read(directory.at(file)).expect("counts"), err.lines().count())
    };
    let flags = "-f 2 --sum 3 --p50 3 --distinct 3";
    let whole = save(&format!("{flags} -j 1 one.log two.log"), "whole").0;
    for (width, block_size) in [("2", "1"), ("3", "7"), ("8", "100"), ("64", "1K")] {
        let arguments = format!("{flags} -j {width} --block-size {block_size} two.log one.log");
        assert!(save(&arguments, "other").0 == whole, "{width}");
    }
    save(&format!("{flags} one.log"), "one");
    save(&format!("{flags} two.log"), "two");
    for files in ["one two", "two one"] {
        assert!(save(&format!("--merge {files}"), "sum") == (whole.clone(), 2));
    }
}

#[test]
fn counts_go_through_pipes() {
    let directory = logs();
    let script =
        "comb top -f 2 --save-counts - one.log two.log 2> /dev/null | comb top --merge -n 2 2> /dev/null";
    directory.prints(script, "3 in\n2 out\n");
}

#[test]
fn files_that_cannot_be_added_are_reported_and_the_others_are() {
    let directory = saved(&["-f", "2"]);
    directory.run("comb top -f 2 -g \"it's\" --save-counts other.counts one.log");
    let mut damaged = fs::read(directory.at("one.counts")).expect("counts");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    write(&directory, "damaged.counts", damaged);
    let messages = "comb: none.counts: no such file or directory\n\
         comb: damaged.counts: damaged counts: the checksum does not match\n\
         comb: one.log: not a file of counts; 'comb top --save-counts FILE' writes one\n\
         comb: other.counts: counts of --fields=2 '--grep=it'\\''s', but those of two.counts are of --fields=2\n\
         comb: .: is a directory\n\
         comb: skipped 1 of 4 records with too few fields\n";
    let script = "comb top --merge -n 1 none.counts damaged.counts one.log two.counts other.counts .";
    directory.answers(script, "1 in\n", messages, 2);
    let (out, _, code) = directory.run("comb top --merge one.log");
    assert_eq!((out.as_str(), code), ("", Some(2)), "nothing was added up");
}

#[test]
fn what_makes_no_sense_together_is_refused() {
    let directory = saved(&["-f", "2"]);
    let with = |flag: &str| format!("comb: the argument '--merge' cannot be used with '{flag}'");
    let other = |text: &str| format!("comb: {text}; use another output");
    for (arguments, message) in [
        ("--merge -f 1 one.counts", with("--fields <LIST>")),
        ("--merge --every 1m one.counts", with("--every <WIDTH>")),
        (
            "--merge --plot a.svg one.counts",
            "comb: --plot: the counts have no buckets of time; count with --every".to_owned(),
        ),
        ("--save-counts one.log two.log", other("one.log: file exists and is not a file of counts")),
        ("--save-counts one.log one.log", other("one.log: same file as the input one.log")),
        ("--save-counts none/a one.log", "comb: none: no such directory".to_owned()),
        (
            "--merge --sort 'sum(3)' one.counts",
            "comb: one.counts: --sort 'sum(3)': expected one of count, key".to_owned(),
        ),
    ] {
        let said = directory.refuses(&format!("comb top {arguments}"), "");
        assert_eq!(said.lines().next(), Some(&*message), "{arguments}");
    }
    directory.refuses("comb top --save-counts a --approx one.log", "'--approx[=<SIZE>]'");
}

#[test]
fn merged_counts_by_bucket_are_plotted() {
    let directory = saved(&["--every", "1m", "--tz", "UTC", "--time", "1"]);
    let (_, err, code) = directory.run("comb top --merge one.counts two.counts --plot a.svg");
    assert_eq!(code, Some(0), "{err}");
    let svg = directory.read("a.svg");
    assert!(svg.contains(">one.counts, two.counts<") && svg.contains("records every 1m, UTC"), "{svg}");
}
