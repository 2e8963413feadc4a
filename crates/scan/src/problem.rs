//! Problems with inputs, collected into a short report in a deterministic order.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use finecomb_sys::io_reason;
use finecomb_sys::units::{ByteLimit, Bytes, Count, counted};
use thiserror::Error;

use crate::block::{Source, escaped};
use crate::recognize::Reason;
use crate::source::bounds::Bounds;
use crate::source::preprocess::Failed;

/// A problem with an input.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The file could not be opened.
    #[error("{}", io_reason(.0))]
    Open(io::Error),
    /// The directory could not be listed.
    #[error("cannot list directory: {}", io_reason(.0))]
    List(io::Error),
    /// A read failed at a byte.
    #[error("cannot read at byte {offset}: {}", io_reason(.error))]
    Read {
        /// Offset of the failed read.
        offset: u64,
        /// The error of the system.
        error: io::Error,
    },
    /// The file has become shorter than it was when it was opened.
    #[error(
        "file truncated while it was read: it had {}, now it ends at byte {found} or before",
        Bytes(*expected)
    )]
    Shrank {
        /// Size when the file was opened, in bytes.
        expected: u64,
        /// Offset at which a read reached the end of the file.
        found: u64,
    },
    /// A part of the file was read twice, and was another text the second time.
    #[error("changed while it was read: the counts of some keys may be too low")]
    Changed,
    /// A line is longer than the limit and was skipped.
    #[error(
        "skipped the line at byte {offset}: longer than {}",
        ByteLimit(*limit as u64)
    )]
    LineTooLong {
        /// Offset of the line.
        offset: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The process was started without standard input.
    #[error("closed; name a file, or redirect input from a file or a pipe")]
    Closed,
    /// The contents could not be decompressed or decoded past some byte, or a preprocessor failed.
    #[error("{}", undecoded(error))]
    Decode {
        /// The error of the decoder.
        error: io::Error,
    },
    /// The preprocessor of the file could not be started.
    #[error("cannot start the preprocessor {}: {}; skipped", program.display(), io_reason(error))]
    NotPreprocessed {
        /// The preprocessor.
        program: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A symbolic link points to one of its ancestor directories.
    #[error("symlink loop: points back to {}; skipped", .0.display())]
    Loop(PathBuf),
    /// An ignore rule is invalid and was left out. The result is complete without it.
    #[error("{0}")]
    Rule(String),
    /// The same, for a rule in a directory above the named one.
    #[error("{0}")]
    RuleAbove(String),
    /// The job cannot use the file, for this reason.
    #[error("{}", unusable(&.0.to_string()))]
    Unusable(Reason),
    /// More of the file was read than the part that was wanted, for this reason. The result is complete.
    #[error("read more than was wanted: {0}")]
    NotNarrowed(&'static str),
    /// The contents of the file contradict what the job was told about them.
    #[error("{0}")]
    Contradiction(String),
    /// The file leaves something open that the job assumed. The result is complete on this assumption.
    #[error("{0}")]
    Assumed(String),
    /// A followed file was truncated.
    #[error("{}", truncated(copy.as_deref()))]
    Truncated {
        /// A copy of its earlier contents, from which the rest was read.
        copy: Option<PathBuf>,
    },
    /// A named file is not there while inputs are followed.
    #[error("{}; waiting for it", io_reason(.0))]
    Awaited(io::Error),
    /// A file that appeared beside a followed one is not read, as its contents are the same so far.
    #[error("not read so far: its contents are those of {}", .0.display())]
    HeldBack(PathBuf),
    /// A file that appeared while others were followed is not read, for this reason.
    #[error("not read: {0}")]
    NotFollowed(&'static str),
    /// Inputs could not be opened for lack of descriptors, and are tried again.
    #[error("{}: {} not opened; trying again every second", io_reason(.error), counted(*number, "input"))]
    Refused {
        /// Number of files and directories.
        number: u64,
        /// The error of the system.
        error: io::Error,
    },
    /// All inputs that could not be opened are open now.
    #[error("all inputs are open again, and counted from their beginning")]
    Resumed,
    /// A number of files came and went, or lost the name by which they are followed, before they could be read.
    #[error("{} removed or renamed before being read; not counted", counted(*.0, "file"))]
    Vanished(u64),
    /// Reports of changes of followed directories were dropped.
    #[error("too many changes at once: files that came and went meanwhile may not have been counted")]
    Unreported,
    /// A number of files without a name are not followed to their end, as there are more than this number.
    #[error("more than {max} removed files: {} no longer followed", counted(*number, "file"))]
    Released {
        /// Number of files.
        number: u64,
        /// Maximum number of files without a name that are followed.
        max: usize,
    },
    /// The last record of a followed file has no end.
    #[error("the record at byte {offset} has no end yet; not counted")]
    Unfinished {
        /// Offset of the record.
        offset: u64,
    },
    /// The file is larger than a job takes as a whole, in bytes.
    #[error("larger than {}; skipped", ByteLimit(*.0 as u64))]
    TooLarge(usize),
    /// A member of an archive was skipped. The first one of them has the lowest number.
    #[error("{}: {fault}; skipped", member.path().map_or_else(String::new, escaped))]
    Member {
        /// Position among the members.
        number: u64,
        /// The member.
        member: Source,
        /// Reason why it cannot be read.
        fault: MemberFault,
    },
}

/// Reason why a member of an archive cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MemberFault {
    /// It is encrypted.
    #[error("encrypted")]
    Encrypted,
    /// The method of its compression, by its number in the zip format, is not supported.
    #[error("compressed by method {0}, which is not supported")]
    Compression(u16),
    /// A sparse member that claims more than this number of bytes.
    #[error("sparse, and larger than {}", ByteLimit(*.0))]
    Sparse(u64),
}

/// A message about a file whose decoding failed after its first part.
fn undecoded(error: &io::Error) -> String {
    match error.get_ref().is_some_and(|inner| inner.is::<Failed>()) {
        true => format!("preprocessor {error}; its output was read"),
        false => format!("cannot decode: {error}; the data before that was read"),
    }
}

/// A message about a truncated file.
fn truncated(copy: Option<&Path>) -> String {
    let rest = match copy {
        Some(copy) => format!("the rest was read from its copy {}", copy.display()),
        None => "records written shortly before that may be missing".to_owned(),
    };
    format!("truncated while it was followed; read again from its beginning; {rest}")
}

/// The reason why a file is skipped, which may end with a question.
fn unusable(reason: &str) -> String {
    if reason.ends_with('?') { format!("skipped: {reason}") } else { format!("{reason}; skipped") }
}

impl ProblemKind {
    /// Key for merging reports. One report is made per source and first number; within it the lowest offset is
    /// reported.
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
            Self::TooLarge(_) => (11, 0),
            Self::Unusable(_) => (12, 0),
            Self::NotNarrowed(_) => (13, 0),
            Self::Contradiction(_) => (14, 0),
            Self::Truncated { .. } => (15, 0),
            Self::Awaited(_) => (16, 0),
            Self::HeldBack(_) => (17, 0),
            Self::NotFollowed(_) => (18, 0),
            Self::Unfinished { offset } => (19, *offset),
            Self::Member { number, fault: MemberFault::Encrypted, .. } => (20, *number),
            Self::Member { number, .. } => (21, *number),
            Self::NotPreprocessed { .. } => (22, 0),
            Self::Changed => (23, 0),
            Self::Assumed(_) => (24, 0),
            Self::Refused { .. } => (25, 0),
            Self::Resumed => (26, 0),
            Self::Vanished(_) => (27, 0),
            Self::Unreported => (28, 0),
            Self::Released { .. } => (29, 0),
        }
    }
}

/// A problem and the source that it occurred in.
#[derive(Debug)]
pub struct Problem {
    /// The source.
    pub source: Source,
    /// The problem.
    pub kind: ProblemKind,
    /// Number of further problems of this kind in the source.
    pub more: u64,
}

impl Problem {
    /// Returns `true` if the result is complete despite the problem.
    pub fn is_harmless(&self) -> bool {
        matches!(self.kind, ProblemKind::Rule(_) | ProblemKind::RuleAbove(_)) || self.is_note()
    }

    /// Returns `true` if it is no fault of an input: more time was needed, or a followed input has changed.
    pub fn is_note(&self) -> bool {
        matches!(
            self.kind,
            ProblemKind::NotNarrowed(_)
                | ProblemKind::Assumed(_)
                | ProblemKind::Truncated { .. }
                | ProblemKind::Awaited(_)
                | ProblemKind::HeldBack(_)
                | ProblemKind::NotFollowed(_)
                | ProblemKind::Unfinished { .. }
                | ProblemKind::Resumed
                | ProblemKind::Unreported
                | ProblemKind::Released { .. }
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ProblemKind::Rule(text) | ProblemKind::RuleAbove(text) = &self.kind {
            f.write_str(text)?;
            return if self.more > 0 {
                write!(f, " (and {} more such rules)", Count(self.more))
            } else {
                Ok(())
            };
        }
        match &self.kind {
            // The path of the member begins with that of the archive.
            ProblemKind::Member { .. } => write!(f, "{}", self.kind)?,
            kind => write!(f, "{}: {kind}", self.source)?,
        }
        match (&self.kind, self.more) {
            (ProblemKind::Member { .. }, 1) => f.write_str(" (and 1 more such member)"),
            (ProblemKind::Member { .. }, 2..) => {
                write!(f, " (and {} more such members)", Count(self.more))
            }
            (ProblemKind::LineTooLong { .. }, 1) => f.write_str(" (and 1 more such line)"),
            (ProblemKind::LineTooLong { .. }, 2..) => {
                write!(f, " (and {} more such lines)", Count(self.more))
            }
            _ => Ok(()),
        }
    }
}

/// Problems found so far: the first one of each source and kind, and the number of further ones.
///
/// Merging is associative and commutative, as for every part of a result.
#[derive(Debug, Default)]
pub struct Problems(BTreeMap<(Source, u8), Problem>);

impl Problems {
    /// Records a problem.
    pub(crate) fn add(&mut self, source: &Source, kind: ProblemKind) {
        self.record(Problem { source: source.clone(), kind, more: 0 });
    }

    /// Records that a line was skipped.
    pub(crate) fn add_long_line(&mut self, source: &Source, offset: u64, bounds: &Bounds) {
        self.add(source, ProblemKind::LineTooLong { offset, limit: bounds.max_line });
    }

    /// Records problems with rules that belong to no input.
    pub(crate) fn add_rules(&mut self, messages: Vec<String>) {
        for (number, message) in messages.into_iter().enumerate() {
            self.add(&Source::named(number, None), ProblemKind::Rule(message));
        }
    }

    fn record(&mut self, mut new: Problem) {
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

    /// Merges the problems that another worker found.
    pub(crate) fn merge(&mut self, other: Self) {
        for problem in other.0.into_values() {
            self.record(problem);
        }
    }

    /// The problems in the order of their sources.
    pub fn into_sorted(self) -> impl Iterator<Item = Problem> {
        self.0.into_values()
    }

    /// Returns `true` if there are no problems.
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
    fn each_kind_is_reported_once_per_source_with_its_lowest_offset() {
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
                "a.log: closed; name a file, or redirect input from a file or a pipe",
                "a.log: skipped the line at byte 20: longer than 10 bytes (and 2 more such lines)",
            ]
        );
    }

    #[test]
    fn lines_that_were_left_out_are_counted_in_words() {
        let source = Source::named(0, Some("a.log".into()));
        let shown = |more| Problem { source: source.clone(), kind: too_long(20), more }.to_string();
        assert!(shown(0).ends_with("longer than 10 bytes"));
        assert!(shown(1).ends_with("longer than 10 bytes (and 1 more such line)"));
        assert!(shown(2).ends_with("longer than 10 bytes (and 2 more such lines)"));
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
