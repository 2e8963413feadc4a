//! comb under the names of other programs: ripgrep, ag and Topfew.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{COMB, answer, directory_with, program, run, write};

/// The program under test by another name, in a directory.
fn named(name: &str, directory: &TempDir, arguments: &[&str]) -> Command {
    let link = directory.path().join(".bin").join(name);
    if !link.exists() {
        fs::create_dir_all(directory.path().join(".bin")).expect("a directory");
        symlink(COMB, &link).expect("a link");
    }
    let mut command = program(&link.to_string_lossy(), directory.path());
    command.env_remove("RIPGREP_CONFIG_PATH").args(arguments);
    command
}

fn tree() -> TempDir {
    let tree = directory_with(&[
        ("a.c", "foo bar\nbaz foo\nqux\n"),
        ("sub/b.py", "Foo\n\nfoo\nbar foo foo\n"),
        (".hidden", "foo hidden\n"),
        ("ignored.c", "foo ignored\n"),
        (".ignore", "ignored.c\n"),
    ]);
    write(&tree, "binary", b"foo\0\n");
    tree
}

#[test]
fn rg_prints_versions_in_the_form_of_ripgrep() {
    let tree = tree();
    let (short, _, code) = run(&mut named("rg", &tree, &["-V"]));
    assert!(short.starts_with("ripgrep 15.2.0 (finecomb ") && short.lines().count() == 1, "{short}");
    assert_eq!(code, Some(0));
    let (long, _, code) = run(&mut named("rg", &tree, &["--version"]));
    assert!(long.starts_with(&short) && long.contains("\n\nfeatures:"), "{long}");
    assert_eq!(code, Some(0));
    let (pcre2, _, code) = run(&mut named("rg", &tree, &["--pcre2-version"]));
    assert!(pcre2.starts_with("PCRE2 ") && long.ends_with(&pcre2), "{pcre2}");
    assert_eq!(code, Some(if cfg!(feature = "pcre2") { 0 } else { 1 }));
}

#[test]
fn rg_reads_its_own_configuration() {
    let tree =
        directory_with(&[("file", "One\n"), ("rc", "# comment\n--ignore-case\n"), ("bad", "--nonsense\n")]);
    let rg = |file: &str| run(named("rg", &tree, &["one", "file"]).env("RIPGREP_CONFIG_PATH", file));
    assert_eq!(rg("rc"), answer("One\n", "", 0));
    assert_eq!(rg(""), answer("", "", 1));
    let missing = "rg: RIPGREP_CONFIG_PATH: nowhere: no such file or directory\n";
    assert_eq!(rg("nowhere"), answer("", missing, 1));
    let (_, error, code) = rg("bad");
    assert!(error.contains("--nonsense") && error.contains("RIPGREP_CONFIG_PATH"), "{error}");
    assert_eq!(code, Some(2));
    let without = run(named("rg", &tree, &["--no-config", "one", "file"]).env("RIPGREP_CONFIG_PATH", "rc"));
    assert_eq!(without, answer("", "", 1));
}

#[test]
fn messages_begin_with_the_name() {
    let tree = tree();
    let (_, error, code) = run(&mut named("rg", &tree, &["foo", "nowhere"]));
    assert_eq!((error.as_str(), code), ("rg: nowhere: no such file or directory\n", Some(2)));
    let invalid = "rg: error parsing flag --colors: unrecognized output type 'x'. Choose from: path, line, column, match, highlight.\n";
    assert_eq!(run(&mut named("rg", &tree, &["--colors=x:fg:red", "foo"])), answer("", invalid, 2));
    let (_, error, _) = run(&mut named("rg", &tree, &["--nonsense"]));
    assert!(error.starts_with("rg: ") && error.contains("Usage: rg "), "{error}");
}

#[test]
fn help_speaks_of_the_program() {
    let tree = tree();
    for (name, of) in [("rg", "comb grep"), ("tf", "comb top"), ("topfew", "comb top")] {
        for flag in ["-h", "--help"] {
            let (help, _, code) = run(&mut named(name, &tree, &[flag]));
            assert!(help.contains(&format!("Usage: {name} ")) && !help.contains(of), "{name}: {help}");
            assert!(!help.contains("COMB_CONFIG"), "{name}: {help}");
            assert_eq!(help.contains("named by RIPGREP_CONFIG_PATH"), name == "rg", "{name}: {help}");
            assert_eq!(code, Some(0));
        }
    }
}

#[test]
fn rg_generates_its_manual_page_and_completions() {
    let tree = tree();
    for (kind, part) in [
        ("man", ".TH rg"),
        ("complete-bash", "_rg()"),
        ("complete-zsh", "#compdef rg"),
        ("complete-fish", "complete -c rg"),
        ("complete-powershell", "'rg'"),
    ] {
        let (text, _, code) = run(&mut named("rg", &tree, &["--generate", kind]));
        assert!(text.contains(part), "{kind}");
        assert!(!text.contains("comb grep") && !text.contains("COMB_CONFIG"), "{kind}");
        assert_eq!(code, Some(0));
    }
}

#[test]
fn topfew_counts_keys() {
    let tree = directory_with(&[("log", "a x\nb y\na z\n")]);
    for name in ["tf", "topfew"] {
        assert_eq!(run(&mut named(name, &tree, &["-f", "1", "-n", "1", "log"])), answer("2 a\n", "", 0));
    }
    assert_eq!(
        run(&mut named("tf", &tree, &["nowhere"])),
        answer("", "tf: nowhere: no such file or directory\n", 2)
    );
}

/// Asserts what `ag` prints for arguments, a word each.
fn assert_ag(arguments: &str, expected: &str) {
    let tree = tree();
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let (printed, error, code) = run(&mut named("ag", &tree, &arguments));
    assert_eq!((printed.as_str(), error.as_str()), (expected, ""), "{arguments:?}");
    assert_eq!(code, Some(if expected.is_empty() { 1 } else { 0 }), "{arguments:?}");
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
    assert_ag("--color --nocolor qux a.c", "3:qux\n");
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
    assert_ag("-- -x", "");
}

#[test]
fn file_types_of_ag_are_flags() {
    assert_ag("--python foo", &FOO[28..]);
    assert_ag("--cc --python foo", FOO);
    assert_ag("--cc hidden", "");
    assert_ag("--ruby foo", "");
    let (types, _, code) = run(&mut named("ag", &tree(), &["--list-file-types"]));
    assert!(
        types.starts_with("The following file types are supported:\n  --actionscript\n      .as  .mxml\n\n"),
        "{types}"
    );
    assert_eq!(code, Some(0));
}

#[test]
fn errors_of_ag() {
    let tree = tree();
    let ag = |arguments: &[&str]| run(&mut named("ag", &tree, arguments));
    assert_eq!(ag(&["--silent", "qux", "nowhere", "a.c"]), answer("a.c:3:qux\n", "", 2));
    let (_, error, code) = ag(&["--nonsense", "foo"]);
    assert!(error.starts_with("ag: unrecognized option '--nonsense'\n"), "{error}");
    assert_eq!(code, Some(2));
    let (_, error, code) = ag(&["--no", "foo"]);
    assert!(error.starts_with("ag: unrecognized option '--no'\n"), "{error}");
    assert_eq!(code, Some(2));
    for (arguments, message) in [
        (&["-m", "x", "foo"][..], "ag: --max-count: expected a number, found 'x'\n"),
        (&["--color-path", "99", "foo"], "ag: --color-path: unsupported code 99\n"),
        (&["foo", "-G"], "ag: --file-search-regex requires a value\n"),
    ] {
        assert_eq!(ag(arguments), answer("", message, 2), "{arguments:?}");
    }
    let (_, error, code) = ag(&[]);
    assert!(error.starts_with("ag: missing PATTERN\n\nUsage: ag "), "{error}");
    assert_eq!(code, Some(2));
    let (help, _, code) = ag(&["--help"]);
    assert!(help.starts_with("Usage: ag ") && code == Some(0), "{help}");
    let (version, _, code) = ag(&["--version"]);
    assert!(version.starts_with("ag version 2.2.0 (finecomb ") && code == Some(0), "{version}");
}

#[test]
fn links_are_made_and_not_overwritten() {
    let directory = directory_with(&[("bin/ag", "a file\n")]);
    let comb = |arguments: &[&str]| {
        let mut command = program(COMB, directory.path());
        command.arg("links").args(arguments);
        run(&mut command)
    };
    let (printed, error, code) = comb(&["bin"]);
    assert!(printed.starts_with("bin/rg -> ") && printed.contains("\nbin/topfew -> "), "{printed}");
    assert!(printed.contains("\nPrograms that look for rg in PATH "), "{printed}");
    assert_eq!((error.as_str(), code), ("comb: bin/ag: exists; --force replaces it\n", Some(2)));
    let file = directory.path().join("bin/ag");
    assert_eq!(fs::read(&file).expect("a file"), b"a file\n");
    let (printed, error, code) = comb(&["--force", "bin", "ag", "rg"]);
    assert!(printed.contains("bin/ag -> ") && !printed.contains("topfew"), "{printed}");
    assert_eq!((error.as_str(), code), ("", Some(0)));
    let (printed, error, code) = comb(&["--force", "bin", "tf", "ag"]);
    assert_eq!((printed.lines().count(), error.as_str(), code), (2, "", Some(0)), "{printed}");
    let mut ag = program(&file.to_string_lossy(), directory.path());
    assert!(run(ag.arg("-V")).0.starts_with("ag version"));
    let missing = "comb: nowhere/rg: no such file or directory\n";
    assert_eq!(comb(&["nowhere", "rg"]), answer("", missing, 2));
}
