//! Pages of files that are still in memory.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use finecomb_sys::bytes_from_storage;
use rustix::fs::{Advice, fadvise};
use rustix::param::page_size;
use serde::{Deserialize, Serialize};

/// At most so many pages are looked at: enough to tell most from few, and quickly read.
const PAGES: u64 = 64;

/// Share of some files that is in the page cache, judged by a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residue {
    /// Pages that were looked at.
    pub pages: u64,
    /// Number of these that were in memory.
    pub in_memory: u64,
}

impl Residue {
    /// Whether most of it is not in memory.
    pub fn is_cold(&self) -> bool {
        self.in_memory * 2 < self.pages
    }
}

/// A page of the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    path: PathBuf,
    offset: u64,
}

/// A sample of pages of files with known sizes, evenly spread over all pages.
pub(super) fn looks(files: &[(PathBuf, u64)]) -> Vec<Look> {
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

/// Looks at pages; none if nothing can be found out.
pub(super) fn look_at(looks: &[Look]) -> Option<Residue> {
    let mut residue = Residue { pages: 0, in_memory: 0 };
    for look in looks {
        // Files may vanish or shrink while a benchmark runs.
        if let Ok(Some(in_memory)) = look.is_in_memory() {
            residue.pages += 1;
            residue.in_memory += u64::from(in_memory);
        }
    }
    (residue.pages > 0).then_some(residue)
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

#[cfg(test)]
mod tests {
    use super::*;

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
        std::fs::write(&path, [1; 10]).expect("a file");
        // Not yet written to the disk, it cannot be anywhere else.
        let look = |offset| Look { path: path.clone(), offset };
        let expected = bytes_from_storage().map(|_| true);
        assert_eq!(look(0).is_in_memory().unwrap_or(None), expected);
        assert_eq!(look(page_size() as u64).is_in_memory().unwrap_or(None), None);
        assert_eq!(look_at(&[]), None);
    }

    #[test]
    fn most_decides() {
        for (in_memory, cold) in [(0, true), (31, true), (32, false), (64, false)] {
            assert_eq!(Residue { pages: 64, in_memory }.is_cold(), cold);
        }
    }
}
