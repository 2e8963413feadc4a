//! Faults of a job with its inputs, for callers other than the command line.

use finecomb_scan::Problem;

use crate::advice::on_failure;
use crate::message::problem_texts;

/// Faults with inputs and indexes that did not end the job.
#[derive(Debug)]
pub struct Faults {
    /// Problems with inputs, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Files that were not processed as a whole: path and reason.
    pub failures: Vec<(String, String)>,
    /// Messages on indexes that are required and were not used.
    pub missing_indexes: Vec<String>,
    /// Notes on files whose results may be incomplete.
    pub notes: Vec<String>,
}

/// Messages on problems with inputs, as `comb grep` prints them.
pub fn problem_messages(problems: &[Problem]) -> Vec<String> {
    problem_texts(problems)
}

impl Faults {
    /// Messages that the command would print on standard error.
    pub fn messages(&self) -> Vec<String> {
        let failures = self.failures.iter().map(on_failure);
        let messages =
            self.missing_indexes.iter().cloned().chain(problem_texts(&self.problems)).chain(failures);
        messages.chain(self.notes.iter().cloned()).collect()
    }
}
