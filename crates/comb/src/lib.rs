//! Flags, messages and exit statuses of `comb`. The work of each command is in the crate of its name.
//!
//! This is a library for two users: the program, and the Python module, which takes the flags as keyword arguments.

mod advice;
mod args;
mod command;
mod command_line;
mod complete;
pub mod faults;
pub mod grep_job;
mod listen;
mod live;
mod manual;
#[cfg(feature = "mcp")]
mod mcp;
mod message;
mod pager;
mod program;
mod progress;
mod scopes;
#[cfg(feature = "symbols")]
pub mod symbols_job;
mod tables;
mod terminal;
pub mod top_job;
mod version;

use std::process::{ExitCode, Termination};
use std::time::Instant;

use crate::args::Command;
use crate::command::Exit;
use crate::terminal::When;

/// Runs the command line of the process, which began at `start`.
pub fn run(start: Instant) -> ExitCode {
    command_line_of_process(start).report()
}

fn command_line_of_process(start: Instant) -> Exit {
    if let Some(exit) = complete::answer() {
        return exit;
    }
    let arguments = match args::parse() {
        Ok(arguments) => arguments,
        Err(error) => return message::usage(&error),
    };
    arguments.color.unwrap_or(When::Auto).apply();
    match arguments.command {
        Command::Bench(arguments) => command::bench::run(&arguments),
        Command::Find(arguments) => command::find::run(&arguments),
        Command::Grep(arguments) => command::grep::run(*arguments, start),
        Command::Index(arguments) => command::index::run(&arguments),
        #[cfg(feature = "pi")]
        Command::Pi(arguments) => command::pi::run(&arguments),
        Command::Links(arguments) => command::links::run(&arguments),
        #[cfg(feature = "mcp")]
        Command::Mcp(arguments) => command::mcp::run(&arguments),
        Command::Serve(arguments) => command::serve::run(arguments),
        Command::Cgi(arguments) => command::serve::cgi(arguments),
        #[cfg(feature = "symbols")]
        Command::Symbols(arguments) => command::symbols::run(&arguments, start),
        Command::Top(arguments) => command::top::run(*arguments, start),
        Command::Completions { shell } => command::generate::completions(shell),
        Command::Man { command, output } => command::man::run(&command, output.as_deref()),
        Command::Print(text, exit) => command::print(&text).or(exit),
    }
}
