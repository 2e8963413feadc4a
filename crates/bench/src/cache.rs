//! Cold runs: files leave the memory of the system before they are read again.

use std::fmt::{self, Display, Formatter};
use std::fs::{self, File};
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use finecomb_scan::{Inputs, list_files};
use finecomb_sys::bytes_from_storage;
use rustix::fs::{Advice, fadvise, sync};
use rustix::param::page_size;
use serde::{Deserialize, Serialize};

use crate::units::counted;
use crate::{Error, Result};

/// File to which root writes to make the kernel drop its caches.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
/// Pages of files, and also directory entries and inodes.
const PAGES_AND_NAMES: &str = "3\n";
/// Largest number of pages that are looked at: enough to tell most from few, and quickly read.
const PAGES: u64 = 64;

/// A way to drop caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
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
pub(crate) struct CacheDropper {
    files: Vec<PathBuf>,
    looks: Vec<Look>,
}

impl CacheDropper {
    /// For the regular files at these paths and below them, also hidden and ignored ones. Directories below a
    /// path that cannot be listed are skipped: the measured program cannot read them either. Fails if a path
    /// itself cannot be read.
    pub(crate) fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            let path = path.as_ref();
            path.metadata().map_err(|error| Error::Io { path: path.to_owned(), doing: "", error })?;
            let (found, _) = list_files(&Inputs::new([path]));
            files.extend(found.into_iter().map(|file| (file.path, file.size)));
        }
        let looks = looks(&files);
        Ok(Self { files: files.into_iter().map(|(path, _)| path).collect(), looks })
    }

    /// Drops the caches: through the kernel's interface if this process may, and else by advice.
    ///
    /// Neither says whether it worked; [`Self::verify`] does.
    pub(crate) fn drop_caches(&self) -> Method {
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
    pub(crate) fn verify(&self) -> Option<Residue> {
        let mut residue = Residue { pages: 0, in_memory: 0 };
        for look in &self.looks {
            // Files may vanish or shrink while a benchmark runs.
            if let Ok(Some(in_memory)) = look.is_in_memory() {
                residue.pages += 1;
                residue.in_memory += u64::from(in_memory);
            }
        }
        (residue.pages > 0).then_some(residue)
    }

    /// Drops the caches, and adds to the findings of earlier runs: `None` before the first.
    pub(crate) fn drop_and_verify(&self, before: Option<Cold>) -> Cold {
        let method = self.drop_caches();
        let now = Cold { method, residue: self.verify() };
        before.map_or(now, |before| before.and(now))
    }
}

/// Share of some files that is in the page cache, judged by a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Residue {
    /// Pages that were looked at.
    pub(crate) pages: u64,
    /// Number of these that were in memory.
    pub(crate) in_memory: u64,
}

impl Residue {
    /// Whether most of it is not in memory.
    pub(crate) fn is_cold(&self) -> bool {
        self.in_memory * 2 < self.pages
    }
}

/// A page of the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    path: PathBuf,
    offset: u64,
}

/// A sample of pages of files with known sizes, evenly spread over all pages.
fn looks(files: &[(PathBuf, u64)]) -> Vec<Look> {
    let page = page_size() as u64;
    let total: u64 = files.iter().map(|(_, size)| size.div_ceil(page)).sum();
    let count = total.min(PAGES);
    let mut looks = Vec::new();
    let mut before = 0;
    for (path, size) in files {
        let behind = before + size.div_ceil(page);
        while (looks.len() as u64) < count {
            let wanted = looks.len() as u64 * total / count;
            if wanted >= behind {
                break;
            }
            looks.push(Look { path: path.clone(), offset: (wanted - before) * page });
        }
        before = behind;
    }
    looks
}

impl Look {
    /// Whether the page is in memory; none if it is no longer there or the kernel does not say. Afterwards it is not.
    fn is_in_memory(&self) -> io::Result<Option<bool>> {
        let file = File::open(&self.path)?;
        // Without this, pages behind it would be read, too.
        fadvise(&file, 0, None, Advice::Random)?;
        let before = bytes_from_storage();
        let read = file.read_at(&mut [0], self.offset)?;
        let after = bytes_from_storage();
        fadvise(&file, self.offset, NonZeroU64::new(page_size() as u64), Advice::DontNeed)?;
        Ok(before.zip(after).filter(|_| read > 0).map(|(before, after)| before == after))
    }
}

/// Dropping of caches before cold runs, and whether it worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cold {
    /// Way in which caches were dropped before each run.
    pub(crate) method: Method,
    /// Pages still in memory before the run that found most there; none if the kernel does not say.
    pub(crate) residue: Option<Residue>,
}

impl Cold {
    /// Whether no run was known to find most of its files in memory.
    pub(crate) fn is_cold(self) -> bool {
        self.residue.is_none_or(|residue| residue.is_cold())
    }

    /// Findings with those of one more run.
    fn and(self, other: Self) -> Self {
        let share = |residue: &Residue| residue.in_memory as f64 / residue.pages.max(1) as f64;
        let residues = [self.residue, other.residue].into_iter().flatten();
        Self { residue: residues.max_by(|a, b| share(a).total_cmp(&share(b))), ..self }
    }

    /// Findings in a sentence.
    pub(crate) fn note(self) -> String {
        let Self { method, residue } = self;
        let found = match residue {
            None => "; the kernel does not say whether that worked".to_owned(),
            Some(Residue { pages, in_memory }) => format!(
                "; of {} that were then looked at, {in_memory} were in memory at most{}",
                counted(pages, "page"),
                if self.is_cold() { "" } else { ", so the runs were warm. Files on tmpfs always are" }
            ),
        };
        format!("Before each cold run caches were dropped {method}{found}.")
    }
}

/// Temperature of runs: cold only if they were.
pub(crate) fn temperature(cold: Option<Cold>) -> &'static str {
    match cold {
        None => "warm",
        Some(cold) if !cold.is_cold() => "warm, as caches could not be dropped",
        Some(Cold { residue: None, .. }) => "cold if dropping caches worked",
        Some(_) => "cold",
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
        assert_eq!(error.to_string(), "/nowhere/at all: no such file or directory");
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

    fn spread(sizes: &[u64]) -> Vec<(String, u64)> {
        let page = page_size() as u64;
        let files: Vec<_> =
            sizes.iter().enumerate().map(|(n, pages)| (PathBuf::from(n.to_string()), pages * page)).collect();
        let look = |look: Look| (look.path.display().to_string(), look.offset / page);
        looks(&files).into_iter().map(look).collect()
    }

    #[test]
    fn every_page_of_small_files_is_looked_at() {
        let at = |name: &str, page| (name.to_owned(), page);
        assert_eq!(spread(&[2, 0, 1]), [at("0", 0), at("0", 1), at("2", 0)]);
        assert!(spread(&[0, 0]).is_empty() && spread(&[]).is_empty());
    }

    #[test]
    fn looks_are_shared_out_by_size() {
        let looks = spread(&[1000, 1, 3000]);
        assert_eq!(looks.len(), 64);
        assert_eq!(looks.iter().filter(|(name, _)| name == "0").count(), 16);
        assert!(looks.iter().all(|(name, page)| *page < if name == "0" { 1000 } else { 3000 }));
        assert_eq!(spread(&[1; 1000]).len(), 64);
    }

    #[test]
    fn a_page_that_was_just_read_is_in_memory() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        fs::write(&path, [1; 10]).expect("a file");
        // Not yet written to the disk, it cannot be anywhere else.
        let look = |offset| Look { path: path.clone(), offset };
        let expected = bytes_from_storage().map(|_| true);
        assert_eq!(look(0).is_in_memory().unwrap_or(None), expected);
        assert_eq!(look(page_size() as u64).is_in_memory().unwrap_or(None), None);
        assert_eq!(CacheDropper { files: Vec::new(), looks: Vec::new() }.verify(), None);
    }

    #[test]
    fn most_decides() {
        for (in_memory, cold) in [(0, true), (31, true), (32, false), (64, false)] {
            assert_eq!(Residue { pages: 64, in_memory }.is_cold(), cold);
        }
    }

    fn cold(in_memory: Option<u64>) -> Cold {
        let residue = in_memory.map(|in_memory| Residue { pages: 64, in_memory });
        Cold { method: Method::Kernel, residue }
    }

    #[test]
    fn warm_runs_are_not_called_cold() {
        assert_eq!(temperature(None), "warm");
        assert_eq!(temperature(Some(cold(Some(3)))), "cold");
        assert_eq!(temperature(Some(cold(None))), "cold if dropping caches worked");
        assert_eq!(temperature(Some(cold(Some(60)))), "warm, as caches could not be dropped");
    }

    #[test]
    fn the_warmest_run_counts() {
        assert_eq!(cold(Some(1)).and(cold(Some(60))).and(cold(Some(2))), cold(Some(60)));
        assert_eq!(cold(None).and(cold(Some(1))), cold(Some(1)));
    }

    #[test]
    fn it_is_said_how_caches_were_dropped() {
        let before = "Before each cold run caches were dropped by the kernel (drop_caches)";
        assert_eq!(
            cold(Some(0)).note(),
            format!("{before}; of 64 pages that were then looked at, 0 were in memory at most.")
        );
        assert_eq!(cold(None).note(), format!("{before}; the kernel does not say whether that worked."));
        assert!(cold(Some(64)).note().ends_with("so the runs were warm. Files on tmpfs always are."));
    }
}
