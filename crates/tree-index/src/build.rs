//! Building the index of a tree.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;

use finecomb_scan::{
    Distrust, EntryKind, Examine, Examined, FileAt, Problem, SETTLED_AFTER, SpillFile, SurveyedDirectory,
    WalkOptions, examine, now, survey,
};
use memchr::memchr;

use crate::catalog::{Contents, Directory, Entry, File, NO_STAMP, SegmentInfo, State};
use crate::error::Error;
use crate::folder::{Folder, Writing, credentials};
use crate::segment::SegmentWriter;
use crate::segment::runs::{Pairs, Runs};
use crate::trigram::Trigrams;

/// Maximum size of a file whose trigrams are indexed, in bytes. Larger ones are searched at every query: they are few,
/// and would need as much memory per thread.
pub const MAX_FILE: usize = 64 << 20;

/// Maximum number of different trigrams of a file that is indexed. Source files of 1 MB have 20,000; random data of 16
/// MiB has ten million.
const MAX_TRIGRAMS: usize = 1 << 19;

/// Pairs of a trigram and a document that all threads hold in memory, of 16 bytes each.
const PAIRS: usize = 12 << 20;

/// Size from which a text is divided into several documents, in bytes. A large file holds most trigrams of a literal
/// somewhere, a part of it does not: with documents of this size, a search for `PM_RESUME` in Linux reads 11 MB
/// instead of 27, for an index that is 10 % larger. With 32 KiB it is 7 MB and another 10 %, which is no faster.
const DOCUMENT: usize = 64 << 10;

/// Options of a build.
pub struct BuildOptions<'a> {
    /// Selects the files of the tree, as searches do by default.
    pub walk: WalkOptions,
    /// Number of threads.
    pub width: usize,
    /// Told at the beginning of each stage.
    pub on_stage: &'a dyn Fn(Stage),
}

/// A stage of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Directories are listed.
    List,
    /// Files are read.
    Read,
    /// The lists of all files are joined and written.
    Write,
}

/// Builds the index of the tree below `root`, an absolute path without links, in a folder of `home`. An index of the
/// tree is replaced. Returns problems with the tree: what cannot be read is not indexed, and searches report it again.
///
/// # Errors
/// If the tree cannot be listed, or the index cannot be written. Then an index before it is still there.
pub fn build(home: &Path, root: &Path, options: &BuildOptions<'_>) -> Result<Vec<Problem>, Error> {
    let folder = Folder::of_tree(home, root).write()?;
    (options.on_stage)(Stage::List);
    // So what changed just before is trusted as well.
    thread::sleep(2 * SETTLED_AFTER);
    let built = now();
    let (surveyed, problems) = survey(root, &options.walk);
    if surveyed.is_empty() {
        let problem = problems.first().map_or_else(|| "nothing to index".to_owned(), ToString::to_string);
        return Err(Error::Tree(problem));
    }
    let tree = Tree::new(root, surveyed);
    (options.on_stage)(Stage::Read);
    let (files, segment) = index(&tree, &folder, options)?;
    let contents = Contents {
        root: root.to_owned(),
        built,
        credentials: credentials(),
        segments: vec![segment],
        directories: tree.directories,
        files,
    };
    folder.commit(&contents)?;
    Ok(problems)
}

/// The tree as it was listed.
struct Tree {
    directories: Vec<Directory>,
    /// Absolute path of each directory.
    paths: Vec<PathBuf>,
    /// The directory and the entry in it of each file.
    files: Vec<(usize, usize)>,
}

impl Tree {
    fn new(root: &Path, surveyed: Vec<SurveyedDirectory>) -> Self {
        let numbers: HashMap<Vec<u8>, u32> = surveyed.iter().map(|one| one.path.clone()).zip(0..).collect();
        let paths = surveyed.iter().map(|one| root.join(OsStr::from_bytes(&one.path))).collect();
        let mut files = Vec::new();
        let mut directories = Vec::new();
        for (place, directory) in surveyed.into_iter().enumerate() {
            let mut path = directory.path;
            if !path.is_empty() {
                path.push(b'/');
            }
            let length = path.len();
            let mut entries = Vec::new();
            for (at, entry) in directory.entries.into_iter().enumerate() {
                let number = match entry.kind {
                    EntryKind::File if entry.is_selected => {
                        files.push((place, at));
                        Some(files.len() as u32 - 1)
                    }
                    EntryKind::Directory if entry.is_selected => {
                        path.truncate(length);
                        path.extend_from_slice(entry.name.as_bytes());
                        numbers.get(&path).copied()
                    }
                    _ => None,
                };
                entries.push(Entry { name: entry.name, kind: entry.kind, inode: entry.inode, number });
            }
            directories.push(Directory { stamp: directory.stamp, entries });
        }
        Self { directories, paths, files }
    }

    fn file(&self, number: usize) -> FileAt<'_> {
        let (directory, entry) = self.files[number];
        FileAt { directory: &self.paths[directory], name: &self.directories[directory].entries[entry].name }
    }
}

/// Reads all files, and writes the segment with their trigrams.
fn index(
    tree: &Tree,
    folder: &Writing,
    options: &BuildOptions<'_>,
) -> Result<(Vec<File>, SegmentInfo), Error> {
    let failed = |error| Error::io(folder.path())(error);
    let runs = Runs::new(SpillFile::create(folder.path()).map_err(failed)?);
    let places: Vec<FileAt<'_>> = (0..tree.files.len()).map(|number| tree.file(number)).collect();
    let width = options.width.max(1);
    let batch = (places.len() / (16 * width)).clamp(64, 4096);
    let make = || Indexer {
        trigrams: Trigrams::default(),
        pairs: Pairs::new(&runs, PAIRS / width),
        documents: 0,
        batches: Vec::new(),
        files: Vec::new(),
    };
    let indexers = examine(&places, batch, MAX_FILE, width, make).map_err(failed)?;
    let mut batches: Vec<(usize, u32)> =
        indexers.iter().flat_map(|indexer| indexer.batches.clone()).collect();
    batches.sort_unstable();
    let mut documents = 0_u32;
    let mut first = Vec::with_capacity(batches.len());
    for (_, count) in batches {
        first.push(documents);
        documents = documents.checked_add(count).ok_or_else(|| failed(io::ErrorKind::FileTooLarge.into()))?;
    }
    let mut files: Vec<(u32, File)> = indexers.into_iter().flat_map(|indexer| indexer.files).collect();
    files.sort_unstable_by_key(|&(number, _)| number);
    for (number, file) in &mut files {
        file.document += first[*number as usize / batch];
    }
    (options.on_stage)(Stage::Write);
    let (id, file) = (folder.new_id(), folder.new_file()?);
    let write = || {
        let mut segment = SegmentWriter::new(file.reopen()?, documents);
        runs.merge(&first, &mut segment)?;
        Ok((segment.finish()?, file.as_file().metadata()?.len()))
    };
    let (checksum, bytes) = write().map_err(failed)?;
    folder.add_segment(id, file)?;
    let segment = SegmentInfo { id, documents, bytes, checksum };
    Ok((files.into_iter().map(|(_, file)| file).collect(), segment))
}

/// Indexes the files of one thread.
struct Indexer<'r> {
    trigrams: Trigrams,
    pairs: Pairs<'r>,
    /// Documents of the present batch so far.
    documents: u32,
    /// Number of each batch, and of its documents.
    batches: Vec<(usize, u32)>,
    /// Files with their numbers. Their documents are numbered within their batch.
    files: Vec<(u32, File)>,
}

impl Examine for Indexer<'_> {
    fn take(
        &mut self,
        batch: usize,
        file: usize,
        examined: Result<Examined<'_>, Distrust>,
    ) -> io::Result<()> {
        let document = self.documents;
        let (state, stamp) = match examined {
            Ok(examined) => (self.add(batch, examined)?, examined.stamp),
            Err(distrust) => (State::Distrusted(distrust), NO_STAMP),
        };
        let documents = self.documents - document;
        self.files.push((file as u32, File { state, stamp, document, documents }));
        Ok(())
    }

    fn end_batch(&mut self, batch: usize) -> io::Result<()> {
        self.batches.push((batch, std::mem::take(&mut self.documents)));
        self.pairs.end_batch(batch)
    }
}

impl Indexer<'_> {
    /// Adds the documents of a file.
    fn add(&mut self, batch: usize, Examined { bytes, text_start, .. }: Examined<'_>) -> io::Result<State> {
        let Some(text_start) = text_start else { return Ok(State::Encoded) };
        let nul = memchr(0, bytes);
        let text = &bytes[..nul.unwrap_or(bytes.len())];
        // A file with too many trigrams leaves documents behind that no file refers to.
        for part in parts(text) {
            let Some(trigrams) = self.trigrams.of(part, MAX_TRIGRAMS) else { return Ok(State::Varied) };
            self.pairs.add(batch, self.documents, trigrams)?;
            self.documents += 1;
        }
        Ok(if nul.is_none() && text_start == 0 { State::Plain } else { State::UpToNul })
    }
}

/// Divides a text into parts of whole lines; each but the last has at least the size of a document. A part is followed
/// by two more bytes of the text: so each trigram of the text is in the part where it begins, also if a line feed is in
/// the middle of it.
fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = (next < text.len()).then_some(next)?;
        let line_end = text.get(start + DOCUMENT..).and_then(|rest| memchr(b'\n', rest));
        next = line_end.map_or(text.len(), |end| start + DOCUMENT + end + 1);
        Some(&text[start..text.len().min(next + 2)])
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_trigram_of_a_text_is_in_a_part_of_it() {
        let mut state = 1_u32;
        let mut byte = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b"ab\ncdefgh"[(state >> 20) as usize % 9]
        };
        for length in [0, 1, DOCUMENT, DOCUMENT + 1, 5 * DOCUMENT + 17] {
            let text: Vec<u8> = (0..length).map(&mut byte).collect();
            let mut trigrams = Trigrams::default();
            let mut of = |text: &[u8]| -> BTreeSet<u32> {
                trigrams.of(text, usize::MAX).expect("no limit").iter().copied().collect()
            };
            let all = of(&text);
            let of_parts: BTreeSet<u32> = parts(&text).flat_map(&mut of).collect();
            assert!(of_parts.is_superset(&all), "{length}");
            assert_eq!(parts(&text).count(), length.div_ceil(DOCUMENT + 20).max(usize::from(length > 0)));
        }
    }
}
