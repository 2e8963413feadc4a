//! The index of a tree that is watched.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use finecomb_scan::{Distrust, EntryKind, KnownEntry, Stamp};

use super::places::{DirectoryOrFile, Places};
use crate::catalog::{Catalog, CatalogFile, IndexedPart, as_path};
use crate::error::Error;
use crate::folder::Folder;
use crate::found::FoundDocuments;
use crate::indexes::UsedIndex;
use crate::needs::SegmentQuery;
use crate::segments::Segments;

/// A number of files in a folder and below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderCount {
    /// Name of the folder; `.` stands for the files that are in none.
    pub name: OsString,
    /// Number of files.
    pub files: u64,
}

/// The index of the tree that is watched, in memory.
pub(super) struct Watched {
    pub(super) catalog: Catalog,
    pub(super) segments: Segments,
    pub(super) places: Places,
}

impl Watched {
    pub(super) fn open(folder: &Folder, root: &Path) -> Result<Self, Error> {
        let UsedIndex { catalog, .. } = UsedIndex::open(folder, root, None, 1)?;
        let segments = Segments::open(folder, &catalog.segments)?;
        let places = Places::of(&catalog);
        Ok(Self { catalog, segments, places })
    }

    /// A file whose text is indexed as a whole.
    pub(super) fn plain(&self, number: u32) -> Option<CatalogFile> {
        self.catalog.file(number).filter(|file| file.state == IndexedPart::Plain)
    }

    /// The stamp with which something may be proven.
    pub(super) fn stamp(&self, node: DirectoryOrFile) -> Option<Stamp> {
        match node {
            DirectoryOrFile::Directory(number) => self.catalog.stamp(number),
            DirectoryOrFile::File(number) => Some(self.plain(number)?.stamp),
        }
    }

    pub(super) fn path_of(&self, directory: u32) -> PathBuf {
        self.places.path_of(&self.catalog, directory)
    }

    pub(super) fn name_of(&self, file: u32) -> &Path {
        let (_, entry) = self.places.place_of(file);
        as_path(self.catalog.entry(entry).name)
    }

    /// The documents that may fulfil a query.
    ///
    /// # Errors
    /// If a segment cannot be read or is damaged.
    pub(super) fn find(&self, query: &SegmentQuery) -> Result<FoundDocuments, Error> {
        self.segments.find(query, query.across_lines.then_some(&self.catalog))
    }

    /// The number of files in each folder of a directory that may fulfil a query, or of all: first those that are in no folder. Folders without any are left
    /// out. `None` if the directory is not in the index, or that is damaged.
    pub(super) fn count_by_folder(
        &self,
        directory: &Path,
        query: Option<&SegmentQuery>,
    ) -> Option<Vec<FolderCount>> {
        let directory = self.catalog.find(directory)?;
        let Some(query) = query else { return Some(self.count(directory, 0..self.catalog.files())) };
        let found = self.find(query).ok()?;
        let mut files: Vec<u32> =
            found.documents().filter_map(|document| self.places.file_of(document)).collect();
        // The documents of a file follow each other.
        files.dedup();
        Some(self.count(directory, files))
    }

    fn count(&self, directory: u32, files: impl IntoIterator<Item = u32>) -> Vec<FolderCount> {
        let below = self.places.below(directory);
        let mut counts = vec![FolderCount { name: ".".into(), files: 0 }];
        // The folder of each directory below, as most files have others in theirs.
        let mut folder_of = vec![0; below.len()];
        for KnownEntry { name, kind, number, .. } in self.catalog.entries(directory) {
            if let (EntryKind::Directory, Some(number)) = (kind, number) {
                let Range { start, end } = self.places.below(number);
                folder_of[(start - directory) as usize..(end - directory) as usize].fill(counts.len());
                counts.push(FolderCount { name: as_path(name).into(), files: 0 });
            }
        }
        let places = files.into_iter().map(|file| self.places.place_of(file).0);
        for place in places.filter(|place| below.contains(place)) {
            counts[folder_of[(place - directory) as usize]].files += 1;
        }
        counts.retain(|count| count.files > 0);
        counts
    }

    /// Whether an update some time later may index more.
    pub(super) fn is_unfinished(&self) -> bool {
        let later = |number| {
            let state = self.catalog.file(number).map(|file| file.state);
            matches!(state, Some(IndexedPart::Distrusted(Distrust::Fresh | Distrust::Writer)))
        };
        self.places.unsettled.iter().any(|&number| later(number))
            || (0..self.catalog.directories()).any(|number| self.catalog.stamp(number).is_none())
    }
}
