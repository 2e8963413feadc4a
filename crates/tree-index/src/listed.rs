//! A tree as it was listed.

use std::collections::HashMap;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use finecomb_scan::{EntryKind, FileAt, Instant, RULE_FILES, SurveyedDirectory, SurveyedEntry};

use crate::catalog::{CatalogDirectory, CatalogEntry, CatalogFile};

/// The directories and files of a tree, with their numbers.
pub(crate) struct Listed {
    pub(crate) directories: Vec<CatalogDirectory>,
    /// Absolute path of each directory.
    paths: Vec<PathBuf>,
    pub(crate) files: Vec<ListedFile>,
}

/// A file of a tree.
pub(crate) struct ListedFile {
    directory: usize,
    /// Number of its entry in the directory.
    entry: usize,
    /// Number in the index before.
    pub(crate) known: Option<u32>,
}

impl Listed {
    pub(crate) fn new(root: &Path, surveyed: Vec<SurveyedDirectory>) -> Self {
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
                    EntryKind::File if entry.is_selected || is_rule_file(&entry.name) => {
                        files.push(ListedFile { directory: place, entry: at, known: entry.known });
                        Some(files.len() as u32 - 1)
                    }
                    EntryKind::Directory if entry.is_selected => {
                        path.truncate(length);
                        path.extend_from_slice(entry.name.as_bytes());
                        numbers.get(&path).copied()
                    }
                    _ => None,
                };
                let SurveyedEntry { name, kind, inode, is_selected, .. } = entry;
                entries.push(CatalogEntry { name, kind, inode, number, is_selected });
            }
            let (stamp, selection) = (directory.stamp, directory.selection);
            directories.push(CatalogDirectory { stamp, selection, entries });
        }
        Self { directories, paths, files }
    }

    /// Gives up the selections by rule files that may have changed since `began`, the time before the tree was listed: their
    /// stamps, in `files`, may belong to another text.
    pub(crate) fn give_up_selections(&mut self, files: &[CatalogFile], began: Instant) {
        let is_same = |entry: &CatalogEntry| {
            let file = entry.number.filter(|_| entry.kind == EntryKind::File);
            let file = file.and_then(|number| files.get(number as usize));
            file.is_some_and(|file| file.state.is_indexed() && file.stamp.has_settled(began))
        };
        for directory in &mut self.directories {
            let mut rule_files = directory.entries.iter().filter(|entry| is_rule_file(&entry.name));
            directory.selection = directory.selection.filter(|_| rule_files.all(is_same));
        }
    }

    /// Where a file is.
    pub(crate) fn place(&self, file: &ListedFile) -> FileAt<'_> {
        FileAt {
            directory: &self.paths[file.directory],
            name: &self.directories[file.directory].entries[file.entry].name,
        }
    }
}

/// Whether a file of this name may decide which others are selected. It is indexed even if no search reads it.
pub(crate) fn is_rule_file(name: &CStr) -> bool {
    RULE_FILES.iter().any(|rule_file| rule_file.as_bytes() == name.to_bytes())
}
