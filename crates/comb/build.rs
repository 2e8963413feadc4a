//! The version with the commit that is built, for `comb --version`: `COMB_VERSION` is `0.1.0 (abc1234 2026-11-22)` in a clone of
//! the repository and `0.1.0` elsewhere.

use std::path::Path;
use std::process::Command;

/// Git's folder, or the file that a work tree has in its place, beside the workspace's manifest.
const GIT: &str = "../../.git";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A source archive may be unpacked in the clone of something else: that commit is not ours.
    let commit = if Path::new(GIT).exists() { commit() } else { None };
    let version = env!("CARGO_PKG_VERSION");
    let version = commit.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=COMB_VERSION={version}");
}

fn commit() -> Option<String> {
    // HEAD changes with a checkout, its log with a commit. Naming a file that is missing would build always.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["-c", "log.showSignature=false", "show", "--no-patch", "--abbrev=7", "--format=%h %cs", "HEAD"])
}

/// The output of git; none if it is not installed or fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim_end().to_owned())
}
