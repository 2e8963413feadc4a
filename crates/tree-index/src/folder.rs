//! Where the index of a tree is, and who may write it.
//!
//! Each tree has a folder of its own, named after the tree's path, in a directory that only its owner may read, because an index
//! reveals the contents of files. A folder holds a catalog and its segments, and values that were derived from texts. The catalog
//! is replaced atomically by a rename, so a reader sees the old index or the new one.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{getegid, geteuid, getgroups};
use tempfile::NamedTempFile;
use twox_hash::XxHash3_64;

use crate::catalog::{Catalog, CatalogContents, HEAD, SegmentInfo, root_in};
use crate::error::Error;
use crate::pages::PageWriter;
use crate::segment::Segment;

/// Name of the catalog in a folder.
const CATALOG: &str = "catalog";

/// Name of the values that were derived from texts.
const VALUES: &str = "values";

/// Name of the file that a writer locks.
const LOCK: &str = "lock";

/// Name of the file that the process locks which watches the tree.
const WATCH_LOCK: &str = "watch-lock";

/// Ending of the names of segments.
const SEGMENT: &str = "segment";

/// Ending of the names of files with the terms of a segment.
const TERMS: &str = "terms";

/// Maximum length of the part of a folder's name that is for people, in bytes.
const NAME: usize = 40;

/// The folder of the index of a tree.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

/// The right to write to a folder, until it is dropped.
pub(crate) struct Writing {
    pub(crate) folder: Folder,
    _lock: File,
}

impl Folder {
    /// The folder of a tree, given its absolute path without links. `home` is the directory of all folders.
    pub(crate) fn of_tree(home: &Path, tree: &Path) -> Self {
        let bytes = tree.as_os_str().as_bytes();
        let name = tree.file_name().unwrap_or_default().as_bytes();
        let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        let mut name: String = name.iter().filter(is_plain).take(NAME).map(|&byte| byte as char).collect();
        name.push_str(&format!("-{:016x}", XxHash3_64::oneshot(bytes)));
        Self(home.join(name))
    }

    /// The nearest tree that a directory is in and has an index, which may be unusable, and its folder.
    pub(crate) fn nearest<'d>(home: &Path, directory: &'d Path) -> Option<(&'d Path, Self)> {
        let folders = directory.ancestors().map(|tree| (tree, Self::of_tree(home, tree)));
        folders.into_iter().find(|(_, folder)| folder.has_index())
    }

    /// The folders of all trees.
    pub(crate) fn all(home: &Path) -> io::Result<Vec<Self>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(home)? {
            let path = entry?.path();
            if path.join(CATALOG).exists() {
                folders.push(Self(path));
            }
        }
        folders.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(folders)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Whether it holds an index, which may be unusable.
    pub(crate) fn has_index(&self) -> bool {
        self.0.join(CATALOG).exists()
    }

    /// Reads the catalog.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or of another version.
    pub(crate) fn catalog(&self) -> Result<Catalog, Error> {
        self.catalog_beside(1, |_| ()).map(|(catalog, ())| catalog)
    }

    /// The root of the tree, from the unverified beginning of the catalog.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        let mut head = Vec::new();
        File::open(self.0.join(CATALOG)).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
        root_in(&head)
    }

    /// Reads the catalog on some threads, and calls `beside` with its segments meanwhile.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or of another version.
    pub(crate) fn catalog_beside<T: Send>(
        &self,
        threads: usize,
        beside: impl Fn(&[SegmentInfo]) -> T + Sync,
    ) -> Result<(Catalog, T), Error> {
        Catalog::open_beside(&self.0.join(CATALOG), threads, beside)
    }

    /// Opens a segment of its catalog.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is that of another index.
    pub(crate) fn open_segment(&self, info: &SegmentInfo) -> Result<Segment, Error> {
        let path = self.segment(info.id);
        let segment = Segment::open(&path)?;
        if segment.documents != info.documents || segment.checksum() != info.checksum {
            return Err(Error::damaged(path, "segment: it is that of another index"));
        }
        Ok(segment)
    }

    /// The path of the values that were derived from texts.
    pub(crate) fn values(&self) -> PathBuf {
        self.0.join(VALUES)
    }

    /// The path of the terms of a segment's files.
    pub(crate) fn terms(&self, id: u64) -> PathBuf {
        self.0.join(format!("{id}.{TERMS}"))
    }

    fn segment(&self, id: u64) -> PathBuf {
        self.0.join(format!("{id}.{SEGMENT}"))
    }

    /// Creates the folder if it is missing, and locks it.
    ///
    /// # Errors
    /// If that fails, or another process holds the lock.
    pub(crate) fn write(&self) -> Result<Writing, Error> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.0).map_err(Error::io(&self.0))?;
        let lock = self.lock(LOCK, Error::Busy)?;
        Ok(Writing { folder: self.clone(), _lock: lock })
    }

    /// Becomes the only process that watches the tree, until the file is closed.
    ///
    /// # Errors
    /// If that fails, or another process is it.
    pub(crate) fn watch(&self) -> Result<File, Error> {
        self.lock(WATCH_LOCK, Error::Watched)
    }

    fn lock(&self, name: &str, held: fn(PathBuf) -> Error) -> Result<File, Error> {
        let path = self.0.join(name);
        let lock = File::create(&path).map_err(Error::io(&path))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(lock),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(held(self.0.clone())),
            Err(error) => Err(Error::io(&path)(error.into())),
        }
    }
}

impl Writing {
    /// Removes the index. A process that reads it has it open.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn remove(self) -> Result<(), Error> {
        fs::remove_dir_all(&self.folder.0).map_err(Error::io(&self.folder.0))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder.0
    }

    /// A number for a new segment: no other one of this folder has it.
    pub(crate) fn new_id(&self) -> u64 {
        self.segments().map(|(id, _)| id).max().map_or(1, |id| id + 1)
    }

    /// A file that is not in the folder under a name yet.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn new_file(&self) -> Result<NamedTempFile, Error> {
        tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(&self.folder.0)
            .map_err(Error::io(&self.folder.0))
    }

    /// Gives a segment that was written its name.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn add_segment(&self, id: u64, file: NamedTempFile) -> Result<(), Error> {
        let path = self.folder.segment(id);
        file.persist(&path).map_err(|error| Error::io(&path)(error.error)).map(drop)
    }

    /// Writes the catalog, which replaces the one before, and removes what no catalog refers to any more.
    ///
    /// # Errors
    /// If that fails: then the index before is still there.
    pub(crate) fn commit(&self, contents: &CatalogContents) -> Result<(), Error> {
        let file = self.new_file()?;
        let path = self.folder.0.join(CATALOG);
        let write = |file: &NamedTempFile| {
            let mut pages = PageWriter::new(file.reopen()?);
            contents.write(&mut pages)?;
            pages.finish().map(drop)
        };
        write(&file).map_err(Error::io(&path))?;
        file.persist(&path).map_err(|error| Error::io(&path)(error.error))?;
        self.remove_unused(&contents.segments);
        Ok(())
    }

    /// Removes unused segments and the remains of earlier writers. If a file cannot be removed, it only takes space.
    fn remove_unused(&self, used: &[SegmentInfo]) {
        for (id, path) in self.segments() {
            if used.iter().all(|segment| segment.id != id) {
                let _ = fs::remove_file(path);
                let _ = fs::remove_file(self.folder.terms(id));
            }
        }
        for entry in fs::read_dir(&self.folder.0).into_iter().flatten().flatten() {
            if entry.file_name().as_bytes().starts_with(b".new-") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn segments(&self) -> impl Iterator<Item = (u64, PathBuf)> {
        let entries = fs::read_dir(&self.folder.0).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let path = entry.path();
            let id = path.file_stem()?.to_str()?.parse().ok()?;
            (path.extension()? == SEGMENT).then_some((id, path))
        })
    }
}

/// A number for the user and the groups of this process: who may read which files depends on them.
pub(crate) fn credentials() -> u64 {
    let mut groups: Vec<u32> = getgroups().unwrap_or_default().iter().map(|group| group.as_raw()).collect();
    groups.sort_unstable();
    groups.dedup();
    let ids = [geteuid().as_raw(), getegid().as_raw()].into_iter().chain(groups);
    XxHash3_64::oneshot(&ids.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
}
