//! Shell completions and manual pages, generated from the definition of the arguments.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::{Exit, fail, print};
use crate::args::Arguments;

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Exit {
    print(&completions_of(Arguments::command(), shell))
}

/// The completions of a program.
pub(crate) fn completions_of(mut command: Command, shell: Shell) -> Vec<u8> {
    let (name, mut script) = (command.get_name().to_owned(), Vec::new());
    clap_complete::generate(shell, &mut command, name, &mut script);
    script
}

/// Prints the manual page of comb or of one of its commands.
pub(crate) fn manual(names: &[String]) -> Exit {
    let mut command = Arguments::command();
    command.build();
    for name in names {
        let parent = command.get_display_name().unwrap_or("comb").replace('-', " ");
        let Some(found) = command.find_subcommand(name).cloned() else {
            return fail(format_args!("unknown command '{name}'; '{parent} --help' lists all commands"));
        };
        command = found;
    }
    print(&manual_of(command))
}

/// The manual page of a program, in roff.
pub(crate) fn manual_of(command: Command) -> Vec<u8> {
    let mut page = Vec::new();
    // Writes to memory do not fail.
    let _ = clap_mangen::Man::new(command).render(&mut page);
    page
}
