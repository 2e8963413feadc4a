//! How a worker gets at the contents of a file: at once, chunk by chunk, or as a stream.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use finecomb_meter::Phase;
use rustix::fs::{OFlags, fcntl_setfl};

use super::chain::Chain;
use super::job::{Job, Shared, Streamed};
use super::worker::{Context, Worker};
use super::{FileName, Reading, START, Visit, Wants};
use crate::block::Source;
use crate::decode::Needed;
use crate::decompress::Format;
use crate::error::ProblemKind;
use crate::read::file::ChunkedFile;
use crate::read::stream::{Origin, Stream};
use crate::read::{provide, retry};
use crate::stop::Stop;
use crate::walk;
use finecomb_sys::stdio;

/// A file of up to so many blocks is read and searched by one worker: larger ones are worth sharing.
const WHOLE_LIMIT: usize = 4;

/// A file of up to so many blocks is left to one worker while there are other files for the others.
const ALONE_LIMIT: usize = 64;

/// A buffer that is more than a few times as large is made small again.
const LARGE_BUFFER: usize = 1 << 20;

/// How many bytes are asked for with the first read of a file: what nearly all source files fit in.
pub(super) const FIRST_READ: usize = 128 << 10;

impl Context<'_> {
    /// How many bytes a file may have for being visited at once.
    fn limit(&self, wants: Wants) -> usize {
        if wants == Wants::Blocks { WHOLE_LIMIT * self.bounds.block_size } else { usize::MAX }
    }
}

/// What came of trying to read a file at once.
pub(super) enum Opened<V: Visit> {
    Done,
    /// It is to be shared with others.
    Share(Job<V>),
}

impl<V: Visit> Worker<'_, V> {
    /// Reads a file from its beginning, and visits it if that can be done at once.
    pub(super) fn read(
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
        let limit = self.context.limit(self.wants);
        if !ended || filled > limit {
            let size = file.metadata().map_err(ProblemKind::Open)?.len();
            if size > limit as u64 {
                let (shared, file) = self.start_chunks(number, name, file, begin as u64..size, begin..filled);
                // Others have something else to do.
                if size <= (ALONE_LIMIT * self.context.bounds.block_size) as u64 && self.plan.has_tasks() {
                    self.alone(&shared, &file);
                    return Ok(Opened::Done);
                }
                return Ok(Opened::Share(Job::Chunks(shared, file, 0)));
            }
            if !self.fill(&file, &mut filled, limit, false)? {
                // It is growing, or has no size: it is read on as it comes.
                (&file).seek(SeekFrom::Start(filled as u64)).map_err(ProblemKind::Open)?;
                return Ok(Opened::Share(self.start_stream(
                    number,
                    name,
                    Origin::File(file),
                    begin..filled,
                    None,
                )));
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
        self.meter.enter(Phase::Decompress);
        let limit = self.context.limit(self.wants);
        let mut filled = 0;
        loop {
            if filled == limit {
                return Opened::Share(self.start_stream(
                    number,
                    name,
                    Origin::Decoded(contents),
                    0..filled,
                    None,
                ));
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
        let shared = self.share(number, name, range.start, known, None);
        let source = Arc::clone(&shared.source);
        (shared, Arc::new(ChunkedFile::new(source, file, range, self.context.bounds)))
    }

    /// Looks at the beginning of what can only be read from front to back, and starts on it.
    pub(super) fn read_stream(
        &mut self,
        number: usize,
        name: FileName<'_>,
        mut file: File,
    ) -> Result<Opened<V>, ProblemKind> {
        self.meter.enter(Phase::Read);
        provide(&mut self.buffer, FIRST_READ, LARGE_BUFFER);
        let Reading { decompress, encoding, .. } = *self.context.reading;
        let stop = self.plan.new_stop();
        let mut filled = 0;
        // A program may write the first bytes one by one.
        while filled == 0
            || decompress && Format::may_continue(&self.buffer[..filled])
            || encoding.may_continue(&self.buffer[..filled])
        {
            if stop.as_ref().is_some_and(|stop| stop.wait_for(&file)) {
                return Ok(Opened::Done);
            }
            if filled == 0 && name.path.is_some() {
                // It was opened without waiting for somebody to write to it.
                fcntl_setfl(&file, OFlags::empty()).map_err(|error| ProblemKind::Open(error.into()))?;
            }
            let read = retry(|| file.read(&mut self.buffer[filled..FIRST_READ]));
            match read.map_err(|error| ProblemKind::Read { offset: filled as u64, error })? {
                0 => break,
                got => filled += got,
            }
        }
        let start = &self.buffer[..filled];
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
        Ok(Opened::Share(self.start_stream(number, name, Origin::File(file), begin..filled, stop)))
    }

    /// Starts on a stream of which `known` has been read into the buffer.
    pub(super) fn start_stream(
        &mut self,
        number: usize,
        name: FileName<'_>,
        origin: Origin,
        known: Range<usize>,
        stop: Option<Arc<Stop>>,
    ) -> Job<V> {
        let start = self.buffer[known.clone()].to_vec();
        let shared = self.share(number, name, 0, known, stop);
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
        stop: Option<Arc<Stop>>,
    ) -> Arc<Shared<V>> {
        self.visited += 1;
        self.meter.add_file();
        let known = known.start..known.end.min(known.start + START);
        let path = name.path.map(Path::to_owned);
        let chain = Chain::new(self.visitor.begin(name, &self.buffer[known]));
        Arc::new(Shared {
            source: Source::new(number, path.clone()),
            path,
            named: name.named,
            start,
            stop,
            chain,
        })
    }
}

/// Opens what was named. What is no file is opened without waiting for anybody.
pub(super) fn open_named(path: &Path) -> Result<(File, Metadata), ProblemKind> {
    let file = walk::open_path(path).map_err(ProblemKind::Open)?;
    let metadata = file.metadata().map_err(ProblemKind::Open)?;
    Ok((file, metadata))
}

/// Standard input, and whether it is a file that nobody has read from.
pub(super) fn open_standard_input() -> Result<(File, bool), ProblemKind> {
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
