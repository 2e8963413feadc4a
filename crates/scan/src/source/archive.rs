//! Archives, whose members are read like files.
//!
//! An archive is recognised by its first bytes; a tar also after decompression. Its members come in batches. A worker takes a batch
//! and returns the archive before it searches the batch, so that other workers read on meanwhile. A large member of a tar is not
//! kept in memory: it is read from the archive, which the worker therefore keeps until then.
//!
//! Nothing that an archive claims is trusted: sizes only decide what to read, and memory grows with the bytes read. That is why
//! `tar-core` and `rawzip` parse the headers: neither reads, decompresses or allocates by itself.
//!
//! # Adding a format
//!
//! A module below `archive` that fills a [`MemberBatch`], a variant of `ArchiveKind`, its signature in [`Archive::open`] and [`Archive::in_stream`],
//! and its extensions in `EXTENSIONS`. Selection and visits of members know no formats. Tests are `archives.rs` of this
//! crate and of `comb`, and `fuzz/hunt_archives.py` damages archives. docs/commands/grep.md lists the formats.

mod tar;
mod zip;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::cut::FileFrom;
use super::decompress::format::Compression;
use crate::block::Source;
use crate::problem::{ProblemKind, Problems};

/// Number of bytes at the beginning of a file that decide whether it is an archive.
pub(crate) const ARCHIVE_HEAD: usize = 512;

/// Maximum number of members in a batch.
const BATCH_MEMBERS: usize = 256;

/// Size from which on a batch is complete, in bytes of text.
const BATCH_SIZE: usize = 512 << 10;

/// Maximum size of a member of a tar that is kept in memory, in bytes.
const SMALL: u64 = 256 << 10;

/// Extensions of archives.
const EXTENSIONS: [&str; 26] = [
    "apk", "docx", "ear", "egg", "epub", "jar", "nupkg", "odp", "ods", "odt", "pptx", "tar", "taz", "tbz",
    "tbz2", "tgz", "tlz", "tlz4", "txz", "tzst", "vsix", "war", "whl", "xlsx", "xpi", "zip",
];

/// Whether the name of a file is that of an archive: `x.zip`, `x.tar` or `x.tar.gz`.
pub(crate) fn is_archive_name(name: &[u8]) -> bool {
    let name = Path::new(OsStr::from_bytes(name));
    let is_tar = name.file_stem().is_some_and(|stem| Path::new(stem).extension() == Some(OsStr::new("tar")));
    let known = |extension: &OsStr| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known));
    is_tar || name.extension().is_some_and(known)
}

/// An archive, and how far it has been read.
pub(crate) struct Archive {
    pub(crate) source: Source,
    kind: ArchiveKind,
}

enum ArchiveKind {
    Tar(tar::Tar),
    Zip(zip::Zip),
}

/// A member, and its text.
pub(crate) struct Member {
    pub(crate) source: Source,
    pub(crate) text: MemberText,
}

/// The text of a member.
pub(crate) enum MemberText {
    /// In memory.
    Known(Vec<u8>),
    /// To be read from a tar before that is read on.
    Streamed(tar::Content),
    /// At a place in a zip.
    Packed(zip::Packed),
    /// Not wanted: only names are.
    Unread,
}

impl MemberText {
    /// Opens the text of a member that is not in memory.
    ///
    /// # Errors
    /// If its place in the archive cannot be read.
    pub(crate) fn open(self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Known(bytes) => Ok(Box::new(io::Cursor::new(bytes))),
            Self::Streamed(content) => Ok(Box::new(content)),
            Self::Packed(packed) => packed.open(),
            Self::Unread => Ok(Box::new(io::empty())),
        }
    }
}

/// The next members of an archive.
#[derive(Default)]
pub(crate) struct MemberBatch {
    pub(crate) members: Vec<Member>,
    /// Size of the texts that are in memory, in bytes.
    size: usize,
}

impl MemberBatch {
    fn push(&mut self, source: Source, text: MemberText) {
        if let MemberText::Known(bytes) = &text {
            self.size += bytes.len();
        }
        self.members.push(Member { source, text });
    }

    fn is_full(&self) -> bool {
        self.size >= BATCH_SIZE || self.members.len() >= BATCH_MEMBERS || self.is_streamed()
    }

    /// Whether the archive must not be read on before these members have been read.
    pub(crate) fn is_streamed(&self) -> bool {
        matches!(self.members.last(), Some(Member { text: MemberText::Streamed(_), .. }))
    }
}

/// The members that are wanted, and what of them.
pub(crate) struct WantedMembers<'a> {
    /// Selects members by name.
    pub(crate) selects: &'a dyn Fn(&[u8]) -> bool,
    /// Members of fewer bytes may be kept in memory.
    pub(crate) limit: usize,
    /// Whether only names are wanted.
    pub(crate) names_only: bool,
}

/// A tar that can only be read sequentially, and its compression.
pub(crate) struct TarStream(Option<Compression>);

impl TarStream {
    /// Opens the archive, which begins with `head`.
    pub(crate) fn open(self, source: &Source, head: &[u8], rest: File) -> Result<Archive, ProblemKind> {
        let whole = io::Cursor::new(head.to_vec()).chain(rest);
        let text = match self.0 {
            Some(format) => format.reader(whole).map_err(|error| ProblemKind::Decode { error })?,
            None => Box::new(whole),
        };
        Ok(Archive { source: source.without_details(), kind: ArchiveKind::Tar(tar::Tar::new(text)) })
    }
}

impl Archive {
    /// Opens a regular file as an archive, if it is one. It begins at `start` with `head`; only the first [`ARCHIVE_HEAD`] bytes
    /// matter.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn open(source: &Source, file: &File, start: u64, head: &[u8]) -> io::Result<Option<Self>> {
        let kind = if is_zip(head) {
            ArchiveKind::Zip(zip::Zip::new(Arc::new(file.try_clone()?), start)?)
        } else if is_tar(head, source) {
            let file = FileFrom { file: Arc::new(file.try_clone()?), offset: start };
            ArchiveKind::Tar(tar::Tar::of_file(file))
        } else if let Some(format) = Compression::of(head, source.path().and_then(Path::extension)) {
            let file = FileFrom { file: Arc::new(file.try_clone()?), offset: start };
            match compressed_tar(source, format, file) {
                Ok(tar) => ArchiveKind::Tar(tar),
                Err(_) => return Ok(None),
            }
        } else {
            return Ok(None);
        };
        Ok(Some(Self { source: source.without_details(), kind }))
    }

    /// Recognises an archive in an input that can only be read sequentially. `head` is the part read so far. `None` if it is no
    /// archive.
    ///
    /// # Errors
    /// If it is a zip, whose directory is at its end.
    pub(crate) fn in_stream(source: &Source, head: &[u8]) -> Result<Option<TarStream>, ProblemKind> {
        if is_zip(head) {
            let reason = "a zip archive cannot be read from a pipe, as its directory is at its end";
            return Err(ProblemKind::Unusable(reason.into()));
        }
        if is_tar(head, source) {
            return Ok(Some(TarStream(None)));
        }
        let Some(format) = Compression::of(head, source.path().and_then(Path::extension)) else {
            return Ok(None);
        };
        let text =
            format.reader(io::Cursor::new(head.to_vec())).map_err(|error| ProblemKind::Decode { error })?;
        let (start, _) = with_head(text);
        Ok(is_tar(&start, source).then_some(TarStream(Some(format))))
    }

    /// Returns the next members that are wanted; `None` at the end. Damage is recorded, and ends the archive.
    pub(crate) fn next(
        &mut self,
        wanted: &WantedMembers<'_>,
        problems: &mut Problems,
    ) -> Option<MemberBatch> {
        let mut batch = MemberBatch::default();
        let result = match &mut self.kind {
            ArchiveKind::Tar(tar) => tar.fill(&self.source, wanted, &mut batch, problems),
            ArchiveKind::Zip(zip) => zip.fill(&self.source, wanted, &mut batch, problems),
        };
        if let Err(error) = result {
            problems.add(&self.source, ProblemKind::Decode { error });
        }
        (!batch.members.is_empty()).then_some(batch)
    }
}

/// The first bytes of a text, and the whole text.
fn with_head(mut text: Box<dyn Read + Send>) -> (Vec<u8>, Box<dyn Read + Send>) {
    let mut head = Vec::with_capacity(ARCHIVE_HEAD);
    // The next read returns the error again.
    let _ = (&mut text).take(ARCHIVE_HEAD as u64).read_to_end(&mut head);
    let whole = Box::new(io::Cursor::new(head.clone()).chain(text));
    (head, whole)
}

/// Opens a compressed tar. If the text is no tar, the error carries no information.
fn compressed_tar(source: &Source, format: Compression, file: FileFrom) -> io::Result<tar::Tar> {
    let (head, whole) = with_head(format.reader(file)?);
    if is_tar(&head, source) { Ok(tar::Tar::new(whole)) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Whether a file begins with a member of a zip, or is an empty one.
fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Whether a text begins with a header of a tar. Old ones have no signature, but a checksum, and are recognised only in files that are
/// named like archives.
fn is_tar(head: &[u8], source: &Source) -> bool {
    let Some(header) = head.first_chunk::<ARCHIVE_HEAD>() else { return false };
    if &header[257..262] == b"ustar" {
        return true;
    }
    let name = source.path().and_then(Path::file_name).unwrap_or_default();
    // An empty one consists of zeros.
    is_archive_name(name.as_bytes())
        && (header.iter().all(|&byte| byte == 0) || tar::has_valid_checksum(header))
}
