//! Command-line arguments, and their conversion to options.

pub(crate) mod address;
pub(crate) mod delimiter;
pub mod format;
pub mod named;
pub(crate) mod profile;
pub mod selection;
pub(crate) mod size;
pub(crate) mod standalone;
pub mod threads;
pub mod tips;
pub mod tree_index;
pub(crate) mod value;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Error, FromArgMatches, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::args::tips::with_tip;
use crate::exit::Exit;
use crate::shell::candidates;
use crate::shell::facts;
use crate::shell::line::completer;
#[cfg(feature = "symbols")]
use crate::symbols;
use crate::terminal::When;
use crate::top::options::percentile_flags as measures;
use crate::{bench, find, grep, index, links, mcp, pi, serve, top, version};

const LONG_ABOUT: &str = "\
Searches and counts code, logs and text on all cores, with a built-in profiler

Examples:
  Ten most frequent client addresses in a log:
      comb top -f 1 access.log
  Lines with the word 'unsafe' in all files below the current directory:
      comb grep -w unsafe
  Index of a text, and a search in it:
      comb index build access.log
      comb find access.log.comb '\" 500 '

'comb COMMAND --help' has more examples.";

/// Searches and counts code, logs and text on all cores, with a built-in profiler
#[derive(Parser)]
#[command(
    name = "comb",
    long_about = LONG_ABOUT,
    add = facts::COMB,
    version = version::short(),
    long_version = version::long(),
    max_term_width = 110,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Flags of all commands.
#[derive(Args, Default)]
pub(crate) struct Common {
    /// When to use colour [default: auto]
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub(crate) color: Option<When>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Top(Box<top::args::TopArguments>),
    Grep(Box<grep::args::Arguments>),
    #[cfg(feature = "symbols")]
    Symbols(Box<symbols::args::SymbolsArguments>),
    Find(find::args::FindArguments),
    Index(index::args::IndexArguments),
    Serve(serve::ServeArguments),
    Mcp(mcp::McpArguments),
    Pi(pi::PiArguments),
    Bench(bench::BenchArguments),
    Links(links::args::LinksArguments),
    /// Print shell completions
    #[command(long_about = COMPLETIONS_LONG_ABOUT, add = facts::COMPLETIONS)]
    Completions {
        /// Shell to print completions for
        shell: Shell,
    },
    /// Show a manual page
    #[command(long_about = MAN_LONG_ABOUT, add = facts::MAN)]
    Man {
        /// Command to show the page of, such as 'top' or 'bench scale' [default: comb itself]
        #[arg(add = completer(candidates::commands))]
        command: Vec<String>,

        /// Print the source of the page, in roff
        #[arg(long)]
        roff: bool,

        /// Write the pages of all commands to DIR, which is created: comb.1, comb-top.1, comb-bench-scale.1, …
        #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["command", "roff"])]
        output: Option<PathBuf>,
    },
    Cgi(serve::CgiArguments),
    /// A text to print, which a flag of another program asks for.
    #[command(skip)]
    Print(Vec<u8>, Exit),
}

const COMPLETIONS_LONG_ABOUT: &str = "\
Print shell completions

Examples:
  Bash:
      comb completions bash > ~/.local/share/bash-completion/completions/comb
  Zsh, for a directory that is in $fpath before compinit is called:
      comb completions zsh > ~/.zfunc/_comb
  Fish:
      comb completions fish > ~/.config/fish/completions/comb.fish

In Bash, Zsh and Fish, comb itself finds the candidates: types of files, index files, directories with an index, and, once a log is on \
the command line, the names of its fields. The scripts of other shells complete commands and flags.";

const MAN_LONG_ABOUT: &str = "\
Show a manual page

Examples:
  Read the manual page of a command:
      comb man grep
      comb man bench scale
  Install the pages of all commands, for man(1):
      comb man -o ~/.local/share/man/man1
  A page for a web site:
      comb man --roff grep | mandoc -T html > comb-grep.html

man(1) shows the page on a terminal, and prints it as text into a pipe or a file. Where it is not installed, the help is shown \
instead.";

/// Parses the arguments of `comb`.
pub(crate) fn parse_from(arguments: &[OsString]) -> Result<CommandLine, Error> {
    if let Some(arguments) = parse_as_named(arguments) {
        return Ok(arguments);
    }
    let parsed = CommandLine::try_parse_from(arguments);
    parsed.or_else(|error| parse_percentiles(error, arguments)).map_err(|error| match arguments.get(1) {
        _ if let Some(version) = version_instead(&error) => version,
        Some(command) if command == "find" => find::args::add_hint(error, &arguments[2..]),
        Some(command) if command == "grep" => grep::args::hints::add_hint(error),
        Some(command) if command == "top" => top::args::hints::add_hint(error),
        _ => with_command(with_tip(error, None)),
    })
}

/// Parses the arguments of `comb top` again if a flag such as `--p90` was unknown: clap has no flags for all numbers.
fn parse_percentiles(error: Error, arguments: &[OsString]) -> Result<CommandLine, Error> {
    let is_top = arguments.get(1).is_some_and(|command| command == "top");
    let written = tips::unknown_flag(&error).filter(|_| is_top);
    match written.and_then(|flag| measures::with_percentile(flag, arguments)) {
        Some(arguments) => parse_from(&arguments),
        None => Err(error),
    }
}

/// Adds the command that may be meant to the error of an unknown one.
fn with_command(error: Error) -> Error {
    let command = CommandLine::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
    tips::with_command(error, &names)
}

/// The version, if a command does not know the flag because only `comb` itself has it.
fn version_instead(error: &Error) -> Option<Error> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || !["-V", "--version"].contains(&flag.as_str()) {
        return None;
    }
    CommandLine::try_parse_from(["comb", flag]).err()
}

/// Parses the arguments by the definition of the command that the first names. The definition of all commands takes 0.4 ms to make, and is
/// needed only for messages, so `None` is returned if anything is wrong.
fn parse_as_named(arguments: &[OsString]) -> Option<CommandLine> {
    let mut matches = named_definition(arguments.get(1)?.to_str()?)?.try_get_matches_from(arguments).ok()?;
    CommandLine::from_arg_matches_mut(&mut matches).ok()
}

/// The definition of `comb` with a single command; `None` for those whose start is not worth it.
fn named_definition(name: &str) -> Option<clap::Command> {
    let (name, define): (_, fn(clap::Command) -> clap::Command) = match name {
        "find" => ("find", find::args::FindArguments::augment_args),
        "grep" => ("grep", grep::args::Arguments::augment_args),
        #[cfg(feature = "symbols")]
        "symbols" => ("symbols", symbols::args::SymbolsArguments::augment_args),
        "top" => ("top", top::args::TopArguments::augment_args),
        _ => return None,
    };
    Some(Common::augment_args(clap::Command::new("comb")).subcommand(define(clap::Command::new(name))))
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, CommandFactory, Parser};

    #[test]
    fn arguments_are_consistent() {
        super::CommandLine::command().debug_assert();
    }

    #[test]
    fn a_command_that_is_defined_alone_is_that_of_the_definition_of_all() {
        let all = super::CommandLine::command();
        // Messages show the order; they come from the definition of all commands.
        let shown = |command: &Command| format!("{:?}", command.clone().display_order(0));
        let common = |comb: &Command| {
            let flags = comb.get_arguments().map(|flag| flag.clone().display_order(0));
            format!("{:?}", flags.collect::<Vec<_>>())
        };
        let mut alone = 0;
        for command in all.get_subcommands() {
            let name = command.get_name();
            let Some(comb) = super::named_definition(name) else { continue };
            assert!(comb.find_subcommand(name).map(shown) == Some(shown(command)), "{name}");
            assert_eq!(common(&comb), common(&all), "{name}");
            alone += 1;
        }
        assert_eq!(alone, 4);
    }

    /// All commands without subcommands, with their full names.
    fn commands(parent: &Command, name: &str) -> Vec<(String, Command)> {
        let children = parent.get_subcommands().filter(|command| command.get_name() != "help");
        let children: Vec<_> = children
            .flat_map(|command| commands(command, &format!("{name} {}", command.get_name())))
            .collect();
        if children.is_empty() { vec![(name.to_owned(), parent.clone())] } else { children }
    }

    #[test]
    fn common_flags_have_one_meaning_in_all_commands() {
        let mut all = super::CommandLine::command();
        all.build();
        for (name, command) in commands(&all, "comb") {
            let flag = |long: &str| {
                command.get_arguments().find(|flag| {
                    flag.get_long() == Some(long)
                        || flag.get_all_aliases().is_some_and(|all| all.contains(&long))
                })
            };
            assert!(flag("color").is_some(), "{name}");
            let threads = flag("threads");
            assert_eq!(threads.map(Arg::get_id), flag("width").map(Arg::get_id), "{name}");
            assert_eq!(threads.and_then(Arg::get_short), threads.map(|_| 'j'), "{name}");
            assert_eq!(flag("json").is_some(), flag("format").is_some(), "{name}");
            assert!(flag("json").is_none_or(|json| !json.get_action().takes_values()), "{name}");
        }
    }

    /// Splits a shell command line without double quotes and escapes into words.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for char in line.trim().chars() {
            match char {
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                char => words.last_mut().expect("a word").push(char),
            }
        }
        words
    }

    /// Asserts that all examples on the long help page of a command, and of its subcommands, are valid.
    fn assert_examples_are_valid(name: &str, command: &Command) {
        let page = command.get_long_about().unwrap_or_else(|| panic!("{name}: no page")).to_string();
        for line in page.lines().filter(|line| line.starts_with("      ")) {
            let words = words(line).into_iter().skip_while(|word| word != "comb");
            let words: Vec<_> = words.take_while(|word| word != "|" && word != ">").collect();
            if !words.is_empty() {
                super::CommandLine::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
            }
        }
        for child in command.get_subcommands().filter(|child| child.get_name() != "help") {
            assert_examples_are_valid(&format!("{name} {}", child.get_name()), child);
        }
    }

    #[test]
    fn examples_in_the_help_are_valid_command_lines() {
        assert_examples_are_valid("comb", &super::CommandLine::command());
    }
}
