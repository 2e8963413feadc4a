//! Cold runs: drops files from the page cache before each run, and checks that this worked.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use finecomb_scan::{Inputs, list_files};
use finecomb_sys::units::counted;
use finecomb_sys::{advice, bytes_from_storage_by_thread};
use rustix::param::page_size;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Maximum number of sampled pages: enough to estimate the cached share, and fast to read.
const PAGES: u64 = 64;

/// A way to drop caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// The kernel dropped all caches, through `drop_caches`.
    Kernel,
    /// `posix_fadvise(DONTNEED)` on each file. Directory entries and inodes stay cached, so that walking a tree is as fast
    /// as on a warm cache.
    Fadvise,
}

impl Display for Method {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Kernel => "by the kernel (drop_caches)",
            Self::Fadvise => "file by file (posix_fadvise), which keeps directory entries and inodes",
        })
    }
}

/// Drops a set of files from the page cache.
#[derive(Debug)]
pub(crate) struct CacheDropper {
    files: Vec<PathBuf>,
    probes: Vec<Probe>,
}

impl CacheDropper {
    /// Dropper for all regular files at or below these paths, including hidden and ignored ones. Skips subdirectories that
    /// cannot be listed: the measured program cannot read them either. Fails if a path itself cannot be read, and on systems
    /// that drop nothing.
    pub(crate) fn new<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        if !advice::CAN_FORGET {
            return Err(Error::NoColdCache);
        }
        let mut files = Vec::new();
        for path in paths {
            let path = path.as_ref();
            path.metadata().map_err(|error| Error::Io { path: path.to_owned(), doing: "", error })?;
            let (found, _) = list_files(&Inputs::new([path]));
            files.extend(found.into_iter().map(|file| (file.path, file.size)));
        }
        let probes = probes(&files);
        Ok(Self { files: files.into_iter().map(|(path, _)| path).collect(), probes })
    }

    /// Drops the caches: through `drop_caches` if permitted, otherwise by `posix_fadvise`.
    ///
    /// Neither reports success; use [`Self::verify`].
    pub(crate) fn drop_caches(&self) -> Method {
        if advice::forget_everything() {
            return Method::Kernel;
        }
        for path in &self.files {
            if let Ok(file) = File::open(path) {
                // `verify` detects a file that stays cached.
                advice::forget(&file, 0, 0);
            }
        }
        Method::Fadvise
    }

    /// Number of cached pages in a sample spread evenly over all files. `None` if the kernel does not report it, or if all
    /// files are empty.
    ///
    /// Reads each page, checks in `/proc/self/io` whether it came from storage, and drops it again. (`preadv2` with
    /// `RWF_NOWAIT` does not help: since Linux 5.9 it starts read-ahead on a miss, and tmpfs does not support it.) Files on
    /// tmpfs are always cached, as they have no backing storage.
    pub(crate) fn verify(&self) -> Option<Residue> {
        let mut residue = Residue { pages: 0, in_memory: 0 };
        for probe in &self.probes {
            // Files may vanish or shrink while a benchmark runs.
            if let Ok(Some(in_memory)) = probe.is_cached() {
                residue.pages += 1;
                residue.in_memory += u64::from(in_memory);
            }
        }
        (residue.pages > 0).then_some(residue)
    }

    /// Drops the caches, verifies that, and combines the findings with the findings of earlier runs (`None` before the first).
    pub(crate) fn drop_and_verify(&self, before: Option<Cold>) -> Cold {
        let method = self.drop_caches();
        let now = Cold { method, residue: self.verify() };
        before.map_or(now, |before| before.and(now))
    }
}

/// Cached share of a set of files, estimated from a sample of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Residue {
    /// Sampled pages.
    pub(crate) pages: u64,
    /// Number of these in the page cache.
    pub(crate) in_memory: u64,
}

impl Residue {
    /// Whether most of the sample is not cached.
    pub(crate) fn is_cold(&self) -> bool {
        self.in_memory * 2 < self.pages
    }
}

/// A sampled page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Probe {
    path: PathBuf,
    offset: u64,
}

/// Sample of pages, spread evenly over all pages of files with known sizes.
fn probes(files: &[(PathBuf, u64)]) -> Vec<Probe> {
    let page = page_size() as u64;
    let total: u64 = files.iter().map(|(_, size)| size.div_ceil(page)).sum();
    let count = total.min(PAGES);
    let mut probes = Vec::new();
    let mut before = 0;
    for (path, size) in files {
        let after = before + size.div_ceil(page);
        while (probes.len() as u64) < count {
            let page_number = probes.len() as u64 * total / count;
            if page_number >= after {
                break;
            }
            probes.push(Probe { path: path.clone(), offset: (page_number - before) * page });
        }
        before = after;
    }
    probes
}

impl Probe {
    /// Whether the page is cached; `None` if it no longer exists or the kernel does not report it. Drops the page.
    fn is_cached(&self) -> io::Result<Option<bool>> {
        let file = File::open(&self.path)?;
        // Disables read-ahead of the following pages.
        advice::read_at_random(&file, 0);
        let before = bytes_from_storage_by_thread();
        let read = file.read_at(&mut [0], self.offset)?;
        let after = bytes_from_storage_by_thread();
        advice::forget(&file, self.offset, page_size() as u64);
        Ok(before.zip(after).filter(|_| read > 0).map(|(before, after)| before == after))
    }
}

/// Method of dropping caches before cold runs, and its verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cold {
    /// Method used before each run.
    pub(crate) method: Method,
    /// Largest residue found before any run; `None` if the kernel does not report it.
    pub(crate) residue: Option<Residue>,
}

impl Cold {
    /// Whether no run is known to have found most of its files cached.
    pub(crate) fn is_cold(self) -> bool {
        self.residue.is_none_or(|residue| residue.is_cold())
    }

    /// Combines the findings with the findings of another run.
    fn and(self, other: Self) -> Self {
        let share = |residue: &Residue| residue.in_memory as f64 / residue.pages.max(1) as f64;
        let residues = [self.residue, other.residue].into_iter().flatten();
        Self { residue: residues.max_by(|a, b| share(a).total_cmp(&share(b))), ..self }
    }

    /// The findings as a sentence.
    pub(crate) fn note(self) -> String {
        let Self { method, residue } = self;
        let found = match residue {
            None => "; the kernel does not report whether that worked".to_owned(),
            Some(Residue { pages, in_memory }) => format!(
                "; at most {in_memory} of {} remained in the page cache{}",
                counted(pages, "sampled page"),
                if self.is_cold() {
                    ""
                } else {
                    ", so the cache was warm (files on tmpfs are always cached)"
                }
            ),
        };
        format!("Caches were dropped before each cold run {method}{found}.")
    }
}

/// State of the caches during runs, for headings: cold only if dropping them worked.
pub(crate) fn cache_state(cold: Option<Cold>) -> &'static str {
    match cold {
        None => "warm cache",
        Some(cold) if !cold.is_cold() => "warm cache (could not be dropped)",
        Some(Cold { residue: None, .. }) => "cold cache (not verified)",
        Some(_) => "cold cache",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use finecomb_sys::IS_LINUX;
    use tempfile::tempdir;

    use super::*;

    /// A dropper of some paths; `None` after an error where nothing can be dropped.
    fn dropper(paths: &[PathBuf]) -> Option<CacheDropper> {
        match CacheDropper::new(paths) {
            Err(Error::NoColdCache) if !IS_LINUX => None,
            dropper => Some(dropper.expect("a dropper")),
        }
    }

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
            let dropper = dropper(&names.iter().map(|name| at(name)).collect::<Vec<_>>())?;
            let found = dropper.files.iter().filter_map(|file| file.strip_prefix(&directory).ok());
            let mut names: Vec<_> = found.map(|name| name.display().to_string()).collect();
            names.sort();
            Some(names)
        };
        let expected = |names: &[&str]| IS_LINUX.then(|| names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(files(&["a"]), expected(&["a/.git/config", "a/.gitignore", "a/ignored"]));
        assert_eq!(files(&["link", "b"]), expected(&["b", "link"]));
    }

    #[test]
    fn a_path_that_does_not_exist_is_an_error() {
        let error = CacheDropper::new(["/nowhere/at all"]).expect_err("no such path");
        let missing = "/nowhere/at all: no such file or directory".to_owned();
        assert_eq!(error.to_string(), if IS_LINUX { missing } else { Error::NoColdCache.to_string() });
    }

    #[test]
    fn files_on_tmpfs_are_never_cold() {
        // Not every system has this tmpfs.
        let Ok(directory) = tempfile::tempdir_in("/dev/shm") else { return };
        let path = directory.path().join("file");
        fs::write(&path, vec![1; 1 << 20]).expect("a file");
        if let Some(residue) = dropper(&[path]).and_then(|dropper| dropper.verify()) {
            assert_eq!(residue, Residue { pages: 64, in_memory: 64 });
            assert!(!residue.is_cold());
        }
    }

    fn sampled(sizes: &[u64]) -> Vec<(String, u64)> {
        let page = page_size() as u64;
        let files: Vec<_> =
            sizes.iter().enumerate().map(|(n, pages)| (PathBuf::from(n.to_string()), pages * page)).collect();
        let probe = |probe: Probe| (probe.path.display().to_string(), probe.offset / page);
        probes(&files).into_iter().map(probe).collect()
    }

    #[test]
    fn every_page_of_small_files_is_sampled() {
        let at = |name: &str, page| (name.to_owned(), page);
        assert_eq!(sampled(&[2, 0, 1]), [at("0", 0), at("0", 1), at("2", 0)]);
        assert!(sampled(&[0, 0]).is_empty() && sampled(&[]).is_empty());
    }

    #[test]
    fn pages_are_sampled_in_proportion_to_file_size() {
        let probes = sampled(&[1000, 1, 3000]);
        assert_eq!(probes.len(), 64);
        assert_eq!(probes.iter().filter(|(name, _)| name == "0").count(), 16);
        assert!(probes.iter().all(|(name, page)| *page < if name == "0" { 1000 } else { 3000 }));
        assert_eq!(sampled(&[1; 1000]).len(), 64);
    }

    #[test]
    fn a_page_that_was_just_written_is_cached() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        fs::write(&path, [1; 10]).expect("a file");
        // A dirty page is always cached.
        let probe = |offset| Probe { path: path.clone(), offset };
        let expected = bytes_from_storage_by_thread().map(|_| true);
        assert_eq!(probe(0).is_cached().unwrap_or(None), expected);
        assert_eq!(probe(page_size() as u64).is_cached().unwrap_or(None), None);
        assert_eq!(CacheDropper { files: Vec::new(), probes: Vec::new() }.verify(), None);
    }

    #[test]
    fn the_majority_of_pages_decides() {
        for (in_memory, cold) in [(0, true), (31, true), (32, false), (64, false)] {
            assert_eq!(Residue { pages: 64, in_memory }.is_cold(), cold);
        }
    }

    /// Caches that were dropped, with this many of the sampled pages left in memory.
    pub(crate) fn cold(in_memory: Option<u64>) -> Cold {
        let residue = in_memory.map(|in_memory| Residue { pages: 64, in_memory });
        Cold { method: Method::Kernel, residue }
    }

    #[test]
    fn warm_runs_are_not_reported_as_cold() {
        assert_eq!(cache_state(None), "warm cache");
        assert_eq!(cache_state(Some(cold(Some(3)))), "cold cache");
        assert_eq!(cache_state(Some(cold(None))), "cold cache (not verified)");
        assert_eq!(cache_state(Some(cold(Some(60)))), "warm cache (could not be dropped)");
    }

    #[test]
    fn the_warmest_run_decides() {
        assert_eq!(cold(Some(1)).and(cold(Some(60))).and(cold(Some(2))), cold(Some(60)));
        assert_eq!(cold(None).and(cold(Some(1))), cold(Some(1)));
    }

    #[test]
    fn the_note_names_the_method_and_the_residue() {
        let before = "Caches were dropped before each cold run by the kernel (drop_caches)";
        assert_eq!(
            cold(Some(0)).note(),
            format!("{before}; at most 0 of 64 sampled pages remained in the page cache.")
        );
        assert_eq!(cold(None).note(), format!("{before}; the kernel does not report whether that worked."));
        assert!(cold(Some(64)).note().ends_with("so the cache was warm (files on tmpfs are always cached)."));
    }
}
