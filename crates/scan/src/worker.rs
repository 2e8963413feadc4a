//! A worker: pulls work until there is none.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::mem;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use finecomb_meter::{Meter, Phase};
use rustix::fs::{OFlags, fcntl_setfl};

use crate::block::{Block, FileIdentity, Source};
use crate::error::{ProblemKind, Problems};
use crate::fold::Accumulate;
use crate::input::{Input, tree};
use crate::queue::{Queue, Task, Work};
use crate::read::file::ChunkedFile;
use crate::read::stream::{Origin, Stream};
use crate::read::{Piece, pieces};
use finecomb_sys::stdio;

/// One of the threads that take in blocks.
pub(crate) struct Worker<'q, A> {
    queue: &'q Queue<'q>,
    number: usize,
    pub(crate) accumulator: A,
    pub(crate) meter: Meter,
    pub(crate) problems: Problems,
    buffer: Vec<u8>,
    /// Whether what is being done may add to the queue.
    busy: bool,
}

impl<'q, A: Accumulate> Worker<'q, A> {
    pub(crate) fn new(queue: &'q Queue<'q>, number: usize, accumulator: A, meter: Meter) -> Self {
        Self {
            queue,
            number,
            accumulator,
            meter,
            problems: Problems::default(),
            buffer: Vec::new(),
            busy: false,
        }
    }

    /// Works until everything is done or the workers should leave off.
    pub(crate) fn run(&mut self) {
        loop {
            match self.queue.next(self.number, mem::take(&mut self.busy), &mut self.meter) {
                Some(Work::Open(task)) => self.open(task),
                Some(Work::File(file)) => self.work_on(&file),
                Some(Work::Stream(stream)) => self.work_on_stream(stream),
                None => {
                    self.buffer = Vec::new();
                    return;
                }
            }
        }
    }

    fn open(&mut self, task: Task) {
        self.busy = true;
        self.meter.enter(Phase::Open);
        match task {
            Task::Named(number) => match &self.queue.inputs.named()[number] {
                Input::Standard => self.open_standard_input(&Source::new(number, None)),
                Input::Path(path) => self.open_file(number, path.clone()),
            },
            Task::File(argument, path) => self.open_file(argument, path),
            Task::Directory(argument, path) => self.list(&Source::new(argument, Some(path.clone())), path),
        }
    }

    fn open_standard_input(&mut self, source: &Arc<Source>) {
        if stdio::input_was_closed() {
            return self.problems.add(source, ProblemKind::Closed);
        }
        let opened = io::stdin().as_fd().try_clone_to_owned().map(File::from).and_then(|mut file| {
            let metadata = file.metadata()?;
            let start = if metadata.is_file() { file.stream_position()? } else { 0 };
            if metadata.is_file() {
                // As if it had been read from front to back: what runs next on the same input finds its end.
                file.seek(SeekFrom::Start(metadata.len().max(start)))?;
            }
            Ok((file, metadata, start))
        });
        match opened {
            Ok((file, metadata, start)) => self.begin(source, file, &metadata, start),
            Err(error) => self.problems.add(source, ProblemKind::Open(error)),
        }
    }

    fn open_file(&mut self, argument: usize, path: PathBuf) {
        let source = Source::new(argument, Some(path.clone()));
        let opened = self.open_path(&path).and_then(|file| {
            let metadata = file.metadata()?;
            Ok((file, metadata))
        });
        match opened {
            Err(_) if self.queue.is_halted() => {}
            Ok((_, metadata)) if metadata.is_dir() => self.list(&source, path),
            Ok((file, metadata)) => self.begin(&source, file, &metadata, 0),
            Err(error) => self.problems.add(&source, ProblemKind::Open(error)),
        }
    }

    /// Opens a file. Opening a named pipe waits for somebody to write to it: in a job that can be stopped, it is opened
    /// without waiting, and the wait is one that a stop ends.
    fn open_path(&self, path: &Path) -> io::Result<File> {
        let is_pipe = || fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
        let Some(stop) = self.queue.stop.filter(|_| is_pipe()) else { return File::open(path) };
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if stop.wait_for(&file) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        fcntl_setfl(&file, OFlags::empty())?;
        Ok(file)
    }

    /// Starts on an open file: reads it if it is one chunk, else lets all workers have a part of it.
    fn begin(&mut self, source: &Arc<Source>, file: File, metadata: &Metadata, start: u64) {
        let identity = FileIdentity { device: metadata.dev(), inode: metadata.ino() };
        source.identify(identity);
        if !metadata.is_file() && !self.queue.is_new_stream(identity) {
            return;
        }
        // Files of the proc file system say that they are empty and are not: they are read as streams.
        if !metadata.is_file() || metadata.len() == 0 {
            self.meter.add_file();
            let stream = Stream::new(Arc::clone(source), Origin::File(file), Vec::new(), self.queue.bounds);
            return self.work_on_stream(stream);
        }
        self.meter.add_file();
        let end = metadata.len().min(self.queue.inputs.until);
        if start >= end {
            return;
        }
        let file = Arc::new(ChunkedFile::new(Arc::clone(source), file, start..end, self.queue.bounds));
        if !file.is_one_chunk() {
            self.queue.add_file(Arc::clone(&file));
        }
        self.work_on(&file);
    }

    fn list(&mut self, source: &Arc<Source>, directory: PathBuf) {
        self.meter.enter(Phase::Walk);
        let entries = match tree::list(&directory) {
            Ok(entries) => entries,
            Err(error) => return self.problems.add(source, ProblemKind::List(error)),
        };
        let mut tasks = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry {
                Ok(entry) if entry.kind == tree::Kind::File => {
                    tasks.push(Task::File(source.argument(), entry.path));
                }
                Ok(entry) => tasks.push(Task::Directory(source.argument(), entry.path)),
                Err(error) => self.problems.add(source, ProblemKind::List(error)),
            }
        }
        self.queue.add_paths(tasks);
    }

    /// Takes in chunks of a file until all are taken or this worker is not wanted any more.
    fn work_on(&mut self, file: &Arc<ChunkedFile>) {
        while !self.queue.is_halted() {
            let Some(chunk) = file.claim() else { return self.queue.retire(file) };
            self.meter.enter(Phase::Read);
            let mut buffer = mem::take(&mut self.buffer);
            let range = file.read(chunk, &mut buffer, &mut self.problems);
            self.take(&file.source, chunk, None, &buffer, range);
            self.buffer = buffer;
            if !self.queue.pace.is_wanted(self.number) {
                return;
            }
        }
    }

    /// Reads a block of a stream, lets others read on, and takes it in.
    fn work_on_stream(&mut self, mut stream: Stream) {
        self.busy = true;
        self.meter.enter(Phase::Read);
        let mut buffer = mem::take(&mut self.buffer);
        let block = stream.read(&mut buffer, false, self.queue.stop, &mut self.problems);
        let source = Arc::clone(&stream.source);
        if let Some(block) = block {
            self.queue.put_back(stream);
            self.busy = false;
            self.take(&source, block.offset, Some(block.first_line), &buffer, block.range);
        }
        self.buffer = buffer;
    }

    /// Hands the lines in a part of a buffer that begins at `offset` of the source to the accumulator.
    fn take(
        &mut self,
        source: &Arc<Source>,
        offset: u64,
        first_line: Option<u64>,
        buffer: &[u8],
        range: Range<usize>,
    ) {
        let offset = offset + range.start as u64;
        let lines = &buffer[range];
        let whole = Block { source, offset, first_line, bytes: lines };
        for piece in pieces(lines, self.queue.bounds) {
            match piece {
                Piece::TooLong(at) => {
                    let limit = self.queue.bounds.max_line;
                    let offset = offset + at as u64;
                    self.problems.add(source, ProblemKind::LineTooLong { offset, limit });
                }
                Piece::Lines(range) => {
                    let place = whole.place(range.start);
                    let block =
                        Block { source, offset: place.offset, first_line: place.line, bytes: &lines[range] };
                    self.meter.add_bytes(block.bytes.len() as u64);
                    if self.accumulator.take(&block, &mut self.meter).is_break() {
                        return self.queue.halt();
                    }
                }
            }
        }
        self.queue.pace.book(lines.len() as u64);
    }
}
