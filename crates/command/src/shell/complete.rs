//! Completions of a command line, which a shell asks this program for.
//!
//! A shell with one of the scripts starts `comb -- WORD...` with the variable `COMPLETE`, and `COMPLETE_INDEX` for the word at the cursor. It
//! gets a candidate on each line. Errors are not printed, as they would be in the prompt. Candidates stand at the flags; clap's engine
//! finds them. The scripts of clap's `CompleteEnv` do not quote names in Bash, complete no words in quotes, and split them at `=` and `:`.

use std::env;
use std::ffi::OsString;
use std::io::{Write, stdout};

use clap::Command;
use clap_complete::Shell;
use clap_complete::engine::{CompletionCandidate, complete};

use crate::exit::{Exit, print};
use crate::parse;
use crate::program::Program;
use crate::shell::completions::script;
use crate::shell::line::Line;

/// Environment variable with the name or path of the shell that asks.
const SHELL: &str = "COMPLETE";

/// Environment variable with the number of the word at the cursor; without it, that is the last one.
const INDEX: &str = "COMPLETE_INDEX";

/// Answers a shell, if one asks; prints the script for a shell, if no words are given.
pub(crate) fn answer() -> Option<Exit> {
    // Set to anything else, it is the variable of another program.
    let shell = Shell::from_shell_path(env::var_os(SHELL)?)?;
    let program = Program::current();
    let (script, command) = (script(shell, program)?, parse::definition_of(program)?);
    let mut given = env::args_os().skip(1).skip_while(|argument| argument != "--");
    if given.next().is_none() {
        return Some(print(script.as_bytes()));
    }
    let words: Vec<OsString> = given.collect();
    let index = env::var(INDEX).ok().and_then(|index| index.parse().ok());
    let index = index.unwrap_or(words.len().saturating_sub(1));
    let line =
        Line { program: command.clone(), configured: parse::configured(), ..Line::new(&words, index, shell) };
    let out: Vec<u8> =
        candidates(command, line.install()).iter().flat_map(|found| shown(found, shell)).collect();
    // The shell may have lost interest.
    let _ = stdout().write_all(&out);
    Some(Exit::Found)
}

/// The candidates for the word at the cursor.
fn candidates(command: Command, line: &Line) -> Vec<CompletionCandidate> {
    let directory = env::current_dir().ok();
    let found = complete(&mut without_panic(command), line.words.clone(), line.index, directory.as_deref());
    let mut found = found.unwrap_or_default();
    // The current directory is what most commands read without any path.
    found.retain(|candidate| candidate.get_value() != ".");
    // Dozens of flags would hide the files. They are listed after a dash, and where there is nothing else.
    let is_flag =
        |candidate: &CompletionCandidate| candidate.get_value().as_encoded_bytes().starts_with(b"-");
    if line.current().is_empty() && !found.iter().all(is_flag) {
        found.retain(|candidate| !is_flag(candidate));
    }
    found
}

/// A definition in which no word with a dash is positional: after a flag without its value, one is a panic in the engine.
fn without_panic(command: Command) -> Command {
    let command = command.mut_args(|argument| match argument.is_positional() {
        true => argument.allow_hyphen_values(false),
        false => argument,
    });
    command.mut_subcommands(without_panic)
}

/// The line of a candidate, which the script of the shell reads.
fn shown(candidate: &CompletionCandidate, shell: Shell) -> Vec<u8> {
    let value = candidate.get_value().as_encoded_bytes();
    if value.iter().any(u8::is_ascii_control) {
        // It would be several candidates, or a control sequence for the terminal.
        return Vec::new();
    }
    let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
    let help = help.lines().next().filter(|help| shell != Shell::Bash && !help.is_empty());
    let help = help.map_or(String::new(), |help| format!("\t{}", help.replace('\t', " ")));
    [value, help.as_bytes(), b"\n"].concat()
}
