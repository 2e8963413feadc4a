//! What went wrong with inputs, gathered so that a report is short and always in the same order.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use thiserror::Error;

use crate::block::Source;

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
        }
    }
}

/// The system's words for an error, without its number.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

/// A source and what went wrong with it.
#[derive(Debug)]
pub struct Problem {
    /// The source.
    pub source: Arc<Source>,
    /// What went wrong.
    pub kind: ProblemKind,
    /// How many more of this kind the source had.
    pub more: u64,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
pub struct Problems(BTreeMap<(Arc<Source>, u8), Problem>);

impl Problems {
    /// Notes a problem.
    pub(crate) fn add(&mut self, source: &Arc<Source>, kind: ProblemKind) {
        self.note(Problem { source: Arc::clone(source), kind, more: 0 });
    }

    fn note(&mut self, mut new: Problem) {
        let key = (Arc::clone(&new.source), new.kind.rank().0);
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
        let source = Source::new(0, Some("a.log".into()));
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
    fn reasons_are_without_numbers() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(io_reason(&error), "No such file or directory");
        assert_eq!(io_reason(&io::Error::other("odd")), "odd");
    }
}
