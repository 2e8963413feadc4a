//! Prefetching the next files of a directory.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::fs::{Advice, fadvise};

use super::reader::FIRST_READ;
use crate::walk::directory::Directory;

/// Number of files that are prefetched ahead of the current one.
const FILES: usize = 4;

/// Opens the files of a directory in order. If they come from storage, it opens and prefetches a few files early.
pub(crate) struct Prefetcher<'a> {
    directory: &'a Directory,
    follow: bool,
    opened: VecDeque<OwnedFd>,
    /// Entries that have not been opened.
    rest: Range<usize>,
}

impl<'a> Prefetcher<'a> {
    pub(crate) fn new(directory: &'a Directory, entries: Range<usize>, follow: bool) -> Self {
        Self { directory, follow, opened: VecDeque::new(), rest: entries }
    }

    /// Opens the next file, and prefetches the ones after it if `is_cold`.
    pub(crate) fn open(&mut self, is_cold: bool) -> io::Result<File> {
        let next = match self.opened.pop_front() {
            Some(file) => file,
            None => {
                let entry = self.rest.next().ok_or(io::ErrorKind::NotFound)?;
                self.open_entry(entry)?
            }
        };
        while is_cold && self.opened.len() < FILES && !self.rest.is_empty() {
            // A file that cannot be opened now, perhaps for lack of descriptors, is opened again in its turn.
            let Ok(file) = self.open_entry(self.rest.start) else { break };
            self.rest.next();
            // Only advice: the file is read in any case.
            let _ = fadvise(&file, 0, NonZeroU64::new(FIRST_READ as u64), Advice::WillNeed);
            self.opened.push_back(file);
        }
        Ok(next.into())
    }

    fn open_entry(&self, entry: usize) -> io::Result<OwnedFd> {
        self.directory.open(&self.directory.listing.entries()[entry], self.follow)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::path::Path;

    use super::*;
    use crate::problem::Problems;
    use crate::walk::WalkOptions;
    use crate::walk::directory::{Scratch, Walk};

    #[test]
    fn files_are_opened_in_order_with_or_without_prefetching() {
        let root = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..FILES + 3).map(|number| number.to_string()).collect();
        for name in &names {
            fs::write(root.path().join(name), name).unwrap();
        }
        let options = WalkOptions::default();
        let walk = Walk::new(&options, false, &mut Vec::new());
        let (mut scratch, mut problems) = (Scratch::default(), Problems::default());
        let directory = walk.open_named(0, root.path(), Path::new(""), &mut scratch, &mut problems).unwrap();
        for (is_cold, opened) in [(true, [4, 4, 4, 3, 2, 1, 0]), (false, [0; 7])] {
            let mut prefetcher = Prefetcher::new(&directory, 0..names.len(), false);
            for (name, opened) in names.iter().zip(opened) {
                let mut text = String::new();
                prefetcher.open(is_cold).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!((&text, prefetcher.opened.len()), (name, opened));
            }
            assert!(prefetcher.open(is_cold).is_err());
        }
    }
}
