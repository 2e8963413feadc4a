//! A command line that the program makes, for a call of an agent or for stored counts. Its flags are parsed like the flags of the
//! command, so that they have one meaning.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use clap::{Args, Command};

use finecomb_sys::display::excerpt;

/// Flags and arguments of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<OsString>);

impl Words {
    /// These words.
    pub fn new(words: Vec<OsString>) -> Self {
        Self(words)
    }

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

    /// Adds other words.
    pub fn extend(&mut self, words: Vec<OsString>) {
        self.0.extend(words);
    }

    /// Adds a flag and its values as words of their own.
    pub fn words<const N: usize>(&mut self, flag: &str, values: [&str; N]) {
        self.0.push(flag.into());
        self.0.extend(values.map(OsString::from));
    }

    /// The words, each terminated by a NUL.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| [word.as_bytes(), b"\0"]).collect::<Vec<_>>().concat()
    }

    /// The words of [`Words::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let words = bytes.split_inclusive(|byte| *byte == 0);
        let word = |word: &[u8]| OsString::from_vec(word.strip_suffix(b"\0").unwrap_or(word).to_vec());
        Self(words.map(word).collect())
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

/// The words as a shell reads them.
impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=./:,+@%".contains(char);
        for (number, word) in self.0.iter().enumerate() {
            let word = excerpt(word.as_bytes());
            let space = if number > 0 { " " } else { "" };
            match !word.is_empty() && word.chars().all(is_plain) {
                true => write!(f, "{space}{word}")?,
                false => write!(f, "{space}'{}'", word.replace('\'', "'\\''"))?,
            }
        }
        Ok(())
    }
}

/// The first paragraph of a message. The others are for people at a terminal.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default().trim_end();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}
