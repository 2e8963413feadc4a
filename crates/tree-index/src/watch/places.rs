//! Places of the directories and files of a catalog, and the items at each place.

use std::ops::Range;
use std::path::PathBuf;

use finecomb_scan::{EntryKind, KnownEntry, REPOSITORY_NAMES, Stamp};

use crate::catalog::{Catalog, IndexedPart, as_path};
use crate::listed::is_rule_file;

/// Identity of a file: its device and its number there.
pub(super) type FileId = (u64, u64);

pub(super) fn key_of(stamp: Stamp) -> FileId {
    (stamp.device, stamp.inode)
}

/// A directory or a file, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum DirectoryOrFile {
    Directory(u32),
    File(u32),
}

/// The places of a catalog in both directions.
pub(super) struct Places {
    /// The directory that each directory is in; the root is in itself.
    parents: Vec<u32>,
    /// The number after that of the last directory below each directory. Directories below it have consecutive numbers.
    ends: Vec<u32>,
    /// The entry of each directory; of no meaning for the root.
    entries: Vec<u32>,
    /// The directory and the entry of each file.
    files: Vec<(u32, u32)>,
    /// The file of each document; some documents have none.
    documents: Vec<Option<u32>>,
    /// Everything with a stamp, in order. A file with several names is there several times.
    keys: Vec<(FileId, DirectoryOrFile)>,
    /// Directories that a search has to enter if it may select others than were indexed.
    pub(super) entered: Vec<u32>,
    /// Directories with rules that cannot be proven.
    pub(super) loose: Vec<u32>,
    /// Files that are searched or compared with their stamps at every query.
    pub(super) unsettled: Vec<u32>,
}

impl Places {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let directories = catalog.directories();
        let documents: u32 = catalog.segments.iter().map(|segment| segment.documents).sum();
        let mut places = Self {
            parents: vec![0; directories as usize],
            ends: (1..=directories).collect(),
            entries: vec![0; directories as usize],
            files: vec![(0, 0); catalog.files() as usize],
            documents: vec![None; documents as usize],
            keys: Vec::new(),
            entered: Vec::new(),
            loose: Vec::new(),
            unsettled: Vec::new(),
        };
        (0..directories).for_each(|directory| places.add_directory(catalog, directory));
        for directory in (1..directories as usize).rev() {
            let parent = places.parents[directory] as usize;
            places.ends[parent] = places.ends[parent].max(places.ends[directory]);
        }
        (0..catalog.files()).for_each(|file| places.add_file(catalog, file));
        places.keys.sort_unstable();
        places
    }

    fn add_directory(&mut self, catalog: &Catalog, directory: u32) {
        let (mut is_entered, mut is_loose) = (false, catalog.selection(directory).is_none());
        for number in catalog.entry_numbers(directory) {
            let entry = catalog.entry(number);
            is_entered |= is_kept(&entry);
            is_loose |= has_loose_rules(catalog, &entry);
            match (entry.kind, entry.number) {
                (EntryKind::Directory, Some(below)) => {
                    if let Some(slot) = self.parents.get_mut(below as usize) {
                        *slot = directory;
                        self.entries[below as usize] = number;
                    }
                }
                (EntryKind::File, Some(file)) => {
                    if let Some(slot) = self.files.get_mut(file as usize) {
                        *slot = (directory, number);
                    }
                }
                _ => {}
            }
        }
        if is_entered {
            self.entered.push(directory);
        }
        if is_loose {
            self.loose.push(directory);
        }
        self.keys.extend(
            catalog.stamp(directory).map(|stamp| (key_of(stamp), DirectoryOrFile::Directory(directory))),
        );
    }

    fn add_file(&mut self, catalog: &Catalog, number: u32) {
        let Some(file) = catalog.file(number) else { return };
        for document in file.document..file.document + file.documents {
            if let Some(slot) = self.documents.get_mut(document as usize) {
                *slot = Some(number);
            }
        }
        match file.state {
            IndexedPart::Plain => self.keys.push((key_of(file.stamp), DirectoryOrFile::File(number))),
            _ => self.unsettled.push(number),
        }
    }

    /// All directories and files with a stamp.
    pub(super) fn nodes(&self) -> impl Iterator<Item = DirectoryOrFile> {
        self.keys.iter().map(|&(_, node)| node)
    }

    /// Directories and files with this identity.
    pub(super) fn with_key(&self, key: FileId) -> impl Iterator<Item = DirectoryOrFile> {
        let start = self.keys.partition_point(|&(other, _)| other < key);
        self.keys[start..].iter().take_while(move |&&(other, _)| other == key).map(|&(_, node)| node)
    }

    pub(super) fn file_of(&self, document: u32) -> Option<u32> {
        self.documents.get(document as usize).copied().flatten()
    }

    /// The directory of a file, and its entry.
    pub(super) fn place_of(&self, file: u32) -> (u32, u32) {
        self.files[file as usize]
    }

    /// A directory and its ancestors, up to the root.
    pub(super) fn upwards(&self, directory: u32) -> impl Iterator<Item = u32> {
        let parent = |&at: &u32| (at != 0).then(|| self.parents[at as usize]);
        std::iter::successors(Some(directory), parent)
    }

    /// A directory and those below it.
    pub(super) fn below(&self, directory: u32) -> Range<u32> {
        directory..self.ends[directory as usize]
    }

    /// The absolute path of a directory.
    pub(super) fn path_of(&self, catalog: &Catalog, directory: u32) -> PathBuf {
        let mut chain: Vec<u32> = self.upwards(directory).filter(|&at| at != 0).collect();
        chain.reverse();
        let name = |&at: &u32| as_path(catalog.entry(self.entries[at as usize]).name);
        let mut path = catalog.root.clone();
        path.extend(chain.iter().map(name));
        path
    }
}

/// Whether an entry other than an indexed directory is in every answer with its directory: a search may select it although it was not selected, or it may be a
/// rule file. Their names begin with a dot.
pub(super) fn is_kept(entry: &KnownEntry<'_>) -> bool {
    entry.number.is_none() || entry.name.to_bytes().starts_with(b".")
}

/// Whether an entry stands for rules that may change without a change of an indexed file.
fn has_loose_rules(catalog: &Catalog, entry: &KnownEntry<'_>) -> bool {
    if is_rule_file(entry.name) {
        let file = entry.number.filter(|_| entry.kind == EntryKind::File).and_then(|file| catalog.file(file));
        return file.is_none_or(|file| file.state != IndexedPart::Plain);
    }
    is_repository(entry)
}

/// Whether an entry stands for a repository, which has rules elsewhere.
pub(super) fn is_repository(entry: &KnownEntry<'_>) -> bool {
    REPOSITORY_NAMES.iter().any(|name| name.as_bytes() == entry.name.to_bytes())
}
