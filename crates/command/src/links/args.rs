//! The flags of `comb links`.

use std::path::PathBuf;

use clap::Args;

use crate::program::Program;
use crate::shell::facts;

const LONG_ABOUT: &str = "\
Create links named rg, ag, tf and topfew to this program

Examples:
  All names, for programs that look for them in PATH:
      comb links ~/.local/bin
  Only rg:
      comb links ~/.local/bin rg

Started as one of them, comb has its flags, its configuration and its messages. 'docs/ripgrep.md' and 'docs/ag.md' list the \
differences.";

/// Create links named rg, ag, tf and topfew to this program
#[derive(Args)]
#[command(long_about = LONG_ABOUT, add = facts::LINKS, after_help = "Try 'comb links --help' for examples.", after_long_help = "")]
pub(crate) struct LinksArguments {
    /// Directory of the links
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// Names to link [default: all]
    #[arg(value_name = "NAME", value_parser = Program::OTHERS.map(Program::name))]
    pub(crate) names: Vec<String>,

    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
}
