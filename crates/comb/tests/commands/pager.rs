//! `comb grep --pager` on a terminal, which `script` of util-linux provides.

use std::fs::{self, File};
use std::io::Write;

use tempfile::TempDir;

use crate::profile::{is_shown, on_terminal};
use crate::support::{COMB, Place, directory_with, wait_until};

/// Runs a shell command on a terminal, with `comb` for the program under test, and returns what is shown.
pub(crate) fn shown(directory: &TempDir, line: &str) -> String {
    fs::write(directory.at("typescript"), "").expect("a file");
    let status = on_terminal(directory, &with_comb(line)).wait().expect("waiting");
    assert!(status.success());
    let typescript = fs::read(directory.at("typescript")).expect("a file");
    let text = String::from_utf8_lossy(&typescript).replace("\r\n", "\n");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("Script "));
    lines.map(|line| format!("{line}\n")).collect()
}

fn with_comb(line: &str) -> String {
    line.replace("comb ", &format!("env --default-signal=INT NO_COLOR=1 '{COMB}' "))
}

#[test]
fn messages_go_through_the_pager_unless_they_go_elsewhere() {
    let directory = directory_with(&[("a", "one\n")]);
    let line = r#"comb grep -N --pager "sed 's/^/> /'" one a nowhere"#;
    let message = "comb: nowhere: no such file or directory\n";
    assert_eq!(shown(&directory, &format!("{line}; true")), format!("> a\n> one\n> {message}"));
    assert_eq!(shown(&directory, &format!("{line} 2> messages; true")), "> a\n> one\n");
    assert_eq!(directory.read("messages"), message);
    // This one comes after the pager has ended, or before there is one.
    let line = r#"comb grep --pager "sed 's/^/> /'" '(' a || echo status $?"#;
    let printed = shown(&directory, line);
    assert!(printed.contains("error: unclosed group\nstatus 2\n") && !printed.contains('>'), "{printed}");
}

#[test]
fn a_search_that_prints_nothing_starts_no_pager() {
    let directory = directory_with(&[("a", "one\n")]);
    for flags in ["-q one", "--files -q"] {
        let line = format!("comb grep {flags} --pager 'touch started' a; echo status $?");
        assert_eq!(shown(&directory, &line), "status 0\n");
        assert!(!directory.at("started").exists());
    }
}

/// The search reads a pipe without an end, so it runs until Ctrl-C stops it.
#[test]
fn ctrl_c_stops_the_search_and_waits_for_the_pager() {
    let directory = directory_with(&[("typescript", "")]);
    directory.prints("mkfifo pipe", "");
    // The typescript begins with the command, so what is waited for must not be in it.
    let pager = r#"trap "" INT; sed -u "s/^/> /"; sleep 0.5; printf "pager %s\n" ended"#;
    let line = format!("trap : INT; comb grep --pager '{pager}' one pipe; printf 'status %d\n' $?");
    let mut script = on_terminal(&directory, &with_comb(&line));
    let mut writer = File::options().write(true).open(directory.at("pipe")).expect("opening the pipe");
    writer.write_all(b"one\n").expect("writing");
    wait_until("a line", || is_shown(&directory, "> 1:one"));
    let keys = script.stdin.as_mut().expect("standard input");
    keys.write_all(b"\x03").expect("writing");
    wait_until("an exit status", || is_shown(&directory, "status 130"));
    let typescript = directory.read("typescript");
    assert!(typescript.find("status 130") > typescript.find("pager ended"), "{typescript}");
    assert!(typescript.contains("pager ended"), "{typescript}");
    drop(writer);
    assert!(script.wait().expect("waiting").success());
}
