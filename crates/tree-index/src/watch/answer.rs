//! The part of a catalog that a search needs: entries that are proven to hold no match are left out.
//!
//! The search compares the stamps of the directories that it enters, and of the files that are not proven. An entry that is left out of a
//! proven directory is proven as well, and so is everything below it. For another process, the part is written as a catalog.

use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use finecomb_scan::{EntryKind, Known, KnownEntry, Snapshot, Stamp, TextPart};

use super::here::{FilesWithTerms, ProvenTree};
use super::opened::Opening;
use super::places::{DirectoryOrFile, is_kept, is_repository};
use super::talk::{SearchQuestion, SearchedDirectory};
use super::watched::Watched;
use super::with_terms::WatchedTerms;
use crate::catalog::{CatalogContents, CatalogDirectory, CatalogEntry, CatalogFile, IndexedPart, NO_STAMP};
use crate::error::Error;
use crate::found::FoundDocuments;
use crate::indexes::WHOLE;
use crate::listed::is_rule_file;
use crate::needs::SoughtTerms;

/// A tree, and everything in it that is not proven at a moment.
pub(super) struct Proven {
    pub(super) now: Arc<Watched>,
    pub(super) unproven: Vec<DirectoryOrFile>,
    /// The files that the search opens, if it is one of this process.
    pub(super) opening: Option<Opening>,
}

impl ProvenTree for Proven {
    fn root(&self) -> &Path {
        &self.now.catalog.root
    }

    fn part_for(
        self: Box<Self>,
        search: &SearchQuestion,
        reads: Option<fn(&Path) -> bool>,
    ) -> Result<(Arc<dyn Snapshot>, Vec<Error>), Error> {
        let mut part = (*self).needed(search, reads)?;
        let failures = std::mem::take(&mut part.found.failures);
        Ok((Arc::new(part), failures))
    }

    fn with_terms(self: Box<Self>, sought: &SoughtTerms) -> Option<Box<dyn FilesWithTerms>> {
        let Self { now, unproven, .. } = *self;
        let found = now.segments.with_terms(sought)?;
        Some(Box::new(WatchedTerms { found, unproven: unproven.into_iter().collect(), now }))
    }
}

/// The part of a catalog that a search needs.
pub(super) struct NeededPart {
    now: Arc<Watched>,
    found: FoundDocuments,
    is_file_kept: Vec<bool>,
    is_directory_kept: Vec<bool>,
    opening: Option<Opening>,
}

impl Proven {
    /// The part that a search needs. It reads only files with certain names, if `reads` is set.
    ///
    /// # Errors
    /// If a segment cannot be read or is damaged.
    pub(super) fn needed(
        self,
        search: &SearchQuestion,
        reads: Option<fn(&Path) -> bool>,
    ) -> Result<NeededPart, Error> {
        let Self { now, unproven, opening } = self;
        let find = |named: &SearchedDirectory| Some((now.catalog.find(named.path())?, named.selection));
        let named: Vec<_> = search.named.iter().filter_map(find).collect();
        let mut selecting = Selecting {
            now: &now,
            unproven: &unproven,
            named: named.iter().map(|&(directory, _)| now.places.below(directory)).collect(),
            is_file_kept: vec![false; now.catalog.files() as usize],
            is_directory_kept: vec![false; now.catalog.directories() as usize],
        };
        let found = now.find(&search.query)?;
        selecting.select(&found, reads);
        named.iter().for_each(|&(directory, selection)| selecting.keep_entered(directory, selection));
        selecting.keep_repositories();
        let Selecting { is_file_kept, is_directory_kept, .. } = selecting;
        Ok(NeededPart { now, found, is_file_kept, is_directory_kept, opening })
    }
}

/// Selects the entries that a search needs.
struct Selecting<'w> {
    now: &'w Watched,
    unproven: &'w [DirectoryOrFile],
    /// Each directory that is searched, with those below it.
    named: Vec<Range<u32>>,
    is_file_kept: Vec<bool>,
    is_directory_kept: Vec<bool>,
}

impl Selecting<'_> {
    fn select(&mut self, found: &FoundDocuments, reads: Option<fn(&Path) -> bool>) {
        let now = self.now;
        self.named.clone().into_iter().for_each(|named| self.keep_way_to(named.start));
        // Without terms, the file of a document that was found is a candidate.
        let are_terms_sought = found.segments.iter().any(|segment| segment.terms.is_some());
        let is_candidate =
            |file| !are_terms_sought || now.catalog.file(file).is_none_or(|known| found.is_in(&known));
        let is_read = |file| reads.is_none_or(|reads| reads(now.name_of(file)));
        for file in found.documents().filter_map(|document| now.places.file_of(document)) {
            if !self.is_file_kept[file as usize] && is_candidate(file) && is_read(file) {
                self.keep_file(file);
            }
        }
        now.places.unsettled.iter().for_each(|&file| self.keep_file(file));
        for node in self.unproven {
            match *node {
                DirectoryOrFile::File(file) => self.keep_file(file),
                DirectoryOrFile::Directory(directory) => self.keep_listed(directory),
            }
        }
    }

    fn is_searched(&self, directory: u32) -> bool {
        self.named.iter().any(|named| named.contains(&directory))
    }

    fn keep_file(&mut self, file: u32) {
        let (directory, _) = self.now.places.place_of(file);
        if self.is_searched(directory) {
            self.is_file_kept[file as usize] = true;
            self.keep_way_to(directory);
        }
    }

    /// Keeps the directories below a named one in which a search with this selection may select other entries than were indexed. If
    /// its selection equals the index's, these are the directories with unproven rules: the search has read the rules of the named
    /// directory and above it, but the rules below may have changed.
    fn keep_entered(&mut self, named: u32, selection: Option<u64>) {
        let places = &self.now.places;
        let below = places.below(named);
        let mut is_loose = vec![true; below.len()];
        if selection.is_some() && selection == self.now.catalog.selection(named) {
            is_loose.fill(false);
            let rules_of = |node: &DirectoryOrFile| match *node {
                DirectoryOrFile::Directory(directory) => Some(directory),
                DirectoryOrFile::File(file) => {
                    let (directory, entry) = places.place_of(file);
                    is_rule_file(self.now.catalog.entry(entry).name).then_some(directory)
                }
            };
            let unproven = self.unproven.iter().filter_map(rules_of);
            let loose = places.loose.iter().copied().chain(unproven);
            for directory in loose.filter(|&directory| directory != named && below.contains(&directory)) {
                let Range { start, end } = places.below(directory);
                is_loose[(start - named) as usize..(end - named) as usize].fill(true);
            }
        }
        let entered = places.entered.iter().filter(|directory| below.contains(directory));
        let entered = entered.filter(|&directory| is_loose[(directory - named) as usize]);
        entered.for_each(|&directory| self.keep_way_to(directory));
    }

    /// Keeps all entries of a directory that the search may have to list: entries that it does not know are searched as a whole.
    fn keep_listed(&mut self, directory: u32) {
        if !self.is_searched(directory) {
            return;
        }
        self.keep_way_to(directory);
        for KnownEntry { kind, number, .. } in self.now.catalog.entries(directory) {
            match (kind, number) {
                (EntryKind::File, Some(file)) => self.is_file_kept[file as usize] = true,
                (EntryKind::Directory, Some(below)) => self.is_directory_kept[below as usize] = true,
                _ => {}
            }
        }
    }

    /// Keeps the entries by which the search knows that a directory has rules elsewhere. Most of them are hidden, and not in the index.
    fn keep_repositories(&mut self) {
        let catalog = &self.now.catalog;
        let loose =
            self.now.places.loose.iter().filter(|&&directory| self.is_directory_kept[directory as usize]);
        let entries = loose.flat_map(|&directory| catalog.entries(directory));
        let repositories = entries.filter(|entry| entry.kind == EntryKind::Directory && is_repository(entry));
        let kept: Vec<u32> = repositories.filter_map(|entry| entry.number).collect();
        kept.into_iter().for_each(|directory| self.is_directory_kept[directory as usize] = true);
    }

    fn keep_way_to(&mut self, directory: u32) {
        for directory in self.now.places.upwards(directory) {
            if std::mem::replace(&mut self.is_directory_kept[directory as usize], true) {
                break;
            }
        }
    }
}

impl NeededPart {
    /// The part as a catalog of its own, and the parts of its files that may hold a match.
    pub(super) fn contents(&self) -> (CatalogContents, Vec<TextPart>) {
        let catalog = &self.now.catalog;
        let mut parts = Vec::new();
        let kept = self.is_directory_kept.iter().zip(0..).filter(|&(&kept, _)| kept);
        let kept: Vec<u32> = kept.map(|(_, number)| number).collect();
        let mut numbers = vec![None; self.is_directory_kept.len()];
        kept.iter().zip(0..).for_each(|(&directory, number)| numbers[directory as usize] = Some(number));
        let (mut directories, mut files) = (Vec::with_capacity(kept.len()), Vec::new());
        for directory in kept {
            let entries =
                self.entries(directory).map(|KnownEntry { name, kind, inode, number, is_selected }| {
                    let number = number.and_then(|number| match kind {
                        EntryKind::Directory => numbers[number as usize],
                        _ => {
                            files.push(self.file_with_parts(number, &mut parts));
                            Some(files.len() as u32 - 1)
                        }
                    });
                    CatalogEntry { name: name.to_owned(), kind, inode, number, is_selected }
                });
            let entries = entries.collect();
            let (stamp, selection) = (catalog.stamp(directory), catalog.selection(directory));
            directories.push(CatalogDirectory { stamp, selection, entries });
        }
        let contents = CatalogContents {
            root: catalog.root.clone(),
            built: catalog.built,
            credentials: catalog.credentials,
            segments: Vec::new(),
            directories,
            files,
        };
        (contents, parts)
    }

    /// The entries of a directory that are not left out.
    fn entries(&self, directory: u32) -> impl Iterator<Item = KnownEntry<'_>> {
        self.now.catalog.entries(directory).filter(|entry| match (entry.kind, entry.number) {
            (EntryKind::Directory, Some(below)) => self.is_directory_kept[below as usize],
            (EntryKind::File, Some(file)) => self.is_file_kept[file as usize] || is_kept(entry),
            _ => true,
        })
    }

    /// A file with documents if it may hold a match; otherwise it has none, and is absent if it has its stamp.
    fn file_with_parts(&self, number: u32, parts: &mut Vec<TextPart>) -> CatalogFile {
        let Some(file) = self.now.catalog.file(number) else {
            return CatalogFile {
                state: IndexedPart::Varied,
                stamp: NO_STAMP,
                document: WHOLE,
                documents: 0,
            };
        };
        if !self.found.is_in(&file) {
            return CatalogFile { document: WHOLE, documents: 0, ..file };
        }
        let Some(held) = self.found.parts_of(&file) else {
            return CatalogFile { document: WHOLE, documents: 1, ..file };
        };
        let (document, documents) = (parts.len() as u32, held.len() as u32);
        parts.extend(held);
        CatalogFile { document, documents, ..file }
    }
}

/// The part as a search of the same process uses it, with the numbers of the whole catalog.
impl Snapshot for NeededPart {
    fn find(&self, path: &Path) -> Option<u32> {
        self.now.catalog.find(path).filter(|&directory| self.is_directory_kept[directory as usize])
    }

    fn entry_count(&self, directory: u32) -> usize {
        self.now.catalog.entry_numbers(directory).len()
    }

    fn list(&self, directory: u32, add: &mut dyn FnMut(KnownEntry<'_>)) -> Option<Stamp> {
        self.entries(directory).for_each(add);
        self.now.catalog.stamp(directory)
    }

    fn selection(&self, directory: u32) -> Option<u64> {
        self.now.catalog.selection(directory)
    }

    fn stamp(&self, file: u32) -> Option<Stamp> {
        self.now.catalog.indexed(file).map(|file| file.stamp)
    }

    fn parts(&self, file: u32) -> Option<Vec<TextPart>> {
        self.found.parts_of(&self.now.catalog.file(file)?)
    }

    fn file(&self, number: u32) -> Known {
        self.now.catalog.indexed(number).map_or(Known::Nothing, |file| file.known(self.found.is_in(&file)))
    }

    fn opened(&self, file: u32, opened: BorrowedFd<'_>) {
        if let Some(opening) = &self.opening
            && self.now.plain(file).is_some()
        {
            opening.add(file, opened);
        }
    }
}
