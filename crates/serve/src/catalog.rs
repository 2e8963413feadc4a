//! The served indexes, by name. Each can be reopened while it is in use.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use finecomb_text_index::{Alphabet, Error, Index};
use thiserror::Error as ThisError;

/// The served indexes.
#[derive(Clone, Debug)]
pub struct Catalog {
    entries: Vec<Arc<CatalogEntry>>,
}

/// A served index.
#[derive(Debug)]
pub(crate) struct CatalogEntry {
    pub(crate) name: String,
    /// Hash of the name.
    name_hash: u64,
    path: PathBuf,
    index: ArcSwap<Index>,
}

impl CatalogEntry {
    /// Current index. It stays mapped while the guard is held.
    pub(crate) fn index(&self) -> Guard<Arc<Index>> {
        self.index.load()
    }

    /// Version that changes with the name or the content of the index.
    pub(crate) fn version(&self, index: &Index) -> u64 {
        self.name_hash ^ index.version()
    }

    fn reopen(&self) -> Result<(), Error> {
        self.index.store(Arc::new(Index::open(&self.path)?));
        Ok(())
    }
}

/// Error in the set of indexes to serve.
#[derive(Debug, ThisError)]
pub enum CatalogError {
    /// An index cannot be opened.
    #[error(transparent)]
    Index(#[from] Error),
    /// Two indexes have the same name.
    #[error("duplicate index name '{0}'; choose another with NAME=INDEX")]
    DuplicateName(String),
    /// A name is not valid in the path of a URL.
    #[error(
        "invalid index name '{0}': use letters, digits, '-', '_' and '.', and begin with a letter, a digit or '_'; choose another with NAME=INDEX"
    )]
    InvalidName(String),
}

impl Catalog {
    /// Opens indexes, each with its name.
    ///
    /// # Errors
    ///
    /// If an index cannot be opened, or a name is invalid or used twice.
    pub fn open(named: Vec<(String, PathBuf)>) -> Result<Self, CatalogError> {
        let mut entries: Vec<Arc<CatalogEntry>> = Vec::new();
        for (name, path) in named {
            if !is_name(&name) {
                return Err(CatalogError::InvalidName(name));
            }
            if entries.iter().any(|entry| entry.name == name) {
                return Err(CatalogError::DuplicateName(name));
            }
            let index = ArcSwap::from_pointee(Index::open(&path)?);
            let name_hash = hash(&name);
            entries.push(Arc::new(CatalogEntry { name, name_hash, path, index }));
        }
        Ok(Self { entries })
    }

    /// Reopens every index. An index that cannot be opened is kept unchanged.
    pub(crate) fn reopen(&self) -> impl Iterator<Item = (&Path, Result<(), Error>)> {
        self.entries.iter().map(|entry| (&*entry.path, entry.reopen()))
    }

    pub(crate) fn entries(&self) -> &[Arc<CatalogEntry>] {
        &self.entries
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<&Arc<CatalogEntry>> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// First index of digits, which the Pi Searcher's addresses search.
    pub(crate) fn first_of_digits(&self) -> Option<&Arc<CatalogEntry>> {
        self.entries.iter().find(|entry| entry.index().alphabet() == Alphabet::Digits)
    }
}

/// Hash that is equal in every process of the same version of the program.
pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Default name of an index: its file name without `.comb`.
pub fn default_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".comb").unwrap_or(&name).to_owned()
}

fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().next().is_some_and(is_word)
        && name.bytes().all(|byte| is_word(byte) || byte == b'-' || byte == b'.')
}
