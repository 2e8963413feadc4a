//! Flags to options.

pub(crate) mod bench;
mod config;
pub(crate) mod find;
pub(crate) mod grep;
pub(crate) mod index;
#[cfg(feature = "pi")]
pub(crate) mod pi;
pub(crate) mod profile;
pub(crate) mod selection;
pub(crate) mod serve;
mod size;
mod threads;
pub(crate) mod top;
mod width;

use std::env;
use std::ffi::OsString;

use clap::{Error, Parser, Subcommand};
use clap_complete::Shell;

use crate::version;

/// Searches and counts code, logs and text on all cores, with a built-in profiler
#[derive(Parser)]
#[command(
    name = "comb",
    version = version::SHORT,
    long_version = version::long(),
    max_term_width = 110,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Bench(bench::Arguments),
    Find(find::Arguments),
    Grep(Box<grep::Arguments>),
    Index(index::Arguments),
    #[cfg(feature = "pi")]
    Pi(pi::Arguments),
    Serve(serve::Arguments),
    Cgi(serve::CgiArguments),
    Top(Box<top::Arguments>),
    /// Print a script that completes comb's arguments in a shell
    Completions {
        shell: Shell,
    },
    /// Print a manual page: that of comb, or of one of its commands
    Man {
        /// The command, as in: comb man bench scale
        command: Vec<String>,
    },
}

/// The name of the command that a configuration file has arguments for.
const CONFIGURED: &str = "grep";

/// The arguments of this process, with those of the configuration file before them.
pub(crate) fn parse() -> Result<Arguments, Error> {
    let given: Vec<OsString> = env::args_os().collect();
    let arguments = parse_from(&given)?;
    let Command::Grep(grep) = &arguments.command else { return Ok(arguments) };
    let configured = if grep.config() { config::arguments() } else { Vec::new() };
    if configured.is_empty() {
        return Ok(arguments);
    }
    let mut all = given;
    all.splice(2..2, configured);
    parse_from(&all).inspect_err(|_| config::explain())
}

fn parse_from(arguments: &[OsString]) -> Result<Arguments, Error> {
    Arguments::try_parse_from(arguments).map_err(|error| match arguments.get(1) {
        Some(command) if command == CONFIGURED => grep::hints::explain(error),
        Some(command) if command == "top" => top::hints::explain(error),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        super::Arguments::command().debug_assert();
    }
}
