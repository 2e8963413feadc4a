//! Shell completions, generated from the definition of the arguments.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::args::Arguments;
use crate::exit::{Exit, print};
use crate::program::Program;
use crate::shell::complete::shell;

/// Prints the completions of a shell.
pub(crate) fn completions(asked: Shell) -> Exit {
    match shell::Shell::named(&asked.to_string()) {
        Some(known) => print(known.script(Program::Comb.name()).as_bytes()),
        None => print(&completions_of(Arguments::command(), asked)),
    }
}

/// The completions of a program that do not depend on what is typed.
pub(crate) fn completions_of(mut command: Command, shell: Shell) -> Vec<u8> {
    let (name, mut script) = (command.get_name().to_owned(), Vec::new());
    clap_complete::generate(shell, &mut command, name, &mut script);
    script
}
