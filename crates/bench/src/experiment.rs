//! Results of experiments: a table, notes, an optional picture, and a JSON file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use finecomb_plot::wrapped;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::table::ResultTable;
use crate::{Error, Result};

/// The result of an experiment.
pub trait Experiment: Serialize + DeserializeOwned {
    /// Name of the experiment in its files.
    const NAME: &'static str;
    /// Version of its files, incremented when older files can no longer be read.
    const VERSION: u32 = 1;

    /// Subject, number of runs and machine, as one line.
    fn heading(&self) -> String;

    /// The measurements.
    fn table(&self) -> ResultTable;

    /// Explanations and findings, one sentence or more each.
    fn notes(&self) -> Vec<String>;

    /// The notes that say what was found, without how it was measured and computed.
    fn findings(&self) -> Vec<String> {
        self.notes()
    }

    /// A picture as an SVG document, if the experiment has one.
    fn picture(&self) -> Option<String> {
        None
    }

    /// Heading, table and notes in Markdown.
    fn markdown(&self) -> String {
        self.report(&self.table().markdown(), "- ", &self.notes())
    }

    /// Heading, table and these notes as plain text.
    fn text(&self, notes: &[String]) -> String {
        self.report(&self.table().to_string(), "", notes)
    }

    /// Plain text in lines of at most `width` characters, unless a single column is wider.
    fn text_within(&self, notes: &[String], width: usize) -> String {
        let wrapped = |text: &str| wrapped(text, width).join("\n") + "\n";
        let notes: String = notes.iter().map(|note| wrapped(note)).collect();
        let gap = if notes.is_empty() { "" } else { "\n" };
        format!("{}\n{}{gap}{notes}", wrapped(&self.heading()), self.table().within(width))
    }

    /// Heading, formatted table, and notes, each after `bullet`.
    fn report(&self, table: &str, bullet: &str, notes: &[String]) -> String {
        let notes: String = notes.iter().map(|note| format!("{bullet}{note}\n")).collect();
        let gap = if notes.is_empty() { "" } else { "\n" };
        format!("{}\n\n{table}{gap}{notes}", self.heading())
    }
}

/// Name and version at the beginning of a file.
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

/// Writes a result as JSON: an object with `experiment`, `version`, and the fields of the result.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_json<E: Experiment>(result: &E, mut out: impl Write) -> io::Result<()> {
    let labelled = Labelled { experiment: E::NAME, version: E::VERSION, result };
    let mut json = serde_json::to_vec_pretty(&labelled)?;
    json.push(b'\n');
    out.write_all(&json)
}

/// Writes a result to a file, as [`write_json`] does.
///
/// # Errors
///
/// If the file cannot be written.
pub fn save<E: Experiment>(result: &E, path: &Path) -> Result<()> {
    let written = File::create(path).and_then(|file| write_json(result, file));
    written.map_err(|error| Error::Io { path: path.to_owned(), doing: "cannot write: ", error })
}

/// Reads a file written by [`save`].
///
/// # Errors
///
/// If the file cannot be read, is of another experiment or version, or contains a number that is no measurement.
pub fn read_json<E: Experiment>(path: &Path) -> Result<E> {
    let json = fs::read(path).map_err(|error| Error::Io { path: path.to_owned(), doing: "", error })?;
    let refused = |reason: String| Error::File {
        path: path.to_owned(),
        reason: format!("not a result of experiment '{}': {reason}", E::NAME),
    };
    let label: Label = serde_json::from_slice(&json).map_err(|error| refused(json_reason(&error)))?;
    if label.experiment != E::NAME {
        return Err(refused(format!("it is of '{}'", label.experiment)));
    }
    if label.version != E::VERSION {
        return Err(refused(format!("version {} is not supported, only {}", label.version, E::VERSION)));
    }
    let result = serde_json::from_slice(&json).map_err(|error| refused(json_reason(&error)))?;
    match invalid_number(&result, "") {
        Some((place, number)) => Err(refused(format!("invalid number {number} at {place}"))),
        None => serde_json::from_value(result).map_err(|error| refused(json_reason(&error))),
    }
}

/// Name of the experiment of a file written by [`save`], if it is one.
pub fn experiment_in(path: &Path) -> Option<String> {
    let label: Label = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    Some(label.experiment)
}

/// Describes an error in JSON, without the names of Rust types.
fn json_reason(error: &serde_json::Error) -> String {
    let reason = error.to_string();
    match reason.split_once("expected struct ") {
        Some((before, after)) => {
            let after = after.trim_start_matches(|char: char| char.is_alphanumeric() || char == '_');
            format!("{before}expected an object{after}")
        }
        None => reason,
    }
}

/// Upper bound of fractions in a result: above any time or rate, and its square is finite.
const LIMIT: f64 = 1e18;

/// The first number that is negative, or a fraction above [`LIMIT`], and its path.
fn invalid_number<'v>(value: &'v Value, place: &str) -> Option<(String, &'v Number)> {
    match value {
        Value::Number(number) => {
            let is_fraction = number.as_f64().is_some_and(|number| (0.0..=LIMIT).contains(&number));
            (!number.is_u64() && !is_fraction).then(|| (place.to_owned(), number))
        }
        Value::Array(values) => {
            let mut places = values.iter().enumerate();
            places.find_map(|(index, value)| invalid_number(value, &format!("{place}[{index}]")))
        }
        Value::Object(values) => {
            let dot = if place.is_empty() { "" } else { "." };
            values.iter().find_map(|(name, value)| invalid_number(value, &format!("{place}{dot}{name}")))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fmt;
    use std::num::NonZeroUsize;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// A number that is not zero.
    pub(crate) fn nonzero(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).expect("not zero")
    }

    /// A file in a directory of its own.
    pub(crate) fn file(content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        fs::write(&path, content).expect("a file");
        (directory, path)
    }

    /// Asserts that writing and reading a result does not change it.
    pub(crate) fn round_trips_through_its_file<E: Experiment + PartialEq + fmt::Debug>(result: &E) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("result.json");
        save(result, &path).expect("written");
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
        #[serde(default)]
        best: Option<Best>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Best {
        number: u64,
    }

    fn guess(number: u64) -> Guess {
        Guess { number, best: None }
    }

    impl Experiment for Guess {
        const NAME: &'static str = "guess";
        const VERSION: u32 = 2;

        fn heading(&self) -> String {
            "a guess".to_owned()
        }

        fn table(&self) -> ResultTable {
            let mut table = ResultTable::new(["number"]);
            table.push([self.number.to_string()]);
            table
        }

        fn notes(&self) -> Vec<String> {
            (0..self.number).map(|number| format!("Note {number}.")).collect()
        }
    }

    #[test]
    fn text_is_wrapped_to_the_width() {
        assert_eq!(guess(2).text_within(&guess(2).notes(), 80), guess(2).text(&guess(2).notes()));
        assert_eq!(guess(1).text_within(&guess(1).notes(), 6), "a\nguess\n\nnumber\n     1\n\nNote\n0.\n");
    }

    #[test]
    fn results_round_trip_through_their_files() {
        round_trips_through_its_file(&guess(7));
    }

    #[test]
    fn other_files_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        for (content, reason) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("1", "invalid type: integer `1`, expected an object at line 1 column 1"),
            ("[]", "invalid length 0, expected an object with 2 elements at line 1 column 2"),
            (
                "{\"experiment\": \"guess\", \"version\": 2, \"number\": 1, \"best\": true}",
                "invalid type: boolean `true`, expected an object",
            ),
            ("{\"experiment\": \"spin\", \"version\": 1}", "it is of 'spin'"),
            ("{\"experiment\": \"guess\", \"version\": 1}", "version 1 is not supported, only 2"),
            ("{\"experiment\": \"guess\", \"version\": 2}", "missing field `number`"),
            ("{\"experiment\": \"guess\", \"version\": 2, \"number\": -1}", "invalid number -1 at number"),
            (
                "{\"experiment\": \"guess\", \"version\": 2, \"a\": [0, {\"b\": 1e300}]}",
                "invalid number 1e+300 at a[1].b",
            ),
        ] {
            fs::write(&path, content).expect("a file");
            let error = read_json::<Guess>(&path).expect_err(content).to_string();
            assert_eq!(error, format!("{}: not a result of experiment 'guess': {reason}", path.display()));
        }
    }

    #[test]
    fn notes_follow_the_table() {
        assert_eq!(guess(0).text(&guess(0).notes()), "a guess\n\nnumber\n     0\n");
        assert_eq!(guess(2).text(&guess(2).notes()), "a guess\n\nnumber\n     2\n\nNote 0.\nNote 1.\n");
        assert_eq!(guess(1).markdown(), "a guess\n\n| number |\n| ---: |\n| 1 |\n\n- Note 0.\n");
    }
}
