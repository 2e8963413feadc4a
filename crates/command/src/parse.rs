//! The arguments of this process, by the program that it was started as.

use std::env;
use std::ffi::OsString;

use clap::{CommandFactory, Error};

use crate::args::{Command, CommandLine, Common, parse_from};
use crate::program::Program;
use crate::shell::config;
use crate::{as_ag, as_rg, as_topfew, grep};

/// The definition of the command line of a program; `None` if it is not clap that parses it.
pub(crate) fn definition_of(program: Program) -> Option<clap::Command> {
    match program {
        Program::Comb => Some(CommandLine::command()),
        Program::Rg => Some(as_rg::named_command()),
        Program::Ag => None,
        Program::Tf | Program::Topfew => Some(as_topfew::command()),
    }
}

/// The arguments of the configuration file of this program, if there is one that can be read.
pub(crate) fn configured() -> Vec<OsString> {
    match Program::current() {
        Program::Comb => config::readable_arguments(grep::args::CONFIG_VARIABLE),
        Program::Rg => config::readable_arguments(as_rg::CONFIG_VARIABLE),
        Program::Ag | Program::Tf | Program::Topfew => Vec::new(),
    }
}

/// Parses the arguments of this process as arguments of the program that it was started as.
pub(crate) fn parse() -> Result<CommandLine, Error> {
    let given: Vec<OsString> = env::args_os().collect();
    match Program::current() {
        Program::Comb => parse_comb(given),
        Program::Rg => Ok(CommandLine { command: as_rg::parse(given)?, common: Common::default() }),
        Program::Ag => as_ag::parse(&given),
        Program::Tf | Program::Topfew => as_topfew::parse(&given),
    }
}

/// Parses the arguments of `comb`, preceded by the arguments of the configuration file.
fn parse_comb(given: Vec<OsString>) -> Result<CommandLine, Error> {
    let arguments = parse_from(&given)?;
    match &arguments.command {
        Command::Grep(grep) if !grep.running.no_config => {
            config::parse_with_file(grep::args::CONFIG_VARIABLE, given, 2, parse_from)
                .unwrap_or(Ok(arguments))
        }
        _ => Ok(arguments),
    }
}
