//! Terms: numbers that a program derives from texts, such as hashes of the names that a text defines. A search for terms leaves out
//! files without them.
//!
//! The terms of a segment's files are in a file beside it, which is a segment as well: its keys are terms instead of trigrams, and a
//! file is listed by its first document. After the lists come the stamps of the files. A file with another stamp, or with none, may have
//! any terms. As each file is compared, no other change of the index can make the terms wrong.
//!
//! Terms are written from stored values, and belong to the program that wrote these.

#[cfg(test)]
mod tests;

use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use finecomb_scan::{Distrust, EntryKind, Examine, Examined, FileAt, SpillFile, Stamp, examine};
use twox_hash::XxHash3_64;

use crate::catalog::{Catalog, CatalogFile, IndexedPart, SegmentInfo, as_path, write_stamp};
use crate::documents::Documents;
use crate::error::Error;
use crate::folder::{Folder, Writing};
use crate::kept_file::KeptFile;
use crate::needs::{Needs, SoughtTerms};
use crate::pages::{u32_at, u64_at};
use crate::segment::runs::{PAIRS, PairSorter, Runs};
use crate::segment::{Segment, SegmentWriter};
use crate::trigram::Trigram;

/// First bytes after the lists; the last one is the version of the format.
const MAGIC: [u8; 8] = *b"FCterms\x01";

/// Bytes before the stamps: magic number, program, checksum of the segment, number of files that may have terms later.
const HEADER: usize = 32;

/// Bytes of a stamp: document and hash.
const RECORD: usize = 12;

/// Bits of a key. Terms with the same key are not told apart, which costs a search the time to read a few more files: of the seven
/// million different terms of Linux, three have the same key. The dictionary has eight bytes for each key.
const KEY_BITS: u32 = 21;

/// Number of files that are read at a time.
const BATCH: usize = 256;

/// Derives terms from texts with a stored value.
pub trait DeriveTerms: Sync {
    /// Everything except the text that the value of a file with this name depends on; `None` if the terms of such files are not wanted.
    fn context(&self, name: &Path) -> Option<Vec<u8>>;

    /// Whether the text of a file with this name has no terms, and so no value.
    fn has_none(&self, name: &Path, text: &[u8]) -> bool;

    /// The terms of a text, given its value; `None` if it may have any.
    fn terms(&self, text: &[u8], value: &[u8]) -> Option<Vec<u64>>;
}

/// Returns the value of a text, given its context.
pub(crate) type GetValue<'v> = &'v (dyn Fn(&[u8], &[u8]) -> Option<Vec<u8>> + Sync);

/// The file of terms beside a segment.
pub(crate) struct Terms {
    segment: Segment,
    /// Checksum of the program that wrote them.
    program: u64,
    /// Number of files that had no value.
    without_value: u64,
    /// For each document that is the first one of a file with known terms: the hash of its stamp; otherwise 0.
    stamps: Vec<u64>,
}

impl Terms {
    /// Opens the terms of a segment, written by any program; `None` if there are none, or they are those of another segment.
    ///
    /// # Errors
    /// If they cannot be read or are damaged.
    pub(crate) fn open(path: &Path, info: &SegmentInfo) -> Result<Option<Self>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        let segment = Segment::open(path)?;
        let rest = segment.rest()?;
        let number = |at| u64_at(&rest, at).ok_or_else(|| Error::Terms(path.to_owned()));
        let (magic, program, checksum, without_value) = (number(0)?, number(8)?, number(16)?, number(24)?);
        let is_right = magic == u64::from_le_bytes(MAGIC)
            && checksum == info.checksum
            && segment.documents == info.documents;
        if !is_right {
            return Ok(None);
        }
        let mut stamps = vec![0; segment.documents as usize];
        for record in rest[HEADER..].chunks(RECORD) {
            let (document, stamp) = (u32_at(record, 0).unwrap_or(u32::MAX), u64_at(record, 4));
            if let (Some(place), Some(stamp)) = (stamps.get_mut(document as usize), stamp) {
                *place = stamp;
            }
        }
        Ok(Some(Self { segment, program, without_value, stamps }))
    }

    /// Verifies the checksums of all data, written by any program.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn verify(folder: &Folder, info: &SegmentInfo) -> Result<(), Error> {
        let path = folder.terms(info.id);
        if !path.exists() {
            return Ok(());
        }
        Segment::open(&path).and_then(|segment| segment.verify()).map_err(|error| damage(error, path))
    }

    /// The documents whose files have one of some terms.
    fn find(&self, sought: &SoughtTerms) -> Result<Documents, Error> {
        let mut keys: Vec<Trigram> = sought.terms.iter().copied().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        self.segment.find(&Needs::OneOf(keys), Vec::new())
    }
}

/// An error of a file of terms: damage of it is no reason to build the index again.
fn damage(error: Error, path: PathBuf) -> Error {
    if matches!(error, Error::Damaged { .. }) { Error::Terms(path) } else { error }
}

/// The files of a segment that have one of the terms of a search.
pub(crate) struct FoundTerms {
    documents: Documents,
    terms: Arc<Terms>,
}

impl FoundTerms {
    /// Finds the files of a segment that have one of some terms; `None` if their program has written none.
    ///
    /// # Errors
    /// If they cannot be read or are damaged.
    pub(crate) fn of(
        folder: &Folder,
        info: &SegmentInfo,
        kept: &KeptFile<Terms>,
        sought: &SoughtTerms,
    ) -> Result<Option<Self>, Error> {
        let path = folder.terms(info.id);
        let find = || {
            let terms = kept.get(&path, || Terms::open(&path, info))?;
            let terms = terms.filter(|terms| terms.program == sought.program);
            terms.map(|terms| Ok(Self { documents: terms.find(sought)?, terms })).transpose()
        };
        find().map_err(|error| damage(error, path.clone()))
    }

    /// The first documents of the files with one of the terms.
    pub(crate) fn documents(&self) -> impl Iterator<Item = u32> {
        self.documents.iter()
    }

    /// Returns `false` if a file with this first document and stamp has none of the terms.
    pub(crate) fn may_have(&self, document: u32, stamp: Stamp) -> bool {
        self.documents.contains(document) || self.has(document, stamp).is_none()
    }

    /// Whether a file with this first document and stamp may have one of the terms; `None` if its terms are not known.
    pub(crate) fn has(&self, document: u32, stamp: Stamp) -> Option<bool> {
        let is_known = self.terms.stamps.get(document as usize).is_some_and(|&known| known == hash(stamp));
        is_known.then(|| self.documents.contains(document))
    }
}

/// The key of a term: its highest bits.
fn key(term: u64) -> Trigram {
    (term >> (u64::BITS - KEY_BITS)) as Trigram
}

/// A hash of a stamp, which is not 0.
fn hash(stamp: Stamp) -> u64 {
    let mut bytes = Vec::with_capacity(48);
    // Writing to memory does not fail.
    let _ = write_stamp(stamp, &mut bytes);
    XxHash3_64::oneshot(&bytes).max(1)
}

/// Writes the terms of a tree's files.
pub(crate) struct TermWriter<'w> {
    pub(crate) folder: &'w Writing,
    pub(crate) catalog: &'w Catalog,
    /// Checksum of the program.
    pub(crate) program: u64,
    pub(crate) value: GetValue<'w>,
    pub(crate) derive: &'w dyn DeriveTerms,
    /// Number of threads.
    pub(crate) width: usize,
}

impl TermWriter<'_> {
    /// Writes the terms of each segment that has none. Writes them again if at least half of its files without a value may have one of the
    /// number of values that were `added`: that reads all files of the segment.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn write(&self, added: u64) -> Result<(), Error> {
        let tree = Tree::of(self.catalog);
        let mut first = 0;
        for info in &self.catalog.segments {
            let known = Terms::open(&self.folder.folder.terms(info.id), info).ok().flatten();
            let known = known.filter(|known| known.program == self.program);
            if known.is_none_or(|known| known.without_value > 0 && 2 * added >= known.without_value) {
                let files = self.files_of(&tree, first..first + info.documents);
                self.write_segment(info, &files).map_err(Error::io(self.folder.path()))?;
            }
            first += info.documents;
        }
        Ok(())
    }

    /// The files with these documents that may have terms, in their order.
    fn files_of<'t>(&self, tree: &'t Tree<'_>, documents: Range<u32>) -> Vec<SegmentFile<'t>> {
        let is_inside = |file: &CatalogFile| documents.contains(&file.document) && file.documents > 0;
        let files = tree.files.iter().filter(|(_, _, file)| is_inside(file));
        let files = files.filter_map(|&(directory, name, file)| {
            let place = FileAt { directory: &tree.paths[directory as usize], name };
            let context = self.derive.context(as_path(name))?;
            Some(SegmentFile { place, document: file.document - documents.start, stamp: file.stamp, context })
        });
        let mut files: Vec<_> = files.collect();
        files.sort_unstable_by_key(|file| file.document);
        files
    }

    fn write_segment(&self, info: &SegmentInfo, files: &[SegmentFile<'_>]) -> io::Result<()> {
        let places: Vec<FileAt<'_>> = files.iter().map(|file| file.place).collect();
        let runs = Runs::new(SpillFile::create(self.folder.path())?);
        let make = || TermReader {
            files,
            writer: self,
            pairs: PairSorter::new(&runs, PAIRS / self.width.max(1)),
            keys: Vec::new(),
            stamps: Vec::new(),
            without_value: 0,
        };
        // A file that is larger by now has changed.
        let limit = files.iter().map(|file| file.stamp.size as usize).max().unwrap_or_default();
        let readers = examine(&places, BATCH, limit, self.width, make)?;
        let without_value = readers.iter().map(|reader| reader.without_value).sum();
        let mut stamps: Vec<(u32, u64)> = readers.into_iter().flat_map(|reader| reader.stamps).collect();
        stamps.sort_unstable();
        let header = [u64::from_le_bytes(MAGIC), self.program, info.checksum, without_value];
        let mut rest: Vec<u8> = header.into_iter().flat_map(u64::to_le_bytes).collect();
        for (document, stamp) in stamps {
            rest.extend(document.to_le_bytes());
            rest.extend(stamp.to_le_bytes());
        }
        let file = self.folder.new_file().map_err(io::Error::other)?;
        let mut segment = SegmentWriter::new(file.reopen()?, info.documents);
        // Documents have the numbers that they have in the segment, not in their batch.
        runs.merge(&[], &mut segment)?;
        segment.finish(&rest)?;
        file.persist(self.folder.folder.terms(info.id)).map(drop).map_err(|error| error.error)
    }
}

/// A file whose terms are derived.
struct SegmentFile<'t> {
    place: FileAt<'t>,
    /// Its first document in the segment.
    document: u32,
    stamp: Stamp,
    context: Vec<u8>,
}

/// The indexed files of a tree.
struct Tree<'c> {
    /// Absolute path of each directory.
    paths: Vec<PathBuf>,
    /// Directory and name of each file whose whole text is indexed.
    files: Vec<(u32, &'c CStr, CatalogFile)>,
}

impl<'c> Tree<'c> {
    fn of(catalog: &'c Catalog) -> Self {
        let mut paths = vec![PathBuf::new(); catalog.directories() as usize];
        let mut files = Vec::new();
        if let Some(root) = paths.first_mut() {
            root.clone_from(&catalog.root);
        }
        // A directory comes before those in it.
        for directory in 0..catalog.directories() {
            for entry in catalog.entries(directory) {
                let Some(number) = entry.number else { continue };
                match entry.kind {
                    EntryKind::Directory => {
                        paths[number as usize] = paths[directory as usize].join(as_path(entry.name));
                    }
                    EntryKind::File => {
                        let file = catalog.file(number).filter(|file| file.state == IndexedPart::Plain);
                        files.extend(file.map(|file| (directory, entry.name, file)));
                    }
                    EntryKind::Link | EntryKind::Other => {}
                }
            }
        }
        Self { paths, files }
    }
}

/// Derives the terms of the files that one thread reads.
struct TermReader<'r> {
    files: &'r [SegmentFile<'r>],
    writer: &'r TermWriter<'r>,
    pairs: PairSorter<'r>,
    keys: Vec<Trigram>,
    /// First document, and hash of the stamp, of each file with terms.
    stamps: Vec<(u32, u64)>,
    without_value: u64,
}

impl Examine for TermReader<'_> {
    fn take(
        &mut self,
        batch: usize,
        file: usize,
        examined: Result<Examined<'_>, Distrust>,
    ) -> io::Result<()> {
        let SegmentFile { place, document, stamp, ref context } = self.files[file];
        // A file that has changed gets another document.
        let Some(Examined { bytes, .. }) = examined.ok().filter(|examined| examined.stamp == stamp) else {
            return Ok(());
        };
        let derive = self.writer.derive;
        let terms = match (self.writer.value)(context, bytes) {
            Some(value) => derive.terms(bytes, &value),
            None if derive.has_none(as_path(place.name), bytes) => Some(Vec::new()),
            None => {
                self.without_value += 1;
                None
            }
        };
        let Some(terms) = terms else { return Ok(()) };
        self.keys.clear();
        self.keys.extend(terms.into_iter().map(key));
        self.keys.sort_unstable();
        self.keys.dedup();
        self.stamps.push((document, hash(stamp)));
        self.pairs.add(batch, document, &self.keys)
    }

    fn end_batch(&mut self, batch: usize) -> io::Result<()> {
        self.pairs.end_batch(batch)
    }
}
