//! Completions that a program prints for a shell to read.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::args::CommandLine;
use crate::exit::{Exit, Failure, print};
use crate::program::Program;

/// Stands for the name of the program in the scripts.
const NAME: &str = "NAME";

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let script = script(shell, Program::Comb).map(String::into_bytes);
    Ok(print(&script.unwrap_or_else(|| completions_of(CommandLine::command(), shell))))
}

/// The completions of a program that do not depend on what is typed.
pub(crate) fn completions_of(mut command: Command, shell: Shell) -> Vec<u8> {
    let (name, mut script) = (command.get_name().to_owned(), Vec::new());
    clap_complete::generate(shell, &mut command, name, &mut script);
    script
}

/// The script that asks a program for candidates; `None` for shells that have none.
pub(super) fn script(shell: Shell, program: Program) -> Option<String> {
    let script = match shell {
        Shell::Bash => include_str!("completions/comb.bash"),
        Shell::Fish => include_str!("completions/comb.fish"),
        Shell::Zsh => include_str!("completions/comb.zsh"),
        _ => return None,
    };
    Some(script.replace(NAME, program.name()))
}
