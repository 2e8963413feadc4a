//! Programs that run ripgrep, with comb under the name `rg`: editors, fzf and a package for Python.
//!
//! The command lines of each client and what ripgrep prints for them are a file in `tests/clients/`. One test runs them with comb,
//! another one with the ripgrep that Visual Studio Code ships, or with the program in `COMB_TEST_RIPGREP`. `tests/install` installs the
//! clients.

mod project;
mod transcript;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{COMB, answer, run};
use project::Project;
use transcript::Transcript;

/// Directory in which `tests/install` installs clients.
fn installed(path: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target directory");
    let path = target.join("clients").join(path);
    assert!(path.exists(), "{} is missing; `tests/install` installs it", path.display());
    path
}

/// The ripgrep that the expected output is compared with.
fn ripgrep() -> PathBuf {
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let of_vscode = || installed(&format!("node_modules/@vscode/ripgrep-linux-{architecture}/bin/rg"));
    env::var_os("COMB_TEST_RIPGREP").map_or_else(of_vscode, PathBuf::from)
}

/// Compares what is printed for the command lines in a file with that file. With `TRYCMD=overwrite`, writes it.
fn assert_transcript(name: &str, project: &Project) {
    let path = Path::new("tests/clients").join(name);
    let expected = fs::read_to_string(&path).expect("a transcript");
    let printed = Transcript::parse(&expected).run(project);
    if env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        fs::write(&path, printed).expect("a transcript");
        return;
    }
    for (printed, expected) in printed.split("\n\n").zip(expected.split("\n\n")) {
        assert_eq!(printed, expected, "{name}");
    }
    assert_eq!(printed, expected, "{name}");
}

/// Runs the examples of ripgrepy, in the form of Python's doctest.
fn assert_ripgrepy(project: &Project) {
    let mut python = project.command(&installed("bin/python").to_string_lossy());
    let examples = fs::canonicalize("tests/clients/ripgrepy.txt").expect("examples");
    assert_eq!(run(python.args(["-B", "-m", "doctest"]).arg(examples)), answer("", "", 0));
}

#[test]
fn visual_studio_code_finds_text_and_files() {
    assert_transcript("vscode.txt", &Project::with_program(Path::new(COMB)));
}

#[test]
fn telescope_finds_text_and_files() {
    assert_transcript("telescope.txt", &Project::with_program(Path::new(COMB)));
}

#[test]
fn packages_for_emacs_find_text() {
    assert_transcript("emacs.txt", &Project::with_program(Path::new(COMB)));
}

#[test]
fn fzf_lists_and_loads_again() {
    assert_transcript("fzf.txt", &Project::with_program(Path::new(COMB)));
}

#[test]
fn ripgrepy_has_its_whole_interface() {
    assert_ripgrepy(&Project::with_program(Path::new(COMB)));
}

#[test]
fn ripgrep_prints_what_is_expected() {
    let project = Project::with_ripgrep(&ripgrep());
    for name in ["vscode.txt", "telescope.txt", "emacs.txt", "fzf.txt"] {
        assert_transcript(name, &project);
    }
    assert_ripgrepy(&project);
}
