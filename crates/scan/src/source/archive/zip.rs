//! Zip archives. The directory has the offsets of members, so several workers can decompress them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use finecomb_sys::BufferedInput;
use flate2::Crc;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder};
use rawzip::{ZipFileHeaderRecord, ZipLocator};

use super::{MemberBatch, MemberText, WantedMembers};
use crate::block::Source;
use crate::problem::{MemberFault, ProblemKind, Problems};
use crate::source::cut::FileFrom;
use crate::source::decompress::INPUT_BUFFER;
use crate::source::decompress::format::Compression;

/// Size of the buffer for entries of the directory, in bytes: any entry fits.
const BUFFER: usize = 256 << 10;

/// Number of entries of the directory that are kept at a time. The directory is read again from its beginning for more.
const KEPT: usize = 32 << 10;

/// Maximum size of their names, in bytes.
const KEPT_NAMES: usize = 8 << 20;

/// A file, from the offset on at which the archive begins.
struct ArchiveFile {
    file: Arc<File>,
    start: u64,
}

impl ReaderAt for ArchiveFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let offset = self.start.checked_add(offset).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.file.read_at(buffer, offset)
    }
}

/// A zip archive.
pub(super) struct Zip {
    archive: Result<Arc<ZipArchive<ArchiveFile>>, io::Error>,
    /// Size of the archive, in bytes.
    size: u64,
    /// Entries of the directory that have been read, the next one last.
    entries: Vec<MemberHeader>,
    /// Number of entries that have been read.
    read: u64,
    /// Compressed bytes of the members so far.
    packed: u64,
    has_ended: bool,
    /// Damage of the directory after the entries that have been read.
    fault: Option<io::Error>,
}

/// An entry of the directory.
struct MemberHeader {
    number: u64,
    name: Vec<u8>,
    at: ZipArchiveEntryWayfinder,
    crc: u32,
    method: CompressionMethod,
    is_encrypted: bool,
}

impl MemberHeader {
    fn new(number: u64, record: &ZipFileHeaderRecord<'_>) -> Self {
        Self {
            number,
            name: record.file_path().as_bytes().to_vec(),
            at: record.wayfinder(),
            crc: record.crc32(),
            method: record.compression_method(),
            is_encrypted: record.flags().is_encrypted(),
        }
    }
}

/// The place and the compression of a member.
pub(crate) struct Packed {
    archive: Arc<ZipArchive<ArchiveFile>>,
    at: ZipArchiveEntryWayfinder,
    crc: u32,
    format: Option<Compression>,
}

fn damaged(reason: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("zip: {reason}"))
}

impl Zip {
    /// Opens the archive that begins at `start` in a file.
    ///
    /// # Errors
    /// If the size of the file cannot be read.
    pub(super) fn new(file: Arc<File>, start: u64) -> io::Result<Self> {
        let size = file.metadata()?.len().saturating_sub(start);
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let located = ZipLocator::new().locate_in_reader(ArchiveFile { file, start }, &mut buffer, size);
        let archive = located
            .map(Arc::new)
            .map_err(|_| damaged("no directory at the end; the archive is damaged or truncated"));
        Ok(Self { archive, size, entries: Vec::new(), read: 0, packed: 0, has_ended: false, fault: None })
    }

    /// Adds the next members that are wanted to a batch.
    pub(super) fn fill(
        &mut self,
        source: &Source,
        wanted: &WantedMembers<'_>,
        batch: &mut MemberBatch,
        problems: &mut Problems,
    ) -> io::Result<()> {
        while !batch.is_full() {
            let Some(entry) = self.entries.pop() else {
                if self.has_ended {
                    return self.fault.take().map_or(Ok(()), Err);
                }
                self.fault = self.read_directory(wanted.selects).err();
                continue;
            };
            self.packed = self.packed.saturating_add(entry.at.compressed_size_hint());
            if self.packed > self.size {
                // Damage of the directory after these members would be a second problem of the archive.
                (self.has_ended, self.entries, self.fault) = (true, Vec::new(), None);
                return Err(damaged("members overlap, possibly a zip bomb"));
            }
            let member = source.member(&entry.name);
            match self.text(&entry, wanted.names_only) {
                Ok(text) => batch.push(member, text),
                Err(fault) => {
                    problems.add(source, ProblemKind::Member { number: entry.number, member, fault });
                }
            }
        }
        Ok(())
    }

    /// Reads the next entries of the directory, and keeps the entries of selected files.
    fn read_directory(&mut self, selects: &dyn Fn(&[u8]) -> bool) -> io::Result<()> {
        self.has_ended = true;
        let archive = match &self.archive {
            Ok(archive) => Arc::clone(archive),
            Err(error) => return Err(io::Error::new(error.kind(), error.to_string())),
        };
        let mut buffer = vec![0; BUFFER];
        let mut entries = archive.entries(&mut buffer);
        let (mut number, mut names) = (0, 0);
        let result = loop {
            let record = match entries.next_entry() {
                Ok(Some(record)) => record,
                Ok(None) => break Ok(()),
                Err(error) => {
                    break Err(damaged(format_args!("damaged directory after {number} members: {error}")));
                }
            };
            number += 1;
            if number <= self.read {
                continue;
            }
            self.read = number;
            let name = record.file_path();
            if record.is_dir() || record.mode().is_symlink() || !selects(name.as_bytes()) {
                continue;
            }
            names += name.as_bytes().len();
            self.entries.push(MemberHeader::new(number, &record));
            if self.entries.len() >= KEPT || names >= KEPT_NAMES {
                self.has_ended = false;
                break Ok(());
            }
        };
        self.entries.reverse();
        result
    }

    /// The text of a member.
    fn text(&self, entry: &MemberHeader, names_only: bool) -> Result<MemberText, MemberFault> {
        if names_only {
            return Ok(MemberText::Unread);
        }
        if entry.is_encrypted {
            return Err(MemberFault::Encrypted);
        }
        let format = match entry.method {
            CompressionMethod::STORE => None,
            CompressionMethod::DEFLATE => Some(Compression::Deflate),
            CompressionMethod::BZIP2 => Some(Compression::Bzip2),
            CompressionMethod::ZSTD | CompressionMethod::ZSTD_DEPRECATED => Some(Compression::Zstd),
            CompressionMethod::XZ => Some(Compression::Xz),
            method => return Err(MemberFault::Compression(method.as_u16())),
        };
        let Ok(archive) = &self.archive else { return Err(MemberFault::Compression(0)) };
        Ok(MemberText::Packed(Packed { archive: Arc::clone(archive), at: entry.at, crc: entry.crc, format }))
    }
}

impl Packed {
    /// Opens the text.
    ///
    /// # Errors
    /// If the header before it cannot be read.
    pub(super) fn open(self) -> io::Result<Box<dyn Read + Send>> {
        let entry = self.archive.get_entry(self.at);
        let entry = entry.map_err(|error| damaged(format_args!("damaged header of the member: {error}")))?;
        let (begin, end) = entry.compressed_data_range();
        let ArchiveFile { file, start } = self.archive.get_ref();
        let offset = start.checked_add(begin).ok_or(io::ErrorKind::UnexpectedEof)?;
        let file = FileFrom { file: Arc::clone(file), offset };
        let packed = BufferedInput::new(file, INPUT_BUFFER, offset).take(end - begin);
        let text = match self.format {
            None => Box::new(packed),
            Some(format) => format.reader(packed)?,
        };
        let size = self.at.uncompressed_size_hint();
        Ok(Box::new(Checked { text, crc: Crc::new(), size, sum: self.crc }))
    }
}

/// A text that is compared with its size and its checksum at its end.
struct Checked {
    text: Box<dyn Read + Send>,
    crc: Crc,
    size: u64,
    sum: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.size == 0 {
            return self.end().map(|()| 0);
        }
        let most = buffer.len().min(usize::try_from(self.size).unwrap_or(usize::MAX));
        let got = self.text.read(&mut buffer[..most])?;
        if got == 0 {
            return Err(damaged("member truncated"));
        }
        self.crc.update(&buffer[..got]);
        self.size -= got as u64;
        Ok(got)
    }
}

impl Checked {
    /// Checks that the text has ended, and its checksum.
    fn end(&mut self) -> io::Result<()> {
        if self.text.read(&mut [0])? > 0 {
            return Err(damaged("member larger than it claims"));
        }
        if self.crc.sum() == self.sum { Ok(()) } else { Err(damaged("checksum does not match")) }
    }
}
