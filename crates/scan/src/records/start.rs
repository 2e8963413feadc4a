//! Rules that say which lines begin a record.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::Arc;

use memchr::memmem::Finder;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::util::syntax;

use super::started::JUDGED;

/// Role of a line in the division of a text into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRole {
    /// It begins a record.
    Begins,
    /// It belongs to the record before it.
    Continues,
    /// It belongs to the record before it, and so does the next line that would begin one, such as the exception after a traceback.
    Opens,
}

/// Judges lines one by one.
pub trait JudgeLine: fmt::Debug + Send + Sync + RefUnwindSafe {
    /// Role of a line, which is without its terminator (`\n` or `\r\n`). Only the first 64 KiB of a longer line are known.
    fn role(&self, line: &[u8]) -> LineRole;

    /// Whether a line may be one that [`LineRole::Opens`].
    fn may_open(&self) -> bool {
        false
    }

    /// Whether a text may have such a line.
    fn may_open_in(&self, _text: &[u8]) -> bool {
        self.may_open()
    }
}

/// Says which lines begin a record. The lines before the first one in a text are a record of their own.
#[derive(Clone, Debug)]
pub struct RecordStart(Arc<dyn JudgeLine>);

impl RecordStart {
    /// A rule of the caller.
    pub fn new(rule: impl JudgeLine + 'static) -> Self {
        Self(Arc::new(rule))
    }

    /// Every line begins a record except those that programs write below a message: empty lines, those that begin with white space,
    /// `Caused by:` or `... 12 more`, and the lines of a Python traceback, up to that of the exception.
    pub fn indent() -> Self {
        Self::new(Indent(Finder::new(TRACEBACK)))
    }

    /// A line that the expression matches begins a record. It need not be UTF-8.
    ///
    /// # Errors
    /// Returns an error if the expression is invalid or too large.
    pub fn regex(pattern: &str) -> Result<Self, Box<BuildError>> {
        let syntax = syntax::Config::new().utf8(false);
        let regex = Regex::builder().syntax(syntax).build(pattern).map_err(Box::new)?;
        Ok(Self::new(Matching(regex)))
    }

    /// Role of a line without its terminator.
    pub fn role(&self, line: &[u8]) -> LineRole {
        self.0.role(line)
    }

    /// Role of the line that these bytes begin with, without `line_end`. A long line is judged by its beginning.
    pub fn role_before(&self, line_end: u8, line: &[u8]) -> LineRole {
        let line = &line[..line.len().min(JUDGED)];
        self.role(if line_end == b'\n' { line.strip_suffix(b"\r").unwrap_or(line) } else { line })
    }

    /// Whether a line may be one that [`LineRole::Opens`].
    pub fn may_open(&self) -> bool {
        self.0.may_open()
    }

    /// Whether a text may have a line that [`LineRole::Opens`]. It is searched, which is faster than a look at each line.
    pub fn may_open_in(&self, text: &[u8]) -> bool {
        self.0.may_open_in(text)
    }
}

/// Rules are equal if they are the same.
impl PartialEq for RecordStart {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for RecordStart {}

#[derive(Debug)]
struct Indent(Finder<'static>);

/// Line with which Python begins a traceback.
const TRACEBACK: &[u8] = b"Traceback (most recent call last):";

/// Lines that Python writes between the tracebacks of exceptions that led to each other.
const BETWEEN_TRACEBACKS: [&[u8]; 2] = [
    b"During handling of the above exception, another exception occurred:",
    b"The above exception was the direct cause of the following exception:",
];

impl JudgeLine for Indent {
    fn role(&self, line: &[u8]) -> LineRole {
        match line.first() {
            None => LineRole::Continues,
            Some(first) if first.is_ascii_whitespace() => LineRole::Continues,
            Some(b'C') if line.starts_with(b"Caused by:") => LineRole::Continues,
            Some(b'.') if is_omission(line) => LineRole::Continues,
            Some(b'T') if line == TRACEBACK => LineRole::Opens,
            Some(b'D' | b'T') if BETWEEN_TRACEBACKS.contains(&line) => LineRole::Continues,
            Some(_) => LineRole::Begins,
        }
    }

    fn may_open(&self) -> bool {
        true
    }

    fn may_open_in(&self, text: &[u8]) -> bool {
        self.0.find(text).is_some()
    }
}

/// Whether a line is `... 12 more`, which Java writes in place of stack frames that are in the trace before.
fn is_omission(line: &[u8]) -> bool {
    let number = line.strip_prefix(b"... ").and_then(|rest| rest.strip_suffix(b" more"));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[derive(Debug)]
struct Matching(Regex);

impl JudgeLine for Matching {
    fn role(&self, line: &[u8]) -> LineRole {
        if self.0.is_match(line) { LineRole::Begins } else { LineRole::Continues }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_below_a_message_continue_its_record() {
        let start = RecordStart::indent();
        for (line, role) in [
            ("", LineRole::Continues),
            (" a", LineRole::Continues),
            ("\tat a.b.C(C.java:1)", LineRole::Continues),
            ("\u{b}a", LineRole::Begins),
            ("Caused by: a.b.C", LineRole::Continues),
            ("Caused by", LineRole::Begins),
            ("... 12 more", LineRole::Continues),
            ("...  more", LineRole::Begins),
            ("... x more", LineRole::Begins),
            ("Traceback (most recent call last):", LineRole::Opens),
            ("Traceback", LineRole::Begins),
            ("During handling of the above exception, another exception occurred:", LineRole::Continues),
            ("The above exception was the direct cause of the following exception:", LineRole::Continues),
            ("The end", LineRole::Begins),
            ("a", LineRole::Begins),
        ] {
            assert_eq!(start.role(line.as_bytes()), role, "{line:?}");
        }
    }

    #[test]
    fn a_text_without_the_first_line_of_a_traceback_opens_nothing() {
        let indent = RecordStart::indent();
        assert!(indent.may_open_in(b"a\nTraceback (most recent call last):\n"));
        assert!(!indent.may_open_in(b"a\nTraceback\n"));
        assert!(!RecordStart::regex("a").expect("a valid expression").may_open_in(b"a\n"));
    }

    #[test]
    fn a_line_that_matches_begins_a_record() {
        let start = RecordStart::regex("^[0-9]+ ").expect("a valid expression");
        assert_eq!(start.role(b"12 a"), LineRole::Begins);
        assert_eq!(start.role(b"a 12 "), LineRole::Continues);
        assert!(RecordStart::regex("(").is_err());
    }
}
