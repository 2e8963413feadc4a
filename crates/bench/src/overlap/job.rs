//! Reading, hashing, or both, on a number of threads.

use std::ops::AddAssign;

use finecomb_scan::FoundFile;
use finecomb_sys::out_of_memory::try_reserve_exact;
use finecomb_sys::units::Bytes;

use super::pieces::{OpenFiles, PIECE, Piece};
use super::prefetch::Prefetcher;
use super::words::{WordHash, hash_words};
use crate::error::{Error, Result};
use crate::threads::distribute;

/// Result of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Total {
    /// Bytes that were read.
    pub(super) bytes: u64,
    /// Pieces that could not be read.
    pub(super) unreadable: u64,
    /// Words in them.
    pub(super) words: WordHash,
}

impl AddAssign for Total {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.unreadable += other.unreadable;
        self.words += other.words;
    }
}

/// A way to read and hash files.
#[derive(Clone, Copy, Debug)]
pub(super) struct HashJob {
    pub(super) width: usize,
    /// Whether pieces are prefetched.
    pub(super) ahead: bool,
    /// Number of times that each piece is hashed; 0 to read only.
    pub(super) work: u32,
}

impl HashJob {
    /// Processes all pieces of the files.
    pub(super) fn run(self, files: &[FoundFile], pieces: &[Piece]) -> Result<Total> {
        let open = OpenFiles::new(files, self.ahead);
        let prefetcher = Prefetcher::default();
        let work = |(total, buffer): &mut (Total, Vec<u8>), taken: usize| {
            if self.ahead {
                prefetcher.advance(taken, pieces, &open);
            }
            buffer.resize(PIECE as usize, 0);
            *total += match open.read(&pieces[taken], buffer) {
                Some(bytes) => {
                    Total { bytes: bytes.len() as u64, unreadable: 0, words: hash_words(bytes, self.work) }
                }
                None => Total { unreadable: 1, ..Total::default() },
            };
        };
        let mut total = Total::default();
        distribute(self.width, pieces.len(), work)?.into_iter().for_each(|(part, _)| total += part);
        Ok(total)
    }
}

/// Pieces loaded into memory, to be hashed without reading.
pub(super) struct Loaded {
    bytes: Vec<u8>,
    /// End of each piece.
    ends: Vec<usize>,
    unreadable: u64,
}

impl Loaded {
    /// Loads the first pieces, up to `most` bytes in all, and at least one.
    pub(super) fn read(files: &[FoundFile], pieces: &[Piece], most: u64) -> Result<Self> {
        let sizes = pieces.iter().scan(0, |sum, piece| {
            *sum += piece.length;
            Some(*sum)
        });
        let fitting = sizes.take_while(|&size| size <= most).count().max(1).min(pieces.len());
        let size = pieces[..fitting].iter().map(|piece| piece.length).sum::<u64>();
        let room = usize::try_from(size).unwrap_or(usize::MAX);
        let mut loaded = Self { bytes: Vec::new(), ends: Vec::new(), unreadable: 0 };
        let no_room = |_| Error::Other(format!("cannot hold {} in memory", Bytes(size)));
        try_reserve_exact(&mut loaded.bytes, room).map_err(no_room)?;
        let (open, mut buffer) = (OpenFiles::new(files, false), vec![0; PIECE as usize]);
        for piece in &pieces[..fitting] {
            match open.read(piece, &mut buffer) {
                Some(bytes) => loaded.bytes.extend_from_slice(bytes),
                None => loaded.unreadable += 1,
            }
            loaded.ends.push(loaded.bytes.len());
        }
        Ok(loaded)
    }

    /// Returns `true` if all pieces are loaded.
    pub(super) fn is_all_of(&self, pieces: &[Piece]) -> bool {
        self.ends.len() == pieces.len()
    }

    /// Hashes the loaded pieces on this thread.
    pub(super) fn work(&self, times: u32) -> Total {
        let (mut words, mut start) = (WordHash::default(), 0);
        for &end in &self.ends {
            words += hash_words(&self.bytes[start..end], times);
            start = end;
        }
        Total { bytes: self.bytes.len() as u64, unreadable: self.unreadable, words }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::pieces::split;
    use super::*;
    use crate::files;

    /// A large file of words, and a hundred small ones.
    fn tree() -> (tempfile::TempDir, Vec<FoundFile>) {
        let directory = tempfile::tempdir().expect("a directory");
        let large: String = (0..200_000).map(|number| format!("word{number} ")).collect();
        fs::write(directory.path().join("large"), large).expect("a file");
        for number in 0..100 {
            fs::write(directory.path().join(format!("{number}")), format!("{number} small\n"))
                .expect("a file");
        }
        let (found, _) = files::below(directory.path()).expect("files");
        (directory, found)
    }

    #[test]
    fn every_width_gives_the_same_result_with_and_without_prefetch_and_in_memory() {
        let (_directory, found) = tree();
        let pieces = split(&found);
        let memory = Loaded::read(&found, &pieces, u64::MAX).expect("memory");
        let expected = memory.work(1);
        assert_eq!((expected.bytes, expected.unreadable), (found.iter().map(|file| file.size).sum(), 0));
        // 200,000 words, some of them split in two at the end of a piece, and two in each small file.
        assert!((200_200..200_300).contains(&expected.words.count), "{expected:?}");
        for width in [1, 2, 8] {
            for ahead in [false, true] {
                for work in [1, 3] {
                    let total = HashJob { width, ahead, work }.run(&found, &pieces).expect("a run");
                    assert_eq!(total, expected, "{width} {ahead} {work}");
                }
                let read = HashJob { width, ahead, work: 0 }.run(&found, &pieces).expect("a run");
                assert_eq!(read, Total { words: WordHash::default(), ..expected });
            }
        }
    }

    #[test]
    fn as_much_is_loaded_as_fits() {
        let (_directory, found) = tree();
        let pieces = split(&found);
        let size = |most| Loaded::read(&found, &pieces, most).expect("memory").work(1).bytes;
        assert_eq!(size(0), pieces[0].length);
        assert_eq!(size(pieces[0].length + pieces[1].length), pieces[0].length + pieces[1].length);
    }

    #[test]
    fn a_removed_file_is_counted_as_unreadable() {
        let (directory, found) = tree();
        let pieces = split(&found);
        fs::remove_file(directory.path().join("7")).expect("removed");
        for ahead in [false, true] {
            assert_eq!(
                HashJob { width: 3, ahead, work: 1 }.run(&found, &pieces).expect("a run").unreadable,
                1
            );
        }
    }
}
