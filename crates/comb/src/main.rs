//! `comb`: searches and counts code, logs and text on all cores, with a built-in profiler.
//!
//! This crate holds flags, messages and exit statuses. The work of each command is in the crate of its name.

#![deny(unsafe_code)]

mod args;
mod command;
mod command_line;
mod listen;
mod live;
#[cfg(feature = "mcp")]
mod mcp;
mod message;
mod pager;
mod program;
mod progress;
mod scopes;
mod startup;
mod terminal;
mod version;

use std::time::Instant;

use finecomb_sys::out_of_memory::ExitingAllocator;

use crate::args::Command;
use crate::command::Exit;
use crate::terminal::When;

fn main() -> Exit {
    let start = Instant::now();
    ExitingAllocator::keep_reserve();
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
        Command::Man { command } => command::generate::manual(&command),
        Command::Print(text, exit) => command::print(&text).or(exit),
    }
}
