//! What there is to do, piece by piece.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::chain::Chain;
use super::plan::{Claim, Task};
use super::{FileName, Visit};
use crate::block::Source;
use crate::read::file::ChunkedFile;
use crate::read::stream::Stream;
use crate::stop::Stop;
use crate::walk::directory::{Directory, SortValue};

/// How many files are one task. More would cost less waiting for each other, but make output come later.
pub(crate) const FILES_PER_TASK: usize = 32;

/// A file that was found before any is read.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) argument: usize,
    /// None for standard input.
    pub(crate) path: Option<PathBuf>,
    /// Whether it was named, not found below a directory.
    pub(crate) named: bool,
    pub(crate) key: Option<SortValue>,
}

/// Something to do.
pub(crate) enum Job<V: Visit> {
    /// What was named by this number.
    Named(usize),
    /// A directory in a directory.
    Directory(Arc<Directory>, usize),
    /// Files in a directory.
    Files(Arc<Directory>, Range<usize>),
    /// Files that were found before.
    Listed(Range<usize>),
    /// What is left of a file that is read in chunks.
    Chunks(Arc<Shared<V>>, Arc<ChunkedFile>, u64),
    /// What is left of a stream.
    Stream(Box<Streamed<V>>),
}

/// Part of a job.
pub(crate) enum Work<V: Visit> {
    Named(usize),
    Directory(Arc<Directory>, usize),
    Files(Arc<Directory>, Range<usize>),
    Listed(Range<usize>),
    /// The chunk at an offset, which is the block of a number.
    Chunk(Arc<Shared<V>>, Arc<ChunkedFile>, u64, u64),
    /// The end of a file of so many blocks.
    End(Arc<Shared<V>>, u64),
    Stream(Box<Streamed<V>>),
}

/// A file that several workers have blocks of.
pub(crate) struct Shared<V: Visit> {
    pub(crate) source: Arc<Source>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) named: bool,
    /// Where what counts as the file begins in it.
    pub(crate) start: u64,
    /// Ends the waiting for more of a stream when nothing more of it is wanted.
    pub(crate) stop: Option<Arc<Stop>>,
    pub(crate) chain: Chain<V::Carry, V::Tally>,
}

/// What passes through the blocks of a file that one worker alone visits.
pub(crate) struct Passing<V: Visit> {
    pub(crate) carry: V::Carry,
    pub(crate) tally: V::Tally,
}

/// A stream, and how many blocks of it have been read.
pub(crate) struct Streamed<V: Visit> {
    pub(crate) shared: Arc<Shared<V>>,
    pub(crate) stream: Stream,
    pub(crate) blocks: u64,
}

impl<V: Visit> Shared<V> {
    pub(crate) fn file_name(&self) -> FileName<'_> {
        FileName { path: self.path.as_deref(), named: self.named }
    }
}

impl<V: Visit> Job<V> {
    /// Jobs to read files that were found before, by their numbers.
    pub(crate) fn listed(files: &[Collected]) -> Vec<Self> {
        let starts = (0..files.len()).step_by(FILES_PER_TASK);
        starts.map(|start| Self::Listed(start..files.len().min(start + FILES_PER_TASK))).collect()
    }
}

impl<V: Visit> Task for Job<V> {
    type Work = Work<V>;

    fn claim(self) -> Claim<Self, Work<V>> {
        match self {
            Self::Named(number) => Claim::Last(Work::Named(number)),
            Self::Directory(directory, entry) => Claim::Last(Work::Directory(directory, entry)),
            Self::Files(directory, entries) => Claim::Last(Work::Files(directory, entries)),
            Self::Listed(files) => Claim::Last(Work::Listed(files)),
            Self::Stream(stream) => Claim::Last(Work::Stream(stream)),
            Self::Chunks(shared, file, block) => {
                let chunk = if shared.chain.is_over() { None } else { file.claim() };
                match chunk {
                    None => Claim::Last(Work::End(shared, block)),
                    Some(chunk) => {
                        let work = Work::Chunk(Arc::clone(&shared), Arc::clone(&file), chunk, block);
                        Claim::Part(work, Self::Chunks(shared, file, block + 1))
                    }
                }
            }
        }
    }
}
