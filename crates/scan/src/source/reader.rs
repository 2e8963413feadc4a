//! How a worker opens an input and gets at its bytes: all at once, chunk by chunk, or as a stream.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use finecomb_meter::{Meter, Phase};
use finecomb_sys::stdio;
use rustix::fs::{OFlags, fcntl_setfl};

use super::cut::{FileFrom, provide, retry};
use super::decode::{Encoding, LONGEST_MARK, Needed};
use super::decompress::Format;
use super::stream::{Origin, Stream};
use super::{ChunkedFile, Chunks, PartedFile};
use crate::block::{FileIdentity, FirstNul, Medium, Source};
use crate::inputs::{Inputs, is_standard_input};
use crate::options::Bounds;
use crate::problem::{ProblemKind, Problems};
use crate::stop::{self, Stop};
use crate::walk::directory::{Directory, Scratch, Walk};
use crate::walk::open_path;

/// A buffer that is more than a few times as large is made small again.
const LARGE_BUFFER: usize = 1 << 20;

/// Bytes asked for with the first read of a file: what nearly all source files fit in.
pub(crate) const FIRST_READ: usize = 128 << 10;

/// Bytes of decoded text that are known before its first block, whatever the size of blocks: visitors look at the beginning of a
/// file. Small in tests, so that small files are read in parts.
const KNOWN_TEXT: usize = if cfg!(test) { 1 } else { super::START };

/// What all workers of a job know.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) bounds: Bounds,
    pub(crate) walk: &'a Walk<'a>,
}

/// A worker's means to read: its buffer, its clock, and the problems it met.
pub(crate) struct Reader<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) meter: Meter,
    pub(crate) problems: Problems,
    pub(crate) buffer: Vec<u8>,
    scratch: Scratch,
}

/// An input that was named, open.
pub(crate) enum Named {
    Directory(Directory),
    /// A regular file, to be read from an offset on.
    File(Source, File, u64),
    /// What can only be read from front to back.
    Stream(Source, File),
}

/// The contents of a file, after a look at its first bytes.
pub(crate) enum Contents {
    /// All of it is in the reader's buffer, at this range; before it stand `skipped` bytes of the file.
    Whole { range: Range<usize>, skipped: u64, medium: Medium },
    /// It is to be read chunk by chunk. Its beginning is in the buffer at `known`.
    Chunks { file: Chunks, start: u64, known: Range<usize> },
    /// It is to be read from front to back. Its beginning is in the buffer at `known`; the stream has it, too.
    Stream { stream: Stream, known: Range<usize> },
}

/// What the first bytes of a file say.
enum Look {
    /// Text, behind a byte order mark of this many bytes.
    Plain(usize),
    Compressed(Format),
    /// Text in another encoding than UTF-8.
    Encoded,
    /// Compressed by a program whose form is not known here.
    Unknown(&'static str),
}

impl<'a> Reader<'a> {
    pub(crate) fn new(context: Context<'a>, meter: Meter) -> Self {
        let (problems, buffer, scratch) = Default::default();
        Self { context, meter, problems, buffer, scratch }
    }

    /// Gives back the memory that is only needed while reading.
    pub(crate) fn release(&mut self) {
        self.buffer = Vec::new();
        self.scratch = Scratch::default();
    }

    /// Opens the input of a number. None if that fails, which is then recorded.
    pub(crate) fn open_named(&mut self, number: usize) -> Option<Named> {
        self.meter.enter(Phase::Open);
        let path = &self.context.inputs.named[number];
        if is_standard_input(path) {
            return self.open_standard_input(number);
        }
        match open_path(path).and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, _)) if metadata.is_dir() => self.list_named(number, path).map(Named::Directory),
            Ok((metadata, file)) => {
                let source = identified(Source::named(number, Some(path.clone())), &metadata);
                Some(if metadata.is_file() {
                    Named::File(source, file, 0)
                } else {
                    Named::Stream(source, file)
                })
            }
            // A directory that may not be read is said to be one.
            Err(_) if fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) => {
                self.list_named(number, path).map(Named::Directory)
            }
            Err(error) => {
                let source = Source::named(number, Some(path.clone()));
                self.problems.add(&source, ProblemKind::Open(error));
                None
            }
        }
    }

    /// Lists a directory that was named.
    pub(crate) fn list_named(&mut self, number: usize, path: &Path) -> Option<Directory> {
        self.meter.enter(Phase::Walk);
        let strip = self.context.inputs.strip_dot && path == Path::new(".");
        let printed = if strip { Path::new("") } else { path };
        let listed = self.context.walk.named(number, path, printed, &mut self.scratch, &mut self.problems);
        listed
            .map_err(|error| {
                let source = Source::named(number, Some(path.to_owned()));
                self.problems.add(&source, ProblemKind::List(error));
            })
            .ok()
    }

    /// Lists a directory in a directory. None if it is not to be entered, or cannot be.
    pub(crate) fn list(&mut self, parent: &Directory, entry: usize) -> Option<Directory> {
        self.meter.enter(Phase::Walk);
        let entry = &parent.listing.entries()[entry];
        let listed = self.context.walk.enter(parent, entry, &mut self.scratch, &mut self.problems);
        listed.unwrap_or_else(|error| {
            self.problems.add(&parent.source_of(entry), ProblemKind::List(error));
            None
        })
    }

    fn open_standard_input(&mut self, number: usize) -> Option<Named> {
        let source = Source::named(number, None);
        if stdio::input_was_closed() {
            self.problems.add(&source, ProblemKind::Closed);
            return None;
        }
        let open = || {
            let mut file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
            let metadata = file.metadata()?;
            let start = if metadata.is_file() { file.stream_position()? } else { 0 };
            // A file of the proc file system says that it is empty.
            let is_sized = metadata.is_file() && metadata.len() > 0;
            if is_sized {
                // As if it had been read from front to back: what runs next on the same input finds its end.
                file.seek(SeekFrom::Start(metadata.len().max(start)))?;
            }
            io::Result::Ok((file, metadata, is_sized.then_some(start)))
        };
        match open() {
            Ok((file, metadata, start)) => {
                let source = identified(source, &metadata);
                Some(match start {
                    Some(start) => Named::File(source, file, start),
                    None => Named::Stream(source, file),
                })
            }
            Err(error) => {
                self.problems.add(&source, ProblemKind::Open(error));
                None
            }
        }
    }

    /// Reads a regular file from `start` on: at once if it has at most `limit` bytes, or if `limit` is `usize::MAX`.
    pub(crate) fn read(
        &mut self,
        source: &Source,
        file: File,
        start: u64,
        limit: usize,
        short_read_is_end: bool,
    ) -> Result<Contents, ProblemKind> {
        self.meter.enter(Phase::Read);
        let mut filled = 0;
        let ended = self.fill(&file, start, &mut filled, FIRST_READ, short_read_is_end)?;
        let begin = match self.look(source, filled) {
            Look::Plain(begin) => begin,
            Look::Unknown(program) => return Err(ProblemKind::Compressed(program)),
            look => {
                let file = Arc::new(file);
                let input = FileFrom { file: Arc::clone(&file), offset: start };
                return self.decode(source, look, input, limit, Some((file, start)));
            }
        };
        if !ended || filled > limit {
            let metadata = file.metadata().map_err(ProblemKind::Open)?;
            let size = metadata.len();
            if size.saturating_sub(start) > limit as u64 {
                let source = identified(source.clone(), &metadata);
                let range = start + begin as u64..size;
                let file = ChunkedFile::new(source, file, range.clone(), self.context.bounds);
                return Ok(Contents::Chunks {
                    file: Chunks::Plain(file),
                    start: range.start,
                    known: begin..filled,
                });
            }
            if !self.fill(&file, start, &mut filled, limit, false)? {
                // It is growing, or has no size: it is read on as it comes.
                let end = start + filled as u64;
                (&file).seek(SeekFrom::Start(end)).map_err(ProblemKind::Open)?;
                let source = source.through(Medium::Pipe);
                return Ok(self.stream(source, Origin::File(file), begin..filled, None));
            }
        }
        let skipped = start + begin as u64;
        Ok(Contents::Whole { range: begin..filled, skipped, medium: Medium::File })
    }

    /// Reads on into the buffer until it holds `limit` bytes or the file ends; true if it has ended.
    fn fill(
        &mut self,
        file: &File,
        start: u64,
        filled: &mut usize,
        limit: usize,
        short_read_is_end: bool,
    ) -> Result<bool, ProblemKind> {
        while *filled < limit {
            let wanted = (2 * *filled).max(FIRST_READ).min(limit);
            provide(&mut self.buffer, wanted, LARGE_BUFFER);
            let offset = start + *filled as u64;
            let read = retry(|| file.read_at(&mut self.buffer[*filled..wanted], offset));
            let got = read.map_err(|error| ProblemKind::Read { offset, error })?;
            *filled += got;
            if got == 0 || short_read_is_end && *filled < wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Looks at the first bytes of a file.
    fn look(&self, source: &Source, filled: usize) -> Look {
        let start = &self.buffer[..filled];
        let Inputs { decompress, encoding, .. } = self.context.inputs;
        match Format::of(start).filter(|_| *decompress) {
            Some(format) => Look::Compressed(format),
            None if *decompress && let Some(program) = unknown_form(source, start) => Look::Unknown(program),
            None => match encoding.needed(start) {
                Needed::Plain => Look::Plain(0),
                Needed::StripBom(length) => Look::Plain(length),
                Needed::Transcode => Look::Encoded,
            },
        }
    }

    /// Reads the text that `input` is made of: at once if it is at most `limit` bytes. If `input` is a `file` from an offset on,
    /// and all of it, that may be read in parts.
    fn decode(
        &mut self,
        source: &Source,
        look: Look,
        input: impl Read + Send + 'static,
        limit: usize,
        file: Option<(Arc<File>, u64)>,
    ) -> Result<Contents, ProblemKind> {
        self.meter.enter(Phase::Decompress);
        let (encoding, line_end) = (self.context.inputs.encoding, self.context.bounds.line_end);
        let first_nul = FirstNul::default();
        let Look::Compressed(format) = look else {
            let medium = if file.is_some() { Medium::Transcoded(first_nul.clone()) } else { Medium::Pipe };
            let input = Encoding::buffered(input, file.is_some());
            let text = encoding.reader(input, line_end, first_nul);
            return Ok(self.read_text(&source.through(medium), text, limit));
        };
        let source = source.through(Medium::Decompressed);
        let mut text = format.reader(input).map_err(|error| ProblemKind::Decode { error })?;
        // The decoder of encodings copies what it passes on: it is left out where there is nothing to decode.
        let mut start = Vec::with_capacity(LONGEST_MARK);
        let marked = (&mut text).take(LONGEST_MARK as u64).read_to_end(&mut start);
        let start_and_rest = io::Cursor::new(start.clone()).chain(text);
        if marked.is_ok() && encoding.needed(&start) != Needed::Plain {
            let text = encoding.reader(Encoding::buffered(start_and_rest, false), line_end, first_nul);
            return Ok(self.read_text(&source, text, limit));
        }
        let contents = self.read_text(&source, Box::new(start_and_rest), limit);
        let Contents::Stream { known, .. } = &contents else { return Ok(contents) };
        let parted = |file| PartedFile::new(source.clone(), file, format, self.context.bounds);
        let all = file.filter(|&(_, start)| start == 0).map(|(file, _)| file);
        Ok(match all.and_then(parted) {
            Some(file) => {
                Contents::Chunks { file: Chunks::Parted(Box::new(file)), start: 0, known: known.clone() }
            }
            None => contents,
        })
    }

    fn read_text(&mut self, source: &Source, mut text: Box<dyn Read + Send>, limit: usize) -> Contents {
        let limit = limit.max(KNOWN_TEXT);
        let mut filled = 0;
        while filled < limit {
            let wanted = (2 * filled).max(FIRST_READ).min(limit);
            provide(&mut self.buffer, wanted, LARGE_BUFFER);
            match retry(|| text.read(&mut self.buffer[filled..wanted])) {
                Ok(0) => break,
                Ok(got) => filled += got,
                Err(error) => {
                    self.problems.add(source, ProblemKind::Decode { error });
                    break;
                }
            }
        }
        if filled < limit {
            return Contents::Whole { range: 0..filled, skipped: 0, medium: source.medium().clone() };
        }
        self.stream(source.clone(), Origin::Decoded(text), 0..filled, None)
    }

    /// Looks at the beginning of what can only be read from front to back. None if `stop` ended the waiting for it. With a
    /// `limit` of `usize::MAX` all of it is read.
    pub(crate) fn read_stream(
        &mut self,
        source: &Source,
        mut file: File,
        limit: usize,
        stop: Option<Arc<Stop>>,
    ) -> Result<Option<Contents>, ProblemKind> {
        self.meter.enter(Phase::Read);
        provide(&mut self.buffer, FIRST_READ, LARGE_BUFFER);
        let Inputs { decompress, encoding, .. } = self.context.inputs;
        let mut filled = 0;
        // A program may write the first bytes one by one.
        while filled == 0
            || *decompress && Format::may_continue(&self.buffer[..filled])
            || encoding.may_continue(&self.buffer[..filled])
        {
            if stop::wait_for(stop.as_deref(), &file) {
                return Ok(None);
            }
            if filled == 0 && source.path().is_some() {
                // It was opened without waiting for somebody to write to it.
                fcntl_setfl(&file, OFlags::empty()).map_err(|error| ProblemKind::Open(error.into()))?;
            }
            let read = retry(|| file.read(&mut self.buffer[filled..FIRST_READ]));
            match read.map_err(|error| ProblemKind::Read { offset: filled as u64, error })? {
                0 => break,
                got => filled += got,
            }
        }
        let begin = match self.look(source, filled) {
            Look::Plain(begin) => begin,
            Look::Unknown(program) => return Err(ProblemKind::Compressed(program)),
            look => {
                let input = io::Cursor::new(self.buffer[..filled].to_vec()).chain(file);
                return self.decode(source, look, input, limit, None).map(Some);
            }
        };
        if limit == usize::MAX {
            let text = Box::new(io::Cursor::new(self.buffer[begin..filled].to_vec()).chain(file));
            return Ok(Some(self.read_text(&source.through(Medium::Pipe), text, limit)));
        }
        Ok(Some(self.stream(source.through(Medium::Pipe), Origin::File(file), begin..filled, stop)))
    }

    /// A stream of which `known` has been read into the buffer.
    fn stream(
        &mut self,
        source: Source,
        origin: Origin,
        known: Range<usize>,
        stop: Option<Arc<Stop>>,
    ) -> Contents {
        let start = self.buffer[known.clone()].to_vec();
        let stream = Stream::new(source, origin, start, self.context.bounds, stop);
        Contents::Stream { stream, known }
    }
}

/// The program that has compressed a file, if it has a form that is not read here. That of brotli can only be told by the name, and
/// by that it is no text.
fn unknown_form(source: &Source, start: &[u8]) -> Option<&'static str> {
    const COMPRESS: &[u8] = b"\x1F\x9D";
    let is_named = |end: &str| {
        let path = source.path().and_then(Path::extension);
        path.is_some_and(|extension| extension == end)
    };
    if start.starts_with(COMPRESS) {
        return Some("compress (.Z)");
    }
    if !is_named("br") || start.is_empty() {
        return None;
    }
    // The last character may be cut.
    let is_text = !start.contains(&0)
        && std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true);
    (!is_text).then_some("brotli (.br)")
}

/// A source that knows which file it is.
fn identified(mut source: Source, metadata: &Metadata) -> Source {
    source.identify(FileIdentity::of(metadata));
    source
}
