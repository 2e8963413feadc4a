//! The command line of ripgrep: the flags of `comb grep`, and flags that ask for something other than a search.

use std::ffi::OsString;

use clap::{ArgAction, Args, Command, CommandFactory, Error, FromArgMatches, Parser, ValueEnum};
use clap_complete::Shell;

use crate::args::standalone;
use crate::exit::Exit;
use crate::grep::args as grep;
use crate::program::Program;
use crate::shell::completions::completions_of;
use crate::shell::config;
use crate::shell::manual::page_of_program;
use crate::version;

/// Environment variable with the path of the configuration file.
pub(crate) const CONFIG_VARIABLE: &str = "RIPGREP_CONFIG_PATH";

/// Names in the texts of `comb grep` that ripgrep has others for.
const NAMES: &standalone::Names =
    &[("comb grep", Program::Rg.name()), (grep::CONFIG_VARIABLE, CONFIG_VARIABLE)];

/// Searches directories for lines that match a pattern
#[derive(Parser)]
#[command(name = Program::Rg.name(), disable_version_flag = true, max_term_width = 110)]
struct Arguments {
    #[command(flatten)]
    grep: grep::Arguments,

    #[command(flatten)]
    special: Special,
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Other behaviours")]
struct Special {
    /// Print the version; the long form also prints features and SIMD instructions
    #[arg(short = 'V', action = ArgAction::SetTrue)]
    short_version: bool,

    /// Print the version, features and SIMD instructions
    #[arg(long)]
    version: bool,

    /// Print the version of PCRE2
    #[arg(long)]
    pcre2_version: bool,

    /// Print a manual page or completions
    #[arg(long, value_enum, value_name = "KIND", hide_short_help = true)]
    generate: Option<Generated>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Generated {
    /// Manual page, in roff
    Man,
    /// Completions of Bash
    CompleteBash,
    /// Completions of Zsh
    CompleteZsh,
    /// Completions of Fish
    CompleteFish,
    /// Completions of PowerShell
    CompletePowershell,
}

/// Parses the command line, preceded by the arguments of the configuration file.
pub(crate) fn parse(given: Vec<OsString>) -> Result<crate::args::Command, Error> {
    let arguments = parse_from(&given)?;
    if let Some(command) = arguments.special.command() {
        return Ok(command);
    }
    let configured = match arguments.grep.running.no_config {
        false => config::parse_with_file(CONFIG_VARIABLE, given, 1, parse_from).transpose()?,
        true => None,
    };
    Ok(crate::args::Command::Grep(Box::new(configured.unwrap_or(arguments).grep)))
}

fn parse_from(given: &[OsString]) -> Result<Arguments, Error> {
    let matches = standalone::matches(command, NAMES, given);
    let mut matches = matches.map_err(grep::hints::add_hint)?;
    Arguments::from_arg_matches_mut(&mut matches)
}

/// The definition of the command line.
fn command() -> Command {
    let usage = grep::USAGE.replace("comb grep", Program::Rg.name());
    Arguments::command().override_usage(usage)
}

/// The definition with the names of ripgrep in its texts.
pub(crate) fn named_command() -> Command {
    standalone::renamed(command(), NAMES)
}

impl Special {
    /// The command that is asked for in place of a search.
    fn command(&self) -> Option<crate::args::Command> {
        let is_missing = self.pcre2_version && !cfg!(feature = "pcre2");
        let text = if self.version {
            version::of_ripgrep_in_full().into_bytes()
        } else if self.short_version {
            version::of_ripgrep().into_bytes()
        } else if self.pcre2_version {
            version::of_pcre2().into_bytes()
        } else {
            self.generate?.text()
        };
        Some(crate::args::Command::Print(text, if is_missing { Exit::NotFound } else { Exit::Found }))
    }
}

impl Generated {
    fn text(self) -> Vec<u8> {
        let command = named_command();
        match self {
            Self::Man => manual().into_bytes(),
            Self::CompleteBash => completions_of(command, Shell::Bash),
            Self::CompleteZsh => completions_of(command, Shell::Zsh),
            Self::CompleteFish => completions_of(command, Shell::Fish),
            Self::CompletePowershell => completions_of(command, Shell::PowerShell),
        }
    }
}

/// The manual page of the program.
pub(crate) fn manual() -> String {
    standalone::rename(&page_of_program(named_command()), NAMES)
}

#[cfg(test)]
mod tests {
    #[test]
    fn arguments_are_consistent() {
        super::command().debug_assert();
    }
}
