//! comb under the names of other programs: ripgrep and Topfew; for ag, see `ag.rs`.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{COMB, Place, answer, directory_with, program, run, write};

/// The program under test by another name, in a directory.
pub(crate) fn named(name: &str, directory: &TempDir, arguments: &[&str]) -> Command {
    let link = directory.at(".bin").join(name);
    if !link.exists() {
        fs::create_dir_all(directory.at(".bin")).expect("a directory");
        symlink(COMB, &link).expect("a link");
    }
    let mut command = program(&link.to_string_lossy(), directory.path());
    command.env_remove("RIPGREP_CONFIG_PATH").args(arguments);
    command
}

/// Files of all kinds: hidden, ignored, binary, below a directory.
pub(crate) fn tree() -> TempDir {
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
    let [short, long, pcre2] = ["-V", "--version", "--pcre2-version"].map(|flag| {
        let (version, _, code) = run(&mut named("rg", &tree, &[flag]));
        assert_eq!(code, Some(0), "{flag}");
        version
    });
    assert!(short.starts_with("ripgrep 15.2.0 (finecomb ") && short.lines().count() == 1, "{short}");
    assert!(long.starts_with(&short) && long.contains("\n\nfeatures:"), "{long}");
    assert!(pcre2.starts_with("PCRE2 ") && long.ends_with(&pcre2), "{pcre2}");
}

#[test]
fn rg_reads_its_own_configuration() {
    let tree =
        directory_with(&[("file", "One\n"), ("rc", "# comment\n--ignore-case\n"), ("bad", "--nonsense\n")]);
    let rg = |flags: &[&str], file: &str| {
        run(named("rg", &tree, flags).args(["one", "file"]).env("RIPGREP_CONFIG_PATH", file))
    };
    assert_eq!(rg(&[], "rc"), answer("One\n", "", 0));
    assert_eq!(rg(&[], ""), answer("", "", 1));
    assert_eq!(rg(&["--no-config"], "rc"), answer("", "", 1));
    let missing = "rg: RIPGREP_CONFIG_PATH: nowhere: no such file or directory\n";
    assert_eq!(rg(&[], "nowhere"), answer("", missing, 1));
    let (_, error, code) = rg(&[], "bad");
    assert!(error.contains("--nonsense") && error.contains("RIPGREP_CONFIG_PATH"), "{error}");
    assert_eq!(code, Some(2));
}

#[test]
fn messages_begin_with_the_name() {
    let tree = tree();
    let rg = |arguments: &[&str]| run(&mut named("rg", &tree, arguments));
    let (_, error, code) = rg(&["foo", "nowhere"]);
    assert_eq!((error.as_str(), code), ("rg: nowhere: no such file or directory\n", Some(2)));
    let invalid = "rg: error parsing flag --colors: unrecognized output type 'x'. Choose from: path, line, column, match, highlight.\n";
    assert_eq!(rg(&["--colors=x:fg:red", "foo"]), answer("", invalid, 2));
    let (_, error, _) = rg(&["--nonsense"]);
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
    let named = |name, arguments: &[&str]| run(&mut named(name, &tree, arguments));
    for name in ["tf", "topfew"] {
        assert_eq!(named(name, &["-f", "1", "-n", "1", "log"]), answer("2 a\n", "", 0));
    }
    let missing = "tf: nowhere: no such file or directory\n";
    assert_eq!(named("tf", &["nowhere"]), answer("", missing, 2));
}

#[test]
fn links_are_made_and_not_overwritten() {
    let directory = directory_with(&[("bin/ag", "a file\n")]);
    let (printed, error, code) = directory.run("comb links bin");
    assert!(printed.starts_with("bin/rg -> ") && printed.contains("\nbin/topfew -> "), "{printed}");
    assert!(printed.contains("\nPrograms that look for rg in PATH "), "{printed}");
    assert_eq!((error.as_str(), code), ("comb: bin/ag: exists; --force replaces it\n", Some(2)));
    assert_eq!(directory.read("bin/ag"), "a file\n");
    let (printed, error, code) = directory.run("comb links --force bin ag rg");
    assert!(printed.contains("bin/ag -> ") && !printed.contains("topfew"), "{printed}");
    assert_eq!((error.as_str(), code), ("", Some(0)));
    let (printed, error, code) = directory.run("comb links --force bin tf ag");
    assert_eq!((printed.lines().count(), error.as_str(), code), (2, "", Some(0)), "{printed}");
    assert!(directory.run("bin/ag -V").0.starts_with("ag version"));
    directory.answers("comb links nowhere rg", "", "comb: nowhere/rg: no such file or directory\n", 2);
}
