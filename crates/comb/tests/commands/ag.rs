//! comb under the name of ag: its flags, its output, its errors.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use crate::names::{named, tree};
use crate::pager::shown;
use crate::support::{Answer, Place, answer, run, write};
use tempfile::TempDir;

/// All flags in `ag --help` and `man ag` of version 2.2.
const DOCUMENTED: &str = "
--ackmate --affinity --noaffinity -a --all-types -A --after -B --before --break --nobreak -c --count --color --nocolor
--color-line-number --color-match --color-path --column -C --context -D --debug --depth --filename --nofilename -f --follow
--nofollow -F --fixed-strings --group --nogroup -g --filename-pattern -G --file-search-regex -H --heading --noheading --hidden
--ignore --ignore-dir -i --ignore-case -l --files-with-matches -L --files-without-matches --list-file-types -m --max-count
--mmap --nommap --multiline --nomultiline -n --norecurse --numbers --nonumbers -o --only-matching --one-device -p
--path-to-ignore --pager --nopager --parallel --print-all-files --print-long-lines --passthrough --passthru -Q --literal -r
--recurse -s --case-sensitive -S --smart-case --search-binary --silent --stats --stats-only -t --all-text -u --unrestricted
-U --skip-vcs-ignores -v --invert-match -V --version --vimgrep -w --word-regexp -W --width --workers -z --search-zip -0
--null --print0
";

/// The flags among the words of a text; `--[no]color` is two.
fn flags_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '-');
    words.filter(|word| word.trim_start_matches('-') != *word && !word.ends_with('-')).collect()
}

#[test]
fn each_documented_flag_of_ag_has_a_test() {
    let (_, tests) = include_str!("ag.rs").split_once("\";\n\n").expect("the tests behind the list");
    let tested = flags_in(tests);
    let untested: Vec<_> = flags_in(DOCUMENTED).difference(&tested).copied().collect();
    assert_eq!(untested, [""; 0]);
}

#[test]
fn the_help_of_ag_lists_flags_that_exist() {
    let tree = tree();
    let help = ag(&tree, "--help").0.replace("--[no]", "--no");
    for flag in flags_in(&help) {
        let (_, error, _) = ag(&tree, flag);
        let is_unknown = error.contains("unrecognized option") || error.contains("not supported");
        assert!(!is_unknown, "{flag}: {error}");
    }
}

/// The answer of `ag` to arguments, a word each.
fn ag(tree: &TempDir, arguments: &str) -> Answer {
    run(&mut named("ag", tree, &arguments.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>()))
}

/// Asserts what `ag` prints for arguments.
fn assert_ag(arguments: &str, expected: &str) {
    let code = if expected.is_empty() { 1 } else { 0 };
    assert_eq!(ag(&tree(), arguments), answer(expected, "", code), "{arguments:?}");
}

const FOO: &str = "a.c:1:foo bar\na.c:2:baz foo\nsub/b.py:1:Foo\nsub/b.py:3:foo\nsub/b.py:4:bar foo foo\n";

#[test]
fn ag_has_smart_case_line_numbers_and_matches_across_lines() {
    assert_ag("foo", FOO);
    assert_ag("Foo", "sub/b.py:1:Foo\n");
    assert_ag("-s foo", &FOO.replace("sub/b.py:1:Foo\n", ""));
    assert_ag("-i FOO", FOO);
    assert_ag("-i -S Foo", "sub/b.py:1:Foo\n");
    assert_ag(r"bar\nbaz", "a.c:1:foo bar\na.c:2:baz foo\n");
    assert_ag(r"--nomultiline bar\nbaz", "");
    assert_ag(r"--nomultiline --multiline bar\nbaz", "a.c:1:foo bar\na.c:2:baz foo\n");
    assert_ag("foo a.c", "1:foo bar\n2:baz foo\n");
    assert_ag("(?<=ba[rz].)foo", "a.c:2:baz foo\nsub/b.py:4:bar foo foo\n");
}

#[test]
fn output_flags_of_ag() {
    assert_ag(
        "--ackmate foo",
        ":a.c\n1;0 3:foo bar\n2;4 3:baz foo\n\n:sub/b.py\n1;0 3:Foo\n3;0 3:foo\n4;4 3,8 3:bar foo foo\n",
    );
    assert_ag("--ackmate --nonumbers baz", ":a.c\n2;0 3:baz foo\n");
    assert_ag("--ackmate -C1 baz", ":a.c\n1:foo bar\n2;0 3:baz foo\n3:qux\n");
    assert_ag("-A -s foo a.c", "1:foo bar\n2:baz foo\n3-qux\n");
    assert_ag("-A1 baz a.c", "2:baz foo\n3-qux\n");
    assert_ag("--after 1 baz a.c", "2:baz foo\n3-qux\n");
    assert_ag("-B baz a.c", "1-foo bar\n2:baz foo\n");
    assert_ag("-C 1 baz a.c", "1-foo bar\n2:baz foo\n3-qux\n");
    assert_ag("-c foo", "a.c:2\nsub/b.py:4\n");
    assert_ag("--column foo a.c", "1:1:foo bar\n2:5:baz foo\n");
    assert_ag("--filename baz a.c", "a.c:2:baz foo\n");
    assert_ag("--nofilename baz", "2:baz foo\n");
    assert_ag("-H baz a.c", "a.c\n2:baz foo\n");
    assert_ag("--group baz", "a.c\n2:baz foo\n");
    assert_ag("--group --nogroup baz", "a.c:2:baz foo\n");
    assert_ag("-g py", "sub/b.py\n");
    assert_ag("-g PY", "");
    assert_ag("-l foo", "a.c\nsub/b.py\n");
    assert_ag("-L qux", "sub/b.py\n");
    assert_ag("--nonumbers baz", "a.c:baz foo\n");
    assert_ag("-o ba.", "a.c:1:bar\na.c:2:baz\nsub/b.py:4:bar\n");
    assert_ag("--vimgrep bar", "a.c:1:5:foo bar\nsub/b.py:4:1:bar foo foo\n");
    assert_ag("-0l qux", "a.c\0");
    assert_ag("--color qux a.c", "\x1b[0m\x1b[1m\x1b[33m3\x1b[0m:\x1b[0m\x1b[30m\x1b[43mqux\x1b[0m\n");
    assert_ag(
        "--color --color-match 4;31 --color-line-number 0 qux a.c",
        "\x1b[0m3\x1b[0m:\x1b[0m\x1b[4m\x1b[31mqux\x1b[0m\n",
    );
    assert_ag("--color --color-path 35 -l qux", "\x1b[0m\x1b[35ma.c\x1b[0m\n");
    assert_ag("--color --nocolor qux a.c", "3:qux\n");
    assert_ag("--break --nobreak baz", "a.c:2:baz foo\n");
    assert_ag("--nonumbers --numbers baz", "a.c:2:baz foo\n");
    assert_ag("-W 4 baz a.c", "2:baz  [... omitted end of long line]\n");
    assert_ag("-W 4 --print-long-lines baz a.c", "2:baz foo\n");
}

#[test]
fn search_flags_of_ag() {
    assert_ag("-a ignored", "ignored.c:1:foo ignored\n");
    assert_ag("-t ignored", "ignored.c:1:foo ignored\n");
    assert_ag("--hidden hidden", ".hidden:1:foo hidden\n");
    assert_ag("-u hidden", ".hidden:1:foo hidden\n");
    assert_ag("--depth 0 foo", "a.c:1:foo bar\na.c:2:baz foo\n");
    assert_ag("-n foo", "a.c:1:foo bar\na.c:2:baz foo\n");
    assert_ag("-n --depth 3 baz", "a.c:2:baz foo\n");
    assert_ag("--noheading baz a.c", "a.c:2:baz foo\n");
    assert_ag("-F .", "");
    assert_ag("-Q a.c", "");
    assert_ag("-G py$ foo", &FOO[28..]);
    assert_ag("--ignore sub foo", &FOO[..28]);
    assert_ag("--ignore-dir sub foo", &FOO[..28]);
    assert_ag("-m1 foo", "a.c:1:foo bar\nsub/b.py:1:Foo\n");
    assert_ag("-m 0 foo", FOO);
    assert_ag("-v o", "a.c:3:qux\nsub/b.py:2:\n");
    assert_ag("-w fo", "");
    assert_ag("-w o+", "");
    assert_ag(r"-w f\w+.bar", "a.c:1:foo bar\n");
    assert_ag("-w bar", "a.c:1:foo bar\nsub/b.py:4:bar foo foo\n");
    assert_ag("-r --mmap --affinity --one-device --workers 2 -f -z baz", "a.c:2:baz foo\n");
    assert_ag("--word-reg bar a.c", "1:foo bar\n");
    assert_ag("--noaffinity --nommap --recurse -R baz", "a.c:2:baz foo\n");
    assert_ag("-- -x", "");
}

#[test]
fn file_types_of_ag_are_flags() {
    assert_ag("--python foo", &FOO[28..]);
    assert_ag("--cc --python foo", FOO);
    assert_ag("--cc hidden", "");
    assert_ag("--ruby foo", "");
    let (types, _, code) = ag(&tree(), "--list-file-types");
    let begin = "The following file types are supported:\n  --actionscript\n      .as  .mxml\n\n";
    assert!(types.starts_with(begin) && code == Some(0), "{types}");
}

/// Lines of context follow their flag directly, or are the next argument if that is a number.
#[test]
fn lines_of_context_of_ag_are_numbers() {
    assert_ag("-C -1 baz a.c", "2:baz foo\n");
    assert_ag("-C-1 baz a.c", "2:baz foo\n");
    assert_ag("-iC1 QUX a.c", "2-baz foo\n3:qux\n");
    assert_ag("--after=1 baz a.c", "2:baz foo\n3-qux\n");
    assert_ag("-C baz a.c", "1-foo bar\n2:baz foo\n3-qux\n");
    for (flag, name, value) in [
        ("-Ci", "context", "i"),
        ("-C1i", "context", "1i"),
        ("-Afoo", "after", "foo"),
        ("--before=foo", "before", "foo"),
        ("--after=", "after", ""),
    ] {
        let message = format!("ag: --{name}: expected a number, found '{value}'\n");
        assert_eq!(ag(&tree(), &format!("{flag} foo")), answer("", &message, 2), "{flag}");
    }
    // Flags that take no value refuse one.
    for (flag, value) in [("color", "never"), ("python", "x"), ("hidden", ""), ("mmap", "1"), ("vers", "2")] {
        let message = format!("ag: --{flag} takes no value, found '{value}'\n");
        assert_eq!(ag(&tree(), &format!("--{flag}={value} foo")), answer("", &message, 1), "{flag}");
    }
}

#[test]
fn ignored_links_binary_and_long_inputs_of_ag() {
    let tree = tree();
    write(&tree, ".gitignore", "a.c\n");
    write(&tree, "rules", "b.py\n");
    fs::create_dir(tree.at(".git")).expect("a directory");
    symlink("sub", tree.at("link")).expect("a link");
    tree.run("mkdir other; printf 'baz foo\\n' | gzip > other/compressed.gz");
    for (arguments, expected) in [
        ("-l foo", "sub/b.py\n"),
        ("-U -l foo", "a.c\nsub/b.py\n"),
        ("-l -p rules foo", ""),
        ("-f -l foo", "link/b.py\nsub/b.py\n"),
        ("-f --nofollow -l foo", "sub/b.py\n"),
        ("--search-binary -l foo", "binary\nsub/b.py\n"),
        ("-z baz other", "other/compressed.gz:1:baz foo\n"),
    ] {
        let (printed, error, _) = ag(&tree, arguments);
        assert_eq!((printed.as_str(), error.as_str()), (expected, ""), "{arguments}");
    }
    let (printed, _, code) = ag(&tree, "-D -l foo");
    assert_eq!((printed.as_str(), code), ("sub/b.py\n", Some(0)));
}

#[test]
fn statistics_of_ag() {
    let tree = tree();
    let [with_lines, alone] = ["--stats foo a.c", "--stats-only foo a.c"].map(|flags| ag(&tree, flags).0);
    assert!(with_lines.starts_with("1:foo bar\n2:baz foo\n\n2 matches\n2 matched lines\n"), "{with_lines}");
    assert!(alone.starts_with("\n2 matches\n2 matched lines\n"), "{alone}");
}

#[test]
fn standard_input_of_ag_has_no_line_numbers_and_may_belong_to_other_programs() {
    let tree = tree();
    named("ag", &tree, &[]);
    for (arguments, expected) in [
        ("foo", "foo\n"),
        ("--numbers foo", "1:foo\n"),
        ("--passthrough foo", "foo\nbar\n"),
        ("--passthru foo", "foo\nbar\n"),
        ("--passthru baz a.c", "2:baz foo\n"),
        ("--parallel baz", "a.c:2:baz foo\n"),
    ] {
        // ag may end before the pipe is written to.
        let script = format!("set +o pipefail; printf 'foo\\nbar\\n' | .bin/ag {arguments}");
        assert_eq!(tree.run(&script).0, expected, "{arguments}");
    }
}

#[test]
fn the_pager_of_ag_is_for_terminals() {
    let tree = tree();
    named("ag", &tree, &[]);
    let ag = |flags: &str| shown(&tree, &format!("NO_COLOR=1 .bin/ag --pager 'sed s/^/:/' {flags} qux a.c"));
    assert_eq!(ag("-s"), ":3:qux\n");
    assert_eq!(ag("--nopager"), "3:qux\n");
    assert_ag("--pager false qux a.c", "3:qux\n");
}

/// Other names of flags, each with arguments for which the flag matters.
#[test]
fn names_of_a_flag_of_ag_are_the_same_flag() {
    let tree = tree();
    let ag = |arguments: &str| ag(&tree, arguments);
    for (names, rest) in [
        ("-a --all-types", "ignored"),
        ("-A --after", "baz"),
        ("-B --before", "baz"),
        ("-c --count", "foo"),
        ("-C --context", "baz"),
        ("-D --debug", "foo"),
        ("-f --follow", "foo"),
        ("-F --fixed-strings -Q --literal", "a.c"),
        ("-g --filename-pattern", "py$"),
        ("-G --file-search-regex", "py$ foo"),
        ("-h --help", "foo"),
        ("-H --heading", "foo a.c"),
        ("-i --ignore-case", "FOO"),
        ("-l --files-with-matches", "foo"),
        ("-L --files-without-matches", "qux"),
        ("-m --max-count", "1 foo"),
        ("-n --norecurse", "foo"),
        ("-o --only-matching", "foo"),
        ("-p --path-to-ignore", ".ignore foo"),
        ("-r -R --recurse --recursive", "foo"),
        ("-s --case-sensitive", "foo"),
        ("-S --smart-case", "Foo"),
        ("-t --all-text", "ignored"),
        ("-u --unrestricted", "foo"),
        ("-U --skip-vcs-ignores", "foo"),
        ("-v --invert-match --invert", "foo"),
        ("-V --version", "foo"),
        ("-w --word-regexp", "o+"),
        ("-W --width", "4 foo"),
        ("-z --search-zip", "foo"),
        ("-0 --null --print0", "-l foo"),
    ] {
        let (first, others) = names.split_once(' ').expect("two names");
        let expected = ag(&format!("{first} {rest}"));
        assert!(expected.2 < Some(2), "{first}: {expected:?}");
        for other in others.split(' ') {
            assert_eq!(ag(&format!("{other} {rest}")), expected, "{first} {other}");
        }
    }
}

#[test]
fn errors_of_ag() {
    let tree = tree();
    let missing = "ag: --print-all-files is not supported; ag -l '' prints all files\n";
    for (arguments, printed, message, status) in [
        ("--silent qux nowhere a.c", "a.c:3:qux\n", "", 2),
        ("-m x foo", "", "ag: --max-count: expected a number, found 'x'\n", 2),
        ("--color-path 99 foo", "", "ag: --color-path: unsupported code 99\n", 2),
        ("foo -G", "", "ag: --file-search-regex requires a value\n", 1),
        ("--print-all-files foo", "", missing, 1),
    ] {
        assert_eq!(ag(&tree, arguments), answer(printed, message, status), "{arguments:?}");
    }
    for (arguments, begin) in [
        ("--nonsense foo", "ag: unrecognized option '--nonsense'\n"),
        ("--no foo", "ag: unrecognized option '--no'\n"),
        ("", "ag: missing PATTERN\n\nUsage: ag "),
    ] {
        let (_, error, code) = ag(&tree, arguments);
        assert!(error.starts_with(begin) && code == Some(1), "{error}");
    }
    for (flag, begin) in [("--help", "Usage: ag "), ("--version", "ag version 2.2.0 (finecomb ")] {
        let (printed, _, code) = ag(&tree, flag);
        assert!(printed.starts_with(begin) && code == Some(0), "{printed}");
    }
}
