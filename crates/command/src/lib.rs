//! Flags, messages and exit statuses of `comb`. The work of each command is in the crate of its name.
//!
//! This is a library for the programs `comb`, `comb-lab` and `comb-serve`, which parse the same command line, and for the Python module,
//! which takes the flags as keyword arguments.
//!
//! # Adding a command
//!
//! A folder with its arguments and its `run`, and a variant of `args::Command`, for which the compiler asks at the end of this file. If
//! another program runs it, `door` names it, and `main` of that program runs it. Tests in `help.rs` of `comb` have its place in the list of
//! commands, and want two examples. Its definition names its exit statuses, variables and files, which are in `shell::facts`, and its flags the
//! candidates for their values. The book has a page for it in docs/commands/, which docs/SUMMARY.md lists.
//!
//! # Adding a flag of `top` or `symbols`
//!
//! A field with its attributes in `options`, if it decides what is counted or listed, and its use there: Python, MCP and stored counts have
//! it then. A flag that decides how the answer is shown is a field of the command's arguments, such as `TopArguments`.
//!
//! # Adding a flag of `grep`
//!
//! A field under its heading in the arguments of `grep`, whose methods there set an option of `GrepOptions` (`finecomb-grep`), `WalkOptions` or
//! `ScanOptions` (`finecomb-scan`). The mark `Off` at the field names the flag that turns it off. Under the headings `GROUPS` of `grep/job.rs`, or
//! with the mark `ByName`, Python has it too: `python/finecomb/__init__.pyi`, `SWITCHES` in `grep_source.py` of Spark without a
//! value, and `search_flags.py` if it selects files or depends on more than a line. If it changes which files or lines match, indexes must know:
//! `sought` beside the commands, and `walk/selection` of `finecomb-scan`. If it needs each match or each line, `GrepOptions::needs_matches`
//! and the fast paths of `finecomb-grep` must know: `needs_lines`, `searches_parts` and `allows_gaps` in `search.rs`. Tests are in `grep.rs` of `comb`, `differential.rs` of
//! `finecomb-grep` and `fuzz/hunt_py_grep.py`; docs/commands/grep.md describes it.
//!
//! If ripgrep or ag has the flag, it means the same here: `fuzz/hunt_grep.py` and `hunt_ag.py` compare. The table of flags that comb does
//! not have is `hints` beside the arguments, that of the flags of ag is `as_ag/flags`.

pub mod advice;
#[allow(missing_docs, reason = "a comment would be a help text")]
pub mod args;
mod as_ag;
mod as_rg;
mod as_topfew;
#[allow(missing_docs, reason = "a comment would be a help text")]
pub mod bench;
mod command_line;
pub mod door;
pub mod exit;
pub mod faults;
mod find;
pub mod grep;
mod index;
mod indexed_search;
mod links;
#[allow(missing_docs, reason = "a comment would be a help text")]
pub mod mcp;
pub mod message;
mod missing_inputs;
pub mod output;
mod pager;
mod parse;
#[allow(missing_docs, reason = "a comment would be a help text")]
pub mod pi;
mod profile;
mod program;
pub mod progress;
#[allow(missing_docs, reason = "a comment would be a help text")]
pub mod serve;
mod shell;
#[cfg(feature = "symbols")]
pub mod symbols;
mod tables;
pub mod terminal;
pub mod top;
pub mod version;

use std::process::{ExitCode, Termination};
use std::time::Instant;

use crate::args::Command;
use crate::door::Other;
use crate::exit::{Exit, Failure};
use crate::terminal::When;

/// Runs the command line of `comb` in this version, which began at `start`.
pub fn run(version: &'static str, start: Instant) -> ExitCode {
    version::set(version);
    exit::survive_full_files();
    command_line_of_process(start).report()
}

/// Command of `comb-lab`.
pub enum LabCommand {
    /// `comb bench`.
    Bench(bench::BenchArguments),
    /// `comb pi`.
    Pi(pi::PiArguments),
}

/// Runs the command line of `comb-lab` in this version.
pub fn run_lab(version: &'static str, run: impl FnOnce(LabCommand) -> Result<Exit, Failure>) -> ExitCode {
    run_other(Other::Lab, version, |command| {
        Some(run(match command {
            Command::Bench(arguments) => LabCommand::Bench(arguments),
            Command::Pi(arguments) => LabCommand::Pi(arguments),
            _ => return None,
        }))
    })
}

/// Command of `comb-serve`.
pub enum ServeCommand {
    /// `comb serve`.
    Serve(serve::ServeArguments),
    /// `comb cgi`.
    Cgi(serve::CgiArguments),
    /// `comb mcp`.
    Mcp(mcp::McpArguments),
}

/// Runs the command line of `comb-serve` in this version.
pub fn run_serve(version: &'static str, run: impl FnOnce(ServeCommand) -> Result<Exit, Failure>) -> ExitCode {
    run_other(Other::Serve, version, |command| {
        Some(run(match command {
            Command::Serve(arguments) => ServeCommand::Serve(arguments),
            Command::Cgi(arguments) => ServeCommand::Cgi(arguments),
            Command::Mcp(arguments) => ServeCommand::Mcp(arguments),
            _ => return None,
        }))
    })
}

/// Runs the command line of another program; `run` returns `None` for commands of `comb`.
fn run_other(
    other: Other,
    version: &'static str,
    run: impl FnOnce(Command) -> Option<Result<Exit, Failure>>,
) -> ExitCode {
    version::set(version);
    exit::survive_full_files();
    let exit = match parse::parse() {
        Ok(arguments) => {
            arguments.common.color.unwrap_or(When::Auto).apply();
            let done = run(arguments.command).unwrap_or_else(|| {
                let commands = other.commands().join(", ");
                Err(format!("{} has the commands {commands}; use comb for others", other.name()).into())
            });
            done.unwrap_or_else(Failure::exit)
        }
        Err(error) => message::usage(&error),
    };
    exit.report()
}

fn command_line_of_process(start: Instant) -> Exit {
    if let Some(exit) = shell::complete::answer() {
        return exit;
    }
    if let Some(failure) = door::enter_by_first_argument() {
        return failure.exit();
    }
    let arguments = match parse::parse() {
        Ok(arguments) => arguments,
        Err(error) => return message::usage(&error),
    };
    arguments.common.color.unwrap_or(When::Auto).apply();
    let done = match arguments.command {
        Command::Bench(_) | Command::Pi(_) => Err(door::enter(Other::Lab)),
        Command::Find(arguments) => find::run::run(&arguments),
        Command::Grep(arguments) => grep::run::run(*arguments, start),
        Command::Index(arguments) => index::run::run(&arguments),
        Command::Links(arguments) => links::run::run(&arguments),
        Command::Cgi(_) | Command::Mcp(_) | Command::Serve(_) => Err(door::enter(Other::Serve)),
        #[cfg(feature = "symbols")]
        Command::Symbols(arguments) => symbols::run::run(&arguments, start),
        Command::Top(arguments) => top::run::run(*arguments, start),
        Command::Completions { shell } => shell::completions::completions(shell),
        Command::Man { command, roff, output } => shell::man::run(&command, roff, output.as_deref()),
        Command::Print(text, exit) => Ok(exit::print(&text).or(exit)),
    };
    done.unwrap_or_else(Failure::exit)
}
