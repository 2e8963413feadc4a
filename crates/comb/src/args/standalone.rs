//! A command of `comb` as a program of its own.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{ArgMatches, Command, Error};

/// Parses the arguments of the program that is `comb OF`.
pub(super) fn matches(command: fn() -> Command, of: &str, given: &[OsString]) -> Result<ArgMatches, Error> {
    command().try_get_matches_from(given).or_else(|error| match error.kind() {
        // Only help shows the texts, and to change them all takes time.
        ErrorKind::DisplayHelp => renamed(command(), of).try_get_matches_from(given),
        _ => Err(error),
    })
}

/// Writes the name of the program in place of `comb OF` in all texts of a command.
pub(super) fn renamed(command: Command, of: &str) -> Command {
    let name = command.get_name().to_owned();
    let rename = |text: &StyledStr| text.to_string().replace(&format!("comb {of}"), &name);
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
