//! Cold runs: files leave the memory of the system before they are read again.
//!
//! ```no_run
//! use finecomb_bench::cache::CacheDropper;
//!
//! let dropper = CacheDropper::new(["access.log"])?;
//! let method = dropper.drop_caches();
//! let cold = dropper.verify().is_none_or(|residue| residue.is_cold());
//! println!("caches were dropped {method}, which {}", if cold { "worked" } else { "did not work" });
//! # Ok::<(), finecomb_bench::Error>(())
//! ```

mod residue;

use std::fmt::{self, Display, Formatter};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use finecomb_scan::{Inputs, list_files};
use rustix::fs::{Advice, fadvise, sync};
use serde::{Deserialize, Serialize};

use self::residue::Look;
pub use self::residue::Residue;
use crate::{Error, Result};

/// File to which root writes to make the kernel drop its caches.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
/// Pages of files, and also directory entries and inodes.
const PAGES_AND_NAMES: &str = "3\n";

/// A way to drop caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The kernel dropped all caches, as root told it to.
    Kernel,
    /// The kernel was advised file by file that the content will not be needed. Names, sizes and places of files stay in
    /// memory, so that a tree is walked as if it were warm.
    Fadvise,
}

impl Display for Method {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Kernel => "by the kernel (drop_caches)",
            Self::Fadvise => "file by file (posix_fadvise), which leaves the names of files in memory",
        })
    }
}

/// Drops what the system holds in memory of some files.
#[derive(Debug)]
pub struct CacheDropper {
    files: Vec<PathBuf>,
    looks: Vec<Look>,
}

impl CacheDropper {
    /// For the regular files at these paths and below them, also hidden and ignored ones. What cannot be listed below a
    /// path is passed over: what is to be measured cannot read it either.
    ///
    /// # Errors
    ///
    /// If one of the paths themselves does not exist or cannot be looked at.
    pub fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            let path = path.as_ref();
            path.metadata().map_err(|error| Error::Io { path: path.to_owned(), doing: "", error })?;
            let (found, _) = list_files(&Inputs::new([path]));
            files.extend(found.into_iter().map(|file| (file.path, file.size)));
        }
        let looks = residue::looks(&files);
        Ok(Self { files: files.into_iter().map(|(path, _)| path).collect(), looks })
    }

    /// Drops the caches: through the kernel's interface if this process may, and else by advice.
    ///
    /// Neither says whether it worked; [`Self::verify`] does.
    pub fn drop_caches(&self) -> Method {
        // What has not been written to the disk yet cannot be dropped.
        sync();
        if fs::write(DROP_CACHES, PAGES_AND_NAMES).is_ok() {
            return Method::Kernel;
        }
        for path in &self.files {
            if let Ok(file) = File::open(path) {
                // A file that stays in memory is found by looking.
                let _ = fadvise(&file, 0, None, Advice::DontNeed);
            }
        }
        Method::Fadvise
    }

    /// Looks at some pages of the files, evenly spread over all bytes, and says how many of them are in memory. None if
    /// the kernel does not say, or there is nothing to look at.
    ///
    /// It reads the pages, sees in `/proc/self/io` whether they came from the storage, and drops them again.
    /// (`preadv2` with `RWF_NOWAIT` would seem made for this. But since Linux 5.9 it starts to read what it does not find,
    /// and tmpfs does not have it.) As tmpfs has no storage below it, its files are always in memory.
    pub fn verify(&self) -> Option<Residue> {
        residue::look_at(&self.looks)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::tempdir;

    use super::*;

    #[test]
    fn all_regular_files_below_a_path_are_dropped() {
        let directory = tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("a/.git")).expect("directories");
        for name in ["a/.gitignore", "a/ignored", "a/.git/config", "b"] {
            fs::write(at(name), "ignored\n").expect("a file");
        }
        symlink(at("b"), at("a/link")).expect("a link");
        symlink(at("b"), at("link")).expect("a link");
        let files = |names: &[&str]| {
            let dropper = CacheDropper::new(names.iter().map(|name| at(name))).expect("a dropper");
            let mut files = dropper.files.iter();
            let mut names: Vec<_> =
                files.by_ref().filter_map(|file| file.strip_prefix(&directory).ok()).collect();
            names.sort();
            names.into_iter().map(|name| name.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(files(&["a"]), ["a/.git/config", "a/.gitignore", "a/ignored"]);
        assert_eq!(files(&["link", "b"]), ["b", "link"]);
    }

    #[test]
    fn a_path_that_does_not_exist_is_an_error() {
        let error = CacheDropper::new(["/nowhere/at all"]).expect_err("no such path");
        assert_eq!(error.to_string(), "/nowhere/at all: No such file or directory");
    }

    #[test]
    fn files_without_storage_are_never_cold() {
        // Not every system has it.
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { return };
        let path = directory.path().join("file");
        fs::write(&path, vec![1; 1 << 20]).expect("a file");
        let dropper = CacheDropper::new([&path]).expect("a dropper");
        if let Some(residue) = dropper.verify() {
            assert_eq!(residue, Residue { pages: 64, in_memory: 64 });
            assert!(!residue.is_cold());
        }
    }
}
