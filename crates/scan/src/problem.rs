//! What went wrong with inputs, gathered so that a report is short and always in the same order.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use finecomb_sys::io_reason;
use thiserror::Error;

use crate::block::Source;
use crate::options::Bounds;

/// What can go wrong with an input.
#[derive(Debug, Error)]
pub enum ProblemKind {
    /// The file could not be opened.
    #[error("{}", io_reason(.0))]
    Open(io::Error),
    /// The directory could not be listed.
    #[error("cannot list the directory: {}", io_reason(.0))]
    List(io::Error),
    /// A read failed at a byte.
    #[error("cannot read at byte {offset}: {}", io_reason(.error))]
    Read {
        /// Bytes before the ones asked for.
        offset: u64,
        /// What the system said.
        error: io::Error,
    },
    /// The file has become shorter than it was when it was opened.
    #[error(
        "the file shrank while it was read: it had {expected} bytes, now it ends at byte {found} or before"
    )]
    Shrank {
        /// Its size when it was opened, in bytes.
        expected: u64,
        /// Where a read came to its end.
        found: u64,
    },
    /// A line is longer than the limit and was left out.
    #[error(
        "the line at byte {offset} is longer than {limit} bytes and was left out; --max-line sets the limit"
    )]
    LineTooLong {
        /// Bytes before the line.
        offset: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The process was started without standard input.
    #[error("is closed; name a file or connect something to it")]
    Closed,
    /// The contents could not be decompressed or decoded from a byte on.
    #[error("cannot decode: {error}; what comes before was read")]
    Decode {
        /// What is wrong with them.
        error: io::Error,
    },
    /// A symbolic link leads to a directory above it.
    #[error("symlink loop: points back to {}; skipped", .0.display())]
    Loop(PathBuf),
    /// A rule about which files to pass over is wrong and was left out. The answer is complete without it.
    #[error("{0}")]
    Rule(String),
    /// The same of a rule in a directory above the named one.
    #[error("{0}")]
    RuleAbove(String),
    /// The file is compressed in a form that cannot be read.
    #[error("is compressed by {0}, which comb does not read; decompress it first")]
    Compressed(&'static str),
}

impl ProblemKind {
    /// Kinds of which one report per source is enough share a number; within it the lowest offset is reported.
    fn rank(&self) -> (u8, u64) {
        match self {
            Self::Open(_) => (0, 0),
            Self::Closed => (1, 0),
            Self::List(_) => (2, 0),
            Self::Read { offset, .. } => (3, *offset),
            Self::Shrank { found, .. } => (4, *found),
            Self::LineTooLong { offset, .. } => (5, *offset),
            Self::Decode { .. } => (6, 0),
            Self::Loop(_) => (7, 0),
            Self::Rule(_) => (8, 0),
            Self::RuleAbove(_) => (9, 0),
            Self::Compressed(_) => (10, 0),
        }
    }
}

/// A source and what went wrong with it.
#[derive(Debug)]
pub struct Problem {
    /// The source.
    pub source: Source,
    /// What went wrong.
    pub kind: ProblemKind,
    /// How many more of this kind the source had.
    pub more: u64,
}

impl Problem {
    /// Whether the answer is complete all the same.
    pub fn is_harmless(&self) -> bool {
        matches!(self.kind, ProblemKind::Rule(_) | ProblemKind::RuleAbove(_))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ProblemKind::Rule(text) | ProblemKind::RuleAbove(text) = &self.kind {
            f.write_str(text)?;
            return if self.more > 0 { write!(f, " (and {} more such rules)", self.more) } else { Ok(()) };
        }
        write!(f, "{}: {}", self.source, self.kind)?;
        match (&self.kind, self.more) {
            (ProblemKind::LineTooLong { .. }, 1) => f.write_str(" (and 1 more such line)"),
            (ProblemKind::LineTooLong { .. }, 2..) => write!(f, " (and {} more such lines)", self.more),
            _ => Ok(()),
        }
    }
}

/// Problems met so far: for each source and kind the first one, and how many more there were.
///
/// Joining is associative and commutative, as for every part of an answer.
#[derive(Debug, Default)]
pub struct Problems(BTreeMap<(Source, u8), Problem>);

impl Problems {
    /// Notes a problem.
    pub(crate) fn add(&mut self, source: &Source, kind: ProblemKind) {
        self.note(Problem { source: source.clone(), kind, more: 0 });
    }

    /// Notes that a line was left out.
    pub(crate) fn add_long_line(&mut self, source: &Source, offset: u64, bounds: Bounds) {
        self.add(source, ProblemKind::LineTooLong { offset, limit: bounds.max_line });
    }

    /// Notes what is wrong with rules that belong to no input.
    pub(crate) fn add_rules(&mut self, notes: Vec<String>) {
        for (number, note) in notes.into_iter().enumerate() {
            self.add(&Source::named(number, None), ProblemKind::Rule(note));
        }
    }

    fn note(&mut self, mut new: Problem) {
        let key = (new.source.clone(), new.kind.rank().0);
        let Some(known) = self.0.get_mut(&key) else {
            self.0.insert(key, new);
            return;
        };
        let more = known.more + new.more + 1;
        if new.kind.rank() < known.kind.rank() {
            std::mem::swap(known, &mut new);
        }
        known.more = more;
    }

    /// Joins what another worker met.
    pub(crate) fn merge(&mut self, other: Self) {
        for problem in other.0.into_values() {
            self.note(problem);
        }
    }

    /// The problems in the order of their sources.
    pub fn into_sorted(self) -> impl Iterator<Item = Problem> {
        self.0.into_values()
    }

    /// Whether all went well.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn too_long(offset: u64) -> ProblemKind {
        ProblemKind::LineTooLong { offset, limit: 10 }
    }

    #[test]
    fn a_source_is_reported_once_for_each_kind_by_its_first_place() {
        let source = Source::named(0, Some("a.log".into()));
        let mut one = Problems::default();
        one.add(&source, too_long(70));
        one.add(&source, too_long(900));
        let mut two = Problems::default();
        two.add(&source, too_long(20));
        two.add(&source, ProblemKind::Closed);
        one.merge(two);
        let shown: Vec<String> = one.into_sorted().map(|problem| problem.to_string()).collect();
        assert_eq!(
            shown,
            [
                "a.log: is closed; name a file or connect something to it",
                "a.log: the line at byte 20 is longer than 10 bytes and was left out; --max-line sets the limit \
                 (and 2 more such lines)",
            ]
        );
    }

    #[test]
    fn lines_that_were_left_out_are_counted_in_words() {
        let source = Source::named(0, Some("a.log".into()));
        let shown = |more| Problem { source: source.clone(), kind: too_long(20), more }.to_string();
        assert!(shown(0).ends_with("sets the limit"));
        assert!(shown(1).ends_with("sets the limit (and 1 more such line)"));
        assert!(shown(2).ends_with("sets the limit (and 2 more such lines)"));
    }

    #[test]
    fn wrong_rules_are_reported_and_leave_the_answer_complete() {
        let mut problems = Problems::default();
        problems.add_rules(vec!["one".to_owned(), "two".to_owned()]);
        problems.add(&Source::named(2, None), ProblemKind::RuleAbove("three".to_owned()));
        let problems: Vec<Problem> = problems.into_sorted().collect();
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert!(problems.iter().all(Problem::is_harmless));
        assert!(!Problem { source: Source::named(0, None), kind: too_long(1), more: 0 }.is_harmless());
    }
}
