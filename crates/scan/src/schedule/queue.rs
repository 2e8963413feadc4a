//! The work of a job whose results are merged.

use std::fs::File;
use std::sync::Arc;

use super::pool::{Backlog, Pool};
use super::task::Unopened;
use crate::block::Source;
use crate::progress::Extent;
use crate::source::archive::Archive;
use crate::source::shared::Chunks;
use crate::source::stream::Stream;
use crate::stop::Stop;

/// The work of a job, which is counted in bytes.
pub(crate) struct Queue {
    pub(crate) pool: Pool<Unordered>,
    pub(crate) extent: Extent,
}

/// Work in any order. Open inputs come first, then tasks in order. Listing a directory is a task like any other. Its
/// entries go before all other tasks, so that a single worker visits them in the order of their paths.
#[derive(Default)]
pub(crate) struct Unordered {
    /// Open inputs, the next one last. A file stays until its chunks are all claimed.
    open: Vec<FoldWork>,
    /// Tasks to do, the next one last.
    tasks: Vec<Unopened>,
    /// Streams that have paused.
    paused: Vec<Stream>,
}

/// A piece of work for a worker.
pub(crate) enum FoldWork {
    Open(Unopened),
    /// A regular file that no worker has begun to read.
    File(Source, File),
    Chunks(Arc<Chunks>),
    Stream(Box<Stream>),
    Archive(Box<Archive>),
}

impl Backlog for Unordered {
    type Work = FoldWork;

    fn take(&mut self) -> Option<FoldWork> {
        if let Some(FoldWork::Chunks(file)) = self.open.last() {
            return Some(FoldWork::Chunks(Arc::clone(file)));
        }
        self.open.pop().or_else(|| self.tasks.pop().map(FoldWork::Open))
    }

    fn is_empty(&self) -> bool {
        self.open.is_empty() && self.tasks.is_empty()
    }

    fn waiting(&self) -> usize {
        self.tasks.len()
    }

    /// Added work wakes workers by itself.
    fn is_freed_by_results(&self) -> bool {
        false
    }
}

impl Queue {
    /// Creates a queue for this number of named inputs.
    pub(crate) fn new(named: usize, stop: Option<Arc<Stop>>) -> Self {
        let tasks = (0..named).rev().map(Unopened::Named).collect();
        let pool = Pool::new(Unordered { tasks, ..Unordered::default() }, stop);
        Self { pool, extent: Extent::default() }
    }

    /// Adds tasks, to be done in this order before all other tasks.
    pub(crate) fn add_tasks(&self, tasks: Vec<Unopened>) {
        self.pool.change(|work| work.tasks.extend(tasks.into_iter().rev()));
    }

    /// Adds open inputs, to be processed in this order before all others.
    pub(crate) fn add_open(&self, inputs: Vec<FoldWork>) {
        self.pool.change(|work| work.open.extend(inputs.into_iter().rev()));
    }

    /// Removes a file whose chunks are all claimed.
    pub(crate) fn remove_file(&self, file: &Arc<Chunks>) {
        let is_other = |work: &FoldWork| !matches!(work, FoldWork::Chunks(other) if Arc::ptr_eq(file, other));
        self.pool.lock().open.retain(is_other);
    }

    /// Sets a stream aside that has paused.
    pub(crate) fn set_aside(&self, stream: Stream) {
        self.pool.lock().paused.push(stream);
    }

    /// Returns the streams that have paused, and the streams that are unread because the workers should stop.
    pub(crate) fn take_paused(&self) -> Vec<Stream> {
        let work = &mut **self.pool.lock();
        let unread = work.open.drain(..).filter_map(|work| match work {
            FoldWork::Stream(stream) => Some(*stream),
            _ => None,
        });
        work.paused.drain(..).chain(unread).collect()
    }
}
