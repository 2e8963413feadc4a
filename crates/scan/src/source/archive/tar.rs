//! Tar archives, read sequentially.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};

use finecomb_sys::BufferedInput;
use finecomb_sys::locks::lock;
use tar_core::parse::{Limits, ParseEvent, ParsedEntry, Parser};
use tar_core::{Header, SparseEntry};

use super::{ARCHIVE_HEAD, MemberBatch, MemberText, SMALL, WantedMembers};
use crate::block::Source;
use crate::problem::{MemberFault, ProblemKind, Problems};
use crate::source::cut::{FileFrom, retry};

/// Size of a block: headers and contents are multiples of it.
const BLOCK: u64 = 512;

/// Maximum size of a header with all its extensions, in bytes. The parser allows extensions of 1 MiB.
const MAX_HEADER: usize = 4 << 20;

/// Maximum size of a sparse member, in bytes: it may claim any, and holes need no space in the archive.
const MAX_SPARSE: u64 = 16 << 30;

/// Size of a read from a file, in bytes.
const FILE_BUFFER: usize = 128 << 10;

/// Whether the checksum of a header is right.
pub(super) fn has_valid_checksum(header: &[u8; ARCHIVE_HEAD]) -> bool {
    Header::from_bytes(header).verify_checksum().is_ok()
}

/// A tar archive.
pub(super) struct Tar {
    data: Arc<Mutex<Data>>,
    parser: Parser,
    header: Vec<u8>,
    /// Number of members that were skipped.
    skipped: u64,
    has_ended: bool,
}

/// The bytes of an archive, and the content of the present member.
struct Data {
    input: TarInput,
    /// Offset in the archive, in bytes.
    offset: u64,
    /// Rest of the content, in bytes.
    left: u64,
    /// Size of the padding after the content, in bytes.
    padding: u64,
    /// Set once a read has failed: the archive has ended, and the problem is known.
    has_failed: bool,
}

enum TarInput {
    File(BufferedInput<FileFrom>),
    Stream(Box<dyn Read + Send>),
}

impl Read for TarInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Stream(stream) => stream.read(buffer),
        }
    }
}

fn damaged(reason: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("tar: {reason}"))
}

fn truncated() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "tar: archive truncated")
}

impl Data {
    /// Reads some of the content of the present member.
    fn read_content(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if wanted == 0 {
            return Ok(0);
        }
        if self.has_failed {
            return Err(truncated());
        }
        match retry(|| self.input.read(&mut buffer[..wanted])) {
            Ok(got) if got > 0 => {
                self.left -= got as u64;
                self.offset += got as u64;
                Ok(got)
            }
            result => {
                self.has_failed = true;
                Err(result.err().unwrap_or_else(truncated))
            }
        }
    }

    /// Skips the rest of the present member.
    fn skip_content(&mut self) -> io::Result<()> {
        let length = self.left.saturating_add(self.padding);
        (self.left, self.padding) = (0, 0);
        if length == 0 {
            return Ok(());
        }
        let mut rest = length;
        if let TarInput::File(file) = &mut self.input {
            // The last byte is read, as a file may end before it.
            file.skip(length - 1)?;
            rest = 1;
        }
        let skipped = io::copy(&mut (&mut self.input).take(rest), &mut io::sink())?;
        self.offset = self.offset.saturating_add(length);
        if skipped < rest { Err(truncated()) } else { Ok(()) }
    }

    /// Reads more of a header. Returns `false` at the end of the archive.
    fn read_header(&mut self, header: &mut Vec<u8>, length: usize) -> io::Result<bool> {
        let had = header.len();
        let read = (&mut self.input).take((length - had) as u64).read_to_end(header)?;
        self.offset += read as u64;
        match header.len() {
            0 => Ok(false),
            // The end is marked by zeros.
            got if got < length && header.iter().all(|&byte| byte == 0) => Ok(false),
            got if got < length => Err(truncated()),
            _ => Ok(true),
        }
    }
}

/// Header of a member.
struct MemberHeader {
    name: Vec<u8>,
    is_file: bool,
    size: u64,
    /// The places of the parts of the content in the text, and the size of the text.
    sparse: Option<(Vec<SparseEntry>, u64)>,
}

impl MemberHeader {
    fn new(entry: ParsedEntry<'_>, sparse: Option<(Vec<SparseEntry>, u64)>) -> Self {
        let name = entry.path.into_owned();
        // Old archives mark directories by their names.
        let is_file = (entry.entry_type.is_file() || sparse.is_some()) && !name.ends_with(b"/");
        Self { name, is_file, size: entry.size, sparse }
    }
}

impl Tar {
    /// A tar in a file.
    pub(super) fn of_file(file: FileFrom) -> Self {
        let offset = file.offset;
        Self::with(TarInput::File(BufferedInput::new(file, FILE_BUFFER, offset)))
    }

    /// A tar that can only be read sequentially.
    pub(super) fn new(stream: Box<dyn Read + Send>) -> Self {
        Self::with(TarInput::Stream(stream))
    }

    fn with(input: TarInput) -> Self {
        let mut parser = Parser::new(Limits::default());
        parser.set_allow_empty_path(true);
        parser.set_ignore_pax_errors(true);
        let data = Data { input, offset: 0, left: 0, padding: 0, has_failed: false };
        let header = Vec::new();
        Self { data: Arc::new(Mutex::new(data)), parser, header, skipped: 0, has_ended: false }
    }

    /// Adds the next members that are wanted to a batch.
    pub(super) fn fill(
        &mut self,
        source: &Source,
        wanted: &WantedMembers<'_>,
        batch: &mut MemberBatch,
        problems: &mut Problems,
    ) -> io::Result<()> {
        while !self.has_ended && !batch.is_full() {
            // Only a member without damage lets the archive continue.
            self.has_ended = true;
            if lock(&self.data).has_failed {
                return Ok(());
            }
            let Some(found) = self.next_member()? else { return Ok(()) };
            self.has_ended = false;
            if !found.is_file || !(wanted.selects)(&found.name) {
                continue;
            }
            let member = source.member(&found.name);
            if found.sparse.as_ref().is_some_and(|&(_, size)| size > MAX_SPARSE) {
                let fault = MemberFault::Sparse(MAX_SPARSE);
                problems.add(source, ProblemKind::Member { number: self.skipped, member, fault });
                self.skipped += 1;
            } else if wanted.names_only {
                batch.push(member, MemberText::Unread);
            } else {
                let text = self.text(found, wanted.limit, &member, problems);
                batch.push(member, text);
            }
        }
        Ok(())
    }

    /// Reads the header of the next member.
    fn next_member(&mut self) -> io::Result<Option<MemberHeader>> {
        let mut data = lock(&self.data);
        data.skip_content()?;
        let begin = data.offset;
        let header = &mut self.header;
        header.clear();
        let mut length = BLOCK as usize;
        let found = loop {
            if length > MAX_HEADER {
                return Err(damaged(format_args!("header at byte {begin} is too large")));
            }
            if !data.read_header(header, length)? {
                return Ok(None);
            }
            let event = self.parser.parse(header);
            match event.map_err(|error| damaged(format_args!("damaged header at byte {begin}: {error}")))? {
                // Never more than the header: the content after it is read on its own.
                ParseEvent::NeedData { min_bytes } => {
                    let is_whole = min_bytes > length && min_bytes.is_multiple_of(BLOCK as usize);
                    length = if is_whole { min_bytes } else { length + BLOCK as usize };
                }
                ParseEvent::Entry { entry, .. } => break MemberHeader::new(entry, None),
                ParseEvent::SparseEntry { entry, sparse_map, real_size, .. } => {
                    break MemberHeader::new(entry, Some((sparse_map, real_size)));
                }
                ParseEvent::GlobalExtensions { .. } => {
                    header.clear();
                    length = BLOCK as usize;
                }
                ParseEvent::End { .. } => return Ok(None),
            }
        };
        data.left = found.size;
        data.padding = found.size.wrapping_neg() % BLOCK;
        Ok(Some(found))
    }

    /// The text of the present member: at once if it is small.
    fn text(
        &self,
        found: MemberHeader,
        limit: usize,
        member: &Source,
        problems: &mut Problems,
    ) -> MemberText {
        let size = found.sparse.as_ref().map_or(found.size, |&(_, size)| size);
        let mut content = Content::new(Arc::clone(&self.data), found.sparse);
        if size > SMALL || size >= limit as u64 {
            return MemberText::Streamed(content);
        }
        let mut bytes = Vec::with_capacity(size as usize);
        if let Err(error) = content.read_to_end(&mut bytes) {
            problems.add(member, ProblemKind::Decode { error });
        }
        MemberText::Known(bytes)
    }
}

/// The content of a member, to be read before the archive is read on.
pub(crate) struct Content {
    data: Arc<Mutex<Data>>,
    holes: Option<Holes>,
}

/// The parts of a sparse text that are in the archive. All other bytes of it are 0.
struct Holes {
    parts: std::vec::IntoIter<SparseEntry>,
    /// Zeros before the rest of the present part.
    zeros: u64,
    /// Rest of the present part, in bytes.
    part: u64,
    /// Offset after the present part.
    offset: u64,
    size: u64,
}

impl Holes {
    /// Advances to the next part. Returns `false` at the end of the text.
    fn advance(&mut self) -> io::Result<bool> {
        let (begin, length) = match self.parts.next() {
            Some(part) => (part.offset, part.length),
            None if self.offset < self.size => (self.size, 0),
            None => return Ok(false),
        };
        let end = begin.checked_add(length).filter(|&end| begin >= self.offset && end <= self.size);
        let Some(end) = end else { return Err(damaged("damaged map of a sparse member")) };
        (self.zeros, self.part, self.offset) = (begin - self.offset, length, end);
        Ok(true)
    }
}

impl Content {
    fn new(data: Arc<Mutex<Data>>, sparse: Option<(Vec<SparseEntry>, u64)>) -> Self {
        let holes = sparse.map(|(parts, size)| Holes {
            parts: parts.into_iter(),
            zeros: 0,
            part: 0,
            offset: 0,
            size,
        });
        Self { data, holes }
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut data = lock(&self.data);
        let Some(holes) = &mut self.holes else { return data.read_content(buffer) };
        if buffer.is_empty() {
            return Ok(0);
        }
        while holes.zeros == 0 && holes.part == 0 {
            if !holes.advance()? {
                return Ok(0);
            }
        }
        let from_archive = holes.zeros == 0;
        let rest = if from_archive { &mut holes.part } else { &mut holes.zeros };
        let wanted = buffer.len().min(usize::try_from(*rest).unwrap_or(usize::MAX));
        let got = if from_archive {
            data.read_content(&mut buffer[..wanted])?
        } else {
            buffer[..wanted].fill(0);
            wanted
        };
        if got == 0 {
            return Err(damaged("damaged map of a sparse member"));
        }
        *rest -= got as u64;
        Ok(got)
    }
}

impl Seek for FileFrom {
    /// Moves the offset. The size of the file is not known, so that an offset from its end is an error.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(distance) => self.offset.checked_add_signed(distance),
            SeekFrom::End(_) => None,
        };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}
