//! Opening an input and reading its bytes: all at once, chunk by chunk, or as a stream.
//!
//! A short read is the end of a file on file systems with real sizes, so that one call reads most source files.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use finecomb_meter::{Meter, Phase};
use finecomb_sys::{Access, BufferedInput, GuardedMap, ReadBuffer, stdio};
use rustix::fs::{OFlags, fcntl_setfl};

use super::archive::{ARCHIVE_HEAD, Archive, MemberBatch, MemberText, WantedMembers};
use super::bounds::Bounds;
use super::chunks::ChunkedFile;
use super::cut::{FileFrom, retry};
use super::decode::{Conversion, Encoding, MAX_BOM};
use super::decompress::format::Compression;
use super::parted::PartedFile;
use super::prefetch::StorageWatch;
use super::shared::Chunks;
use super::stream::{ByteSource, Stream};
use crate::block::{FileIdentity, FirstNul, Medium, Source};
use crate::inputs::{Inputs, is_standard_input};
use crate::narrow::Narrow;
use crate::pieces::Pieces;
use crate::problem::{ProblemKind, Problems};
use crate::recognize::{MAX_HEAD, Recognize};
use crate::records::Records;
use crate::snapshot::TextPart;
use crate::stop::{self, Stop};
use crate::walk::directory::{Directory, Scratch, WalkContext};
use crate::walk::open_path;

/// Size of a large buffer, in bytes: one that is several times larger is shrunk again.
const LARGE_BUFFER: usize = 4 << 20;

/// Size of the first read of a file, in bytes: nearly all source files fit.
pub(crate) const FIRST_READ: usize = 128 << 10;

/// A file of more than this number of blocks is mapped if it is wanted as a whole. Parts of it have this size.
const MAPPED_BLOCKS: usize = 32;

/// Bytes of decoded text that are known before the first block, at any block size: visitors inspect the beginning of a
/// file. Small in tests, so that small files are read in parts.
const KNOWN_TEXT: usize = if cfg!(test) { 1 } else { super::HEAD_SIZE };

/// Number of bytes of a member of an archive that decide whether it is compressed or encoded.
const MEMBER_HEAD: u64 = 64;

/// Settings shared by all workers of a job.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) bounds: &'a Bounds,
    pub(crate) walk: &'a WalkContext<'a>,
    /// Recognises files, if requested. The reader makes the beginnings known that it examines.
    pub(crate) recognize: Option<&'a dyn Recognize>,
    /// Offsets at which the lines begin that are read, if not all.
    pub(crate) part: Option<&'a Range<u64>>,
    /// Restricts the part of each file that is read, if requested.
    pub(crate) narrow: Option<&'a dyn Narrow>,
}

impl Context<'_> {
    /// Size of the parts of a mapped file. Smaller files are not mapped.
    pub(crate) fn mapped_part(&self) -> usize {
        self.bounds.block_size.saturating_mul(MAPPED_BLOCKS)
    }

    /// The bounds for a file, which determine its lines and records.
    pub(crate) fn bounds_for(&self, source: &Source) -> Bounds {
        let records = source.records().unwrap_or(&self.bounds.records).clone();
        Bounds { records, ..*self.bounds }
    }
}

/// The reading half of a worker: its buffer, its meter, and the problems it found.
pub(crate) struct InputReader<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) meter: Meter,
    pub(crate) problems: Problems,
    pub(crate) buffer: ReadBuffer,
    pub(crate) storage: StorageWatch,
    scratch: Scratch,
}

/// An open named input.
pub(crate) enum NamedInput {
    Directory(Directory),
    /// A regular file, to be read from this offset on.
    File(Source, File, u64),
    /// An input that can only be read sequentially.
    Stream(Source, File),
}

/// The contents of a file, after inspection of its first bytes.
pub(crate) enum FileContents {
    /// The whole file, at this range of the reader's buffer. `skipped` bytes of the file precede it.
    Whole { range: Range<usize>, skipped: u64, medium: Medium },
    /// A large file that is wanted as a whole, with its text at this range.
    Mapped { map: GuardedMap, range: Range<usize> },
    /// A file to be read chunk by chunk. Its beginning is in the buffer at `known`.
    Chunks { file: Chunks, start: u64, known: Range<usize> },
    /// A file to be read sequentially. Its beginning is in the buffer at `known`, and also part of the stream, which begins
    /// with it.
    Stream { stream: Box<Stream>, known: Range<usize> },
    /// An archive, if their members are wanted.
    Archive(Box<Archive>),
    /// A file that is selected only as an archive, and is none.
    Unwanted,
}

impl FileContents {
    /// Whether the bytes are decoded, so that their number is not known in advance.
    pub(crate) fn is_decoded(&self) -> bool {
        match self {
            Self::Whole { medium, .. } => matches!(medium, Medium::Transcoded(_) | Medium::Decompressed),
            Self::Chunks { file, .. } => matches!(file, Chunks::Parted(_)),
            Self::Stream { stream, .. } => stream.is_decoded(),
            Self::Archive(_) => true,
            Self::Mapped { .. } | Self::Unwanted => false,
        }
    }
}

/// Kind of a file, according to its first bytes.
pub(crate) enum Sniffed {
    /// Text after a byte order mark of this many bytes.
    Plain(usize),
    Compressed(Compression),
    /// Text in an encoding other than UTF-8.
    Encoded,
}

impl Sniffed {
    /// Inspects the first bytes of a file.
    pub(crate) fn of(inputs: &Inputs, source: &Source, start: &[u8]) -> Self {
        let Inputs { decompress, encoding, .. } = inputs;
        let compressed = || Compression::of(start, source.path().and_then(Path::extension));
        match decompress.then(compressed).flatten() {
            Some(format) => Self::Compressed(format),
            None => match encoding.conversion(start) {
                Conversion::Plain => Self::Plain(0),
                Conversion::StripBom(length) => Self::Plain(length),
                Conversion::Transcode => Self::Encoded,
            },
        }
    }

    /// Whether the kind depends on bytes after the first ones.
    pub(crate) fn needs_more(inputs: &Inputs, start: &[u8]) -> bool {
        inputs.decompress && Compression::may_continue(start) || inputs.encoding.may_continue(start)
    }
}

impl<'a> InputReader<'a> {
    pub(crate) fn new(context: Context<'a>, meter: Meter) -> Self {
        let (problems, buffer, scratch) = Default::default();
        Self { context, meter, problems, buffer, storage: StorageWatch::new(), scratch }
    }

    /// Frees the memory that is only needed while reading.
    pub(crate) fn release(&mut self) {
        self.buffer = ReadBuffer::new();
        self.scratch = Scratch::default();
    }

    /// Opens a named input. Records the error and returns `None` if that fails.
    pub(crate) fn open_named(&mut self, number: usize) -> Option<NamedInput> {
        self.meter.enter(Phase::Open);
        let path = &self.context.inputs.named[number];
        if is_standard_input(path) {
            return self.open_standard_input(number);
        }
        match open_path(path).and_then(|file| Ok((file.metadata()?, file))) {
            Ok((metadata, _)) if metadata.is_dir() => {
                self.list_named(number, path).map(NamedInput::Directory)
            }
            Ok((metadata, file)) => {
                let source = identified(Source::named(number, Some(path.clone())), &metadata);
                Some(if metadata.is_file() {
                    NamedInput::File(source, file, 0)
                } else {
                    NamedInput::Stream(source, file)
                })
            }
            // Reports a directory without read permission as a directory.
            Err(_) if fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) => {
                self.list_named(number, path).map(NamedInput::Directory)
            }
            Err(error) => {
                let source = Source::named(number, Some(path.clone()));
                self.problems.add(&source, ProblemKind::Open(error));
                None
            }
        }
    }

    /// Lists a named directory.
    pub(crate) fn list_named(&mut self, number: usize, path: &Path) -> Option<Directory> {
        self.meter.enter(Phase::Walk);
        let strip = self.context.inputs.strip_dot && path == Path::new(".");
        let printed = if strip { Path::new("") } else { path };
        let directory =
            self.context.walk.open_named(number, path, printed, &mut self.scratch, &mut self.problems);
        directory
            .map_err(|error| {
                let source = Source::named(number, Some(path.to_owned()));
                self.problems.add(&source, ProblemKind::List(error));
            })
            .ok()
    }

    /// Lists a subdirectory. Returns `None` if it is not to be entered, or cannot be.
    pub(crate) fn list(&mut self, parent: &Directory, entry: usize) -> Option<Directory> {
        self.meter.enter(Phase::Walk);
        let entry = &parent.listing.entries()[entry];
        let directory = self.context.walk.enter(parent, entry, &mut self.scratch, &mut self.problems);
        directory.unwrap_or_else(|error| {
            self.problems.add(&parent.source_of(entry), ProblemKind::List(error));
            None
        })
    }

    fn open_standard_input(&mut self, number: usize) -> Option<NamedInput> {
        let source = Source::named(number, None);
        if stdio::input_was_closed() {
            self.problems.add(&source, ProblemKind::Closed);
            return None;
        }
        let open = || {
            let mut file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
            let metadata = file.metadata()?;
            let start = if metadata.is_file() { file.stream_position()? } else { 0 };
            // A file in `/proc` has a size of 0.
            let is_sized = metadata.is_file() && metadata.len() > 0;
            if is_sized {
                // Leaves the position at the end, as a sequential read would: the next program on the same input finds
                // its end.
                file.seek(SeekFrom::Start(metadata.len().max(start)))?;
            }
            io::Result::Ok((file, metadata, is_sized.then_some(start)))
        };
        match open() {
            Ok((file, metadata, start)) => {
                let source = identified(source, &metadata);
                Some(match start {
                    Some(start) => NamedInput::File(source, file, start),
                    None => NamedInput::Stream(source, file),
                })
            }
            Err(error) => {
                self.problems.add(&source, ProblemKind::Open(error));
                None
            }
        }
    }

    /// Reads a regular file from `start` on: at once if it has at most `limit` bytes.
    pub(crate) fn read(
        &mut self,
        source: &Source,
        file: File,
        start: u64,
        limit: usize,
        short_read_is_end: bool,
    ) -> Result<FileContents, ProblemKind> {
        let inputs = self.context.inputs;
        if let (Some(preprocessor), Some(path)) = (&inputs.preprocessor, source.path())
            && preprocessor.is_for(path)
        {
            self.meter.enter(Phase::Decompress);
            let text = preprocessor.start(path, file).map_err(|error| {
                let program = preprocessor.program.clone();
                ProblemKind::NotPreprocessed { program, error }
            })?;
            let text = BufferedInput::new(text, FIRST_READ, 0);
            return Ok(self.read_decoded(&source.with_medium(Medium::Decompressed), text, limit).0);
        }
        self.meter.enter(Phase::Read);
        let mut filled = 0;
        self.buffer.restart(start);
        let ended = self.fill(&file, start, &mut filled, FIRST_READ, short_read_is_end)?;
        if inputs.walk.archives {
            if let Some(archive) = self.archive_in(source, &file, start, filled)? {
                return Ok(FileContents::Archive(archive));
            }
            if !self.context.walk.selects_text(source) {
                return Ok(FileContents::Unwanted);
            }
        }
        let begin = match self.sniff(source, filled) {
            Sniffed::Plain(begin) => begin,
            sniffed => {
                let file = Arc::new(file);
                let input = FileFrom { file: Arc::clone(&file), offset: start };
                return self.decode(source, sniffed, input, limit, Some((file, start)));
            }
        };
        let is_recognized = self.context.recognize.is_some();
        let ended = match begin {
            1.. if is_recognized && !ended => {
                self.fill(&file, start, &mut filled, begin + MAX_HEAD, short_read_is_end)?
            }
            _ => ended,
        };
        let unmapped = self.context.mapped_part();
        if !ended || filled > limit.min(unmapped) {
            let metadata = file.metadata().map_err(ProblemKind::Open)?;
            let size = metadata.len();
            if size.saturating_sub(start) > limit as u64 {
                let source = identified(source.clone(), &metadata);
                let range = start + begin as u64..size;
                let file = ChunkedFile::new(source, file, range.clone(), self.context.bounds.clone());
                return Ok(FileContents::Chunks {
                    file: Chunks::Plain(Box::new(file)),
                    start: range.start,
                    known: begin..filled,
                });
            }
            if size.saturating_sub(start) > unmapped as u64
                && let Some(map) = map(&file, size)
            {
                let begin = usize::try_from(start).unwrap_or(usize::MAX).saturating_add(begin);
                return Ok(FileContents::Mapped { range: begin..map.len(), map });
            }
            // One more byte finds the end. Without the size, a large file would be copied from one buffer to the next, and take
            // twice the memory.
            let whole = usize::try_from(size.saturating_sub(start)).unwrap_or(usize::MAX).saturating_add(1);
            let whole = whole.min(limit);
            self.buffer.reserve(whole, LARGE_BUFFER);
            let ended = self.fill(&file, start, &mut filled, whole, false)?;
            if !ended && !self.fill(&file, start, &mut filled, limit, false)? {
                // The file grows or has no size: read the rest as a stream.
                let end = start + filled as u64;
                (&file).seek(SeekFrom::Start(end)).map_err(ProblemKind::Open)?;
                let source = source.with_medium(Medium::Pipe);
                let offset = start + begin as u64;
                return Ok(self.stream(source, ByteSource::File(file), begin..filled, offset, None));
            }
        }
        let skipped = start + begin as u64;
        Ok(FileContents::Whole { range: begin..filled, skipped, medium: Medium::File })
    }

    /// Reads a small file of plain text into the buffer and returns the range of its text; `None` if it is empty or something else,
    /// or cannot be read.
    pub(crate) fn read_small_text(
        &mut self,
        source: &Source,
        file: &File,
        short_read_is_end: bool,
    ) -> Option<Range<usize>> {
        self.meter.enter(Phase::Read);
        let mut filled = 0;
        self.buffer.restart(0);
        let ended = self.fill(file, 0, &mut filled, FIRST_READ, short_read_is_end).ok()?;
        match self.sniff(source, filled) {
            Sniffed::Plain(begin) if ended && begin < filled => Some(begin..filled),
            _ => None,
        }
    }

    /// Reads a part of a text file into `buffer`. An error is recorded, and so is a part that is not as long as it was.
    pub(crate) fn read_part<'b>(
        &mut self,
        source: &Source,
        file: &File,
        part: &TextPart,
        buffer: &'b mut ReadBuffer,
    ) -> &'b mut [u8] {
        self.meter.enter(Phase::Read);
        let length = usize::try_from(part.end - part.start).unwrap_or(usize::MAX);
        buffer.restart(part.start);
        buffer.reserve(length, LARGE_BUFFER);
        let got = match buffer.fill_at(file, 0..length, part.start) {
            Ok(got) if got == length => got,
            Ok(got) => {
                let kind = ProblemKind::Shrank { expected: part.end, found: part.start + got as u64 };
                self.problems.add(source, kind);
                got
            }
            Err(error) => {
                self.problems.add(source, ProblemKind::Read { offset: part.start, error });
                0
            }
        };
        &mut buffer[..got]
    }

    /// Reads more into the buffer until it holds `limit` bytes or the file ends. Returns `true` if the file has ended.
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
            // Once it holds bytes of the file, room that was made for all of them stays.
            let usual = if *filled == 0 { LARGE_BUFFER } else { usize::MAX };
            self.buffer.reserve(wanted, usual);
            let offset = start + *filled as u64;
            let read = self.buffer.read_at(file, *filled..wanted, offset);
            let got = read.map_err(|error| ProblemKind::Read { offset, error })?;
            *filled += got;
            if got == 0 || short_read_is_end && *filled < wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Inspects the first bytes of a file.
    fn sniff(&self, source: &Source, filled: usize) -> Sniffed {
        Sniffed::of(self.context.inputs, source, &self.buffer[..filled])
    }

    /// Decodes `input`: at once if its text has at most `limit` bytes. `file` is the file and offset that `input`
    /// reads, if `input` is all of it; such a file may be read in parts.
    fn decode(
        &mut self,
        source: &Source,
        sniffed: Sniffed,
        input: impl Read + Send + 'static,
        limit: usize,
        file: Option<(Arc<File>, u64)>,
    ) -> Result<FileContents, ProblemKind> {
        self.meter.enter(Phase::Decompress);
        let (encoding, line_end) = (self.context.inputs.encoding, self.context.bounds.line_end);
        let first_nul = FirstNul::default();
        let Sniffed::Compressed(format) = sniffed else {
            let medium = if file.is_some() { Medium::Transcoded(first_nul.clone()) } else { Medium::Pipe };
            let input = Encoding::buffered(input, file.is_some());
            let text = encoding.reader(input, line_end, first_nul);
            return Ok(self.read_text(&source.with_medium(medium), text, 0, limit));
        };
        let source = source.with_medium(Medium::Decompressed);
        let text = format.reader(input).map_err(|error| ProblemKind::Decode { error })?;
        let (contents, is_plain) = self.read_decoded(&source, text, limit);
        let FileContents::Stream { known, .. } = &contents else { return Ok(contents) };
        // Only the record before a beginning shows where it ends, so the text is cut in one place.
        if !is_plain || self.context.bounds.started().is_some() {
            return Ok(contents);
        }
        let parted = |file| PartedFile::new(source.clone(), file, format, self.context.bounds.clone());
        let all = file.filter(|&(_, start)| start == 0).map(|(file, _)| file);
        Ok(match all.and_then(parted) {
            Some(file) => {
                FileContents::Chunks { file: Chunks::Parted(Box::new(file)), start: 0, known: known.clone() }
            }
            None => contents,
        })
    }

    /// Reads text that a decompressor or another program makes, and which may have an encoding of its own. Also returns whether
    /// it is returned as it is made.
    fn read_decoded(
        &mut self,
        source: &Source,
        mut text: impl Read + Send + 'static,
        limit: usize,
    ) -> (FileContents, bool) {
        let (encoding, line_end) = (self.context.inputs.encoding, self.context.bounds.line_end);
        // The text decoder copies everything, so it is left out where there is nothing to decode.
        let mut start = Vec::with_capacity(MAX_BOM);
        let marked = (&mut text).take(MAX_BOM as u64).read_to_end(&mut start);
        let start_and_rest = io::Cursor::new(start.clone()).chain(text);
        match encoding.conversion(&start) {
            Conversion::Transcode if marked.is_ok() => {
                let text = Encoding::buffered(start_and_rest, false);
                let text = encoding.reader(text, line_end, FirstNul::default());
                (self.read_text(source, text, 0, limit), false)
            }
            Conversion::StripBom(length) => {
                (self.read_text(source, Box::new(start_and_rest), length, limit), false)
            }
            _ => (self.read_text(source, Box::new(start_and_rest), 0, limit), true),
        }
    }

    /// Reads decoded text after a byte order mark of `mark` bytes: at once if it has less than `limit` bytes.
    fn read_text(
        &mut self,
        source: &Source,
        mut text: Box<dyn Read + Send>,
        mark: usize,
        limit: usize,
    ) -> FileContents {
        let limit = limit.max(KNOWN_TEXT);
        let known = limit.max(if self.context.recognize.is_some() { mark + MAX_HEAD } else { 0 });
        let mut filled = 0;
        self.buffer.restart(0);
        while filled < known {
            let wanted = (2 * filled).max(FIRST_READ).min(known);
            self.buffer.reserve(wanted, LARGE_BUFFER);
            match retry(|| text.read(self.buffer.bytes_mut(filled..wanted))) {
                Ok(0) => break,
                Ok(got) => filled += got,
                // The next read returns the error again.
                Err(_) if filled >= limit => break,
                Err(error) => {
                    self.problems.add(source, ProblemKind::Decode { error });
                    break;
                }
            }
        }
        if filled < limit {
            let medium = source.medium().clone();
            return FileContents::Whole { range: mark..filled, skipped: mark as u64, medium };
        }
        self.stream(source.clone(), ByteSource::Decoded(text), mark..filled, mark as u64, None)
    }

    /// Inspects the beginning of an input that can only be read sequentially. Returns `None` if `stop` interrupted the
    /// wait for it. Reads up to `limit` bytes of it if the whole of it is wanted.
    pub(crate) fn read_stream(
        &mut self,
        source: &Source,
        file: File,
        limit: usize,
        is_whole: bool,
        stop: Option<Arc<Stop>>,
    ) -> Result<Option<FileContents>, ProblemKind> {
        self.meter.enter(Phase::Read);
        self.buffer.restart(0);
        self.buffer.reserve(FIRST_READ, LARGE_BUFFER);
        let mut filled = 0;
        // A program may write the first bytes one at a time.
        let archives = self.context.inputs.walk.archives;
        while filled == 0
            || archives && filled < ARCHIVE_HEAD
            || Sniffed::needs_more(self.context.inputs, &self.buffer[..filled])
        {
            if stop::wait_for(stop.as_deref(), &file) {
                return Ok(None);
            }
            if filled == 0 && source.path().is_some() {
                // It was opened without waiting for a writer.
                fcntl_setfl(&file, OFlags::empty()).map_err(|error| ProblemKind::Open(error.into()))?;
            }
            let read = self.buffer.read(&file, filled..FIRST_READ);
            match read.map_err(|error| ProblemKind::Read { offset: filled as u64, error })? {
                0 => break,
                got => filled += got,
            }
        }
        if archives && let Some(found) = Archive::in_stream(source, &self.buffer[..filled])? {
            return Ok(Some(FileContents::Archive(Box::new(found.open(
                source,
                &self.buffer[..filled],
                file,
            )?))));
        }
        let begin = match self.sniff(source, filled) {
            Sniffed::Plain(begin) => begin,
            sniffed => {
                let input = io::Cursor::new(self.buffer[..filled].to_vec()).chain(file);
                return self.decode(source, sniffed, input, limit, None).map(Some);
            }
        };
        if is_whole {
            let text = Box::new(io::Cursor::new(self.buffer[..filled].to_vec()).chain(file));
            return Ok(Some(self.read_text(&source.with_medium(Medium::Pipe), text, begin, limit)));
        }
        let source = source.with_medium(Medium::Pipe);
        Ok(Some(self.stream(source, ByteSource::File(file), begin..filled, begin as u64, stop)))
    }

    /// Takes a regular file as an archive, if it is one. Its first bytes are in the buffer.
    fn archive_in(
        &mut self,
        source: &Source,
        file: &File,
        start: u64,
        filled: usize,
    ) -> Result<Option<Box<Archive>>, ProblemKind> {
        let archive = Archive::open(source, file, start, &self.buffer[..filled]);
        Ok(archive.map_err(ProblemKind::Open)?.map(Box::new))
    }

    /// Reads the beginning of a regular file when only its name is wanted, or the names of its members if it is an archive.
    pub(crate) fn read_name(&mut self, source: &Source, file: &File) -> Result<FileContents, ProblemKind> {
        self.meter.enter(Phase::Read);
        let mut filled = 0;
        self.buffer.restart(0);
        self.fill(file, 0, &mut filled, ARCHIVE_HEAD, false)?;
        Ok(match self.archive_in(source, file, 0, filled)? {
            Some(archive) => FileContents::Archive(archive),
            None if self.context.walk.selects_text(source) => {
                FileContents::Whole { range: 0..0, skipped: 0, medium: Medium::File }
            }
            None => FileContents::Unwanted,
        })
    }

    /// Reads the next members of an archive; `None` at its end.
    pub(crate) fn next_members(
        &mut self,
        archive: &mut Archive,
        limit: usize,
        names_only: bool,
    ) -> Option<MemberBatch> {
        self.meter.enter(Phase::Decompress);
        let (walk, source) = (self.context.walk, archive.source.clone());
        let selects = |name: &[u8]| walk.selects_member(&source, name);
        archive.next(&WantedMembers { selects: &selects, limit, names_only }, &mut self.problems)
    }

    /// Reads a member of an archive: at once if its text has less than `limit` bytes.
    pub(crate) fn read_member(
        &mut self,
        source: &Source,
        text: MemberText,
        limit: usize,
    ) -> Result<FileContents, ProblemKind> {
        self.meter.enter(Phase::Decompress);
        let medium = Medium::Decompressed;
        let mut start = Vec::new();
        let rest = match text {
            MemberText::Known(bytes) => match Sniffed::of(self.context.inputs, source, &bytes) {
                Sniffed::Plain(begin) => {
                    let range = begin..bytes.len();
                    self.buffer.restart(0);
                    self.buffer.bytes_mut(0..bytes.len()).copy_from_slice(&bytes);
                    return Ok(FileContents::Whole { range, skipped: begin as u64, medium });
                }
                _ => {
                    start = bytes;
                    Box::new(io::empty())
                }
            },
            text => {
                let mut text = text.open().map_err(|error| ProblemKind::Decode { error })?;
                // The next read returns the error again.
                let _ = (&mut text).take(MEMBER_HEAD).read_to_end(&mut start);
                text
            }
        };
        let sniffed = Sniffed::of(self.context.inputs, source, &start);
        let whole = io::Cursor::new(start).chain(rest);
        match sniffed {
            Sniffed::Plain(begin) => {
                Ok(self.read_text(&source.with_medium(medium), Box::new(whole), begin, limit))
            }
            sniffed => self.decode(source, sniffed, whole, limit, None),
        }
    }

    /// Lets a file be recognised by its beginning, if that is requested. The result is attached to its source, which is
    /// returned for a file that is entirely in the buffer.
    ///
    /// # Errors
    /// Returns the problem that makes the file unusable.
    pub(crate) fn recognize(
        &mut self,
        source: &Source,
        contents: &mut FileContents,
    ) -> Result<Option<Source>, ProblemKind> {
        let Some(by) = self.context.recognize else { return Ok(None) };
        self.meter.enter(Phase::Read);
        let head = |text: &Range<usize>| &self.buffer[text.start..text.end.min(text.start + MAX_HEAD)];
        match contents {
            FileContents::Whole { range, skipped, medium } => {
                let mut source = source.with_medium(medium.clone());
                let recognized = by.recognize(&source, head(range), true).map_err(ProblemKind::Unusable)?;
                let Some(recognized) = recognized else { return Ok(None) };
                // Larger texts of other media are streams.
                let has_pieces = recognized.records == Records::Lines && matches!(medium, Medium::File);
                source.set_recognized(recognized, *skipped);
                let text = &self.buffer[range.clone()];
                let problem = by.examine(&source, has_pieces.then(|| Pieces::of_text(*skipped, text)));
                problem.into_iter().for_each(|kind| self.problems.add(&source, kind));
                return Ok(Some(source));
            }
            FileContents::Chunks { file, start, known } => {
                let recognized = by.recognize(file.source(), head(known), true);
                if let Some(recognized) = recognized.map_err(ProblemKind::Unusable)? {
                    file.set_recognized(recognized, *start);
                    let pieces = match &*file {
                        Chunks::Plain(file) => file.pieces(),
                        Chunks::Parted(_) => None,
                    };
                    let problem = by.examine(file.source(), pieces);
                    problem.into_iter().for_each(|kind| self.problems.add(file.source(), kind));
                }
            }
            FileContents::Stream { stream, .. } => {
                stream.recognize(by, &mut self.problems)?;
                if stream.source.details().is_some() {
                    let problem = by.examine(&stream.source, None);
                    problem.into_iter().for_each(|kind| self.problems.add(&stream.source, kind));
                }
            }
            FileContents::Mapped { .. } | FileContents::Archive(_) | FileContents::Unwanted => {}
        }
        Ok(None)
    }

    /// Creates a stream whose first bytes are at `known` in the buffer, and at `offset` in the input.
    fn stream(
        &mut self,
        source: Source,
        origin: ByteSource,
        known: Range<usize>,
        offset: u64,
        stop: Option<Arc<Stop>>,
    ) -> FileContents {
        let start = self.buffer[known.clone()].to_vec();
        let stream = Stream::new(source, origin, start, offset, self.context.bounds.clone(), stop);
        FileContents::Stream { stream: Box::new(stream), known }
    }
}

/// Maps a file of this size, if the system allows it. Memory for a copy would have to be zeroed by the kernel first, which takes longer than most
/// searches.
fn map(file: &File, size: u64) -> Option<GuardedMap> {
    let mut map = GuardedMap::new(file, usize::try_from(size).ok()?, Access::InOrder).ok()?;
    // Visitors may change the bytes.
    map.bytes_mut().is_ok().then_some(map)
}

/// The source with the identity of its file.
pub(crate) fn identified(mut source: Source, metadata: &Metadata) -> Source {
    source.set_identity(FileIdentity::of(metadata));
    source
}
