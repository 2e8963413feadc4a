//! Files of a watched tree that have terms, such as the name of a definition.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use finecomb_scan::EntryKind;

use super::here::FilesWithTerms;
use super::places::DirectoryOrFile;
use super::watched::Watched;
#[cfg(test)]
use crate::folder::Folder;
#[cfg(test)]
use crate::needs::SoughtTerms;
use crate::terms::FoundTerms;

/// The files of a watched tree that may have one of some terms.
pub(crate) struct WatchedTerms {
    pub(super) now: Arc<Watched>,
    /// Directories and files that are not proven to be as they were indexed.
    pub(super) unproven: BTreeSet<DirectoryOrFile>,
    /// For each segment the number of its first document, and the files with a term, if that is known.
    pub(super) found: Vec<(u32, Option<FoundTerms>)>,
}

impl FilesWithTerms for WatchedTerms {
    fn files(&self) -> Vec<PathBuf> {
        let documents = self.found.iter().filter_map(|(first, found)| Some((*first, found.as_ref()?)));
        let documents = documents.flat_map(|(first, found)| found.documents().map(move |at| first + at));
        let files = documents.filter_map(|document| self.now.places.file_of(document));
        files
            .map(|file| self.now.path_of(self.now.places.place_of(file).0).join(self.now.name_of(file)))
            .collect()
    }

    fn may_have(&self, path: &Path) -> Option<bool> {
        let number = self.numbered(path)?;
        if self.unproven.contains(&DirectoryOrFile::File(number)) {
            return None;
        }
        let file = self.now.plain(number)?;
        let segment = self.found.partition_point(|&(first, _)| first <= file.document).checked_sub(1)?;
        let (first, found) = self.found.get(segment)?;
        found.as_ref()?.has(file.document - first, file.stamp)
    }
}

impl WatchedTerms {
    /// The files of an index as a watch would know them, with these files unproven.
    #[cfg(test)]
    pub(crate) fn of_index(
        folder: &Folder,
        root: &Path,
        sought: &SoughtTerms,
        unproven: &[u32],
    ) -> Option<Self> {
        let now = Arc::new(Watched::open(folder, root).expect("an index"));
        let unproven = unproven.iter().copied().map(DirectoryOrFile::File).collect();
        Some(Self { found: now.segments.with_terms(sought)?, unproven, now })
    }

    /// The number of a file in the catalog.
    fn numbered(&self, path: &Path) -> Option<u32> {
        let directory = self.now.catalog.find(path.parent()?)?;
        let name = path.file_name().map(OsStr::as_bytes)?;
        let is_named = |number: &u32| self.now.catalog.entry(*number).name.to_bytes() == name;
        let entry = self.now.catalog.entry(self.now.catalog.entry_numbers(directory).find(is_named)?);
        entry.number.filter(|_| entry.kind == EntryKind::File)
    }
}
