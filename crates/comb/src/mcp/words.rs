//! The command line that a call stands for. Its flags are parsed like those of the command, so that they have one meaning.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Command};

/// Flags and arguments of a command.
#[derive(Default)]
pub(super) struct Words(Vec<OsString>);

impl Words {
    /// Adds a flag, if it is on.
    pub(super) fn switch(&mut self, flag: &str, is_on: bool) {
        if is_on {
            self.0.push(flag.into());
        }
    }

    /// Adds a flag with a value, which may begin with a hyphen.
    pub(super) fn value(&mut self, flag: &str, value: impl AsRef<OsStr>) {
        let mut word = OsString::from(flag);
        word.push("=");
        word.push(value);
        self.0.push(word);
    }

    /// Adds a flag with each of the values.
    pub(super) fn values(&mut self, flag: &str, values: &[impl AsRef<OsStr>]) {
        values.iter().for_each(|value| self.value(flag, value));
    }

    /// Adds the paths, which are the last arguments, and parses the words.
    ///
    /// # Errors
    /// If a value is invalid.
    pub(super) fn parse<A: Args>(mut self, paths: &[PathBuf]) -> Result<A, String> {
        self.0.push("--".into());
        self.0.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
        let command = A::augment_args(Command::new("comb").no_binary_name(true));
        let matches = command.try_get_matches_from(self.0);
        matches.and_then(|matches| A::from_arg_matches(&matches)).map_err(|error| reason(&error))
    }
}

/// The first paragraph of a message. The others are for people at a terminal.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default().trim_end();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}
