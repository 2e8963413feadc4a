//! `comb man`: shows a manual page, or writes all of them.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write, stdout};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use finecomb_sys::io_reason;

use crate::exit::{Exit, fail, print};
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
pub(crate) fn run(words: &[String], directory: Option<&Path>) -> Exit {
    if let Some(directory) = directory {
        return write_all(directory).map_or_else(fail, |()| Exit::Found);
    }
    let page = match manual::page(words) {
        Ok(page) => page,
        Err(reason) => return fail(reason),
    };
    if !stdout().is_terminal() {
        return print(page.roff.as_bytes());
    }
    match show(&page) {
        Ok(status) if status.success() => Exit::Found,
        Ok(status) => fail(format_args!("{MAN}: {status}")),
        Err(error) if error.kind() == ErrorKind::NotFound => show_help(words),
        Err(error) => fail(format_args!("{MAN}: {}", io_reason(&error))),
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

/// Shows a page on the terminal until its reader has seen enough.
fn show(page: &Page) -> io::Result<ExitStatus> {
    let mut child = Command::new(MAN).args(["-l", "-"]).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // If it does not read the whole page, its exit status gives the reason.
        let _ = input.write_all(page.roff.as_bytes());
    }
    child.wait()
}

/// Shows the help of a command on the terminal.
fn show_help(words: &[String]) -> Exit {
    let mut command = match manual::command(words) {
        Ok(command) => command,
        Err(reason) => return fail(reason),
    };
    let pager = std::env::var(PAGER).ok().filter(|pager| !pager.trim().is_empty());
    let pager = match Pager::start(pager.as_deref().unwrap_or(DEFAULT_PAGER)) {
        Ok(pager) => pager,
        Err(error) => return fail(format_args!("{PAGER}: {}", io_reason(&error))),
    };
    // The first line that the pager shows.
    message::note(format_args!("{MAN} is not installed; this is the help"));
    let exit = print(format!("\n{}", command.render_long_help()).as_bytes());
    drop(pager);
    exit
}
