//! The descriptors of the followed files, which the system limits.
//!
//! Some are left to list directories. Files that cannot be opened now are tried again.

use std::collections::BTreeMap;
use std::io;
use std::mem;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::block::Source;
use crate::problem::{ProblemKind, Problems};

/// Maximum number of files without a name that are followed.
const MAX_NAMELESS: usize = 64;

/// Descriptors that are not used for followed files.
const RESERVED: usize = 16;

/// The limit of open files, and the inputs that it kept from being opened.
pub(super) struct Descriptors {
    /// Maximum number of followed files.
    most: usize,
    /// Maximum number of followed files without a name: they must not keep others from being opened.
    most_nameless: usize,
    /// Number of files or directories that the present search could not open, and the error, by the number of the named input.
    refused: BTreeMap<usize, (u64, io::Error)>,
    /// The same inputs of the last search.
    reported: BTreeMap<usize, Source>,
}

impl Descriptors {
    /// Raises the limit to the maximum of the system.
    pub(super) fn new() -> Self {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        // With the limit as it is, fewer files are opened, which is reported.
        let is_raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
        let limit = if is_raised { maximum } else { current };
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        Self::of(limit - RESERVED.min(limit / 2), MAX_NAMELESS.min(limit / 4))
    }

    pub(super) fn of(most: usize, most_nameless: usize) -> Self {
        Self { most, most_nameless, refused: BTreeMap::new(), reported: BTreeMap::new() }
    }

    #[cfg(test)]
    pub(super) fn raise(&mut self, most: usize) {
        self.most = most;
    }

    /// Maximum number of files without a name that are followed.
    pub(super) fn max_nameless(&self) -> usize {
        self.most_nameless
    }

    /// Checks that another file may be opened, in addition to `open` ones.
    ///
    /// # Errors
    /// The error of the system if there was no descriptor left.
    pub(super) fn check(&self, open: usize) -> io::Result<()> {
        if open < self.most { Ok(()) } else { Err(Errno::MFILE.into()) }
    }

    /// Whether an error says that no descriptor is left.
    pub(super) fn are_missing(error: &io::Error) -> bool {
        matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
    }

    /// Records that a file or directory of an input could not be opened for lack of descriptors.
    pub(super) fn refuse(&mut self, input: usize, error: io::Error) {
        self.refused.entry(input).or_insert((0, error)).0 += 1;
    }

    /// Whether files are to be tried again.
    pub(super) fn must_retry(&self) -> bool {
        !self.reported.is_empty()
    }

    /// Ends a search: reports the inputs with something that could not be opened, and those that are open again. `source` is that of an input.
    /// Returns whether all could be opened.
    pub(super) fn end_search(&mut self, source: impl Fn(usize) -> Source, problems: &mut Problems) -> bool {
        let before = mem::take(&mut self.reported);
        for (input, (number, error)) in mem::take(&mut self.refused) {
            if !before.contains_key(&input) {
                problems.add(&source(input), ProblemKind::Refused { number, error });
            }
            self.reported.insert(input, source(input));
        }
        for source in before.into_iter().filter(|(input, _)| !self.reported.contains_key(input)) {
            problems.add(&source.1, ProblemKind::Resumed);
        }
        self.reported.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_and_the_end_of_a_shortage_are_reported_once() {
        let mut descriptors = Descriptors::of(48, 16);
        assert!(descriptors.check(47).is_ok());
        let mut search = |refused: u64| {
            for _ in 0..refused {
                let error = descriptors.check(48).unwrap_err();
                assert!(Descriptors::are_missing(&error));
                descriptors.refuse(0, error);
            }
            let mut problems = Problems::default();
            let source = |number| Source::named(number, Some("logs".into()));
            assert_eq!(descriptors.end_search(source, &mut problems), refused == 0);
            problems.into_sorted().map(|problem| problem.to_string()).collect::<Vec<_>>()
        };
        let refused = "logs: too many open files: 3 inputs not opened; trying again every second";
        let resumed = "logs: all inputs are open again, and counted from their beginning";
        let none: [&str; 0] = [];
        assert_eq!(search(0), none);
        assert_eq!(search(3), [refused]);
        assert_eq!(search(2), none);
        assert_eq!(search(0), [resumed]);
        assert_eq!(search(0), none);
    }
}
