//! Tests of `--limit`, `--totals` and `--compact`.

use tempfile::TempDir;

use crate::support::{Place, directory_with};

/// Checks the answer of a script with `comb` in a directory, at several widths.
fn expect(directory: &TempDir, flags: &str, out: &str, code: i32) {
    for width in ["1", "2", "3", "8", "64"] {
        let script = format!("comb grep -j {width} --block-size 1 {flags}");
        directory.answers(&script, out, "", code);
    }
}

fn tree() -> TempDir {
    let long = format!("{}needle{}", "x".repeat(300), "y".repeat(300));
    directory_with(&[
        ("a", "foo\nbar\nfoo foo\n"),
        ("b", "bar\n"),
        ("c", "1\nfoo 2\n3\n4\n5\nfoo 6\n7\n"),
        ("d/e", "foo\n"),
        ("10:f", "foo\n"),
        ("long", &long),
    ])
}

#[test]
fn a_limit_is_the_beginning_of_the_output() {
    let directory = tree();
    expect(&directory, "--limit 3 foo", "10:f:foo\na:foo\na:foo foo\n", 0);
    expect(&directory, "-o --limit 3 foo", "10:f:foo\na:foo\na:foo\na:foo\n", 0);
    expect(
        &directory,
        "-n -C1 --limit 4 foo",
        "10:f:1:foo\n--\na:1:foo\na-2-bar\na:3:foo foo\n--\nc-1-1\nc:2:foo 2\nc-3-3\n",
        0,
    );
    expect(&directory, "-v --limit 1 foo", "a:bar\n", 0);
    expect(&directory, "-U --limit 1 'foo\nbar'", "a:foo\na:bar\n", 0);
    expect(&directory, "-l --limit 2 foo", "10:f\na\n", 0);
    expect(&directory, "-c --limit 2 foo", "10:f:1\na:2\n", 0);
    expect(&directory, "--files --limit 2", "10:f\na\n", 0);
    expect(&directory, "--sortr path --limit 2 foo", "d/e:foo\nc:foo 2\n", 0);
    expect(&directory, "--limit 100 -c 'foo 2'", "c:1\n", 0);
    expect(&directory, "--limit 0 foo", "", 1);
    expect(&directory, "--limit 1 nothing", "", 1);
    expect(&directory, "-q --limit 1 foo", "", 0);
}

#[test]
fn problems_behind_the_end_are_not_reported() {
    let directory = tree();
    let script = "ln -s none zz; ln -s none 0; comb grep -L --limit 1 foo .";
    let (out, err, code) = directory.run(script);
    assert_eq!((out.as_str(), code), ("./10:f:foo\n", Some(2)));
    assert!(err.contains("./0") && !err.contains("zz"), "{err}");
}

#[test]
fn statistics_and_json_tell_what_a_limit_left_out() {
    let directory = tree();
    let json = "comb grep --json --limit 2 foo | tail -n 1";
    let last = directory.run(json).0;
    assert!(last.contains(r#""omitted":{"files":3,"results":4}"#), "{last}");
    let messages = "comb grep --json --limit 2 foo | grep -c '\"match\"'";
    assert_eq!(directory.run(messages).0, "2\n");
    let stats = directory.run("comb grep --stats --limit 2 foo").0;
    assert!(
        stats.contains("\n7 matches\n") && stats.contains("\n4 results in 3 files omitted by --limit\n"),
        "{stats}"
    );
}

#[test]
fn totals_are_those_of_all_files() {
    let directory = tree();
    expect(&directory, "--totals foo a b", "a:foo\na:foo foo\n2 lines with 3 matches in 1 of 2 files\n", 0);
    expect(&directory, "-l --limit 1 --totals foo", "10:f\n6 lines with 7 matches in 4 of 6 files\n", 0);
    expect(&directory, "-q --totals 'foo 2'", "1 line with 1 match in 1 of 6 files\n", 0);
    expect(&directory, "--totals nothing b", "0 lines with 0 matches in 0 of 1 file\n", 1);
    expect(&directory, "--files --totals d", "d/e\n1 file\n", 0);
}

#[test]
fn compact_output_has_each_path_once_and_no_long_lines() {
    let directory = tree();
    let out = "./10:f\n1:foo\na\n1:foo\n3:foo foo\n[3 more lines in 2 files]\n";
    expect(&directory, "--compact --limit 3 foo", out, 0);
    expect(&directory, "--compact -C1 'foo [26]'", "c\n1-1\n2:foo 2\n3-3\n5-5\n6:foo 6\n7-7\n", 0);
    let long = format!("long\n1:…{}needle{}…\n", "x".repeat(6), "y".repeat(8));
    expect(&directory, "--compact -M 20 needle", &long, 0);
    expect(&directory, "--compact -M 20 -U 'needle\n*'", &long, 0);
    expect(&directory, "--compact -o -M 4 needle", "long\n1:need…\n", 0);
    expect(&directory, "--compact -l --limit 1 foo", "10:f\n[3 more files]\n", 0);
    expect(&directory, "--compact --files --limit 5", "10:f\na\nb\nc\nd/e\n[1 more file]\n", 0);
    expect(&directory, "--compact -N --no-heading --color always 'foo 2'", "c\nfoo 2\n", 0);
    std::fs::write(directory.at("long2"), format!("{}end\nbegin\n", "x".repeat(30))).expect("writing");
    expect(&directory, "--compact -M 9 -U 'end\n' long2", "1:…xxxxxxend\n", 0);
}

#[test]
fn the_exit_status_does_not_depend_on_how_a_file_is_divided() {
    let directory = tree();
    let lines = "zzzzz\n".repeat(400_000);
    for (name, text) in [("early", format!("foo\n{lines}")), ("late", format!("{lines}foo\n"))] {
        std::fs::write(directory.at(name), text).expect("writing a file");
        for width in [1, 2, 8] {
            let script = format!("comb grep -j {width} --limit 1 foo {name}");
            directory.prints(&script, "foo\n");
            let script = format!("(cat {name} || true) | comb grep -j {width} --limit 1 foo");
            directory.prints(&script, "foo\n");
        }
    }
}

#[test]
fn failures_of_the_engine_behind_the_end_are_not_reported() {
    let directory = directory_with(&[("a", "aab foo\n")]);
    for number in 0..40 {
        let text = format!("{}!\n", "a".repeat(60));
        std::fs::write(directory.path().join(format!("f{number}")), text).expect("writing a file");
    }
    expect(&directory, "-P --limit 1 -e '(a+)+(b|$)'", "a:aab foo\n", 0);
}

#[test]
fn a_binary_file_without_a_printed_line_counts() {
    let directory = directory_with(&[("a", "x\0 foo\n"), ("b", "x\0 foo\n"), ("c", "foo\n")]);
    let notice = |name| format!("{name}: binary file matches (found \"\\0\" byte around offset 1)\n");
    expect(&directory, "--limit 2 foo a b c", &[notice("a"), notice("b")].concat(), 0);
    expect(&directory, "-U --limit 1 'foo\n' a b c", &notice("a"), 0);
}

/// All files are listed before they are sorted.
#[test]
fn in_another_order_all_problems_of_the_listing_are_reported() {
    let directory = tree();
    for width in [1, 2, 8] {
        let script =
            format!("ln -sf none zz; ln -sf none 0; comb grep -L -j {width} --sortr path --limit 1 foo .");
        let err = "comb: ./0: no such file or directory\ncomb: ./zz: no such file or directory\n";
        directory.answers(&script, "./d/e:foo\n", err, 2);
    }
}

#[test]
fn a_limit_may_end_within_an_archive() {
    let directory = tree();
    let script = "tar --sort=name -cf x.tar a c d; comb grep --archives --limit 2 foo x.tar";
    directory.prints(script, "x.tar!a:foo\nx.tar!a:foo foo\n");
}

#[test]
fn nothing_of_later_files_is_printed_when_much_is_printed_for_a_line() {
    let directory = directory_with(&[("a", &format!("{}\n", "x".repeat(3000))), ("b", "x\nx\nx\n")]);
    for width in [1, 2, 8] {
        let script = format!("comb grep -j {width} --sortr path --vimgrep --limit 2 x");
        directory.prints(&script, "b:1:1:x\nb:2:1:x\n");
    }
}
