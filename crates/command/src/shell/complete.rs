//! Completions of a command line, which a shell asks this program for.
//!
//! A shell with one of the scripts starts `comb -- WORD...` with the variable `COMPLETE`, and `COMPLETE_INDEX` for the word at the cursor. It
//! gets a candidate on each line. Errors are not printed, as they would be in the prompt.
//!
//! The candidates depend on definitions of arguments that are not made for any other run (`values.rs`), so that other runs do not pay for them.

mod line;
mod names;
pub(crate) mod shell;
mod values;

use std::env;
use std::ffi::OsString;
use std::io::{Write, stdout};
use std::sync::Arc;

use clap::Command;
use clap_complete::engine::{CompletionCandidate, complete};

use self::line::Line;
use self::shell::Shell;
use crate::exit::{Exit, print};
use crate::parse;
use crate::program::Program;

/// Environment variable with the name of the shell that asks.
const SHELL: &str = "COMPLETE";

/// Environment variable with the number of the word at the cursor; without it, that is the last one.
const INDEX: &str = "COMPLETE_INDEX";

/// Answers a shell, if one asks; prints the script for a shell, if no words are given.
pub(crate) fn answer() -> Option<Exit> {
    // Set to anything else, it is the variable of another program.
    let shell = Shell::named(env::var_os(SHELL)?.to_str()?)?;
    let program = Program::current();
    let command = parse::definition_of(program)?;
    let mut given = env::args_os().skip(1).skip_while(|argument| argument != "--");
    if given.next().is_none() {
        return Some(print(shell.script(program.name()).as_bytes()));
    }
    let words: Vec<OsString> = given.collect();
    let index = index().unwrap_or(words.len().saturating_sub(1));
    let mut out = Vec::new();
    for candidate in candidates(command, Line::new(&words, index, shell)) {
        shell.write(&candidate, &mut out);
    }
    // The shell may have lost interest.
    let _ = stdout().write_all(&out);
    Some(Exit::Found)
}

fn index() -> Option<usize> {
    env::var(INDEX).ok()?.parse().ok()
}

/// The candidates for the word at the cursor.
fn candidates(command: Command, line: Line) -> Vec<CompletionCandidate> {
    let line = Arc::new(line);
    let mut command = values::complete_values(command, &line);
    let directory = env::current_dir().ok();
    let found = complete(&mut command, line.words().to_vec(), line.index(), directory.as_deref());
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
