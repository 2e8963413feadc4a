//! A command line that the program makes, for a search of an agent or of Python. Its flags are parsed like the flags of the
//! command, so that they have one meaning.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Command};
use serde_json::Value;

use crate::args::named::{Named, reason};
use crate::args::value::texts;

/// Flags and arguments of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<OsString>);

impl Words {
    /// Adds a flag, if it is on.
    pub fn switch(&mut self, flag: &str, is_on: bool) {
        if is_on {
            self.0.push(flag.into());
        }
    }

    /// Adds a flag with a value, which may begin with a hyphen.
    pub fn value(&mut self, flag: &str, value: impl AsRef<OsStr>) {
        let mut word = OsString::from(flag);
        word.push("=");
        word.push(value);
        self.0.push(word);
    }

    /// Adds a flag with each of the values.
    pub fn values(&mut self, flag: &str, values: &[impl AsRef<OsStr>]) {
        values.iter().for_each(|value| self.value(flag, value));
    }

    /// Adds options by name: a switch, a value, or a flag with each of several values.
    ///
    /// # Errors
    /// If a value has another type.
    pub(crate) fn named(&mut self, options: &Named) -> Result<(), String> {
        for (name, value) in options {
            let flag = format!("--{}", name.replace('_', "-"));
            match value {
                Value::Null => {}
                Value::Bool(is_on) => self.switch(&flag, *is_on),
                value => self.values(&flag, &texts(value).map_err(|reason| format!("{flag}: {reason}"))?),
            }
        }
        Ok(())
    }

    /// Adds the paths, which are the last arguments, and parses the words.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn parse<A: Args>(mut self, paths: &[PathBuf]) -> Result<A, String> {
        self.0.push("--".into());
        self.0.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
        let command = A::augment_args(Command::new("comb").no_binary_name(true));
        let matches = command.try_get_matches_from(self.0);
        matches.and_then(|matches| A::from_arg_matches(&matches)).map_err(|error| reason(&error))
    }
}
