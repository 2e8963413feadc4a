//! Jobs of `comb top` for callers in other languages, who give its flags by name.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use finecomb_scan::{Inputs, ScanOptions};
use finecomb_top::{Answer, Query};

use crate::args::top::Arguments;
use crate::args::words::Words;
use crate::message;

/// Flags of output, of what is shown on a terminal, and of files of counts.
const ONLY_COMMAND: [&str; 19] = [
    "--allow-host",
    "--bars",
    "--cumulative",
    "--format",
    "--json",
    "--listen",
    "--live",
    "--merge",
    "--partial",
    "--percent",
    "--plot",
    "--profile",
    "--profile-output",
    "--sample",
    "--save-counts",
    "--tail",
    "--totals",
    "--help",
    "--version",
];

/// Flags of the number and the order of keys.
const OF_ANSWER: [&str; 4] = ["--min-count", "--number", "--reverse", "--sort"];

/// Flags of memory.
const OF_MEMORY: [&str; 4] = ["--approx", "--memory", "--recount", "--temporary-directory"];

/// The first of these flags in a command line.
fn first_of<'f>(flags: &[&'f str], words: &[OsString]) -> Option<&'f str> {
    let is = |flag: &str, word: &OsString| word.to_string_lossy().split('=').next() == Some(flag);
    words.iter().find_map(|word| flags.iter().copied().find(|flag| is(flag, word)))
}

/// The flags that decide what counts count.
#[derive(Clone, PartialEq, Eq)]
pub struct Definition(Words);

impl Definition {
    /// The definition in stored counts.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Words::from_bytes(bytes))
    }

    /// The form in stored counts.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }
}

/// The flags, as a shell reads them.
impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A count as flags of `comb top` describe it.
#[derive(Clone)]
pub struct TopJob(Arguments);

impl TopJob {
    /// Parses flags such as `--fields=7`.
    ///
    /// # Errors
    /// If a flag or a value is invalid, or the flag has no meaning without a terminal. The message is that of the command.
    pub fn new(flags: Vec<OsString>) -> Result<Self, String> {
        if let Some(flag) = first_of(&ONLY_COMMAND, &flags) {
            return Err(format!("{flag}: only the command has this flag"));
        }
        Words::new(flags).parse(&[]).map(Self)
    }

    /// The same for counts of all keys, which have no order.
    ///
    /// # Errors
    /// As [`TopJob::new`], and if a flag has no effect on such counts.
    pub fn of_counts(flags: Vec<OsString>) -> Result<Self, String> {
        if let Some(flag) = first_of(&OF_ANSWER, &flags) {
            return Err(format!("{flag}: a flag of what is printed of counts, not of counts"));
        }
        if let Some(flag) = first_of(&OF_MEMORY, &flags) {
            return Err(format!("{flag}: counts are in memory"));
        }
        Self::new(flags)
    }

    /// Replaces relative times by absolute ones, so that the definition of the counts does not change any more.
    ///
    /// # Errors
    /// If flags contradict each other.
    pub fn fix_definition(&mut self) -> Result<(), String> {
        self.0.fix_definition()
    }

    /// The definition of the counts: the flags that decide what is counted. Counts of the same definition can be merged.
    ///
    /// # Errors
    /// If flags contradict each other.
    pub fn definition(&self) -> Result<Definition, String> {
        self.0.definition().map(Definition).map_err(|error| error.to_string())
    }

    /// Replaces the definition.
    ///
    /// # Errors
    /// If it is none.
    pub fn define(&mut self, definition: &Definition) -> Result<(), String> {
        self.0.define(&definition.0)
    }

    /// Records, keys, measures and their order.
    ///
    /// # Errors
    /// If an expression is invalid, or a flag is not used by the format of the records.
    pub fn query(&self) -> Result<Query, String> {
        let options = self.0.query().map_err(|error| error.to_string())?;
        let query = Query::new(&options).map_err(|error| error.to_string())?;
        self.0.check_format(&query).map_err(|error| error.to_string())?;
        Ok(query)
    }

    /// Inputs at these paths, and how they are read.
    ///
    /// # Errors
    /// If a glob or a type of files is invalid.
    pub fn inputs(&self, paths: &[PathBuf]) -> Result<Inputs, String> {
        let inputs = self.0.inputs().map_err(|error| error.to_string())?;
        let inputs = Inputs { named: paths.to_vec(), ..inputs };
        self.0.approx.check_inputs(&inputs).map_err(|error| error.to_string())?;
        Ok(inputs)
    }

    /// Threads and sizes of blocks.
    pub fn scan(&self) -> ScanOptions<'static> {
        self.0.scan()
    }

    /// Messages on what was left out of an answer.
    pub fn notes(&self, answer: &Answer) -> Vec<String> {
        let mut notes = message::left_out(answer, &self.0);
        notes.extend(message::absent_fields(answer, &self.0));
        notes
    }
}
