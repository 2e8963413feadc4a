//! The words of a command line that is being typed.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::OnceLock;

use clap::Command;
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

/// The command line that this process completes.
static LINE: OnceLock<Line> = OnceLock::new();

/// A command line and the word at the cursor. Its words are without quotes.
pub(crate) struct Line {
    pub(crate) words: Vec<OsString>,
    pub(crate) index: usize,
    /// The definition of the program.
    pub(crate) program: Command,
    /// Arguments of the configuration file.
    pub(crate) configured: Vec<OsString>,
}

/// Candidates for a value that begins with a text, by a function that reads the rest of the command line.
pub(crate) fn completer(find: fn(&Line, &str) -> Vec<CompletionCandidate>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |text: &OsStr| {
        LINE.get().zip(text.to_str()).map_or(Vec::new(), |(line, text)| find(line, text))
    })
}

impl Line {
    /// Takes the words as the script of this shell gives them.
    pub(crate) fn new(words: &[OsString], index: usize, shell: Shell) -> Self {
        // Some shells omit an empty word at the end.
        let index = index.min(words.len());
        let plain = |(number, word): (usize, &OsString)| match number == index {
            // The candidates begin with the word at the cursor.
            true => unquoted(word),
            // Fish has removed the quotes before the cursor.
            false if shell == Shell::Fish => in_home(word, word.clone()),
            false => in_home(word, unquoted(word)),
        };
        let mut words: Vec<OsString> = words.iter().enumerate().map(plain).collect();
        if index == words.len() {
            words.push(OsString::new());
        }
        Self { words, index, program: Command::default(), configured: Vec::new() }
    }

    /// Makes this the command line that candidates are for.
    pub(super) fn install(self) -> &'static Self {
        LINE.get_or_init(|| self)
    }

    /// The word at the cursor.
    pub(super) fn current(&self) -> &OsStr {
        &self.words[self.index]
    }

    /// The words other than that at the cursor and the name of the program.
    pub(crate) fn others(&self) -> impl Iterator<Item = &OsStr> {
        let others = self.words.iter().enumerate().skip(1).filter(|&(number, _)| number != self.index);
        others.map(|(_, word)| word.as_os_str())
    }

    /// The values of a flag under all of its names, such as `--input` and `-p`, in the order of the line: in the next word, after an equals
    /// sign, or after the short name.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<&str> {
        let mut others = self.others().map(|word| word.to_str().unwrap_or_default());
        let mut values = Vec::new();
        while let Some(word) = others.next() {
            for name in names {
                match word.strip_prefix(name) {
                    Some("") => values.extend(others.next()),
                    Some(rest) if !name.starts_with("--") => values.push(rest),
                    Some(rest) => values.extend(rest.strip_prefix('=')),
                    None => {}
                }
            }
        }
        values
    }
}

/// A word as the shell passes it to a program, without quotes and backslashes. A quote may be open.
fn unquoted(word: &OsStr) -> OsString {
    let mut out = Vec::with_capacity(word.len());
    let mut quote = None;
    let mut bytes = word.as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'\\') => out.extend(bytes.next()),
            (Some(b'"'), b'\\') => match bytes.next() {
                Some(escaped @ (b'"' | b'\\' | b'$' | b'`')) => out.push(escaped),
                other => out.extend([byte].into_iter().chain(other)),
            },
            _ => out.push(byte),
        }
    }
    OsString::from_vec(out)
}

/// A word as the shell passes it to a program, if it was typed as a path in the home directory.
fn in_home(typed: &OsStr, word: OsString) -> OsString {
    if !typed.as_bytes().starts_with(b"~/") {
        return word;
    }
    let Some(home) = env::home_dir() else { return word };
    let mut path = home.into_os_string();
    path.push(OsStr::from_bytes(&word.as_bytes()["~".len()..]));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str], index: usize) -> Line {
        of_shell(words, index, Shell::Bash)
    }

    fn of_shell(words: &[&str], index: usize, shell: Shell) -> Line {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Line::new(&words, index, shell)
    }

    #[test]
    fn words_are_without_quotes() {
        assert_eq!(line(&["comb", r#""a\d\\\$\"b"#], 0).words[1], r#"a\d\$"b"#);
        let line = line(&["comb", "'a b'", "c\\ d", "\"e\\\"f", "g'"], 3);
        assert_eq!(line.words, ["comb", "a b", "c d", "e\"f", "g"]);
        assert_eq!(line.current(), "e\"f");
        assert_eq!(line.others().collect::<Vec<_>>(), ["a b", "c d", "g"]);
    }

    #[test]
    fn fish_has_removed_the_quotes_of_all_words_but_the_last() {
        let line = of_shell(&["comb", "it's \\ \"", "'a b'"], 2, Shell::Fish);
        assert_eq!(line.words, ["comb", "it's \\ \"", "a b"]);
    }

    #[test]
    fn paths_in_the_home_directory_are_whole_before_the_cursor() {
        let home = env::home_dir().expect("a home directory");
        let path = home.join("a b").into_os_string();
        let double = OsString::from(format!("{}//a", home.display()));
        let line = line(&["comb", "~/a\\ b", "'~/a'", "~x/a", "~//a", "~/c"], 5);
        assert_eq!(
            line.words,
            [OsStr::new("comb"), &path, "~/a".as_ref(), "~x/a".as_ref(), &double, "~/c".as_ref()]
        );
    }

    #[test]
    fn the_word_at_the_cursor_may_be_missing() {
        for index in [2, 7] {
            let line = line(&["comb", "top"], index);
            assert_eq!((line.current(), line.index), (OsStr::new(""), 2));
        }
    }

    #[test]
    fn flags_have_values_in_all_forms() {
        let line = line(&["comb", "top", "--input", "csv", "--input=json", "--inputs", "x", "--input"], 1);
        assert_eq!(line.values(&["--input"]), ["csv", "json"]);
        let line = self::line(&["comb", "top", "-p", ";", "-p,", "--p=x", "--long=y", "--long", "z"], 1);
        assert_eq!(line.values(&["-p", "--long"]), [";", ",", "y", "z"]);
    }
}
