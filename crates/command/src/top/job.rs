//! Jobs of `comb top` for callers in other languages, who give its flags by name.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use finecomb_scan::{Inputs, Problem, ScanOptions, Stop};
use finecomb_top::print::{Format, Layout, Text};
use finecomb_top::{Answer, Query, top};

use crate::advice::{Advised, on_temporary_file};
use crate::args::allowed;
use crate::args::allowed::{Allowed, first_of};
use crate::args::words::Words;
use crate::message;
use crate::top::args::Arguments;

/// Flags that decide what is counted, and of the number and the order of keys.
const FLAGS: Allowed = Allowed {
    groups: &["Input", "Key", "Filter", "Time", "Measures"],
    others: &[
        "number",
        "sort",
        "reverse",
        "min-count",
        "approx",
        "recount",
        "memory",
        "temporary-directory",
        "threads",
        "max-line",
        "block-size",
    ],
    excluded: &["tail", "merge", "plot"],
};

/// Flags of the number and the order of keys.
const OF_ANSWER: [&str; 4] = ["min-count", "number", "reverse", "sort"];

/// Flags of memory.
const OF_MEMORY: [&str; 4] = ["approx", "memory", "recount", "temporary-directory"];

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

/// The table of a count, as `comb top` prints it.
#[derive(Debug)]
pub struct Table {
    /// Its lines.
    pub text: Vec<u8>,
    /// Messages that the command would print about it.
    pub notes: Vec<String>,
    /// Problems with inputs.
    pub problems: Vec<Problem>,
}

/// Counts files, and returns a table with sums over all keys. `stop` ends the count early.
///
/// # Errors
/// If a flag or a value is invalid, or the count failed.
pub fn count_files(words: Words, paths: &[PathBuf], stop: &Arc<Stop>) -> Result<Table, String> {
    let job = TopJob(words.parse(paths)?);
    let (query, inputs, arguments) = (job.query()?, job.inputs(paths)?, &job.0);
    let outcome = top(&inputs, &arguments.scan().stop(Some(Arc::clone(stop))), &query);
    if let Some(reason) = outcome.failure {
        return Err(on_temporary_file(&reason));
    }
    let mut text = Vec::new();
    let format = Text { layout: Layout { totals: true, ..arguments.layout() }, ..Text::default() };
    format.write(&outcome.answer, &mut text).map_err(|error| error.to_string())?;
    let mut notes = message::left_out(&outcome.answer, arguments);
    notes.extend(message::absent_fields(&outcome.answer, arguments));
    Ok(Table { text, notes, problems: outcome.problems })
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
        FLAGS.check::<Arguments>(&flags)?;
        Words::new(flags).parse(&[]).map(Self)
    }

    /// The same for counts of all keys, which have no order.
    ///
    /// # Errors
    /// As [`TopJob::new`], and if a flag has no effect on such counts.
    pub fn of_counts(flags: Vec<OsString>) -> Result<Self, String> {
        if let Some(flag) = first_of::<Arguments>(&OF_ANSWER, &flags) {
            return Err(format!("--{flag}: selects and orders keys; give it to top() or first()"));
        }
        if let Some(flag) = first_of::<Arguments>(&OF_MEMORY, &flags) {
            return Err(format!("--{flag}: not available, as counts keep all keys in memory"));
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
        let query = Query::new(&options).map_err(|error| error.advised())?;
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

    /// Messages that the command would print on standard error.
    pub fn messages(&self, problems: &[Problem], answer: &Answer) -> Vec<String> {
        let mut messages = message::input_problems(problems);
        messages.extend(message::left_out(answer, &self.0));
        messages.extend(message::absent_fields(answer, &self.0));
        messages.extend(message::changed_inputs(answer).map(str::to_owned));
        messages
    }
}

/// The long name of a flag with the name or alias `name`. `None` if the command does not know it.
pub fn long_name(name: &str) -> Option<String> {
    allowed::long_name::<Arguments>(name)
}

/// Messages on problems with inputs, one for each reason why more than a window was read.
pub fn problem_messages(problems: &[Problem]) -> Vec<String> {
    message::input_problems(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(flag: &str) -> Option<String> {
        TopJob::new(vec![flag.into()]).err()
    }

    #[test]
    fn groups_and_flags_are_those_of_the_command() {
        FLAGS.check_names::<Arguments>();
        let known = |flag: &&str| long_name(flag).as_deref() == Some(*flag);
        assert!(OF_ANSWER.iter().chain(&OF_MEMORY).all(known));
    }

    #[test]
    fn flags_of_output_and_the_terminal_are_refused() {
        for flag in
            ["json", "format", "plot", "live", "listen", "tail", "partial", "save-counts", "merge", "help"]
        {
            assert_eq!(
                reason(&format!("--{flag}=x")),
                Some(format!("--{flag}: only the command has this flag"))
            );
        }
        assert_eq!(reason("--fields=7"), None);
        assert_eq!(reason("--min-count=2"), None);
    }

    #[test]
    fn counts_of_all_keys_have_no_order() {
        let reason = |flag: &str| TopJob::of_counts(vec![flag.into()]).err();
        let expected = "--number: selects and orders keys; give it to top() or first()";
        assert_eq!(reason("--number=3"), Some(expected.to_owned()));
        assert_eq!(
            reason("--approx"),
            Some("--approx: not available, as counts keep all keys in memory".to_owned())
        );
        assert_eq!(reason("--fields=7"), None);
    }
}
