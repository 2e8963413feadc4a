//! A command of `comb` as a program of its own.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{ArgMatches, Command, Error};

/// Names in the texts of a command, each with its replacement for the program.
pub(crate) type Names = [(&'static str, &'static str)];

/// Parses the arguments of a program that is a command of `comb`.
pub(crate) fn matches(
    command: fn() -> Command,
    names: &Names,
    given: &[OsString],
) -> Result<ArgMatches, Error> {
    command().try_get_matches_from(given).or_else(|error| match error.kind() {
        // Only help shows the texts, and to change them all takes time.
        ErrorKind::DisplayHelp => renamed(command(), names).try_get_matches_from(given),
        _ => Err(error),
    })
}

/// Replaces names in a text.
pub(crate) fn rename(text: &str, names: &Names) -> String {
    names.iter().fold(text.to_owned(), |text, (name, replacement)| text.replace(name, replacement))
}

/// Replaces names in all texts of a command.
pub(crate) fn renamed(command: Command, names: &Names) -> Command {
    let rename = |text: &StyledStr| rename(&text.to_string(), names);
    let [long_about, after_help, after_long_help] =
        [command.get_long_about(), command.get_after_help(), command.get_after_long_help()]
            .map(|text| text.map(rename));
    let command = command
        .long_about(long_about.unwrap_or_default())
        .after_help(after_help.unwrap_or_default())
        .after_long_help(after_long_help.unwrap_or_default());
    command.mut_args(|arg| {
        let [help, long_help] = [arg.get_help(), arg.get_long_help()].map(|text| text.map(rename));
        let arg = if let Some(help) = help { arg.help(help) } else { arg };
        if let Some(help) = long_help { arg.long_help(help) } else { arg }
    })
}
