//! What is made from the definition of the arguments: completions and manual pages.

use std::io::{Write, stdout};

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Exit, output_failed};
use crate::args::Arguments;
use crate::message;

/// Prints a shell's completions.
pub(crate) fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "comb", &mut script);
    print(&script)
}

/// Prints the manual page of comb or of one of its commands.
pub(crate) fn manual(name: Option<&str>) -> Exit {
    let mut comb = Arguments::command();
    comb.build();
    let command = match name {
        None => comb,
        Some(name) => match comb.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                message::error(format_args!("there is no command '{name}'; 'comb --help' lists them"));
                return Exit::Trouble;
            }
        },
    };
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => print(&page),
        Err(error) => output_failed(&error),
    }
}

fn print(text: &[u8]) -> Exit {
    match stdout().write_all(text) {
        Ok(()) => Exit::Found,
        Err(error) => output_failed(&error),
    }
}
