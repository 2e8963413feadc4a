//! A segment: the trigrams of some documents, each with the list of the documents that hold it.
//!
//! Lists come first, in the order of their trigrams, then the dictionary: trigram and offset of each list. After it come the first
//! trigram of each page of the dictionary, the document starts in divided files, and the numbers that describe the segment.

pub(crate) mod lookup;
pub(crate) mod runs;

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::error::Error;
use crate::list;
use crate::pages::{PageWriter, Pages, u32_at, u64_at};
use crate::starts::Starts;
use crate::trigram::Trigram;

/// Entries of the dictionary per page.
const GROUP: usize = 512;

/// Bytes of an entry: 24 bits of the trigram above 40 bits of the offset.
const ENTRY: usize = 8;

/// Bits of an offset.
const OFFSET_BITS: u32 = 40;

/// Bytes of the description: documents, entries, offset of the dictionary.
const DESCRIPTION: usize = 24;

/// Writes a segment. Lists are added in the order of their trigrams.
pub(crate) struct SegmentWriter {
    pages: PageWriter,
    documents: u32,
    dictionary: Vec<u64>,
    list: Vec<u8>,
}

impl SegmentWriter {
    pub(crate) fn new(file: File, documents: u32) -> Self {
        Self { pages: PageWriter::new(file), documents, dictionary: Vec::new(), list: Vec::new() }
    }

    /// Adds the documents that hold a trigram, in order.
    pub(crate) fn add(&mut self, trigram: Trigram, documents: &[u32]) -> io::Result<()> {
        let offset = self.pages.len();
        if offset >> OFFSET_BITS != 0 {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.dictionary.push(u64::from(trigram) << OFFSET_BITS | offset);
        self.list.clear();
        list::write(documents, self.documents, &mut self.list);
        self.pages.write_all(&self.list)
    }

    /// Ends the segment with other data about the documents. Returns its checksum.
    pub(crate) fn finish(mut self, rest: &[u8]) -> io::Result<u64> {
        let end = self.pages.len();
        self.pages.align()?;
        let start = self.pages.len();
        for entry in &self.dictionary {
            self.pages.write_all(&entry.to_le_bytes())?;
        }
        self.pages.write_all(&end.to_le_bytes())?;
        for group in self.dictionary.chunks(GROUP) {
            self.pages.write_all(&((group[0] >> OFFSET_BITS) as u32).to_le_bytes())?;
        }
        self.pages.write_all(rest)?;
        let entries = self.dictionary.len() as u64;
        self.pages.write_all(&[u64::from(self.documents), entries, start].map(u64::to_le_bytes).concat())?;
        self.pages.finish()
    }
}

/// A segment that is open.
#[derive(Debug)]
pub(crate) struct Segment {
    pages: Pages,
    pub(crate) documents: u32,
    entries: u64,
    dictionary: u64,
    /// The first trigram of each page of the dictionary, and the pages that were read.
    first: Vec<Trigram>,
    groups: Vec<OnceLock<Vec<u64>>>,
    /// Where the other data about the documents is, and the document starts once they were read from there.
    rest: Range<u64>,
    starts: OnceLock<Arc<Starts>>,
}

impl Segment {
    /// Opens a segment.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let pages = Pages::open(path)?;
        let damaged = || Error::damaged(path.to_owned(), "description");
        let start = pages.len().checked_sub(DESCRIPTION as u64).ok_or_else(damaged)?;
        let description = pages.read(start..pages.len())?;
        let number = |at| u64_at(&description, at).ok_or_else(damaged);
        let documents = u32::try_from(number(0)?).map_err(|_| damaged())?;
        let (entries, dictionary) = (number(8)?, number(16)?);
        let end = entries.checked_add(1).and_then(|all| all.checked_mul(ENTRY as u64));
        let end = end.and_then(|length| length.checked_add(dictionary)).ok_or_else(damaged)?;
        let rest = end.checked_add(4 * entries.div_ceil(GROUP as u64)).ok_or_else(damaged)?..start;
        let bytes = pages.read(end..rest.start)?;
        let first: Vec<Trigram> = (0..bytes.len()).step_by(4).filter_map(|at| u32_at(&bytes, at)).collect();
        let groups = first.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { pages, documents, entries, dictionary, first, groups, rest, starts: OnceLock::new() })
    }

    /// Number of different trigrams.
    pub(crate) fn trigrams(&self) -> u64 {
        self.entries
    }

    /// The document starts in divided files.
    ///
    /// # Errors
    /// If this cannot be read or is damaged.
    pub(crate) fn starts(&self) -> Result<Arc<Starts>, Error> {
        if let Some(starts) = self.starts.get() {
            return Ok(Arc::clone(starts));
        }
        let starts = Starts::parse(&self.rest()?).ok_or_else(|| self.pages.damaged("document starts"))?;
        Ok(Arc::clone(self.starts.get_or_init(|| Arc::new(starts))))
    }

    /// The data with which it was ended.
    ///
    /// # Errors
    /// If this cannot be read or is damaged.
    pub(crate) fn rest(&self) -> Result<Vec<u8>, Error> {
        self.pages.read(self.rest.clone())
    }

    /// The checksum of the segment.
    pub(crate) fn checksum(&self) -> u64 {
        self.pages.checksum()
    }

    /// Verifies the checksums of all data.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        self.pages.verify()
    }

    /// A page of the dictionary and the entry after it, which holds the end of the page's last list. Once it was read, it stays in memory.
    fn group(&self, group: usize) -> Result<&[u64], Error> {
        match self.groups[group].get() {
            Some(entries) => Ok(entries),
            None => self.read_group(group).map(|entries| &self.groups[group].get_or_init(|| entries)[..]),
        }
    }

    fn read_group(&self, group: usize) -> Result<Vec<u64>, Error> {
        let first = (group * GROUP) as u64;
        let last = self.entries.min(first + GROUP as u64);
        let range = self.dictionary + first * ENTRY as u64..self.dictionary + (last + 1) * ENTRY as u64;
        let bytes = self.pages.read(range)?;
        Ok((0..bytes.len()).step_by(ENTRY).filter_map(|at| u64_at(&bytes, at)).collect())
    }
}
