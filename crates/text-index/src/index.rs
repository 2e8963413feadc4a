//! An open index.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::alphabet::Alphabet;
use crate::entries::Entries;
use crate::error::{Damage, Error};
use crate::format::{Header, Section};
use crate::front::{Front, Ranks};
use crate::lines::{self, Place};
use crate::map::Map;
use crate::packed::Packed;
use crate::pattern::Pattern;
use crate::presence::Presence;

/// Patterns may be this long, unless a caller sets a limit of its own.
const LONGEST_PATTERN: usize = 1 << 24;

/// An index, ready to be asked. Any number of threads may ask at a time.
///
/// Opening checks the header, and every answer is checked against the text; reading all of the file is what
/// [`verify`](Self::verify) is for. A file that is replaced (by renaming another over it) goes on being read as it was.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    bytes: Bytes,
    header: Header,
    ranks: Ranks,
    version: u64,
    sections: [(usize, usize); Section::ALL.len()],
}

/// Where an index is read from.
#[derive(Debug)]
enum Bytes {
    Map(Map),
    Memory(Vec<u8>),
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Self::Map(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}

impl Index {
    /// Opens an index file, and maps it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is no index, is of another version of the format, is cut off, or has a damaged header.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::Io { path: path.to_owned(), doing: "", error };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let is_empty = metadata.is_file() && metadata.len() == 0;
        let bytes =
            if is_empty { Bytes::Memory(Vec::new()) } else { Bytes::Map(Map::new(&file).map_err(failed)?) };
        Self::new(path, bytes)
    }

    /// Opens an index that is in memory; `name` is what messages call it.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_bytes(name: &Path, bytes: Vec<u8>) -> Result<Self, Error> {
        Self::new(name, Bytes::Memory(bytes))
    }

    fn new(path: &Path, bytes: Bytes) -> Result<Self, Error> {
        let damaged = |damage| Error::Damaged { path: path.to_owned(), damage };
        let header = Header::decode(bytes.all()).map_err(damaged)?;
        let ranges =
            header.ranges().ok_or_else(|| damaged(Damage::Nonsense("its sections do not fit a file")))?;
        let sections = ranges.map(|range| (range.start as usize, range.end as usize));
        Ok(Self {
            path: path.to_owned(),
            ranks: header.ranks(),
            version: header.version(),
            bytes,
            header,
            sections,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its text is made of.
    pub fn alphabet(&self) -> Alphabet {
        self.header.alphabet
    }

    /// Symbols of its text.
    pub fn symbols(&self) -> u64 {
        self.header.symbols
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.bytes.all().len() as u64
    }

    /// A number that changes when the text does: two indexes with the same number hold the same.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Makes a pattern for this index.
    ///
    /// # Errors
    ///
    /// If it is empty, has a symbol that is not of this index's alphabet, or is longer than 16 Mi symbols.
    pub fn pattern(&self, text: &[u8]) -> Result<Pattern, Error> {
        Pattern::new(text, self.alphabet(), LONGEST_PATTERN)
    }

    /// The text from one symbol (counted from 0) to another; what is behind the end is left out.
    ///
    /// # Errors
    ///
    /// If the file was cut off since it was opened.
    pub fn text(&self, start: u64, end: u64) -> Result<Vec<u8>, Error> {
        self.checked(self.packed().text(start, end))
    }

    /// The line and column of a symbol (counted from 0); none if it is not in the text, or if the text is not one of bytes.
    ///
    /// # Errors
    ///
    /// If the file was cut off since it was opened.
    pub fn place(&self, position: u64) -> Result<Option<Place>, Error> {
        if self.alphabet() != Alphabet::Bytes || position >= self.symbols() {
            return Ok(None);
        }
        self.checked(lines::place(self.section(Section::Lines), self.section(Section::Text), position))
    }

    /// How the sections of the file are called, and how many bytes each takes.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Section::ALL.into_iter().map(|section| (section.name(), self.section(section).len() as u64))
    }

    /// Bits of an entry of the suffix array.
    pub fn entry_bits(&self) -> u32 {
        self.header.width.bytes() as u32 * 8
    }

    /// Symbols that the front table answers without a search.
    pub fn front_symbols(&self) -> u32 {
        self.header.depth
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn section(&self, section: Section) -> &[u8] {
        let (start, end) = self.sections[section as usize];
        &self.bytes.all()[start..end]
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
        // What does not fit together in a file that was cut off is a consequence of that.
        let damage = if self.has_vanished() { Damage::Vanished } else { damage };
        Error::Damaged { path: self.path.clone(), damage }
    }

    /// A result, unless a part of the file that may have gone into it was missing.
    pub(crate) fn checked<T>(&self, result: T) -> Result<T, Error> {
        if self.has_vanished() { Err(self.damaged(Damage::Vanished)) } else { Ok(result) }
    }

    fn has_vanished(&self) -> bool {
        match &self.bytes {
            Bytes::Map(map) => map.is_damaged(),
            Bytes::Memory(_) => false,
        }
    }
}
