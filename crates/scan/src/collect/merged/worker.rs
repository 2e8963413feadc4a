//! A worker of a job whose results are merged. It pulls work until there is none left.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use finecomb_meter::Phase;

use super::Accumulate;
use crate::block::{Block, RereadFile, Source};
use crate::problem::ProblemKind;
use crate::schedule::queue::{FoldWork, Queue};
use crate::schedule::task::{Unopened, runs, tasks};
use crate::source::TextBlock;
use crate::source::cut::{BlockPart, add_lines, parts_of_records, slices};
use crate::source::prefetch::Prefetcher;
use crate::source::reader::{FileContents, InputReader, NamedInput};
use crate::source::shared::Chunks;
use crate::source::stream::Stream;
use crate::walk::directory::Directory;

/// A worker that accumulates blocks.
pub(crate) struct FoldWorker<'q, A> {
    pub(super) queue: &'q Queue,
    number: usize,
    pub(crate) accumulator: A,
    pub(crate) reader: InputReader<'q>,
    /// Set to process the available data of a stream rather than wait for a full block, while progress is shown.
    eager: bool,
}

impl<'q, A: Accumulate> FoldWorker<'q, A> {
    pub(crate) fn new(
        queue: &'q Queue,
        number: usize,
        accumulator: A,
        reader: InputReader<'q>,
        eager: bool,
    ) -> Self {
        Self { queue, number, accumulator, reader, eager }
    }

    /// Works until everything is done or the workers should stop.
    pub(crate) fn run(&mut self) {
        let pool = &self.queue.pool;
        let mut next = pool.next(self.number, &mut self.reader.meter);
        while let Some(work) = next {
            match work {
                FoldWork::Open(task) => self.open(task),
                FoldWork::File(source, file) => self.process_file(&source, file),
                FoldWork::Chunks(file) => self.process_chunks(&file),
                FoldWork::Stream(stream) => self.process_stream(stream),
                FoldWork::Archive(archive) => self.process_archive(archive),
            }
            next = pool.finish_and_next(pool.lock(), self.number, &mut self.reader.meter);
        }
        self.reader.release();
    }

    fn open(&mut self, task: Unopened) {
        match task {
            Unopened::Named(number) => self.open_named(number),
            Unopened::Directory(parent, entry) => {
                if let Some(directory) = self.reader.list(&parent, entry) {
                    self.expand(directory);
                }
            }
            Unopened::Files(directory, entries) => self.process_files(&directory, entries),
        }
    }

    fn open_named(&mut self, number: usize) {
        let limit = self.limit();
        let (source, contents) = match self.reader.open_named(number) {
            None => return,
            Some(NamedInput::Directory(directory)) => return self.expand(directory),
            Some(NamedInput::File(source, file, start)) => {
                let contents = self.reader.read(&source, file, start, limit, false);
                (source, contents.map(Some))
            }
            Some(NamedInput::Stream(source, file)) => {
                let contents =
                    self.reader.read_stream(&source, file, limit, false, self.queue.pool.stop.clone());
                (source, contents)
            }
        };
        match contents {
            Ok(Some(contents)) => self.begin(&source, contents),
            Ok(None) => {}
            Err(kind) => self.reader.problems.add(&source, kind),
        }
    }

    /// Processes an open regular file.
    fn process_file(&mut self, source: &Source, file: File) {
        match self.reader.read(source, file, 0, self.limit(), false) {
            Ok(contents) => self.begin(source, contents),
            Err(kind) => self.reader.problems.add(source, kind),
        }
    }

    /// Maximum size of a file that is read as a single block, in bytes.
    pub(super) fn limit(&self) -> usize {
        self.reader.context.bounds.block_size
    }

    fn expand(&mut self, directory: Directory) {
        let directory = Arc::new(directory);
        let all = runs(&directory).flat_map(|run| tasks(&directory, run)).collect();
        self.queue.add_tasks(all);
    }

    /// Processes files of a directory. Once one of them is shared, the remaining ones become a task for idle workers.
    fn process_files(&mut self, directory: &Arc<Directory>, entries: Range<usize>) {
        let (limit, follow) = (self.limit(), self.reader.context.inputs.walk.follow);
        let mut prefetcher = Prefetcher::new(directory, entries.clone(), follow);
        let mut source = Source::found(directory.argument, Default::default());
        for number in entries.clone() {
            if self.queue.pool.is_halted() {
                return;
            }
            source.move_to(&directory.prefix, directory.listing.name(&directory.listing.entries()[number]));
            self.reader.meter.enter(Phase::Open);
            let contents = prefetcher
                .open(self.reader.storage.is_cold())
                .map_err(ProblemKind::Open)
                .and_then(|file| self.reader.read(&source, file, 0, limit, directory.short_read_is_end()));
            match contents {
                Ok(contents @ FileContents::Whole { .. }) => self.begin(&source, contents),
                Ok(contents) => {
                    let rest = number + 1..entries.end;
                    if !rest.is_empty() {
                        self.queue.add_tasks(vec![Unopened::Files(Arc::clone(directory), rest)]);
                    }
                    return self.begin(&source, contents);
                }
                Err(kind) => self.reader.problems.add(&source, kind),
            }
        }
    }

    /// Processes a file that is entirely in the buffer, or starts on a shared one.
    fn begin(&mut self, source: &Source, contents: FileContents) {
        self.begin_with(source, contents, true);
    }

    /// Processes a file that is entirely in the buffer, or starts on another one, which is shared unless it is a stream and may not be.
    pub(super) fn begin_with(&mut self, source: &Source, mut contents: FileContents, is_shared: bool) {
        if contents.is_decoded() {
            self.queue.extent.record_decoded();
        }
        match contents {
            FileContents::Archive(_) if self.reader.begins_late() => return,
            FileContents::Archive(archive) => return self.process_archive(archive),
            FileContents::Unwanted => return,
            _ => self.reader.meter.add_file(),
        }
        let recognized = match self.reader.context.recognize {
            Some(by) => self.reader.recognize(by, source, &mut contents),
            None => Ok(None),
        };
        let recognized = match recognized {
            Ok(recognized) => recognized,
            Err(kind) => return self.reader.problems.add(source, kind),
        };
        let source = recognized.as_ref().unwrap_or(source);
        let mut left_out = match self.reader.restrict(source, &mut contents) {
            Ok(Some(left_out)) => left_out,
            Ok(None) => return,
            Err(kind) => return self.reader.problems.add(source, kind),
        };
        if let Some(by) = self.reader.context.narrow {
            left_out += self.reader.narrow(by, source, &mut contents);
        }
        match contents {
            FileContents::Whole { range, skipped, .. } => {
                let is_whole = self.reader.context.part.is_none();
                let is_start = skipped == range.start as u64 && !self.reader.begins_late();
                let first_line = is_start.then_some(1);
                let bounds = self.reader.context.bounds_for(source);
                let unclosed = bounds.unclosed_in(&self.reader.buffer[range.clone()]);
                let offset = skipped;
                let block = TextBlock { range, offset, first_line, unclosed, ..TextBlock::default() };
                self.process_block(source, block, is_whole);
            }
            FileContents::Chunks { file, .. } => {
                self.queue.extent.record_left_out(left_out);
                let file = Arc::new(file);
                self.queue.add_open(vec![FoldWork::Chunks(Arc::clone(&file))]);
                self.process_chunks(&file);
            }
            FileContents::Stream { stream, .. } => {
                if is_shared {
                    self.process_stream(stream)
                } else {
                    self.process_alone(stream)
                }
            }
            // A file that is larger than the limit is read in chunks.
            FileContents::Mapped { .. } | FileContents::Archive(_) | FileContents::Unwanted => {}
        }
    }

    /// Processes chunks of a file until all are claimed or this worker is parked.
    fn process_chunks(&mut self, file: &Arc<Chunks>) {
        while !self.queue.pool.is_halted() {
            let Some(chunk) = file.claim() else { return self.queue.remove_file(file) };
            let InputReader { buffer, meter, problems, .. } = &mut self.reader;
            let block = file.read(chunk, buffer, meter, problems);
            self.process_part(file.source(), block, false, file.reread());
            file.check(&self.reader.buffer, &mut self.reader.problems);
            if !self.queue.pool.is_wanted(self.number) {
                return;
            }
        }
    }

    /// Reads a block of a stream, releases the stream to other workers, and processes the block.
    fn process_stream(&mut self, mut stream: Stream) {
        self.reader.meter.enter(stream.phase());
        let InputReader { buffer, problems, .. } = &mut self.reader;
        if let Some(block) = stream.read(buffer, self.eager, problems) {
            let source = stream.source.clone();
            self.queue.add_open(vec![FoldWork::Stream(stream)]);
            self.process_block(&source, block, false);
        } else if stream.is_paused() {
            self.queue.set_aside(stream);
        }
    }

    /// Passes a block of the buffer to the accumulator. Much larger blocks are passed in slices.
    pub(super) fn process_block(&mut self, source: &Source, block: TextBlock, is_whole: bool) {
        self.process_part(source, block, is_whole, None);
    }

    /// Like [`Self::process_block`], for a block of a file that can be read again.
    fn process_part(&mut self, source: &Source, block: TextBlock, is_whole: bool, file: Option<RereadFile>) {
        let TextBlock { range, mut offset, mut first_line, unclosed, .. } = block;
        let bounds = self.reader.context.bounds_for(source);
        let InputReader { buffer, problems, meter, .. } = &mut self.reader;
        let total = range.len();
        let parts = parts_of_records(&mut buffer[range], unclosed, false, bounds);
        for part in parts.flat_map(|part| slices(part, bounds)) {
            let BlockPart { bytes, records, .. } = part;
            let length = bytes.len();
            if part.too_long.is_some() {
                problems.add_long_line(source, offset, bounds);
            } else {
                meter.add_bytes(length as u64);
                let is_whole = is_whole && length == total;
                let file = file.clone();
                let block =
                    Block { first_line, is_whole, records, file, ..Block::new(source, offset, &mut *bytes) };
                if self.accumulator.take(&block, meter).is_break() {
                    return self.queue.pool.halt();
                }
            }
            add_lines(first_line.as_mut().filter(|_| length < total), bytes, bounds);
            offset += length as u64;
        }
        self.queue.pool.add_work(total as u64);
    }
}
