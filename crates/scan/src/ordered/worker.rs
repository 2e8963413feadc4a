//! A worker of a job whose output is in order: takes what is next, and does it.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::mem;
use std::ops::{ControlFlow, Range};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use finecomb_meter::{Meter, Phase};

use super::chain::Chain;
use super::output::{Chunk, Output};
use super::plan::{Claim, Plan, SlotId, Task};
use super::{FileName, Reading, START, Text, Visit, Wants};
use crate::block::Source;
use crate::decode::Needed;
use crate::decompress::Format;
use crate::error::{ProblemKind, Problems};
use crate::options::Bounds;
use crate::read::file::ChunkedFile;
use crate::read::stream::{Origin, Stream, StreamBlock};
use crate::read::{Part, parts, provide, retry};
use crate::stdio;
use crate::walk::SortKey;
use crate::walk::directory::{Directory, Scratch, SortValue, Walk};
use crate::walk::list::Kind;

/// How many files are one task. More would cost less waiting for each other, but make output come later.
const FILES_PER_TASK: usize = 32;

/// A file of up to so many blocks is read and searched by one worker: larger ones are worth sharing.
const WHOLE_LIMIT: usize = 4;

/// A file of up to so many blocks is left to one worker while there are other files for the others.
const ALONE_LIMIT: usize = 64;

/// A buffer that is more than a few times as large is made small again.
const LARGE_BUFFER: usize = 1 << 20;

/// How many bytes are asked for with the first read of a file: what nearly all source files fit in.
const FIRST_READ: usize = 128 << 10;

/// What all workers know.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) bounds: Bounds,
    pub(crate) walk: &'a Walk<'a>,
}

/// A file that was found before any is read.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) argument: usize,
    pub(crate) path: Option<PathBuf>,
    printed: Option<PathBuf>,
    named: bool,
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
    source: Arc<Source>,
    path: Option<PathBuf>,
    named: bool,
    /// Where what counts as the file begins in it.
    start: u64,
    chain: Chain<V::Carry, V::Tally>,
}

/// What passes through the blocks of a file that one worker alone visits.
struct Passing<V: Visit> {
    carry: V::Carry,
    tally: V::Tally,
}

/// A stream, and how many blocks of it have been read.
pub(crate) struct Streamed<V: Visit> {
    shared: Arc<Shared<V>>,
    stream: Stream,
    blocks: u64,
}

impl<V: Visit> Shared<V> {
    fn file_name(&self) -> FileName<'_> {
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

impl Context<'_> {
    /// How many bytes a file may have for being visited at once.
    fn limit(&self, wants: Wants) -> usize {
        if wants == Wants::Blocks { WHOLE_LIMIT * self.bounds.block_size } else { usize::MAX }
    }
}

/// What came of trying to read a file at once.
enum Opened<V: Visit> {
    Done,
    /// It is to be shared with others.
    Share(Job<V>),
}

/// One of the threads of a job.
pub(crate) struct Worker<'w, V: Visit> {
    context: Context<'w>,
    plan: &'w Plan<'w, Job<V>>,
    pub(crate) visitor: V,
    pub(crate) meter: Meter,
    pub(crate) problems: Problems,
    pub(crate) visited: u64,
    entered: bool,
    /// If files are only to be found: by what they will be sorted.
    pub(crate) collect: Option<SortKey>,
    pub(crate) collected: Vec<Collected>,
    /// The files that were found before.
    pub(crate) files: &'w [Collected],
    wants: Wants,
    out: Output<'w>,
    buffer: Vec<u8>,
    scratch: Scratch,
}

impl<'w, V: Visit> Worker<'w, V> {
    pub(crate) fn new(
        context: Context<'w>,
        plan: &'w Plan<'w, Job<V>>,
        visitor: V,
        separator: Option<Vec<u8>>,
        meter: Meter,
    ) -> Self {
        Self {
            context,
            plan,
            wants: visitor.wants(),
            visitor,
            meter,
            problems: Problems::default(),
            visited: 0,
            entered: false,
            collect: None,
            collected: Vec::new(),
            files: &[],
            out: Output::new(separator),
            buffer: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Works until all is done or the workers should leave off.
    pub(crate) fn run(&mut self) {
        while self.step() {}
        self.buffer = Vec::new();
        self.scratch = Scratch::default();
    }

    /// Whether any directory was among what it did.
    pub(crate) fn has_entered_directories(&self) -> bool {
        self.entered
    }

    /// Takes the next thing to do and does it. False if there is nothing left.
    pub(crate) fn step(&mut self) -> bool {
        self.meter.enter(Phase::Wait);
        let Some((slot, work)) = self.plan.next() else { return false };
        self.out.belongs_to(self.plan, slot);
        match work {
            Work::Named(number) => self.named(slot, number),
            Work::Directory(parent, entry) => self.enter(slot, &parent, entry),
            Work::Files(directory, entries) => self.files_of(slot, &directory, entries),
            Work::Listed(files) => self.listed(slot, files),
            Work::Chunk(shared, file, chunk, block) => self.chunk(&shared, &file, chunk, block),
            Work::End(shared, blocks) => self.end_shared(&shared, blocks),
            Work::Stream(stream) => self.stream(slot, stream),
        }
        self.meter.enter(Phase::Print);
        let spare = self.plan.finish(slot, self.out.take());
        self.out.reuse(spare);
        true
    }

    fn named(&mut self, slot: SlotId, number: usize) {
        let path = &self.context.reading.named[number];
        self.meter.enter(Phase::Open);
        if path == Path::new("-") {
            return self.standard_input(slot, number);
        }
        if std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
            self.meter.enter(Phase::Walk);
            let dot = self.context.reading.strip_dot && path == Path::new(".");
            let printed = if dot { Path::new("") } else { path };
            let listed =
                self.context.walk.named(number, path, printed, &mut self.scratch, &mut self.problems);
            match listed {
                Ok(directory) => self.expand(slot, directory),
                Err(error) => self.note(number, path, ProblemKind::List(error)),
            }
            return;
        }
        if let Some(key) = self.collect {
            let key = if key == SortKey::Path { None } else { SortValue::of(path, key) };
            let path = Some(path.clone());
            let printed = path.clone();
            return self.collected.push(Collected { argument: number, path, printed, named: true, key });
        }
        self.by_path(slot, number, path, Some(path), true, None);
    }

    fn listed(&mut self, slot: SlotId, files: Range<usize>) {
        let all = self.files;
        for number in files.clone() {
            if self.plan.is_halted() {
                return;
            }
            let file = &all[number];
            let rest = Job::Listed(number + 1..files.end);
            match &file.path {
                None => {
                    self.plan.add(slot, [(None, Some(rest))]);
                    return self.standard_input(slot, file.argument);
                }
                Some(path) => {
                    let printed = file.printed.as_deref();
                    if self.by_path(slot, file.argument, path, printed, file.named, Some(rest)) {
                        return;
                    }
                }
            }
            self.out.relieve();
        }
    }

    /// Reads the file of a path. True if it is shared, and `rest` has been planned.
    fn by_path(
        &mut self,
        slot: SlotId,
        number: usize,
        path: &Path,
        printed: Option<&Path>,
        named: bool,
        rest: Option<Job<V>>,
    ) -> bool {
        let name = FileName { path: printed, named };
        if self.wants == Wants::Name {
            self.visited += 1;
            match std::fs::symlink_metadata(path) {
                Ok(_) => self.visitor.name(name, &mut self.out),
                Err(error) => self.note(number, path, ProblemKind::Open(error)),
            }
            return false;
        }
        self.meter.enter(Phase::Open);
        let read = open_named(path).and_then(|(file, metadata)| {
            if metadata.is_file() {
                self.read(number, name, file, false)
            } else {
                self.read_stream(number, name, file)
            }
        });
        match read {
            Ok(Opened::Done) => false,
            Ok(Opened::Share(job)) => {
                self.plan.add(slot, [(None, Some(job)), (None, rest)]);
                true
            }
            Err(kind) => {
                self.note(number, path, kind);
                false
            }
        }
    }

    fn standard_input(&mut self, slot: SlotId, number: usize) {
        if self.collect.is_some() {
            let file = Collected { argument: number, path: None, printed: None, named: true, key: None };
            return self.collected.push(file);
        }
        let name = FileName { path: None, named: true };
        if self.wants == Wants::Name {
            self.visited += 1;
            return self.visitor.name(name, &mut self.out);
        }
        let read = open_standard_input().and_then(|(file, is_whole_file)| {
            if is_whole_file {
                self.read(number, name, file, false)
            } else {
                self.read_stream(number, name, file)
            }
        });
        match read {
            Ok(Opened::Done) => {}
            Ok(Opened::Share(job)) => self.plan.add(slot, [(None, Some(job))]),
            Err(kind) => self.problems.add(&Source::new(number, None), kind),
        }
    }

    fn enter(&mut self, slot: SlotId, parent: &Directory, entry: usize) {
        self.meter.enter(Phase::Walk);
        let entry = &parent.listing.entries()[entry];
        match self.context.walk.enter(parent, entry, &mut self.scratch, &mut self.problems) {
            Ok(Some(directory)) => self.expand(slot, directory),
            Ok(None) => {}
            Err(error) => {
                let path = parent.path_of(entry);
                self.note(parent.argument, as_path(&path), ProblemKind::List(error));
            }
        }
    }

    /// Plans what is in a directory.
    fn expand(&mut self, slot: SlotId, directory: Directory) {
        self.entered = true;
        let directory = Arc::new(directory);
        let entries = directory.listing.entries();
        let mut planned = Vec::new();
        let mut next = 0;
        while next < entries.len() {
            if entries[next].kind == Kind::Directory {
                planned.push((None, Some(Job::Directory(Arc::clone(&directory), next))));
                next += 1;
                continue;
            }
            let run = entries[next..].iter().take_while(|entry| entry.kind != Kind::Directory).count();
            let run = next..next + run;
            next = run.end;
            if self.collect.is_some() {
                self.collect_files(&directory, run);
            } else if self.wants == Wants::Name {
                planned.push((Some(self.names(&directory, run)), None));
            } else {
                for start in run.clone().step_by(FILES_PER_TASK) {
                    let some = start..run.end.min(start + FILES_PER_TASK);
                    planned.push((None, Some(Job::Files(Arc::clone(&directory), some))));
                }
            }
        }
        self.plan.add(slot, planned);
    }

    /// What is printed of files of which only the names are wanted.
    fn names(&mut self, directory: &Directory, run: Range<usize>) -> Chunk {
        let mut path = directory.prefix.clone();
        for entry in &directory.listing.entries()[run] {
            path.truncate(directory.prefix.len());
            path.extend_from_slice(directory.listing.name(entry));
            self.visited += 1;
            self.visitor.name(FileName { path: Some(as_path(&path)), named: false }, &mut self.out);
        }
        self.out.take()
    }

    fn collect_files(&mut self, directory: &Directory, run: Range<usize>) {
        let key = self.collect.unwrap_or_default();
        for entry in &directory.listing.entries()[run] {
            let printed = as_path(&directory.path_of(entry)).to_owned();
            let path =
                if directory.prefix.is_empty() { Path::new(".").join(&printed) } else { printed.clone() };
            self.collected.push(Collected {
                argument: directory.argument,
                path: Some(path),
                printed: Some(printed),
                named: false,
                key: directory.sort_key(entry, key),
            });
        }
    }

    fn files_of(&mut self, slot: SlotId, directory: &Arc<Directory>, entries: Range<usize>) {
        let mut path = directory.prefix.clone();
        for number in entries.clone() {
            if self.plan.is_halted() {
                return;
            }
            let entry = &directory.listing.entries()[number];
            path.truncate(directory.prefix.len());
            path.extend_from_slice(directory.listing.name(entry));
            let name = FileName { path: Some(as_path(&path)), named: false };
            self.meter.enter(Phase::Open);
            let read = directory
                .open(entry, self.context.walk.options.follow)
                .map_err(ProblemKind::Open)
                .and_then(|fd| self.read(directory.argument, name, fd.into(), directory.short_read_is_end));
            match read {
                Ok(Opened::Done) => {}
                Ok(Opened::Share(job)) => {
                    let rest = Job::Files(Arc::clone(directory), number + 1..entries.end);
                    return self.plan.add(slot, [(None, Some(job)), (None, Some(rest))]);
                }
                Err(kind) => self.note(directory.argument, as_path(&path), kind),
            }
            self.out.relieve();
        }
    }

    /// Reads a file from its beginning, and visits it if that can be done at once.
    fn read(
        &mut self,
        number: usize,
        name: FileName<'_>,
        file: File,
        short_read_is_end: bool,
    ) -> Result<Opened<V>, ProblemKind> {
        self.meter.enter(Phase::Read);
        let mut filled = 0;
        let ended = self.fill(&file, &mut filled, FIRST_READ, short_read_is_end)?;
        let start = &self.buffer[..filled];
        let Reading { decompress, encoding, .. } = *self.context.reading;
        let again = || (&file).rewind().map_err(ProblemKind::Open);
        if let Some(format) = Format::of(start).filter(|_| decompress) {
            again()?;
            let contents = format.reader(file).map_err(|error| ProblemKind::Decode { error })?;
            return Ok(self.decoded(number, name, encoding.reader(contents)));
        }
        let begin = match encoding.needed(start) {
            Needed::Transcode => {
                again()?;
                return Ok(self.decoded(number, name, encoding.reader(file)));
            }
            Needed::StripBom(length) => length,
            Needed::Plain => 0,
        };
        if !ended {
            let size = file.metadata().map_err(ProblemKind::Open)?.len();
            if self.wants == Wants::Blocks && size > WHOLE_LIMIT as u64 {
                let (shared, file) =
                    self.start_chunks(number, name, file, begin as u64..size, begin..filled);
                // Others have something else to do.
                if size <= (ALONE_LIMIT * self.context.bounds.block_size) as u64 && self.plan.has_tasks() {
                    self.alone(&shared, &file);
                    return Ok(Opened::Done);
                }
                return Ok(Opened::Share(Job::Chunks(shared, file, 0)));
            }
            let limit = if self.wants == Wants::Blocks { WHOLE_LIMIT } else { usize::MAX };
            if !self.fill(&file, &mut filled, limit, false)? {
                // It is growing, or has no size: it is read on as it comes.
                (&file).seek(SeekFrom::Start(filled as u64)).map_err(ProblemKind::Open)?;
                return Ok(Opened::Share(self.start_stream(number, name, Origin::File(file), begin..filled)));
            }
        }
        self.whole(number, name, begin..filled);
        Ok(Opened::Done)
    }

    /// Reads on into the buffer until it holds `limit` bytes or the file ends; true if it has ended.
    fn fill(
        &mut self,
        file: &File,
        filled: &mut usize,
        limit: usize,
        short_read_is_end: bool,
    ) -> Result<bool, ProblemKind> {
        while *filled < limit {
            let wanted = (2 * *filled).max(FIRST_READ).min(limit);
            provide(&mut self.buffer, wanted, LARGE_BUFFER);
            let offset = *filled as u64;
            let read = retry(|| file.read_at(&mut self.buffer[*filled..wanted], offset));
            let got = read.map_err(|error| ProblemKind::Read { offset, error })?;
            *filled += got;
            if got == 0 || short_read_is_end && *filled < wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads what has to be decoded, and visits it at once if it is small.
    fn decoded(
        &mut self,
        number: usize,
        name: FileName<'_>,
        mut contents: Box<dyn Read + Send>,
    ) -> Opened<V> {
        let limit = self.context.limit(self.wants);
        let mut filled = 0;
        loop {
            if filled == limit {
                return Opened::Share(self.start_stream(number, name, Origin::Decoded(contents), 0..filled));
            }
            let wanted = (2 * filled).max(FIRST_READ).min(limit);
            provide(&mut self.buffer, wanted, LARGE_BUFFER);
            match retry(|| contents.read(&mut self.buffer[filled..wanted])) {
                Ok(0) => break,
                Ok(got) => filled += got,
                Err(error) => {
                    let source = Source::new(number, name.path.map(Path::to_owned));
                    self.problems.add(&source, ProblemKind::Decode { error });
                    break;
                }
            }
        }
        self.whole(number, name, 0..filled);
        Opened::Done
    }

    fn start_chunks(
        &mut self,
        number: usize,
        name: FileName<'_>,
        file: File,
        range: Range<u64>,
        known: Range<usize>,
    ) -> (Arc<Shared<V>>, Arc<ChunkedFile>) {
        let shared = self.share(number, name, range.start, known);
        let source = Arc::clone(&shared.source);
        (shared, Arc::new(ChunkedFile::new(source, file, range, self.context.bounds)))
    }

    /// Looks at the beginning of what can only be read from front to back, and starts on it.
    fn read_stream(
        &mut self,
        number: usize,
        name: FileName<'_>,
        mut file: File,
    ) -> Result<Opened<V>, ProblemKind> {
        self.meter.enter(Phase::Read);
        provide(&mut self.buffer, FIRST_READ, LARGE_BUFFER);
        let mut filled = 0;
        // A program may write the first bytes one by one.
        while filled < Format::START {
            let read = retry(|| file.read(&mut self.buffer[filled..FIRST_READ]));
            match read.map_err(|error| ProblemKind::Read { offset: filled as u64, error })? {
                0 => break,
                got => filled += got,
            }
        }
        let start = &self.buffer[..filled];
        let Reading { decompress, encoding, .. } = *self.context.reading;
        let again = |file| io::Cursor::new(start.to_vec()).chain(file);
        if let Some(format) = Format::of(start).filter(|_| decompress) {
            let contents = format.reader(again(file)).map_err(|error| ProblemKind::Decode { error })?;
            return Ok(self.decoded(number, name, encoding.reader(contents)));
        }
        let begin = match encoding.needed(start) {
            Needed::Transcode => {
                let contents = encoding.reader(again(file));
                return Ok(self.decoded(number, name, contents));
            }
            Needed::StripBom(length) => length,
            Needed::Plain => 0,
        };
        if self.wants == Wants::Whole {
            let contents = Box::new(io::Cursor::new(start[begin..].to_vec()).chain(file));
            return Ok(self.decoded(number, name, contents));
        }
        Ok(Opened::Share(self.start_stream(number, name, Origin::File(file), begin..filled)))
    }

    /// Starts on a stream of which `known` has been read into the buffer.
    fn start_stream(
        &mut self,
        number: usize,
        name: FileName<'_>,
        origin: Origin,
        known: Range<usize>,
    ) -> Job<V> {
        let start = self.buffer[known.clone()].to_vec();
        let shared = self.share(number, name, 0, known);
        let source = Arc::clone(&shared.source);
        let stream = Stream::new(source, origin, start, self.context.bounds);
        Job::Stream(Box::new(Streamed { shared, stream, blocks: 0 }))
    }

    fn share(
        &mut self,
        number: usize,
        name: FileName<'_>,
        start: u64,
        known: Range<usize>,
    ) -> Arc<Shared<V>> {
        self.visited += 1;
        let known = known.start..known.end.min(known.start + START);
        let path = name.path.map(Path::to_owned);
        let chain = Chain::new(self.visitor.begin(name, &self.buffer[known]));
        Arc::new(Shared { source: Source::new(number, path.clone()), path, named: name.named, start, chain })
    }

    /// Visits a file that is in the buffer.
    fn whole(&mut self, number: usize, name: FileName<'_>, range: Range<usize>) {
        self.visited += 1;
        let mut buffer = mem::take(&mut self.buffer);
        let mut passing = Passing { carry: self.visitor.begin(name, &[]), tally: V::Tally::default() };
        let _ = self.in_turn(number, name, &mut buffer[range], 0, true, &mut passing);
        self.buffer = buffer;
        self.end(name, passing);
    }

    /// Visits a file chunk by chunk. As long as there is nothing in it, its chunks are left out, which saves the
    /// counting of lines; if something is found after all, they are read once more.
    fn alone(&mut self, shared: &Shared<V>, file: &ChunkedFile) {
        let (name, number) = (shared.file_name(), shared.source.argument());
        let mut buffer = mem::take(&mut self.buffer);
        let mut passing = Passing { carry: shared.chain.begin(), tally: V::Tally::default() };
        let mut left_out = Vec::new();
        let mut has_nothing = true;
        while let Some(chunk) = file.claim() {
            left_out.push(chunk);
            if has_nothing {
                self.meter.enter(Phase::Read);
                let range = file.read(chunk, &mut buffer, &mut self.problems);
                let bytes = &mut buffer[range];
                self.meter.enter(Phase::Search);
                has_nothing = bytes.len() <= self.context.bounds.max_line
                    && self.visitor.has_nothing(name, Text { bytes, offset: 0, is_whole: false });
                if has_nothing {
                    continue;
                }
            }
            let passed = left_out.drain(..).try_for_each(|chunk| {
                self.meter.enter(Phase::Read);
                let range = file.read(chunk, &mut buffer, &mut self.problems);
                let offset = chunk + range.start as u64 - shared.start;
                self.in_turn(number, name, &mut buffer[range], offset, false, &mut passing)
            });
            if passed.is_break() {
                break;
            }
        }
        self.buffer = buffer;
        self.end(name, passing);
    }

    /// Visits a block of a file that this worker alone visits, when its turn has come.
    fn in_turn(
        &mut self,
        number: usize,
        name: FileName<'_>,
        bytes: &mut [u8],
        start: u64,
        is_whole: bool,
        passing: &mut Passing<V>,
    ) -> ControlFlow<()> {
        let Passing { carry, tally } = passing;
        let total = bytes.len();
        self.meter.add_bytes(total as u64);
        for part in parts(bytes, self.context.bounds) {
            self.meter.enter(Phase::Search);
            let offset = start + part.start as u64;
            if let Some(length) = part.too_long {
                let source = Source::new(number, name.path.map(Path::to_owned));
                self.problems.add_long_line(&source, offset, self.context.bounds);
                self.visitor.skip_line(carry, length as u64);
                continue;
            }
            let is_whole = is_whole && part.bytes.len() == total;
            let found = self.visitor.search(name, Text { bytes: part.bytes, offset, is_whole });
            let before = carry.clone();
            let text = Text { bytes: part.bytes, offset, is_whole };
            let passed = self.visitor.pass(name, text, &found, carry);
            self.meter.enter(Phase::Print);
            let text = Text { bytes: part.bytes, offset, is_whole };
            self.visitor.print(name, text, found, &before, tally, &mut self.out);
            passed?;
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, name: FileName<'_>, passing: Passing<V>) {
        self.meter.enter(Phase::Print);
        if self.visitor.end(name, passing.carry, passing.tally, &mut self.out).is_break() {
            self.plan.halt();
        }
    }

    /// Visits a chunk of a file that is shared.
    fn chunk(&mut self, shared: &Shared<V>, file: &ChunkedFile, chunk: u64, block: u64) {
        self.meter.enter(Phase::Read);
        let mut buffer = mem::take(&mut self.buffer);
        let range = file.read(chunk, &mut buffer, &mut self.problems);
        let offset = chunk + range.start as u64;
        self.block(shared, block, &mut buffer[range], offset);
        self.buffer = buffer;
    }

    /// Reads a block of a stream, lets others read on, and visits the block.
    fn stream(&mut self, slot: SlotId, mut streamed: Box<Streamed<V>>) {
        self.meter.enter(Phase::Read);
        let shared = Arc::clone(&streamed.shared);
        let block = streamed.blocks;
        let mut buffer = mem::take(&mut self.buffer);
        let read = match shared.chain.is_over() {
            true => None,
            false => streamed.stream.read(&mut buffer, true, None, &mut self.problems),
        };
        match read {
            Some(StreamBlock { range, offset, .. }) => {
                streamed.blocks += 1;
                self.plan.put_back(slot, Job::Stream(streamed));
                self.block(&shared, block, &mut buffer[range], offset);
            }
            None => self.end_shared(&shared, block),
        }
        self.buffer = buffer;
    }

    /// Visits a block of a file that is shared: searches it, waits for its turn, and prints it.
    fn block(&mut self, shared: &Shared<V>, block: u64, bytes: &mut [u8], offset: u64) {
        self.meter.enter(Phase::Search);
        self.meter.add_bytes(bytes.len() as u64);
        let (name, bounds) = (shared.file_name(), self.context.bounds);
        let is_whole = false;
        let offset_of = |part: &Part<'_>| offset - shared.start + part.start as u64;
        let mut parts: Vec<_> = parts(bytes, bounds).collect();
        let mut found = Vec::with_capacity(parts.len());
        for part in &mut parts {
            let offset = offset_of(part);
            let wanted = part.too_long.is_none() && !shared.chain.is_over();
            found.push(
                wanted.then(|| self.visitor.search(name, Text { bytes: part.bytes, offset, is_whole })),
            );
        }
        self.meter.enter(Phase::Wait);
        let mut befores = Vec::with_capacity(parts.len());
        {
            let mut turn = shared.chain.await_turn(block);
            self.meter.enter(Phase::Search);
            let state = &mut *turn.state;
            for (part, found) in parts.iter_mut().zip(&found) {
                if state.over {
                    break;
                }
                befores.push(state.carry.clone());
                let offset = offset_of(part);
                match (part.too_long, found) {
                    (Some(length), _) => self.visitor.skip_line(&mut state.carry, length as u64),
                    (None, Some(found)) => {
                        let text = Text { bytes: part.bytes, offset, is_whole };
                        let passed = self.visitor.pass(name, text, found, &mut state.carry);
                        state.over = passed.is_break();
                    }
                    // Its search was left out because nothing more was wanted, which stays so.
                    (None, None) => {}
                }
            }
        }
        self.meter.enter(Phase::Print);
        let mut tally = V::Tally::default();
        for ((part, found), before) in parts.iter_mut().zip(found).zip(&befores) {
            let offset = offset_of(part);
            match found {
                Some(found) => {
                    let text = Text { bytes: part.bytes, offset, is_whole };
                    self.visitor.print(name, text, found, before, &mut tally, &mut self.out);
                }
                None => self.problems.add_long_line(&shared.source, offset, bounds),
            }
        }
        shared.chain.printed(|sum| V::add(sum, tally));
    }

    /// Ends a file that is shared, of so many blocks.
    fn end_shared(&mut self, shared: &Shared<V>, blocks: u64) {
        self.meter.enter(Phase::Wait);
        let (carry, tally) = shared.chain.await_all(blocks);
        self.end(shared.file_name(), Passing { carry, tally });
    }

    fn note(&mut self, number: usize, path: &Path, kind: ProblemKind) {
        self.problems.add(&Source::new(number, Some(path.to_owned())), kind);
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn open_named(path: &Path) -> Result<(File, Metadata), ProblemKind> {
    let file = File::open(path).map_err(ProblemKind::Open)?;
    let metadata = file.metadata().map_err(ProblemKind::Open)?;
    Ok((file, metadata))
}

/// Standard input, and whether it is a file that nobody has read from.
fn open_standard_input() -> Result<(File, bool), ProblemKind> {
    if stdio::input_was_closed() {
        return Err(ProblemKind::Closed);
    }
    let open = || {
        let mut file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let metadata = file.metadata()?;
        let is_whole_file = metadata.is_file() && metadata.len() > 0 && file.stream_position()? == 0;
        if is_whole_file {
            // As if it had been read from front to back: what runs next on the same input finds its end.
            file.seek(SeekFrom::Start(metadata.len()))?;
        }
        Ok((file, is_whole_file))
    };
    open().map_err(ProblemKind::Open)
}
