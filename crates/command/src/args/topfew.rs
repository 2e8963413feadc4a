//! The command line of Topfew: the flags of `comb top`.

use std::ffi::OsString;

use clap::{Command, CommandFactory, Error, FromArgMatches, Parser};

use super::{standalone, top};
use crate::program::Program;
use crate::terminal::When;
use crate::version;

/// Counts keys and prints the most frequent ones
#[derive(Parser)]
#[command(version = version::short(), long_version = version::long(), max_term_width = 110)]
struct Topfew {
    #[command(flatten)]
    top: top::Arguments,

    /// When to use colour [default: auto]
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Output")]
    color: Option<When>,
}

/// Parses the command line.
pub(super) fn parse(given: &[OsString]) -> Result<super::Arguments, Error> {
    let matches = standalone::matches(command, &[("comb top", Program::current().name())], given);
    let mut matches = matches.map_err(top::hints::add_hint)?;
    let Topfew { top, color } = Topfew::from_arg_matches_mut(&mut matches)?;
    Ok(super::Arguments { command: super::Command::Top(Box::new(top)), common: super::Common { color } })
}

pub(super) fn command() -> Command {
    Topfew::command().name(Program::current().name())
}

#[cfg(test)]
mod tests {
    #[test]
    fn arguments_are_consistent() {
        super::command().debug_assert();
    }
}
