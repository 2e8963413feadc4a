//! Jobs of `comb top` for callers in other languages, who give its flags by name.

use std::path::PathBuf;
use std::sync::Arc;

use finecomb_scan::{Inputs, Problem, ScanOptions, Stop};
use finecomb_top::print::{Format, Layout, Text};
use finecomb_top::{Answer, Query, top};

use crate::advice::{Advised, on_temporary_file};
use crate::args::named;
use crate::args::named::Named;
use crate::message;
use crate::top::args::TopArguments;
use crate::top::options::CountOptions;
use crate::top::options::definition::StoredDefinition;

/// Options of the number and the order of keys.
const OF_ANSWER: [&str; 5] = ["diff", "min-count", "number", "reverse", "sort"];

/// Options of memory.
const OF_MEMORY: [&str; 4] = ["approx", "memory", "recount", "temporary-directory"];

/// The table of a count, as `comb top` prints it.
#[derive(Debug)]
pub struct CountTable {
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
pub fn count_files(options: CountOptions, paths: &[PathBuf], stop: &Arc<Stop>) -> Result<CountTable, String> {
    let job = TopJob(options);
    let (query, inputs, options) = (job.query()?, job.inputs(paths)?, &job.0);
    let outcome = top(&inputs, &options.scan().stop(Some(Arc::clone(stop))), &query);
    if let Some(reason) = outcome.failure {
        return Err(on_temporary_file(&reason));
    }
    let mut text = Vec::new();
    let format = Text { layout: Layout { totals: true, ..Layout::default() }, ..Text::default() };
    format.write(&outcome.answer, &mut text).map_err(|error| error.to_string())?;
    let mut notes = message::left_out(&outcome.answer, options, false);
    notes.extend(message::absent_fields(&outcome.answer, options));
    notes.extend(job.reason_of_nothing(&outcome.problems, &outcome.answer));
    Ok(CountTable { text, notes, problems: outcome.problems })
}

/// A count as options describe it.
#[derive(Clone)]
pub struct TopJob(CountOptions);

impl TopJob {
    /// Reads options such as `fields`.
    ///
    /// # Errors
    /// If an option or a value is invalid, or it has no meaning without a terminal. The message is that of the command.
    pub fn new(options: Named) -> Result<Self, String> {
        CountOptions::named(options).map(Self)
    }

    /// The same for counts of all keys, which have no order.
    ///
    /// # Errors
    /// As [`TopJob::new`], and if an option has no effect on such counts.
    pub fn of_counts(options: Named) -> Result<Self, String> {
        let command = named::definition::<TopArguments>();
        let first_of = |names: &[&str]| {
            let mut longs = options.iter().filter_map(|(name, _)| named::find(&command, name)?.get_long());
            longs.find(|long| names.contains(long))
        };
        if let Some(flag) = first_of(&OF_ANSWER) {
            return Err(format!("--{flag}: selects and orders keys; give it to top() or first()"));
        }
        if let Some(flag) = first_of(&OF_MEMORY) {
            return Err(format!("--{flag}: not available, as counts keep all keys in memory"));
        }
        if options.iter().any(|(name, _)| name == "columns") {
            return Err("--columns: not available, as the columns depend on all records".to_owned());
        }
        Self::new(options)
    }

    /// Replaces relative times by absolute ones, so that the definition of the counts does not change any more.
    ///
    /// # Errors
    /// If options contradict each other.
    pub fn fix_definition(&mut self) -> Result<(), String> {
        self.0.fix_definition().map_err(|error| error.to_string())
    }

    /// The definition of the counts, whose times must be absolute. Counts of the same definition can be merged.
    pub fn definition(&self) -> StoredDefinition {
        StoredDefinition::new(&self.0.definition)
    }

    /// Replaces the definition.
    ///
    /// # Errors
    /// If it is none, or the job compares: counts of all keys do not know which side a record is on.
    pub fn define(&mut self, definition: &StoredDefinition) -> Result<(), String> {
        if self.0.diff.is_some() {
            return Err("--diff: not available for counts of all keys; compare files with top()".to_owned());
        }
        self.0.definition = definition.definition()?;
        Ok(())
    }

    /// Records, keys, measures and their order.
    ///
    /// # Errors
    /// If an expression is invalid, or an option is not used by the format of the records.
    pub fn query(&self) -> Result<Query, String> {
        let options = self.0.query(false).map_err(|error| error.to_string())?;
        let query = Query::new(&options).map_err(|error| error.advised())?;
        self.0.check_format(&query).map_err(|error| error.to_string())?;
        Ok(query)
    }

    /// Inputs at these paths, and how they are read.
    ///
    /// # Errors
    /// If a glob or a type of files is invalid.
    pub fn inputs(&self, paths: &[PathBuf]) -> Result<Inputs, String> {
        self.0.check_compared(paths).map_err(|error| error.to_string())?;
        let inputs = self.0.inputs(Vec::new()).map_err(|error| error.to_string())?;
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
        messages.extend(message::left_out(answer, &self.0, false));
        messages.extend(message::absent_fields(answer, &self.0));
        messages.extend(message::changed_inputs(answer).map(str::to_owned));
        messages
    }

    /// The message of the command that says why a whole count is empty.
    pub fn reason_of_nothing(&self, problems: &[Problem], answer: &Answer) -> Option<String> {
        // An input that could not be read may have had records.
        message::empty(answer, &self.0).filter(|_| problems.is_empty())
    }
}

/// The long name of a flag with the name or alias `name`. `None` if the command does not know it.
pub fn long_name(name: &str) -> Option<String> {
    named::long_name::<TopArguments>(name)
}

/// Messages on problems with inputs, one for each reason why more than a window was read.
pub fn problem_messages(problems: &[Problem]) -> Vec<String> {
    message::input_problems(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_keys_are_not_compared() {
        let mut job = TopJob::of_counts(Vec::new()).expect("no options");
        job.fix_definition().expect("no times");
        let definition = job.definition();
        let mut ordered = TopJob::new(vec![("diff".to_owned(), true.into())]).expect("an option");
        let refused = ordered.define(&definition).expect_err("an error");
        assert!(refused.starts_with("--diff: not available"), "{refused}");
    }

    fn named(name: &str) -> Named {
        vec![(name.to_owned(), "x".into())]
    }

    #[test]
    fn groups_of_options_are_flags_of_the_command() {
        let known = |flag: &&str| long_name(flag).as_deref() == Some(*flag);
        assert!(OF_ANSWER.iter().chain(&OF_MEMORY).all(known));
    }

    #[test]
    fn flags_of_output_and_the_terminal_are_refused() {
        for flag in "json format plot live listen tail partial save-counts merge help".split(' ') {
            let reason = TopJob::new(named(flag)).err();
            assert_eq!(reason, Some(format!("--{flag}: only the command has this flag")));
        }
        let valid = vec![("fields".to_owned(), 7.into()), ("min_count".to_owned(), 2.into())];
        assert!(TopJob::new(valid).is_ok());
    }

    #[test]
    fn counts_of_all_keys_have_no_order() {
        for (name, expected) in [
            ("number", Some("--number: selects and orders keys; give it to top() or first()")),
            ("min_count", Some("--min-count: selects and orders keys; give it to top() or first()")),
            ("columns", Some("--columns: not available, as the columns depend on all records")),
            ("approx", Some("--approx: not available, as counts keep all keys in memory")),
            ("fields", None),
        ] {
            assert_eq!(TopJob::of_counts(named(name)).err().as_deref(), expected);
        }
    }
}
