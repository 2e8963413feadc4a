//! Sets `COMB_VERSION`, printed by `comb --version`, to `0.2.0 (abc1234 2026-11-22)` in a clone of the repository, and to `0.2.0`
//! elsewhere.

use std::path::Path;
use std::process::Command;

/// Git directory of the workspace, or the file in its place in a work tree.
const GIT: &str = "../../.git";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A source archive may be unpacked in a clone of another repository, whose commit would be wrong.
    let commit = if Path::new(GIT).exists() { commit() } else { None };
    let version = env!("CARGO_PKG_VERSION");
    let version = commit.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=COMB_VERSION={version}");
}

fn commit() -> Option<String> {
    // HEAD changes with a checkout, and its log with a commit. A missing file would cause a rebuild every time.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["-c", "log.showSignature=false", "show", "--no-patch", "--abbrev=7", "--format=%h %cs", "HEAD"])
}

/// Output of git; `None` if it is not installed or fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim_end().to_owned())
}
