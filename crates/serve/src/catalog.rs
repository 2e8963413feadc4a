//! The indexes that are served, by name. Each can be opened again while it is in use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use finecomb_text_index::{Alphabet, Error, Index};
use thiserror::Error as ThisError;

/// The indexes that are served.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Entry>,
}

/// An index that is served.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    path: PathBuf,
    index: ArcSwap<Index>,
}

impl Entry {
    /// The index as it is now. It is kept until the guard is dropped.
    pub(crate) fn index(&self) -> Guard<Arc<Index>> {
        self.index.load()
    }
}

/// Why indexes cannot be served.
#[derive(Debug, ThisError)]
pub enum CatalogError {
    /// One cannot be opened.
    #[error(transparent)]
    Index(#[from] Error),
    /// Two have the same name.
    #[error("two indexes have the name '{0}'; NAME=INDEX gives another one")]
    Twice(String),
    /// A name cannot be a part of a URL's path.
    #[error(
        "'{0}' cannot be the name of an index: it may have letters, digits, '-', '_' and '.', and begin with a letter, a digit or '_'; NAME=INDEX gives another one"
    )]
    Name(String),
}

impl Catalog {
    /// Opens indexes, each with its name.
    ///
    /// # Errors
    ///
    /// If one cannot be opened, two have the same name, or a name cannot be a part of a path.
    pub fn open(named: Vec<(String, PathBuf)>) -> Result<Self, CatalogError> {
        let mut entries: Vec<Entry> = Vec::new();
        for (name, path) in named {
            if !is_name(&name) {
                return Err(CatalogError::Name(name));
            }
            if entries.iter().any(|entry| entry.name == name) {
                return Err(CatalogError::Twice(name));
            }
            let index = ArcSwap::from_pointee(Index::open(&path)?);
            entries.push(Entry { name, path, index });
        }
        Ok(Self { entries })
    }

    /// Opens every index again, for those that were replaced. One that cannot be opened stays as it was.
    pub(crate) fn reopen(&self) -> impl Iterator<Item = (&Path, Result<(), Error>)> {
        self.entries.iter().map(|entry| {
            let reopened = Index::open(&entry.path).map(|index| entry.index.store(Arc::new(index)));
            (&*entry.path, reopened)
        })
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The first index of digits: what the Pi Searcher's addresses ask.
    pub(crate) fn first_of_digits(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.index().alphabet() == Alphabet::Digits)
    }
}

/// The name that an index has if it is given none: that of its file, without `.comb`.
pub fn default_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".comb").unwrap_or(&name).to_owned()
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte == b'-' || byte == b'.')
}
