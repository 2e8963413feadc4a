//! The file at which a limit on results ended a job.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::collected::Collected;
use crate::block::Source;

/// The end of a job with a limit on its results. Which later files were read depends on the number of workers.
#[derive(Debug)]
pub struct End {
    source: Source,
    /// All files in the order of the output, if that is not the order of their paths.
    files: Option<Collected>,
    /// The files after the end.
    after: OnceLock<HashSet<(usize, PathBuf)>>,
}

impl End {
    pub(super) fn new(source: Source, files: Option<Collected>) -> Self {
        Self { source, files, after: OnceLock::new() }
    }

    /// Whether a file is at or before the end, or a directory that is listed before. Members of one archive have no known order, so
    /// only the last of them counts.
    pub fn includes(&self, source: &Source) -> bool {
        let (rank, end) = (source.file_rank(), self.source.file_rank());
        if self.source.is_member() && rank == end {
            return *source == self.source;
        }
        let Some(files) = &self.files else { return rank <= end };
        let after = self.after.get_or_init(|| files.after(&self.source));
        rank.1.is_none_or(|path| !after.contains(&(rank.0, path.to_owned())))
    }
}
