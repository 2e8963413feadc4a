//! Flags to options.

pub(crate) mod bench;
mod config;
pub(crate) mod find;
pub(crate) mod format;
pub(crate) mod grep;
pub(crate) mod index;
#[cfg(feature = "pi")]
pub(crate) mod pi;
pub(crate) mod profile;
pub(crate) mod selection;
pub(crate) mod serve;
mod size;
#[cfg(feature = "symbols")]
pub(crate) mod symbols;
mod threads;
pub(crate) mod top;

use std::env;
use std::ffi::OsString;

use clap::{Error, Parser, Subcommand};
use clap_complete::Shell;

use crate::terminal::When;
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

    /// When to print in colour [default: auto]
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub(crate) color: Option<When>,
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
    #[cfg(feature = "symbols")]
    Symbols(Box<symbols::Arguments>),
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
    use clap::{Arg, Command, CommandFactory};

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        super::Arguments::command().debug_assert();
    }

    /// All commands that do something, with their names.
    fn commands(above: &Command, name: &str) -> Vec<(String, Command)> {
        let below = above.get_subcommands().filter(|command| command.get_name() != "help");
        let below: Vec<_> =
            below.flat_map(|command| commands(command, &format!("{name} {}", command.get_name()))).collect();
        if below.is_empty() { vec![(name.to_owned(), above.clone())] } else { below }
    }

    #[test]
    fn flags_of_several_commands_have_one_meaning() {
        let mut all = super::Arguments::command();
        all.build();
        for (name, command) in commands(&all, "comb") {
            let flag = |long: &str| {
                command.get_arguments().find(|flag| {
                    flag.get_long() == Some(long)
                        || flag.get_all_aliases().is_some_and(|all| all.contains(&long))
                })
            };
            assert!(flag("color").is_some(), "{name}");
            let threads = flag("threads");
            assert_eq!(threads.map(Arg::get_id), flag("width").map(Arg::get_id), "{name}");
            assert_eq!(threads.and_then(Arg::get_short), threads.map(|_| 'j'), "{name}");
            assert_eq!(flag("json").is_some(), flag("format").is_some(), "{name}");
            assert!(flag("json").is_none_or(|json| !json.get_action().takes_values()), "{name}");
        }
    }
}
