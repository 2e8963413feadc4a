//! The part of a catalog that a search needs: entries that are proven to hold no match are left out.
//!
//! It is a catalog in itself, and used like one: the search compares the stamps of the directories that it enters, and of the files
//! that are not proven. An entry that is left out of a proven directory is proven as well, and so is everything below it.

use std::ops::Range;

use finecomb_scan::{EntryKind, KnownEntry, TextPart};

use super::Watched;
use super::places::{DirectoryOrFile, is_kept};
use super::proofs::Proofs;
use super::talk::{SearchQuestion, SearchedDirectory};
use crate::catalog::{CatalogContents, CatalogDirectory, CatalogEntry, CatalogFile, IndexedPart, NO_STAMP};
use crate::error::Error;
use crate::found::FoundDocuments;
use crate::indexes::WHOLE;
use crate::listed::is_rule_file;

/// The part of a catalog for a search, and the parts of its files that may hold a match.
///
/// # Errors
/// If a segment cannot be read or is damaged.
pub(super) fn answer(
    now: &Watched,
    proofs: &Proofs,
    search: &SearchQuestion,
) -> Result<(CatalogContents, Vec<TextPart>), Error> {
    let find = |named: &SearchedDirectory| Some((now.catalog.find(named.path())?, named.selection));
    let named: Vec<_> = search.named.iter().filter_map(find).collect();
    let mut answer = CatalogAnswer {
        now,
        proofs,
        found: now.segments.find(&search.query, search.query.across_lines.then_some(&now.catalog))?,
        parts: Vec::new(),
        named: named.iter().map(|&(directory, _)| now.places.below(directory)).collect(),
        is_candidate: vec![false; now.catalog.files() as usize],
        is_file_kept: vec![false; now.catalog.files() as usize],
        is_directory_kept: vec![false; now.catalog.directories() as usize],
    };
    answer.select();
    named.iter().for_each(|&(directory, selection)| answer.keep_entered(directory, selection));
    let contents = answer.contents();
    Ok((contents, answer.parts))
}

struct CatalogAnswer<'w> {
    now: &'w Watched,
    proofs: &'w Proofs,
    found: FoundDocuments,
    parts: Vec<TextPart>,
    /// Each directory that is searched, with those below it.
    named: Vec<Range<u32>>,
    is_candidate: Vec<bool>,
    is_file_kept: Vec<bool>,
    is_directory_kept: Vec<bool>,
}

impl CatalogAnswer<'_> {
    fn select(&mut self) {
        let Self { now, proofs, .. } = *self;
        self.named.clone().into_iter().for_each(|named| self.keep_way_to(named.start));
        let documents: Vec<u32> = self.found.documents().collect();
        for file in documents.into_iter().filter_map(|document| now.places.file_of(document)) {
            if now.catalog.file(file).is_some_and(|known| !self.found.is_in(&known)) {
                continue;
            }
            self.is_candidate[file as usize] = true;
            self.keep_file(file);
        }
        now.places.unsettled.iter().for_each(|&file| self.keep_file(file));
        for node in &proofs.unproven {
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
            let unproven = self.proofs.unproven.iter().filter_map(rules_of);
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

    fn keep_way_to(&mut self, directory: u32) {
        for directory in self.now.places.upwards(directory) {
            if std::mem::replace(&mut self.is_directory_kept[directory as usize], true) {
                break;
            }
        }
    }

    fn contents(&mut self) -> CatalogContents {
        let catalog = &self.now.catalog;
        let kept = self.is_directory_kept.iter().zip(0..).filter(|&(&kept, _)| kept);
        let kept: Vec<u32> = kept.map(|(_, number)| number).collect();
        let mut numbers = vec![None; self.is_directory_kept.len()];
        kept.iter().zip(0..).for_each(|(&directory, number)| numbers[directory as usize] = Some(number));
        let (mut directories, mut files) = (Vec::with_capacity(kept.len()), Vec::new());
        for directory in kept {
            let entries = catalog.entries(directory).filter_map(|entry| {
                let number = match (entry.kind, entry.number) {
                    (EntryKind::Directory, Some(below)) => Some((*numbers.get(below as usize)?)?),
                    (EntryKind::File, Some(file)) => {
                        (self.is_file_kept[file as usize] || is_kept(&entry)).then_some(())?;
                        files.push(self.file(file));
                        Some(files.len() as u32 - 1)
                    }
                    _ => None,
                };
                let KnownEntry { name, kind, inode, is_selected, .. } = entry;
                Some(CatalogEntry { name: name.to_owned(), kind, inode, number, is_selected })
            });
            let (stamp, selection) = (catalog.stamp(directory), catalog.selection(directory));
            directories.push(CatalogDirectory { stamp, selection, entries: entries.collect() });
        }
        CatalogContents {
            root: catalog.root.clone(),
            built: catalog.built,
            credentials: catalog.credentials,
            segments: Vec::new(),
            directories,
            files,
        }
    }

    /// A file with documents if it is a candidate; otherwise it has none, and is absent if it has its stamp.
    fn file(&mut self, number: u32) -> CatalogFile {
        let Some(file) = self.now.catalog.file(number) else {
            return CatalogFile {
                state: IndexedPart::Varied,
                stamp: NO_STAMP,
                document: WHOLE,
                documents: 0,
            };
        };
        if !self.is_candidate[number as usize] {
            return CatalogFile { document: WHOLE, documents: 0, ..file };
        }
        let Some(parts) = self.found.parts_of(&file) else {
            return CatalogFile { document: WHOLE, documents: 1, ..file };
        };
        let document = self.parts.len() as u32;
        let documents = parts.len() as u32;
        self.parts.extend(parts);
        CatalogFile { document, documents, ..file }
    }
}
