//! Tasks of a job with ordered output.

use std::ops::Range;
use std::sync::Arc;

use super::chain::Chain;
use super::mapped::Mapped;
use super::visit::{Print, Wants};
use crate::block::Source;
use crate::inputs::Inputs;
use crate::schedule::sequencer::{Claim, Divisible};
use crate::schedule::task::{FILES_PER_TASK, Unopened};
use crate::source::archive::Archive;
use crate::source::bounds::NulEnds;
use crate::source::shared::Chunks;
use crate::source::stream::Stream;
use crate::stop::Stop;

/// Number of collected files per task if only their names are wanted.
const NAMES_PER_TASK: usize = 1024;

/// A task.
pub(crate) enum VisitTask<V: Print> {
    Open(Unopened),
    /// Collected files, by number.
    Collected(Range<usize>),
    /// The rest of a file that is read in chunks, from the block with this number on.
    Chunks(Arc<Shared<V>>, Arc<Chunks>, u64),
    /// The rest of a mapped file, from the part with this number on.
    Mapped(Arc<Mapped<V>>, usize),
    /// The rest of a stream.
    Stream(Box<Streamed<V>>),
    /// The rest of an archive.
    Archive(Box<Archive>),
}

/// Part of a task.
pub(crate) enum VisitWork<V: Print> {
    Open(Unopened),
    Collected(Range<usize>),
    /// The chunk at an offset, and its block number.
    Chunk(Arc<Shared<V>>, Arc<Chunks>, u64, u64),
    /// The end of a file with this number of blocks.
    End(Arc<Shared<V>>, u64),
    /// The part of a mapped file with this number.
    MappedPart(Arc<Mapped<V>>, usize),
    /// A mapped file whose parts have been claimed.
    MappedWhole(Arc<Mapped<V>>),
    Stream(Box<Streamed<V>>),
    Archive(Box<Archive>),
}

/// A file that is shared by several workers.
pub(crate) struct Shared<V: Print> {
    pub(crate) source: Source,
    /// Offset in the file at which its text begins. Visitors see offsets in the text.
    pub(crate) start: u64,
    /// Interrupts the wait for a stream when nothing more of it is wanted.
    pub(crate) stop: Option<Arc<Stop>>,
    /// The NULs that end lines.
    pub(crate) nul_ends: NulEnds,
    pub(crate) chain: Chain<V::State, V::Tally>,
}

/// State of a file that is visited by a single worker.
pub(crate) struct Unshared<V: Print> {
    /// Offset in the file at which its text begins.
    pub(crate) start: u64,
    pub(crate) state: V::State,
    pub(crate) tally: V::Tally,
}

/// A stream, and the number of blocks read from it.
pub(crate) struct Streamed<V: Print> {
    pub(crate) shared: Arc<Shared<V>>,
    pub(crate) stream: Stream,
    pub(crate) blocks: u64,
}

impl<V: Print> VisitTask<V> {
    /// Tasks that open the named inputs.
    pub(crate) fn named(inputs: &Inputs) -> Vec<Self> {
        (0..inputs.named.len()).map(|number| Self::Open(Unopened::Named(number))).collect()
    }

    /// Tasks for this number of collected files.
    pub(crate) fn collected(files: usize, wants: Wants) -> Vec<Self> {
        let per_task = if wants == Wants::Name { NAMES_PER_TASK } else { FILES_PER_TASK };
        let tasks = (0..files).step_by(per_task);
        tasks.map(|start| Self::Collected(start..files.min(start + per_task))).collect()
    }
}

impl<V: Print> Divisible for VisitTask<V> {
    type Part = VisitWork<V>;

    fn claim(self) -> Claim<Self, VisitWork<V>> {
        match self {
            Self::Open(task) => Claim::Last(VisitWork::Open(task)),
            Self::Collected(files) => Claim::Last(VisitWork::Collected(files)),
            Self::Stream(stream) => Claim::Last(VisitWork::Stream(stream)),
            Self::Archive(archive) => Claim::Last(VisitWork::Archive(archive)),
            Self::Mapped(file, part) if part < file.parts() => {
                Claim::Part(VisitWork::MappedPart(Arc::clone(&file), part), Self::Mapped(file, part + 1))
            }
            Self::Mapped(file, _) => Claim::Last(VisitWork::MappedWhole(file)),
            Self::Chunks(shared, file, block) => {
                let chunk = if shared.chain.is_over() { None } else { file.claim() };
                match chunk {
                    None => Claim::Last(VisitWork::End(shared, block)),
                    Some(chunk) => {
                        let work = VisitWork::Chunk(Arc::clone(&shared), Arc::clone(&file), chunk, block);
                        Claim::Part(work, Self::Chunks(shared, file, block + 1))
                    }
                }
            }
        }
    }
}
