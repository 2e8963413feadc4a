//! `comb man`: shows a manual page, or writes all of them.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write, stdout};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use finecomb_sys::io_reason;

use crate::exit::{Exit, Failure, print};
use crate::message;
use crate::pager::Pager;
use crate::shell::manual;
use crate::shell::manual::Page;

/// The program that formats pages and shows them through a pager.
const MAN: &str = "man";

/// Environment variable with the program that shows text.
const PAGER: &str = "PAGER";

/// Shows text if no other program is named: `less`, or nothing in between where there is none.
const DEFAULT_PAGER: &str = "exec $(command -v less || echo cat)";

/// Runs the command.
pub(crate) fn run(words: &[String], is_roff: bool, directory: Option<&Path>) -> Result<Exit, Failure> {
    if let Some(directory) = directory {
        write_all(directory)?;
        return Ok(Exit::Found);
    }
    let page = manual::page(words)?;
    if is_roff {
        return Ok(print(page.roff.as_bytes()));
    }
    match show(&page) {
        Ok(status) if status.success() => Ok(Exit::Found),
        Ok(status) => Err(format!("{MAN}: {status}").into()),
        Err(error) if error.kind() == ErrorKind::NotFound => show_help(words),
        Err(error) => Err(format!("{MAN}: {}", io_reason(&error)).into()),
    }
}

/// Writes the pages of all commands.
fn write_all(directory: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: &io::Error| format!("{}: {}", path.display(), io_reason(error));
    fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
    for Page { name, roff } in manual::pages() {
        let path = directory.join(format!("{name}.1"));
        fs::write(&path, roff).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Shows a page on the terminal until its reader has seen enough, or prints it as text.
fn show(page: &Page) -> io::Result<ExitStatus> {
    let mut child = Command::new(MAN).args(["-l", "-"]).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // If it does not read the whole page, its exit status gives the reason.
        let _ = input.write_all(page.roff.as_bytes());
    }
    child.wait()
}

/// Shows the help of a command on the terminal, or prints it.
fn show_help(words: &[String]) -> Result<Exit, Failure> {
    let mut command = manual::command(words)?;
    let pager = std::env::var(PAGER).ok().filter(|pager| !pager.trim().is_empty());
    let start = || Pager::start(pager.as_deref().unwrap_or(DEFAULT_PAGER));
    // Ends when dropped, after the whole help.
    let _pager = stdout()
        .is_terminal()
        .then(start)
        .transpose()
        .map_err(|error| format!("{PAGER}: {}", io_reason(&error)))?;
    // The first line that the pager shows.
    message::note(format_args!("{MAN} is not installed; this is the help"));
    Ok(print(format!("\n{}", command.render_long_help()).as_bytes()))
}
