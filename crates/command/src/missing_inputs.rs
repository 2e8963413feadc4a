//! Named inputs that do not exist. They are reported before a job prints anything, as its output may be long.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use finecomb_scan::{Problem, ProblemKind, Source};
use finecomb_sys::io_reason;

use crate::message;
use crate::program::Program;

/// Named inputs that have been reported.
#[derive(Debug, Default)]
pub(crate) struct MissingInputs(Vec<PathBuf>);

impl MissingInputs {
    /// Reports the inputs that do not exist. `advice` says what may be meant by a word: a name without a slash or a dot.
    pub(crate) fn report(named: &[PathBuf], advice: impl Fn(&str) -> String) -> Self {
        let mut missing = Vec::new();
        for path in named.iter().filter(|path| **path != Path::new("-")) {
            let Err(error) = path.metadata() else { continue };
            // A link to nothing is reported by the job, as are files that vanish later.
            if error.kind() != ErrorKind::NotFound || path.is_symlink() {
                continue;
            }
            let (source, reason) = (Source::named(0, Some(path.clone())), io_reason(&error));
            let is_comb = Program::current() == Program::Comb;
            match path.to_str().filter(|name| is_comb && !name.contains(['/', '.'])) {
                Some(word) => message::error(format_args!("{source}: {reason}; {}", advice(word))),
                None => message::error(format_args!("{source}: {reason}")),
            }
            missing.push(path.clone());
        }
        Self(missing)
    }

    /// The problems that have not been reported.
    pub(crate) fn others<'p>(&self, problems: &'p [Problem]) -> impl Iterator<Item = &'p Problem> {
        problems.iter().filter(|problem| {
            let is_open =
                matches!(&problem.kind, ProblemKind::Open(error) if error.kind() == ErrorKind::NotFound);
            let path = problem.source.path();
            !(is_open && self.0.iter().any(|missing| Some(missing.as_path()) == path))
        })
    }
}
