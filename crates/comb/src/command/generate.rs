//! Shell completions and manual pages, generated from the definition of the arguments.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Exit, fail, output_failed, print};
use crate::args::Arguments;

/// Prints the completions of a shell.
pub(crate) fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "comb", &mut script);
    print(&script)
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
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => print(&page),
        Err(error) => output_failed(&error),
    }
}
