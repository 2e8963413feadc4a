//! Manual pages: the help of a command in the form of man(7), plus environment, files and exit status.
//!
//! Pages depend on the definition of the arguments alone, so that they are the same on every machine. clap_mangen writes the sections of
//! which clap knows the contents; those of the blocks of a help text and of facts follow.

mod help;
mod page;

use clap::{Command, CommandFactory};

use crate::args::CommandLine;

/// A manual page.
pub(crate) struct Page {
    /// Its name, such as `comb-index-build`.
    pub(crate) name: String,
    /// Its text, in roff.
    pub(crate) roff: String,
}

impl Page {
    fn of(command: &Command) -> Self {
        Self { name: page::name(command).to_owned(), roff: page::roff(command) }
    }
}

/// The definition of comb, or of the command with these words as its name.
///
/// # Errors
/// If there is no such command.
pub(crate) fn command(words: &[String]) -> Result<Command, String> {
    let mut command = definition();
    for word in words {
        let parent = page::name(&command).replace('-', " ");
        let found = subcommands(&command).find(|child| child.get_name() == word).cloned();
        command =
            found.ok_or_else(|| format!("unknown command '{word}'; '{parent} --help' lists all commands"))?;
    }
    Ok(command)
}

/// The definition of comb, in which each command has its full name.
fn definition() -> Command {
    let mut command = CommandLine::command();
    command.build();
    command
}

/// The page of comb, or of the command with these words as its name.
///
/// # Errors
/// If there is no such command.
pub(crate) fn page(words: &[String]) -> Result<Page, String> {
    command(words).map(|command| Page::of(&command))
}

/// The pages of all commands.
pub(crate) fn pages() -> Vec<Page> {
    let mut pages = Vec::new();
    add_pages(&definition(), &mut pages);
    pages
}

fn add_pages(command: &Command, pages: &mut Vec<Page>) {
    pages.push(Page::of(command));
    subcommands(command).for_each(|child| add_pages(child, pages));
}

/// The page of another program.
pub(crate) fn page_of_program(mut program: Command) -> String {
    program.build();
    page::roff(&program)
}

/// The commands that have pages.
fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|child| child.get_name() != "help" && !child.is_hide_set())
}

#[cfg(test)]
mod tests;
