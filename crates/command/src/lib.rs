//! Flags, messages and exit statuses of `comb`. The work of each command is in the crate of its name.
//!
//! This is a library for the programs `comb`, `comb-lab` and `comb-serve`, which parse the same command line, and for the Python module,
//! which takes the flags as keyword arguments.

pub mod advice;
#[allow(missing_docs, reason = "a comment would be a help text")]
pub mod args;
pub mod command;
mod command_line;
mod complete;
pub mod door;
pub mod faults;
pub mod grep_job;
pub mod listen;
mod live;
mod manual;
pub mod message;
mod pager;
mod program;
pub mod progress;
mod scopes;
#[cfg(feature = "symbols")]
pub mod symbols_job;
mod tables;
pub mod terminal;
pub mod top_job;
pub mod version;

use std::process::{ExitCode, Termination};
use std::time::Instant;

use crate::args::Command;
use crate::command::Exit;
use crate::door::Other;
use crate::terminal::When;

/// Runs the command line of `comb` in this version, which began at `start`.
pub fn run(version: &'static str, start: Instant) -> ExitCode {
    version::set(version);
    command_line_of_process(start).report()
}

/// Command of `comb-lab`.
pub enum LabCommand {
    /// `comb bench`.
    Bench(args::bench::Arguments),
    /// `comb pi`.
    Pi(args::pi::Arguments),
}

/// Runs the command line of `comb-lab` in this version.
pub fn run_lab(version: &'static str, run: impl FnOnce(LabCommand) -> Exit) -> ExitCode {
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
    Serve(args::serve::Arguments),
    /// `comb cgi`.
    Cgi(args::serve::CgiArguments),
    /// `comb mcp`.
    Mcp(args::mcp::Arguments),
}

/// Runs the command line of `comb-serve` in this version.
pub fn run_serve(version: &'static str, run: impl FnOnce(ServeCommand) -> Exit) -> ExitCode {
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
fn run_other(other: Other, version: &'static str, run: impl FnOnce(Command) -> Option<Exit>) -> ExitCode {
    version::set(version);
    let exit = match args::parse() {
        Ok(arguments) => {
            arguments.common.color.unwrap_or(When::Auto).apply();
            run(arguments.command).unwrap_or_else(|| {
                let commands = other.commands().join(", ");
                command::fail(format_args!(
                    "{} has the commands {commands}; use comb for others",
                    other.name()
                ))
            })
        }
        Err(error) => message::usage(&error),
    };
    exit.report()
}

fn command_line_of_process(start: Instant) -> Exit {
    if let Some(exit) = complete::answer().or_else(door::enter_by_first_argument) {
        return exit;
    }
    let arguments = match args::parse() {
        Ok(arguments) => arguments,
        Err(error) => return message::usage(&error),
    };
    arguments.common.color.unwrap_or(When::Auto).apply();
    match arguments.command {
        Command::Bench(_) | Command::Pi(_) => door::enter(Other::Lab),
        Command::Find(arguments) => command::find::run(&arguments),
        Command::Grep(arguments) => command::grep::run(*arguments, start),
        Command::Index(arguments) => command::index::run(&arguments),
        Command::Links(arguments) => command::links::run(&arguments),
        Command::Cgi(_) | Command::Mcp(_) | Command::Serve(_) => door::enter(Other::Serve),
        #[cfg(feature = "symbols")]
        Command::Symbols(arguments) => command::symbols::run(&arguments, start),
        Command::Top(arguments) => command::top::run(*arguments, start),
        Command::Completions { shell } => command::generate::completions(shell),
        Command::Man { command, output } => command::man::run(&command, output.as_deref()),
        Command::Print(text, exit) => command::print(&text).or(exit),
    }
}
