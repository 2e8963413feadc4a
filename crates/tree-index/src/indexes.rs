//! The indexes of the trees that a search is in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use finecomb_scan::{Known, KnownEntry, Snapshot, Snapshots, Stamp, TextPart, now};
use finecomb_sys::locks::lock;

use crate::catalog::{Catalog, CatalogFile};
use crate::error::Error;
use crate::folder::{Folder, credentials};
use crate::found::FoundDocuments;
use crate::needs::{SegmentQuery, Sought};
use crate::segments::Segments;
use crate::watch::here;
use crate::watch::talk::{SearchQuestion, SearchedDirectory, ask_for_catalog};

/// Opens the indexes of the trees that a search is in, and looks up in them what it is for.
pub struct Indexes {
    home: PathBuf,
    /// The query of segments; `None` if every file may match.
    query: Option<SegmentQuery>,
    /// Whether files without a match matter.
    counts_absent: bool,
    /// Which files are read, by their names; `None` if all are.
    reads: Option<fn(&Path) -> bool>,
    /// Number of threads that open an index.
    threads: usize,
    opened: Mutex<Opened>,
}

/// The indexes of a search, as they were opened.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Opened {
    /// The roots of the trees with an index, whether it can be used or not.
    pub roots: Vec<PathBuf>,
    /// The reasons why named directories have no index that can be used.
    pub failures: Vec<Error>,
    /// The reasons why a part of an index that is used is left alone.
    pub left_alone: Vec<Error>,
    /// Set if files that hold no match were left out of a tree as if they were not there.
    pub is_reduced: bool,
}

impl Indexes {
    /// Indexes in the folders of `home`, to search for something; without it, for the names of files. Each is opened by a number
    /// of threads.
    pub fn new(home: PathBuf, sought: Option<&Sought>, threads: usize) -> Self {
        Self {
            home,
            query: sought.map(SegmentQuery::of).filter(|query| !query.is_anything()),
            counts_absent: sought.is_none_or(|sought| sought.counts_absent),
            reads: sought.and_then(|sought| sought.reads),
            threads,
            opened: Mutex::default(),
        }
    }

    /// Takes the indexes as they were opened.
    pub fn take_opened(&self) -> Opened {
        std::mem::take(&mut *lock(&self.opened))
    }

    /// Opens the index of the nearest tree that a directory is in, for all of the directories `named`, and adds its root to
    /// `found`.
    fn open_for(
        &self,
        directory: &Path,
        named: &[PathBuf],
        selection_in: &dyn Fn(&Path) -> Option<u64>,
        opened: &mut Opened,
    ) -> Result<Arc<dyn Snapshot>, Error> {
        let (root, folder) =
            Folder::nearest(&self.home, directory).ok_or_else(|| Error::Missing(directory.to_owned()))?;
        opened.roots.push(root.to_owned());
        if let Some(part) = self.ask(&folder, root, named, selection_in, opened) {
            opened.is_reduced = true;
            return Ok(part);
        }
        let open = || UsedIndex::open(&folder, root, self.query.as_ref(), self.threads);
        let used = match open() {
            // A writer may have replaced the catalog, and removed the segments of the one that was read.
            Err(Error::Io { .. } | Error::Damaged { .. }) => open(),
            used => used,
        };
        let mut used = used?;
        if let Candidates::Found(found) = &mut used.candidates {
            opened.left_alone.append(&mut found.failures);
        }
        Ok(Arc::new(used))
    }

    /// Asks the process that watches a tree, if there is one.
    fn ask(
        &self,
        folder: &Folder,
        root: &Path,
        named: &[PathBuf],
        selection_in: &dyn Fn(&Path) -> Option<u64>,
        opened: &mut Opened,
    ) -> Option<Arc<dyn Snapshot>> {
        let query = self.query.as_ref().filter(|_| !self.counts_absent)?;
        let named = named.iter().filter(|path| path.starts_with(root));
        let named = named.map(|path| SearchedDirectory::new(path, selection_in(path)));
        let search = || SearchQuestion { query: query.clone(), named: named.clone().collect() };
        if let Some(proven) = here::ask(folder).filter(|proven| proven.root() == root) {
            let (part, mut failures) = proven.part_for(&search(), self.reads).ok()?;
            opened.left_alone.append(&mut failures);
            return Some(part);
        }
        let (catalog, parts) = ask_for_catalog(folder, search)?;
        let is_right = catalog.root == root && catalog.credentials == credentials();
        is_right.then(|| Arc::new(UsedIndex::told(catalog, parts)) as Arc<dyn Snapshot>)
    }
}

impl Snapshots for Indexes {
    fn open(&self, named: &[PathBuf], selection_in: &dyn Fn(&Path) -> Option<u64>) -> Vec<Arc<dyn Snapshot>> {
        let mut trees: Vec<Arc<dyn Snapshot>> = Vec::new();
        let mut opened = Opened::default();
        let named: Vec<PathBuf> =
            named.iter().filter_map(|named| named.canonicalize().ok()).filter(|path| path.is_dir()).collect();
        for path in &named {
            if trees.iter().all(|tree| tree.find(path).is_none()) {
                match self.open_for(path, &named, selection_in, &mut opened) {
                    Ok(tree) => trees.push(tree),
                    Err(failure) => opened.failures.push(failure),
                }
            }
        }
        *lock(&self.opened) = opened;
        trees
    }
}

/// An index that is used.
pub(crate) struct UsedIndex {
    pub(crate) catalog: Catalog,
    candidates: Candidates,
}

/// The files that may hold a match.
enum Candidates {
    All,
    Found(FoundDocuments),
    /// The candidates with documents, reported by a watch: each document is one of these parts, or the whole file if its number is
    /// [`WHOLE`].
    Told(Vec<TextPart>),
}

/// Number of a document that stands for a whole file.
pub(crate) const WHOLE: u32 = u32::MAX;

impl Candidates {
    fn has(&self, file: &CatalogFile) -> bool {
        match self {
            Self::All => true,
            Self::Found(found) => found.is_in(file),
            Self::Told(_) => file.documents > 0,
        }
    }

    /// The parts of a file that may hold a match; `None` if it is to be read as a whole.
    fn parts_of(&self, file: &CatalogFile) -> Option<Vec<TextPart>> {
        match self {
            Self::All => None,
            Self::Found(found) => found.parts_of(file),
            Self::Told(parts) => {
                let start = file.document as usize;
                parts.get(start..start.checked_add(file.documents as usize)?).map(<[_]>::to_vec)
            }
        }
    }
}

impl UsedIndex {
    /// The part of an index that a watch has reported, with the parts of its files that may hold a match.
    pub(crate) fn told(catalog: Catalog, parts: Vec<TextPart>) -> Self {
        Self { catalog, candidates: Candidates::Told(parts) }
    }

    /// Opens the index of a tree, on some threads.
    ///
    /// # Errors
    /// If it cannot be used.
    pub(crate) fn open(
        folder: &Folder,
        root: &Path,
        query: Option<&SegmentQuery>,
        threads: usize,
    ) -> Result<Self, Error> {
        let early = query.filter(|query| !query.across_lines);
        let (catalog, found) = folder.catalog_beside(threads, |segments| {
            early.map(|query| Segments::open(folder, segments)?.find(query, None))
        })?;
        if catalog.root != root {
            return Err(Error::damaged(folder.path().to_owned(), "catalog: it is that of another tree"));
        }
        if catalog.credentials != credentials() {
            return Err(Error::Credentials(root.to_owned()));
        }
        if catalog.built > now() {
            return Err(Error::Clock(root.to_owned()));
        }
        let find = |query| Segments::open(folder, &catalog.segments)?.find(query, Some(&catalog));
        let found = found.or_else(|| query.map(find)).transpose()?;
        Ok(Self { catalog, candidates: found.map_or(Candidates::All, Candidates::Found) })
    }
}

impl Snapshot for UsedIndex {
    fn find(&self, path: &Path) -> Option<u32> {
        self.catalog.find(path)
    }

    fn entry_count(&self, directory: u32) -> usize {
        self.catalog.entry_numbers(directory).len()
    }

    fn list(&self, directory: u32, add: &mut dyn FnMut(KnownEntry<'_>)) -> Option<Stamp> {
        self.catalog.entries(directory).for_each(add);
        self.catalog.stamp(directory)
    }

    fn selection(&self, directory: u32) -> Option<u64> {
        self.catalog.selection(directory)
    }

    fn stamp(&self, file: u32) -> Option<Stamp> {
        self.catalog.indexed(file).map(|file| file.stamp)
    }

    fn parts(&self, file: u32) -> Option<Vec<TextPart>> {
        self.candidates.parts_of(&self.catalog.file(file)?)
    }

    fn file(&self, number: u32) -> Known {
        self.catalog.indexed(number).map_or(Known::Nothing, |file| file.known(self.candidates.has(&file)))
    }
}

/// Removes the index of a tree.
///
/// # Errors
/// If there is none, or it cannot be removed.
pub fn drop_index(home: &Path, root: &Path) -> Result<(), Error> {
    let folder = Folder::of_tree(home, root);
    if fs::symlink_metadata(folder.path()).is_err() {
        return Err(Error::Missing(root.to_owned()));
    }
    folder.write()?.remove()
}
