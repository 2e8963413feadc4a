//! The catalog: the state of a tree when it was indexed. It has directories with all their entries, the stamps of directories and
//! files, and the segments with the trigrams of the files.
//!
//! It is one file, read as a whole. docs/tree-index-format.md describes every byte.

mod write;

use std::ffi::{CStr, OsStr};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use finecomb_scan::{Absent, Distrust, EntryKind, Instant, Known, KnownEntry, Stamp};

use crate::error::Error;
use crate::pages::{Pages, u32_at, u64_at};

pub(crate) use write::{CatalogContents, CatalogDirectory, CatalogEntry, NO_STAMP, write_stamp};

/// First bytes of the catalog; the last one is the version of the format.
const MAGIC: [u8; 8] = *b"FCtrees\x04";

/// Bytes of the records.
const HEADER: usize = 64;
const SEGMENT: usize = 32;
const DIRECTORY: usize = 72;
const ENTRY: usize = 24;
const FILE: usize = 56;
const STAMP: usize = 48;

/// Bytes that are read first: the segments of most catalogs are among them.
pub(crate) const HEAD: u64 = 4096;

/// Bit in the kind of an entry that is selected.
const SELECTED: u32 = 1 << 8;

/// Number of a file or directory that is not in the index.
const NONE: u32 = u32::MAX;

/// The root of the tree, from the beginning of a catalog; `None` if that is not one of this version.
pub(crate) fn root_in(bytes: &[u8]) -> Option<PathBuf> {
    (bytes.get(..8)? == MAGIC).then_some(())?;
    let length = u32_at(bytes, 44)? as usize;
    Some(PathBuf::from(OsStr::from_bytes(bytes.get(HEADER..HEADER.checked_add(length)?)?)))
}

/// A segment of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentInfo {
    /// Number in the name of its file.
    pub(crate) id: u64,
    pub(crate) documents: u32,
    pub(crate) bytes: u64,
    pub(crate) checksum: u64,
}

/// A file of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CatalogFile {
    pub(crate) state: IndexedPart,
    /// The stamp of the indexed file.
    pub(crate) stamp: Stamp,
    /// The first of its documents, counted over all segments.
    pub(crate) document: u32,
    /// Number of its documents: parts of whole lines.
    pub(crate) documents: u32,
}

/// The part of a file that is indexed, or the reason why none is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexedPart {
    /// All of it, text without a NUL and without a byte order mark.
    Plain,
    /// Its text before the first NUL.
    UpToNul,
    /// Nothing: it is compressed, or in an encoding other than UTF-8.
    Encoded,
    /// Nothing: it has too many different trigrams.
    Varied,
    /// Nothing that can be trusted.
    Distrusted(Distrust),
}

/// All states, in the order of their numbers in a catalog.
const STATES: [IndexedPart; 9] = [
    IndexedPart::Plain,
    IndexedPart::UpToNul,
    IndexedPart::Encoded,
    IndexedPart::Varied,
    IndexedPart::Distrusted(Distrust::FileSystem),
    IndexedPart::Distrusted(Distrust::Fresh),
    IndexedPart::Distrusted(Distrust::Writer),
    IndexedPart::Distrusted(Distrust::Unreadable),
    IndexedPart::Distrusted(Distrust::Large),
];

impl IndexedPart {
    /// Whether its trigrams are in a segment.
    pub fn is_indexed(self) -> bool {
        matches!(self, Self::Plain | Self::UpToNul)
    }

    fn number(self) -> u32 {
        STATES.iter().position(|&state| state == self).unwrap_or_default() as u32
    }
}

/// A catalog that was read.
#[derive(Debug)]
pub(crate) struct Catalog {
    bytes: Vec<u8>,
    /// Size of the file.
    pub(crate) size: u64,
    pub(crate) root: PathBuf,
    pub(crate) built: Instant,
    /// A number for the user and the groups who built it.
    pub(crate) credentials: u64,
    pub(crate) segments: Vec<SegmentInfo>,
    directories: RecordTable,
    entries: RecordTable,
    files: RecordTable,
    names: usize,
    /// The documents of each file with several documents, in order, once they were asked for.
    divided: OnceLock<Vec<Range<u32>>>,
}

/// Records of equal length.
#[derive(Clone, Copy, Debug)]
struct RecordTable {
    start: usize,
    count: u32,
    length: usize,
}

impl RecordTable {
    fn record<'b>(&self, bytes: &'b [u8], number: u32) -> Option<&'b [u8]> {
        let start = self.start + (number < self.count).then_some(number as usize)? * self.length;
        bytes.get(start..start + self.length)
    }

    fn end(&self) -> usize {
        self.start + self.count as usize * self.length
    }
}

impl Catalog {
    /// Reads a catalog on some threads, and calls `beside` with its segments meanwhile.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or of another version.
    pub(crate) fn open_beside<T: Send>(
        path: &Path,
        threads: usize,
        beside: impl Fn(&[SegmentInfo]) -> T + Sync,
    ) -> Result<(Self, T), Error> {
        let pages = Pages::open(path)?;
        let damaged = || Error::damaged(path.to_owned(), "catalog");
        let head = pages.read(0..pages.len().min(HEAD))?;
        if head.get(..7) == Some(&MAGIC[..7]) && head.get(7) != MAGIC.last() {
            return Err(Error::Version(path.to_owned()));
        }
        let end = segments_table(&head).ok_or_else(damaged)?.end() as u64;
        let head = if end > HEAD { pages.read(0..end)? } else { head };
        let segments = segments_in(&head).ok_or_else(damaged)?;
        let (bytes, done) = pages.read_all_beside(threads, || beside(&segments))?;
        Ok((Self::parse(bytes, pages.size()).ok_or_else(damaged)?, done))
    }

    /// Takes apart a catalog from memory; `None` if it is not one of this version.
    pub(crate) fn parse(bytes: Vec<u8>, size: u64) -> Option<Self> {
        (bytes.get(..8)? == MAGIC).then_some(())?;
        let count = |at| u32_at(&bytes, at);
        let built = Instant { seconds: u64_at(&bytes, 8)? as i64, nanoseconds: count(16)? };
        let root = root_in(&bytes)?;
        let directories =
            RecordTable { start: segments_table(&bytes)?.end(), count: count(32)?, length: DIRECTORY };
        let entries = RecordTable { start: directories.end(), count: count(36)?, length: ENTRY };
        let files = RecordTable { start: entries.end(), count: count(40)?, length: FILE };
        let names = files.end();
        let end = names.checked_add(usize::try_from(u64_at(&bytes, 48)?).ok()?)?;
        (end == bytes.len()).then_some(())?;
        let segments = segments_in(&bytes)?;
        let credentials = u64_at(&bytes, 24)?;
        let divided = OnceLock::new();
        Some(Self {
            built,
            credentials,
            segments,
            directories,
            entries,
            files,
            names,
            divided,
            root,
            bytes,
            size,
        })
    }

    /// Number of directories.
    pub(crate) fn directories(&self) -> u32 {
        self.directories.count
    }

    /// Number of files.
    pub(crate) fn files(&self) -> u32 {
        self.files.count
    }

    /// The stamp with which the entries of a directory are complete.
    pub(crate) fn stamp(&self, directory: u32) -> Option<Stamp> {
        let record = self.directories.record(&self.bytes, directory)?;
        (u32_at(record, STAMP + 8)? == 1).then_some(())?;
        stamp_at(record)
    }

    /// The number of the selection in a directory.
    pub(crate) fn selection(&self, directory: u32) -> Option<u64> {
        let record = self.directories.record(&self.bytes, directory)?;
        u64_at(record, STAMP + 16).filter(|&selection| selection != 0)
    }

    /// The entries of a directory, in the order of their names.
    pub(crate) fn entries(&self, directory: u32) -> impl ExactSizeIterator<Item = KnownEntry<'_>> {
        self.entry_numbers(directory).map(|number| self.entry(number))
    }

    /// The numbers of the entries of a directory.
    pub(crate) fn entry_numbers(&self, directory: u32) -> Range<u32> {
        let range = self.directories.record(&self.bytes, directory).and_then(|record| {
            let (first, count) = (u32_at(record, STAMP)?, u32_at(record, STAMP + 4)?);
            Some(first..first.checked_add(count).filter(|&end| end <= self.entries.count)?)
        });
        range.unwrap_or_default()
    }

    /// An entry by its number; an entry without a name if the catalog is damaged.
    pub(crate) fn entry(&self, number: u32) -> KnownEntry<'_> {
        let entry = || {
            let record = self.entries.record(&self.bytes, number)?;
            let name = self.bytes.get(self.names + u32_at(record, 8)? as usize..)?;
            let kind = u32_at(record, 16)?;
            let is_selected = kind & SELECTED != 0;
            let kind = match kind & !SELECTED {
                0 => EntryKind::File,
                1 => EntryKind::Directory,
                2 => EntryKind::Link,
                _ => EntryKind::Other,
            };
            let count = if kind == EntryKind::Directory { self.directories.count } else { self.files.count };
            let number = Some(u32_at(record, 12)?).filter(|&number| number < count);
            let length = u32_at(record, 20)? as usize;
            let name = CStr::from_bytes_with_nul(name.get(..=length)?).ok()?;
            Some(KnownEntry { name, kind, inode: u64_at(record, 0)?, number, is_selected })
        };
        let nothing =
            KnownEntry { name: c"", kind: EntryKind::Other, inode: 0, number: None, is_selected: false };
        entry().unwrap_or(nothing)
    }

    /// The number of the directory with this absolute path.
    pub(crate) fn find(&self, path: &Path) -> Option<u32> {
        let below = path.strip_prefix(&self.root).ok()?;
        below.components().try_fold(0, |directory, name| {
            let name = name.as_os_str().as_bytes();
            let mut entries = self.entries(directory);
            let entry = entries.find(|entry| entry.name.to_bytes() == name)?;
            entry.number.filter(|_| entry.kind == EntryKind::Directory)
        })
    }

    /// The documents of each file with several documents in a range, counted from the start of the range.
    pub(crate) fn divided(&self, range: Range<u32>) -> Vec<Range<u32>> {
        let all = self.divided.get_or_init(|| {
            let files = (0..self.files.count).filter_map(|number| self.file(number));
            let divided = files.filter(|file| file.documents > 1);
            let mut all: Vec<_> =
                divided.map(|file| file.document..file.document.saturating_add(file.documents)).collect();
            all.sort_unstable_by_key(|documents| documents.start);
            all
        });
        let place = |document| all.partition_point(|documents| documents.start < document);
        let inside = all[place(range.start)..place(range.end)].iter();
        inside.map(|documents| documents.start - range.start..documents.end - range.start).collect()
    }

    /// Whether it has the same contents, built at any time.
    pub(crate) fn equals(&self, contents: &CatalogContents) -> bool {
        let CatalogContents { root, built: _, credentials, segments, directories, files } = contents;
        let is_same = |entry: (KnownEntry<'_>, &CatalogEntry)| {
            let (KnownEntry { name, kind, inode, number, is_selected }, new) = entry;
            name == new.name.as_c_str()
                && (kind, inode, number) == (new.kind, new.inode, new.number)
                && is_selected == new.is_selected
        };
        let has_same_entries = |(number, directory): (u32, &CatalogDirectory)| {
            let entries = self.entries(number);
            (self.stamp(number), self.selection(number)) == (directory.stamp, directory.selection)
                && entries.len() == directory.entries.len()
                && entries.zip(&directory.entries).all(is_same)
        };
        (&self.root, self.credentials, &self.segments) == (root, *credentials, segments)
            && (self.directories() as usize, self.files() as usize) == (directories.len(), files.len())
            && files.iter().zip(0..).all(|(file, number)| self.file(number).as_ref() == Some(file))
            && (0..).zip(directories).all(has_same_entries)
    }

    /// A file by its number.
    pub(crate) fn file(&self, number: u32) -> Option<CatalogFile> {
        let record = self.files.record(&self.bytes, number)?;
        let (document, rest) = (u32_at(record, STAMP)?, u32_at(record, STAMP + 4)?);
        let state = *STATES.get(rest as usize & 0xff)?;
        Some(CatalogFile { state, stamp: stamp_at(record)?, document, documents: rest >> 8 })
    }

    /// A file by its number, if its trigrams are in a segment.
    pub(crate) fn indexed(&self, number: u32) -> Option<CatalogFile> {
        self.file(number).filter(|file| file.state.is_indexed())
    }
}

impl CatalogFile {
    /// The knowledge of an indexed file, given whether it may hold a match.
    pub(crate) fn known(&self, is_candidate: bool) -> Known {
        let &Self { stamp, state, .. } = self;
        if is_candidate {
            return Known::Candidate;
        }
        Known::Absent(Absent { stamp, is_plain: state == IndexedPart::Plain })
    }
}

/// The name of an entry as a path.
pub(crate) fn as_path(name: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(name.to_bytes()))
}

/// The place of the segments in the first bytes of a catalog.
fn segments_table(head: &[u8]) -> Option<RecordTable> {
    let start = HEADER + (u32_at(head, 44)? as usize).next_multiple_of(8);
    Some(RecordTable { start, count: u32_at(head, 20)?, length: SEGMENT })
}

/// The segments of a catalog, given its bytes up to their end.
fn segments_in(head: &[u8]) -> Option<Vec<SegmentInfo>> {
    let table = segments_table(head)?;
    let segment = |number| {
        let record = table.record(head, number)?;
        let (id, bytes, checksum) = (u64_at(record, 0)?, u64_at(record, 16)?, u64_at(record, 24)?);
        Some(SegmentInfo { id, documents: u32_at(record, 8)?, bytes, checksum })
    };
    (0..table.count).map(segment).collect()
}

/// The stamp at the beginning of a record, as [`write_stamp`] writes it.
pub(crate) fn stamp_at(record: &[u8]) -> Option<Stamp> {
    let instant = |seconds, nanoseconds| {
        Some(Instant { seconds: u64_at(record, seconds)? as i64, nanoseconds: u32_at(record, nanoseconds)? })
    };
    Some(Stamp {
        device: u64_at(record, 0)?,
        inode: u64_at(record, 8)?,
        size: u64_at(record, 16)?,
        modified: instant(24, 40)?,
        changed: instant(32, 44)?,
    })
}
