//! What the results of all experiments have in common: a table, perhaps a picture, and a file in which they
//! are kept.

use std::fmt::{self, Formatter};
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::table::Table;
use crate::{Error, Result};

/// The result of an experiment.
pub trait Experiment: Serialize + DeserializeOwned {
    /// Its name, as the files say it.
    const NAME: &'static str;
    /// The version of its files. It goes up when files of the version before cannot be read any more.
    const VERSION: u32;

    /// What was measured, with what, in a line.
    fn heading(&self) -> String;

    /// What came of it.
    fn table(&self) -> Table;

    /// What one must know to read the table, a sentence each.
    fn notes(&self) -> Vec<String>;

    /// A picture of it, as an SVG document; none if it has none.
    fn picture(&self) -> Option<String>;

    /// All of it in Markdown.
    fn markdown(&self) -> String {
        let notes: String = self.notes().iter().map(|note| format!("- {note}\n")).collect();
        let table = format!("{}\n\n{}", self.heading(), self.table().markdown());
        if notes.is_empty() { table } else { format!("{table}\n{notes}") }
    }

    /// All of it as plain text, as the implementations of [`fmt::Display`] have it.
    fn display(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n\n{}", self.heading(), self.table())?;
        for (number, note) in self.notes().iter().enumerate() {
            let before = if number == 0 { "\n" } else { "" };
            writeln!(formatter, "{before}{note}")?;
        }
        Ok(())
    }
}

/// The name and the version that a file begins with.
#[derive(Deserialize)]
struct Label {
    experiment: String,
    version: u32,
}

#[derive(Serialize)]
struct Labelled<'a, E> {
    experiment: &'static str,
    version: u32,
    #[serde(flatten)]
    result: &'a E,
}

/// Writes a result to a JSON file: an object with `experiment`, `version`, and what the result consists of.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_json<E: Experiment>(result: &E, path: &Path) -> Result<()> {
    let failed = |error| Error::Io { path: path.to_owned(), doing: "cannot write: ", error };
    let labelled = Labelled { experiment: E::NAME, version: E::VERSION, result };
    let mut json = serde_json::to_vec_pretty(&labelled).map_err(|error| failed(error.into()))?;
    json.push(b'\n');
    fs::write(path, json).map_err(failed)
}

/// Reads what [`write_json`] has written.
///
/// # Errors
///
/// If the file cannot be read, or is not of this experiment and version.
pub fn read_json<E: Experiment>(path: &Path) -> Result<E> {
    let json = fs::read(path).map_err(|error| Error::Io { path: path.to_owned(), doing: "", error })?;
    let foreign = |reason| Error::Document { path: path.to_owned(), experiment: E::NAME, reason };
    let label: Label = serde_json::from_slice(&json).map_err(|error| foreign(error.to_string()))?;
    if label.experiment != E::NAME {
        return Err(foreign(format!("it is of '{}'", label.experiment)));
    }
    if label.version != E::VERSION {
        return Err(foreign(format!("it has version {}, and this is version {}", label.version, E::VERSION)));
    }
    serde_json::from_slice(&json).map_err(|error| foreign(error.to_string()))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::machine::Machine;

    /// A machine that nothing was measured on.
    pub(crate) fn machine(cores: usize) -> Machine {
        Machine {
            cores: NonZeroUsize::new(cores).expect("not zero"),
            processor: "Some CPU".to_owned(),
            kernel: "Linux 6.1".to_owned(),
            date: "2025-01-31T12:00:00Z".to_owned(),
        }
    }

    /// Holds a result to be the same after it was written and read.
    pub(crate) fn survives_its_file<E: Experiment + PartialEq + fmt::Debug>(result: &E) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("result.json");
        write_json(result, &path).expect("written");
        assert_eq!(&read_json::<E>(&path).expect("read"), result);
        let text = fs::read_to_string(&path).expect("text");
        assert!(text.starts_with(&format!(
            "{{\n  \"experiment\": \"{}\",\n  \"version\": {},",
            E::NAME,
            E::VERSION
        )));
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Guess {
        number: u64,
    }

    impl Experiment for Guess {
        const NAME: &'static str = "guess";
        const VERSION: u32 = 2;

        fn heading(&self) -> String {
            "a guess".to_owned()
        }

        fn table(&self) -> Table {
            let mut table = Table::new([crate::table::Column::number("number")]);
            table.push([self.number.to_string()]);
            table
        }

        fn notes(&self) -> Vec<String> {
            (0..self.number).map(|number| format!("Note {number}.")).collect()
        }

        fn picture(&self) -> Option<String> {
            None
        }
    }

    impl fmt::Display for Guess {
        fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
            self.display(formatter)
        }
    }

    #[test]
    fn results_survive_their_files() {
        survives_its_file(&Guess { number: 7 });
    }

    #[test]
    fn files_of_anything_else_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        for (content, reason) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("{\"experiment\": \"spin\", \"version\": 1}", "it is of 'spin'"),
            ("{\"experiment\": \"guess\", \"version\": 1}", "it has version 1, and this is version 2"),
            ("{\"experiment\": \"guess\", \"version\": 2}", "missing field `number` at line 1 column 37"),
        ] {
            fs::write(&path, content).expect("a file");
            let error = read_json::<Guess>(&path).expect_err(content).to_string();
            assert_eq!(error, format!("{}: this is not a result of 'guess': {reason}", path.display()));
        }
    }

    #[test]
    fn notes_stand_below_the_table() {
        assert_eq!(Guess { number: 0 }.to_string(), "a guess\n\nnumber\n     0\n");
        assert_eq!(Guess { number: 2 }.to_string(), "a guess\n\nnumber\n     2\n\nNote 0.\nNote 1.\n");
        assert_eq!(Guess { number: 1 }.markdown(), "a guess\n\n| number |\n| ---: |\n| 1 |\n\n- Note 0.\n");
    }
}
