//! The command line of Topfew: the flags of `comb top`.

use std::ffi::OsString;

use clap::{Command, CommandFactory, Error, FromArgMatches, Parser};

use crate::args::standalone;
use crate::program::Program;
use crate::terminal::When;
use crate::top::args as top;
use crate::version;

/// Counts keys and prints the most frequent ones
#[derive(Parser)]
#[command(version = version::short(), long_version = version::long(), max_term_width = 110)]
struct Topfew {
    #[command(flatten)]
    top: top::TopArguments,

    /// When to use colour [default: auto]
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Output")]
    color: Option<When>,
}

/// Parses the command line.
pub(crate) fn parse(given: &[OsString]) -> Result<crate::args::CommandLine, Error> {
    let matches = standalone::matches(command, &[("comb top", Program::current().name())], given);
    let mut matches = matches.map_err(top::hints::add_hint)?;
    let Topfew { top, color } = Topfew::from_arg_matches_mut(&mut matches)?;
    Ok(crate::args::CommandLine {
        command: crate::args::Command::Top(Box::new(top)),
        common: crate::args::Common { color },
    })
}

pub(crate) fn command() -> Command {
    Topfew::command().name(Program::current().name())
}

#[cfg(test)]
mod tests {
    #[test]
    fn arguments_are_consistent() {
        super::command().debug_assert();
    }
}
