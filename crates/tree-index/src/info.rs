//! Describing and verifying indexes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use finecomb_scan::Instant;

use crate::catalog::IndexedPart;
use crate::error::Error;
use crate::folder::{Folder, credentials};
use crate::terms::Terms;
use crate::values::ValueFile;
use crate::watch::talk::{WatchInfo, ask_for_info};

/// Description of an index, without a look at its tree.
#[derive(Debug)]
#[non_exhaustive]
pub struct Info {
    /// The root of the tree.
    pub root: PathBuf,
    /// The folder of the index.
    pub folder: PathBuf,
    /// When it was built.
    pub built: Instant,
    /// Whether it was built with the permissions of this process. Otherwise it is not used.
    pub has_same_credentials: bool,
    /// Number of directories, and of those among them whose entries are always listed anew.
    pub directories: u32,
    /// Number of directories whose entries are always listed anew.
    pub unlisted: u32,
    /// Number of files by the part that is indexed.
    pub files: BTreeMap<IndexedPart, u64>,
    /// Number of segments.
    pub segments: usize,
    /// Number of different trigrams in the segments.
    pub trigrams: u64,
    /// Number of texts whose definitions are kept for `comb symbols`.
    pub parsed: usize,
    /// Bytes of all files of the index.
    pub bytes: u64,
    /// Bytes of the files of the tree that are indexed.
    pub text: u64,
    /// The process that watches the tree, if there is one.
    pub watch: Option<WatchInfo>,
}

impl Info {
    /// Describes the index of a tree.
    ///
    /// # Errors
    /// If there is none, or it cannot be read or is damaged.
    pub fn of_tree(home: &Path, root: &Path) -> Result<Self, Error> {
        Self::of(&folder_of(home, root)?)
    }

    /// Describes the indexes of all trees.
    ///
    /// # Errors
    /// If the directory of the folders cannot be listed. No directory means no index.
    pub fn of_all(home: &Path) -> Result<Vec<Result<Self, Error>>, Error> {
        match Folder::all(home) {
            Ok(folders) => Ok(folders.iter().map(Self::of).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io(home)(error)),
        }
    }

    fn of(folder: &Folder) -> Result<Self, Error> {
        let catalog = folder.catalog()?;
        let (mut files, mut text) = (BTreeMap::new(), 0);
        for file in (0..catalog.files()).filter_map(|number| catalog.file(number)) {
            *files.entry(file.state).or_default() += 1;
            text += file.stamp.size;
        }
        let (mut trigrams, mut terms) = (0, 0);
        for segment in &catalog.segments {
            trigrams += folder.open_segment(segment)?.trigrams();
            terms += fs::metadata(folder.terms(segment.id)).map_or(0, |terms| terms.len());
        }
        // Values that cannot be used are written again.
        let values = ValueFile::open(&folder.values()).ok();
        Ok(Self {
            parsed: values.as_ref().map_or(0, ValueFile::count),
            folder: folder.path().to_owned(),
            built: catalog.built,
            has_same_credentials: catalog.credentials == credentials(),
            directories: catalog.directories(),
            unlisted: (0..catalog.directories()).filter(|&number| catalog.stamp(number).is_none()).count()
                as u32,
            files,
            segments: catalog.segments.len(),
            trigrams,
            bytes: catalog.size
                + catalog.segments.iter().map(|segment| segment.bytes).sum::<u64>()
                + terms
                + values.as_ref().map_or(0, ValueFile::size),
            text,
            watch: ask_for_info(folder),
            root: catalog.root,
        })
    }
}

/// The roots of the trees with a readable index, for suggestions. Only the beginning of each catalog is read, and it is not
/// verified.
pub fn roots(home: &Path) -> Vec<PathBuf> {
    Folder::all(home).unwrap_or_default().iter().filter_map(Folder::root).collect()
}

/// Verifies all checksums of the index of a tree.
///
/// # Errors
/// If there is none, or it cannot be read or is damaged.
pub fn verify(home: &Path, root: &Path) -> Result<(), Error> {
    let folder = folder_of(home, root)?;
    let catalog = folder.catalog()?;
    for info in &catalog.segments {
        folder.open_segment(info)?.verify()?;
        Terms::verify(&folder, info)?;
    }
    // Values of another version are no damage: the next run replaces them.
    match ValueFile::open(&folder.values()).and_then(|values| values.verify()) {
        Err(Error::Damaged { path, .. }) => Err(Error::Values(path)),
        Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(()) | Err(Error::Version(_)) => Ok(()),
        verified => verified,
    }
}

fn folder_of(home: &Path, root: &Path) -> Result<Folder, Error> {
    let folder = Folder::of_tree(home, root);
    if folder.has_index() { Ok(folder) } else { Err(Error::Missing(root.to_owned())) }
}
