//! Records of several lines, as typed: `time`, `indent`, or a regular expression.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use finecomb_scan::{JudgeLine, LineRole, RecordStart};

use crate::key::expression::{Case, PatternError, parse};
use crate::time::begins_with_time;

/// The lines that begin a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordBegin {
    /// Lines that begin with a time, also after an opening bracket or a level such as `ERROR`.
    Time,
    /// All lines except indented and empty ones, `Caused by:`, `... 12 more`, and tracebacks of Python.
    Indent,
    /// Lines that a regular expression matches.
    Regex(String),
}

impl RecordBegin {
    /// The rule.
    ///
    /// # Errors
    /// Returns an error if the expression is invalid or too large.
    pub fn start(&self) -> Result<RecordStart, PatternError> {
        Ok(match self {
            Self::Time => RecordStart::new(TimeLines),
            Self::Indent => RecordStart::indent(),
            Self::Regex(pattern) => {
                parse(pattern, Case::Distinct)?;
                RecordStart::regex(pattern)?
            }
        })
    }
}

/// Any text is a rule: one that has no name is an expression.
impl FromStr for RecordBegin {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "time" => Self::Time,
            "indent" => Self::Indent,
            pattern => Self::Regex(pattern.to_owned()),
        })
    }
}

/// The rule as typed.
impl fmt::Display for RecordBegin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time",
            Self::Indent => "indent",
            Self::Regex(pattern) => pattern,
        })
    }
}

#[derive(Debug)]
struct TimeLines;

impl JudgeLine for TimeLines {
    fn role(&self, line: &[u8]) -> LineRole {
        if begins_with_time(line) { LineRole::Begins } else { LineRole::Continues }
    }
}
