//! Intended differences between `comb grep` and ripgrep: the rows of docs/ripgrep.md.

use crate::support::{Place, directory_with, write};

#[test]
fn a_relative_gitdir_is_relative_to_its_file() {
    let directory = directory_with(&[
        ("main/.git/info/exclude", "excluded\n"),
        ("main/.git/worktrees/tree/commondir", "../..\n"),
        ("tree/.git", "gitdir: ../main/.git/worktrees/tree\n"),
        ("tree/excluded", "one\n"),
        ("tree/kept", "one\n"),
    ]);
    directory.prints("comb grep --files tree", "tree/kept\n");
    directory.prints("cd tree; comb grep --files", "kept\n");
}

#[test]
fn rules_after_a_line_that_is_not_utf_8_apply() {
    let directory = directory_with(&[("before", ""), ("behind", ""), ("kept", "")]);
    write(&directory, ".ignore", b"before\n\xFF\xFE\nbehind\n");
    directory.prints("comb grep --files", "kept\n");
}

#[test]
fn case_is_ignored_in_a_given_ignore_file() {
    let directory = directory_with(&[("rules", "LEFT\n"), ("left", ""), ("kept", "")]);
    let files = "comb grep --files --ignore-file-case-insensitive --ignore-file rules";
    directory.prints(files, "kept\nrules\n");
}

#[test]
fn matches_across_lines_that_touch_are_all_printed() {
    let directory = directory_with(&[("text", "foo a\nb\nfoo c\n")]);
    let script = r"comb grep -n -U -e '\nfoo' -e fo+ text";
    directory.prints(script, "1:foo a\n2:b\n3:foo c\n");
}

#[test]
fn an_inverted_search_ends_at_the_last_line_that_counts() {
    let directory = directory_with(&[("text", "1\na\nb\nc\n2\nd\n")]);
    let (out, ..) = directory.run("comb grep -v -m 2 --stats '[0-9]' text");
    assert!(out.starts_with("a\nb\n") && out.contains("\n6 bytes searched\n"), "{out}");
}

#[test]
fn a_long_line_does_not_change_how_far_later_files_are_searched() {
    let text = format!("find\n{}\0\n", "x".repeat(1 << 20));
    let directory = directory_with(&[("sub/text", &text)]);
    let notice = "binary file after match (found \"\\0\" byte around offset 1048581)";
    let once = format!("sub/text:find\nsub/text: WARNING: stopped searching {notice}\n");
    directory.prints("comb grep find sub sub", &once.repeat(2));
}

#[test]
fn truncated_compressed_data_is_counted_up_to_its_end() {
    let directory = directory_with(&[("plain", "find\n")]);
    let cut = "for number in {1..9999}; do echo find $number; done | gzip -c | head -c 9000 > cut.gz";
    directory.run(&format!("set +o pipefail; {cut}; true"));
    let message =
        "comb: cut.gz: cannot decode: gzip: compressed data truncated; the data before that was read\n";
    let (printed, err, code) = directory.run("comb grep -z find cut.gz");
    assert_eq!((err.as_str(), code), (message, Some(2)));
    let lines = printed.lines().count();
    assert!(lines > 100, "{printed}");
    directory.answers("comb grep -zc find cut.gz", &format!("{lines}\n"), message, 2);
}

#[test]
fn compressed_files_are_recognised_by_their_first_bytes() {
    let directory = directory_with(&[("text.gz", "find\n")]);
    directory.run("echo find it | gzip -c > data; cp data data.bz2");
    let found = "data:find it\ndata.bz2:find it\ntext.gz:find\n";
    directory.prints("comb grep -z find", found);
    write(&directory, "empty.gz", b"");
    directory.prints("comb grep -z find", found);
}
