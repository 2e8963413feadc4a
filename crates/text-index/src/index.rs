//! An open index.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use finecomb_sys::{Access, GuardedMap};

use crate::alphabet::Alphabet;
use crate::entries::Entries;
use crate::error::{Damage, Error};
use crate::format::{Header, Section};
use crate::front::{Front, Ranks};
use crate::lines::{self, LineColumn};
use crate::packed::Packed;
use crate::pattern::Pattern;
use crate::presence::Presence;

/// Maximum number of symbols in a pattern.
const MAX_PATTERN: usize = 1 << 24;

/// Damage: a code in the text is not a symbol of the alphabet.
pub(crate) const INVALID_TEXT: Damage = Damage::Inconsistent("the text has an invalid symbol");

/// Damage: the samples of line numbers contradict the text.
pub(crate) const WRONG_LINES: Damage = Damage::Inconsistent("the line numbers do not match the text");

/// An open index, which threads can share.
///
/// Opening checks the header, and every answer is checked against the text and its neighbours in the suffix array;
/// [`verify`](Self::verify) reads the whole file. `docs/index-format.md` says which damage a search notices. If the file is
/// replaced (by renaming another over it), the open index still reads the previous one.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    storage: Storage,
    header: Header,
    ranks: Ranks,
    version: u64,
    sections: [(usize, usize); Section::ALL.len()],
}

/// Storage of an open index.
#[derive(Debug)]
enum Storage {
    Map(GuardedMap),
    Memory(Vec<u8>),
}

impl Storage {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Map(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}

/// Maps a file of this size, not 0.
fn map(file: &File, size: u64) -> io::Result<GuardedMap> {
    let length = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    GuardedMap::new(file, length, Access::Random)
}

impl Index {
    /// Opens and maps an index file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is not an index, has an unsupported version, is truncated, or has a corrupt header.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::Io { path: path.to_owned(), doing: "", error };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let is_empty = metadata.is_file() && metadata.len() == 0;
        let storage = if is_empty {
            Storage::Memory(Vec::new())
        } else {
            Storage::Map(map(&file, metadata.len()).map_err(failed)?)
        };
        Self::new(path, storage)
    }

    /// Opens an index in memory, which messages call `name`.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Result<Self, Error> {
        Self::new(name, Storage::Memory(bytes))
    }

    fn new(path: &Path, storage: Storage) -> Result<Self, Error> {
        let damaged = |damage| Error::Damaged { path: path.to_owned(), damage };
        let header = Header::decode(storage.bytes()).map_err(damaged)?;
        let ranges = header.ranges().ok_or_else(|| damaged(Damage::Inconsistent("the sections overflow")))?;
        let sections = ranges.map(|range| (range.start as usize, range.end as usize));
        Ok(Self {
            path: path.to_owned(),
            ranks: header.ranks(),
            version: header.version(),
            storage,
            header,
            sections,
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Alphabet of the text.
    pub fn alphabet(&self) -> Alphabet {
        self.header.alphabet
    }

    /// Number of symbols in the text.
    pub fn symbols(&self) -> u64 {
        self.header.symbols
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.storage.bytes().len() as u64
    }

    /// Hash of the contents, equal for indexes of the same text.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Parses a pattern for this index.
    ///
    /// # Errors
    ///
    /// If it is empty, has a byte outside the alphabet, or is longer than 16 Mi symbols.
    pub fn pattern(&self, text: &[u8]) -> Result<Pattern, Error> {
        Pattern::new(text, self.alphabet(), MAX_PATTERN)
    }

    /// Returns the text from symbol `start` to `end` (counted from 0), up to the end of the text.
    ///
    /// # Errors
    ///
    /// If the text is corrupt there, or the file was truncated after it was opened.
    pub fn text(&self, start: u64, end: u64) -> Result<Vec<u8>, Error> {
        let text = self.packed().text(start, end).ok_or_else(|| self.damaged(INVALID_TEXT))?;
        self.checked(text)
    }

    /// Line and column of a symbol (counted from 0); `None` if it is past the end, or the alphabet is not bytes.
    ///
    /// # Errors
    ///
    /// If the line numbers are corrupt there, or the file was truncated after it was opened.
    pub fn place(&self, position: u64) -> Result<Option<LineColumn>, Error> {
        if self.alphabet() != Alphabet::Bytes || position >= self.symbols() {
            return Ok(None);
        }
        let place = lines::place(self.section(Section::Lines), self.section(Section::Text), position);
        self.checked(Some(place.ok_or_else(|| self.damaged(WRONG_LINES))?))
    }

    /// Names and sizes of the sections, in bytes.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Section::ALL.into_iter().map(|section| (section.name(), self.section(section).len() as u64))
    }

    /// Bits per entry of the suffix array.
    pub fn entry_bits(&self) -> u32 {
        self.header.width.bytes() as u32 * 8
    }

    /// Length of the longest pattern that the front table answers without a search, in symbols.
    pub fn front_symbols(&self) -> u32 {
        self.header.depth
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes between a section and the next one; empty after the last section, which ends the file.
    pub(crate) fn gap(&self, section: Section) -> &[u8] {
        let end = self.sections[section as usize].1;
        let next = self.sections.get(section as usize + 1).map_or(end, |&(start, _)| start);
        &self.storage.bytes()[end..next]
    }

    pub(crate) fn section(&self, section: Section) -> &[u8] {
        let (start, end) = self.sections[section as usize];
        &self.storage.bytes()[start..end]
    }

    pub(crate) fn packed(&self) -> Packed<'_> {
        Packed::new(self.section(Section::Text), self.symbols(), self.alphabet())
    }

    pub(crate) fn suffixes(&self) -> Entries<'_> {
        Entries::new(self.section(Section::Suffixes), self.header.width)
    }

    pub(crate) fn front(&self) -> Front<'_> {
        let entries = Entries::new(self.section(Section::Front), self.header.width);
        Front { entries, depth: self.header.depth, ranks: &self.ranks }
    }

    pub(crate) fn presence(&self) -> Presence<'_> {
        Presence { bytes: self.section(Section::Presence), shape: self.header.shape() }
    }

    pub(crate) fn damaged(&self, damage: Damage) -> Error {
        // In a truncated file, inconsistent sections are a consequence of the truncation.
        let damage = if self.is_truncated() { Damage::TruncatedInUse } else { damage };
        Error::Damaged { path: self.path.clone(), damage }
    }

    /// Returns a result, unless the file was truncated while it was computed.
    pub(crate) fn checked<T>(&self, result: T) -> Result<T, Error> {
        if self.is_truncated() { Err(self.damaged(Damage::TruncatedInUse)) } else { Ok(result) }
    }

    fn is_truncated(&self) -> bool {
        match &self.storage {
            Storage::Map(map) => map.is_damaged(),
            Storage::Memory(_) => false,
        }
    }
}
