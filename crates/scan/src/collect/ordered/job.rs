//! What there is to do in a job whose output is in order, piece by piece.

use std::ops::Range;
use std::sync::Arc;

use super::Visit;
use super::chain::Chain;
use crate::block::Source;
use crate::inputs::Inputs;
use crate::schedule::plan::{Claim, Divisible};
use crate::schedule::task::{FILES_PER_TASK, Task};
use crate::source::stream::Stream;
use crate::source::{Chunks, NulEnds};
use crate::stop::Stop;
use crate::walk::directory::SortValue;

/// A file that was found before any is read.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) source: Source,
    pub(crate) key: Option<SortValue>,
}

/// Something to do.
pub(crate) enum Job<V: Visit> {
    Open(Task),
    /// Files that were found before, by their numbers.
    Listed(Range<usize>),
    /// The rest of a file that is read in chunks, from the block of this number on.
    Chunks(Arc<Shared<V>>, Arc<Chunks>, u64),
    /// The rest of a stream.
    Stream(Box<Streamed<V>>),
}

/// Part of a job.
pub(crate) enum Work<V: Visit> {
    Open(Task),
    Listed(Range<usize>),
    /// The chunk at an offset, which is the block of a number.
    Chunk(Arc<Shared<V>>, Arc<Chunks>, u64, u64),
    /// The end of a file of so many blocks.
    End(Arc<Shared<V>>, u64),
    Stream(Box<Streamed<V>>),
}

/// A file that several workers have blocks of.
pub(crate) struct Shared<V: Visit> {
    pub(crate) source: Source,
    /// Offset in the file at which its text begins.
    pub(crate) start: u64,
    /// Ends the waiting for more of a stream when nothing more of it is wanted.
    pub(crate) stop: Option<Arc<Stop>>,
    /// Which NULs end lines.
    pub(crate) nul_ends: NulEnds,
    pub(crate) chain: Chain<V::State, V::Tally>,
}

/// The state of a file that one worker alone visits.
pub(crate) struct Alone<V: Visit> {
    pub(crate) state: V::State,
    pub(crate) tally: V::Tally,
}

/// A stream, and how many blocks of it have been read.
pub(crate) struct Streamed<V: Visit> {
    pub(crate) shared: Arc<Shared<V>>,
    pub(crate) stream: Stream,
    pub(crate) blocks: u64,
}

impl<V: Visit> Job<V> {
    /// Jobs to open what was named.
    pub(crate) fn named(inputs: &Inputs) -> Vec<Self> {
        (0..inputs.named.len()).map(|number| Self::Open(Task::Named(number))).collect()
    }

    /// Jobs to read files that were found before, by their numbers.
    pub(crate) fn listed(files: &[Collected]) -> Vec<Self> {
        let starts = (0..files.len()).step_by(FILES_PER_TASK);
        starts.map(|start| Self::Listed(start..files.len().min(start + FILES_PER_TASK))).collect()
    }
}

impl<V: Visit> Divisible for Job<V> {
    type Part = Work<V>;

    fn claim(self) -> Claim<Self, Work<V>> {
        match self {
            Self::Open(task) => Claim::Last(Work::Open(task)),
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
