//! The part of a catalog that a search needs: what is proven to hold no match is left out.
//!
//! It is a catalog in itself, and used like one: the search compares the stamps of the directories that it enters, and of
//! the files that are not proven. An entry that is left out of a proven directory is proven as well, and so is all that
//! is below it.

use std::collections::HashMap;

use finecomb_scan::{EntryKind, KnownEntry};

use super::Watched;
use super::places::{Node, is_kept};
use super::proofs::Proofs;
use crate::catalog::{Contents, Directory, Entry, File, NO_STAMP, State};
use crate::error::Error;
use crate::needs::Needs;

/// The part of a catalog for a search below the directories `named`, by their numbers.
///
/// # Errors
/// If a segment cannot be read or is damaged.
pub(super) fn answer(
    now: &Watched,
    proofs: &Proofs,
    needs: &Needs,
    across_lines: bool,
    named: &[u32],
) -> Result<Contents, Error> {
    let mut answer = Answer {
        now,
        proofs,
        named,
        is_candidate: vec![false; now.catalog.files() as usize],
        is_file_kept: vec![false; now.catalog.files() as usize],
        is_directory_kept: vec![false; now.catalog.directories() as usize],
    };
    answer.select(needs, across_lines)?;
    Ok(answer.contents())
}

struct Answer<'w> {
    now: &'w Watched,
    proofs: &'w Proofs,
    named: &'w [u32],
    is_candidate: Vec<bool>,
    is_file_kept: Vec<bool>,
    is_directory_kept: Vec<bool>,
}

impl Answer<'_> {
    fn select(&mut self, needs: &Needs, across_lines: bool) -> Result<(), Error> {
        let Self { now, proofs, named, .. } = *self;
        named.iter().for_each(|&directory| self.keep_way_to(directory));
        for (first, found) in now.segments.find(&now.catalog, needs, across_lines)? {
            for file in found.iter().filter_map(|document| now.places.file_of(first + document)) {
                self.is_candidate[file as usize] = true;
                self.keep_file(file);
            }
        }
        now.places.unsettled.iter().for_each(|&file| self.keep_file(file));
        now.places.entered.iter().for_each(|&directory| self.keep_directory(directory));
        for node in &proofs.unproven {
            match *node {
                Node::File(file) => self.keep_file(file),
                Node::Directory(directory) => self.keep_listed(directory),
            }
        }
        Ok(())
    }

    fn is_searched(&self, directory: u32) -> bool {
        self.named.iter().any(|&named| self.now.places.is_within(directory, named))
    }

    fn keep_file(&mut self, file: u32) {
        let (directory, _) = self.now.places.place_of(file);
        if self.is_searched(directory) {
            self.is_file_kept[file as usize] = true;
            self.keep_way_to(directory);
        }
    }

    fn keep_directory(&mut self, directory: u32) {
        if self.is_searched(directory) {
            self.keep_way_to(directory);
        }
    }

    /// Keeps all entries of a directory which the search may have to list: what it finds there and does not know is
    /// searched as a whole.
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

    fn contents(self) -> Contents {
        let catalog = &self.now.catalog;
        let kept = self.is_directory_kept.iter().zip(0..).filter(|&(&kept, _)| kept);
        let kept: Vec<u32> = kept.map(|(_, number)| number).collect();
        let numbers: HashMap<u32, u32> = kept.iter().copied().zip(0..).collect();
        let (mut directories, mut files) = (Vec::with_capacity(kept.len()), Vec::new());
        for directory in kept {
            let entries = catalog.entries(directory).filter_map(|entry| {
                let number = match (entry.kind, entry.number) {
                    (EntryKind::Directory, Some(below)) => Some(*numbers.get(&below)?),
                    (EntryKind::File, Some(file)) => {
                        (self.is_file_kept[file as usize] || is_kept(entry.name, entry.number))
                            .then_some(())?;
                        files.push(self.file(file));
                        Some(files.len() as u32 - 1)
                    }
                    _ => None,
                };
                Some(Entry { name: entry.name.to_owned(), kind: entry.kind, inode: entry.inode, number })
            });
            directories.push(Directory { stamp: catalog.stamp(directory), entries: entries.collect() });
        }
        Contents {
            root: catalog.root.clone(),
            built: catalog.built,
            credentials: catalog.credentials,
            segments: Vec::new(),
            directories,
            files,
        }
    }

    /// A file without documents: it is absent if it has its stamp, unless nothing of it is indexed.
    fn file(&self, number: u32) -> File {
        let nothing = File { state: State::Varied, stamp: NO_STAMP, document: 0, documents: 0 };
        match self.now.catalog.file(number) {
            Some(file) if !self.is_candidate[number as usize] && file.state.is_indexed() => {
                File { document: 0, documents: 0, ..file }
            }
            _ => nothing,
        }
    }
}
