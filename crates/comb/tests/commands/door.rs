//! Commands that another program runs.

use std::fs::{self, copy, create_dir_all, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::{TempDir, tempdir};

use crate::support::{Answer, Place, answer, beside_comb, copy_of_comb, run};

/// Prints its name, arguments and input, and has a status of its own.
const SCRIPT: &str = "#!/bin/sh\necho \"$0: $*\"\ncat\necho note >&2\nexit 7\n";

#[test]
fn the_other_programs_are_built() {
    for name in ["comb-lab", "comb-serve"] {
        let path = beside_comb(name);
        assert!(path.exists(), "no {name}; build it first: cargo build --workspace --bins");
    }
}

/// A copy of comb in `bin`.
fn installation() -> TempDir {
    let directory = tempdir().expect("a directory");
    create_dir_all(directory.at("bin")).expect("a directory");
    copy_of_comb(&directory, "bin/comb");
    directory
}

fn script(path: &Path) {
    create_dir_all(path.parent().expect("a directory")).expect("a directory");
    write(path.with_extension("new"), SCRIPT).expect("a script");
    copy(path.with_extension("new"), path).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

fn missing(program: &str) -> String {
    format!(
        "{program} does this, and is not installed; try: cargo install --locked --path crates/{program}\n"
    )
}

fn comb(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(directory.join("bin/comb"));
    command.args(arguments).stdin(Stdio::null()).env("PATH", "/usr/bin:/bin").env("HOME", "/nowhere");
    command
}

/// The answer of the script at this path below the directory.
fn of_script(directory: &Path, path: &str, arguments: &str) -> Answer {
    let path = directory.canonicalize().expect("a directory").join(path);
    answer(&format!("{}: {arguments}\n", path.display()), "note\n", 7)
}

#[test]
fn the_program_is_beside_comb_then_in_libexec_then_in_the_path() {
    let directory = installation();
    let directory = directory.path();
    let message = format!("comb: {}", missing("comb-lab"));
    assert_eq!(run(&mut comb(directory, &["pi", "3"])), answer("", &message, 2));
    let in_path = directory.join("elsewhere/comb-lab");
    script(&in_path);
    let folder = in_path.parent().expect("a directory").display();
    let path = format!("relative:/nowhere:{folder}:/usr/bin:/bin");
    let found = run(comb(directory, &["pi", "3"]).env("PATH", &path));
    assert_eq!(found, answer(&format!("{}: pi 3\n", in_path.display()), "note\n", 7));
    script(&directory.join("libexec/finecomb/comb-lab"));
    let (out, ..) = run(comb(directory, &["bench", "--any", "x y"]).env("PATH", &path));
    assert!(out.ends_with("bin/../libexec/finecomb/comb-lab: bench --any x y\n"), "{out}");
    script(&directory.join("bin/comb-lab"));
    let found = run(comb(directory, &["bench", "--any", "x y"]).env("PATH", &path));
    assert_eq!(found, of_script(directory, "bin/comb-lab", "bench --any x y"));
    // A flag before the command changes nothing.
    let found = run(&mut comb(directory, &["--color", "never", "pi", "3"]));
    assert_eq!(found, of_script(directory, "bin/comb-lab", "--color never pi 3"));
    for command in ["serve", "mcp", "cgi"] {
        script(&directory.join("bin/comb-serve"));
        let found = run(&mut comb(directory, &[command, "x"]));
        assert_eq!(found, of_script(directory, "bin/comb-serve", &format!("{command} x")));
    }
}

#[test]
fn help_and_errors_of_a_command_need_no_other_program() {
    let directory = installation();
    let comb = |arguments: &[&str]| run(&mut comb(directory.path(), arguments));
    let (out, err, code) = comb(&["bench", "scale", "--help"]);
    assert!(out.starts_with("Measure a job with different numbers of threads"), "{out}");
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let (_, err, code) = comb(&["serve", "--listen", "8080", "a"]);
    assert!(err.starts_with("comb: invalid value '8080' for '--listen <ADDRESS:PORT>'"), "{err}");
    assert_eq!(code, Some(2));
    write(directory.at("log"), "a\n").expect("a log");
    let log = directory.at("log").display().to_string();
    let message = format!("comb: --listen: {}", missing("comb-serve"));
    assert_eq!(comb(&["top", "--listen", "127.0.0.1:0", &log]), answer("", &message, 2));
}

#[test]
fn standard_streams_are_those_of_the_command() {
    let directory = installation();
    script(&directory.at("bin/comb-lab"));
    // A stream that was closed is closed, and not a device that swallows the output.
    let comb = directory.at("bin/comb");
    let shell = |script: &str| run(Command::new("sh").args(["-c", script]).arg(&comb));
    let (out, err, code) = shell("exec \"$0\" pi 3 >&-");
    assert_eq!((out.as_str(), code), ("", Some(7)));
    assert!(err.contains("echo"), "the script cannot write: {err}");
    let (out, ..) = shell("echo text | \"$0\" pi 3");
    assert!(out.ends_with(": pi 3\ntext\n"), "{out}");
}
