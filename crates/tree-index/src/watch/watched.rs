//! The index of a tree that is watched.

use std::path::{Path, PathBuf};

use finecomb_scan::{Distrust, Stamp};

use super::places::{DirectoryOrFile, Places};
use crate::catalog::{Catalog, CatalogFile, IndexedPart, as_path};
use crate::error::Error;
use crate::folder::Folder;
use crate::indexes::UsedIndex;
use crate::segments::Segments;

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
