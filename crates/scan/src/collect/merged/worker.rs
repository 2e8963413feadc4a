//! A worker of a job whose results are merged. It pulls work until there is none left.

use std::ops::Range;
use std::sync::Arc;

use finecomb_meter::Phase;

use super::Accumulate;
use crate::block::{Block, RereadFile, Source};
use crate::heading::last_heading;
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
                FoldWork::File(source, file) => {
                    let contents = self.reader.read(&source, file, 0, self.limit(), false);
                    self.begin(&source, contents, true);
                }
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
        // It is `None` if the job was asked to end before the first bytes of a pipe arrived.
        if let Some(contents) = contents.transpose() {
            self.begin(&source, contents, true);
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
            // All others are shared, or take the worker for longer than one block.
            let is_quick = matches!(contents, Ok(FileContents::Whole { .. }) | Err(_));
            let rest = number + 1..entries.end;
            if !is_quick && !rest.is_empty() {
                self.queue.add_tasks(vec![Unopened::Files(Arc::clone(directory), rest)]);
            }
            self.begin(&source, contents, true);
            if !is_quick {
                return;
            }
        }
    }

    /// Processes a file that is entirely in the buffer, or starts on another one, which is shared unless it is a stream and may not
    /// be. Records a problem.
    pub(super) fn begin(
        &mut self,
        source: &Source,
        contents: Result<FileContents, ProblemKind>,
        is_shared: bool,
    ) {
        if let Err(kind) = contents.and_then(|contents| self.try_begin(source, contents, is_shared)) {
            self.reader.problems.add(source, kind);
        }
    }

    fn try_begin(
        &mut self,
        source: &Source,
        mut contents: FileContents,
        is_shared: bool,
    ) -> Result<(), ProblemKind> {
        if contents.is_decoded() {
            self.queue.extent.record_decoded();
        }
        match contents {
            // Members have no offsets in the file: the job with its beginning reads all of them.
            FileContents::Archive(_) if self.reader.begins_late() => return Ok(()),
            // Its members are the files that are counted.
            FileContents::Archive(archive) => {
                self.process_archive(archive);
                return Ok(());
            }
            FileContents::Unwanted => return Ok(()),
            _ => self.reader.meter.add_file(),
        }
        // First recognised, then restricted: how it is divided into records decides whether a part of it can be read.
        let recognized = self.reader.recognize(source, &mut contents)?;
        let source = recognized.as_ref().unwrap_or(source);
        let Some(mut left_out) = self.reader.restrict(source, &mut contents)? else { return Ok(()) };
        left_out += self.reader.narrow(source, &mut contents);
        match contents {
            FileContents::Whole { range, skipped, .. } => {
                // Other jobs may read other parts of it.
                let is_whole = self.reader.context.part.is_none();
                // Lines before a part were not counted.
                let is_start = skipped == range.start as u64 && !self.reader.begins_late();
                let first_line = is_start.then_some(1);
                let bounds = self.reader.context.bounds_for(source);
                let unclosed = bounds.unclosed_in(&self.reader.buffer[range.clone()]);
                let offset = skipped;
                let block = TextBlock { range, offset, first_line, unclosed, ..TextBlock::default() };
                self.process_block(source, block, is_whole);
            }
            FileContents::Chunks { file, .. } => {
                // Other contents have been read already, or have no known size.
                self.queue.extent.record_left_out(left_out);
                let file = Arc::new(file);
                self.queue.add_open(vec![FoldWork::Chunks(Arc::clone(&file))]);
                self.process_chunks(&file);
            }
            FileContents::Stream { stream, .. } if is_shared => self.process_stream(stream),
            // A member of a tar must be read before the archive is read on.
            FileContents::Stream { stream, .. } => self.process_alone(*stream),
            // A file that is larger than the limit is read in chunks.
            FileContents::Mapped { .. } | FileContents::Archive(_) | FileContents::Unwanted => {}
        }
        Ok(())
    }

    /// Processes chunks of a file until all are claimed or this worker is parked.
    fn process_chunks(&mut self, file: &Arc<Chunks>) {
        while !self.queue.pool.is_halted() {
            let Some(chunk) = file.claim() else { return self.queue.remove_file(file) };
            let InputReader { buffer, meter, problems, .. } = &mut self.reader;
            let block = file.read(chunk, buffer, meter, problems);
            self.process_part(file.source(), block, false, file.reread());
            file.check(&self.reader.buffer, &mut self.reader.problems);
            // The file is still in the queue, so the others read on.
            if !self.queue.pool.is_wanted(self.number) {
                return;
            }
        }
    }

    /// Reads a block of a stream, releases the stream to other workers, and processes the block.
    fn process_stream(&mut self, mut stream: Box<Stream>) {
        self.reader.meter.enter(stream.phase());
        let InputReader { buffer, problems, .. } = &mut self.reader;
        if let Some(block) = stream.read(buffer, self.eager, problems) {
            let source = stream.source.clone();
            // Before the block is processed: the next worker reads meanwhile.
            self.queue.add_open(vec![FoldWork::Stream(stream)]);
            self.process_block(&source, block, false);
        } else if stream.is_paused() {
            // More of a followed input may come, but not in this round.
            self.queue.set_aside(*stream);
        }
    }

    /// Passes a block of the buffer to the accumulator. Much larger blocks are passed in slices.
    pub(super) fn process_block(&mut self, source: &Source, block: TextBlock, is_whole: bool) {
        self.process_part(source, block, is_whole, None);
    }

    /// Like [`Self::process_block`], for a block of a file that can be read again.
    fn process_part(&mut self, source: &Source, block: TextBlock, is_whole: bool, file: Option<RereadFile>) {
        let TextBlock { range, mut offset, mut first_line, mut heading, unclosed, .. } = block;
        let bounds = self.reader.context.bounds_for(source);
        let InputReader { buffer, problems, meter, .. } = &mut self.reader;
        let total = range.len();
        let parts = parts_of_records(&mut buffer[range], unclosed, false, &bounds);
        for part in parts.flat_map(|part| slices(part, &bounds)) {
            let BlockPart { bytes, records, .. } = part;
            let length = bytes.len();
            if part.too_long.is_some() {
                // Only its beginning may be here: the rest is dropped as it is read.
                problems.add_long_line(source, offset, &bounds);
            } else {
                meter.add_bytes(length as u64);
                // A slice of a file is no whole file.
                let is_whole = is_whole && length == total;
                let (file, heading) = (file.clone(), heading.clone());
                let block = Block {
                    first_line,
                    is_whole,
                    records,
                    heading,
                    file,
                    ..Block::new(source, offset, &mut *bytes)
                };
                if self.accumulator.take(&block, meter).is_break() {
                    return self.queue.pool.halt();
                }
            }
            if let Some(prefix) = source.heading().filter(|_| length < total) {
                heading = last_heading(bytes, prefix, bounds.max_line).or(heading);
            }
            // After the last part nothing needs the number, and counting takes time.
            add_lines(first_line.as_mut().filter(|_| length < total), bytes, &bounds);
            offset += length as u64;
        }
        self.queue.pool.add_work(total as u64);
    }
}
