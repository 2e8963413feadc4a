//! Flags to options.

mod size;
pub(crate) mod top;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

/// Goes through code, logs and large texts with every core and says where its time went
#[derive(Parser)]
#[command(
    name = "comb",
    version,
    max_term_width = 110,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Top(Box<top::Arguments>),
    /// Print a script that completes comb's arguments in a shell
    Completions {
        shell: Shell,
    },
    /// Print a manual page: that of comb, or of one of its commands
    Man {
        command: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        super::Arguments::command().debug_assert();
    }
}
