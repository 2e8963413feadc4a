//! Writing an index file: beside the one it replaces, on all cores, and in its place only when all of it is on the disk.

use std::borrow::Cow;
use std::fs::{File, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::fs::FallocateFlags;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::format::{Header, PIECE, Section, checksum, piece_hash};

/// What was being done when the system refused.
const WRITING: &str = "cannot write the index: ";

/// An index file that is being written.
pub(crate) struct Writer {
    output: PathBuf,
    file: NamedTempFile,
    header: Header,
    ranges: [Range<u64>; Section::ALL.len()],
    threads: usize,
}

/// The directory that a file is in.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a file beside another.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".comb-index-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory_of(path))
}

/// Puts a file in the place of another when all of it is on the disk.
fn put_in_place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The name is on the disk only when the directory is.
    File::open(directory_of(path))?.sync_all()
}

/// Writes a whole file, which is there with all its bytes or not at all.
///
/// # Errors
///
/// If it cannot be written; what was there before is still there then.
pub fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = beside(path)?;
    file.as_file().write_all_at(bytes, 0)?;
    put_in_place(file, path)
}

impl Writer {
    /// Makes a file beside the output, with all the room that it will need.
    pub(crate) fn create(output: &Path, header: Header, threads: usize) -> Result<Self, Error> {
        let failed = |error| Error::Io { path: output.to_owned(), doing: WRITING, error };
        let too_long = || failed(io::Error::from(io::ErrorKind::FileTooLarge));
        let ranges = header.ranges().ok_or_else(too_long)?;
        let file = beside(output).map_err(failed)?;
        let length = ranges[Section::ALL.len() - 1].end;
        file.as_file().set_len(length).map_err(failed)?;
        match rustix::fs::fallocate(file.as_file(), FallocateFlags::empty(), 0, length) {
            // Some file systems cannot reserve; then a full disk is noticed later.
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => {}
            Err(error) => return Err(failed(error.into())),
        }
        Ok(Self { output: output.to_owned(), file, header, ranges, threads })
    }

    /// Writes a section that is in memory as it will be in the file.
    pub(crate) fn section(&mut self, section: Section, bytes: &[u8]) -> Result<(), Error> {
        debug_assert_eq!(bytes.len() as u64, self.len(section));
        self.pieces(section, |range| Cow::Borrowed(&bytes[range]))
    }

    /// Writes a section of which a function gives the bytes of a range.
    pub(crate) fn pieces<'a>(
        &mut self,
        section: Section,
        bytes: impl Fn(Range<usize>) -> Cow<'a, [u8]> + Sync,
    ) -> Result<(), Error> {
        let length = self.len(section) as usize;
        let start = self.ranges[section as usize].start;
        let file: &File = self.file.as_file();
        let hashes = each_piece(length, self.threads, |range| {
            let piece = bytes(range.clone());
            file.write_all_at(&piece, start + range.start as u64)?;
            Ok(piece_hash(&piece))
        });
        self.header.checksums[section as usize] = checksum(hashes.map_err(|error| self.failed(error))?);
        Ok(())
    }

    /// Writes the header, waits for the disk, and puts the file in its place.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let Self { output, file, header, .. } = self;
        let written =
            file.as_file().write_all_at(&header.encode(), 0).and_then(|()| put_in_place(file, &output));
        written.map_err(|error| Error::Io { path: output, doing: WRITING, error })
    }

    fn len(&self, section: Section) -> u64 {
        let Range { start, end } = self.ranges[section as usize];
        end - start
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::Io { path: self.output.clone(), doing: WRITING, error }
    }
}

/// Calls a function for every piece of so many bytes, on several threads, and returns what it gave in the order of the pieces.
pub(crate) fn each_piece<T: Send, E: Send>(
    length: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let pieces = length.div_ceil(PIECE);
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut results = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return Ok(results);
            }
            let start = piece * PIECE;
            results.push((piece, work(start..length.min(start + PIECE))?));
        }
    };
    let mut results = Vec::with_capacity(pieces);
    thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(pieces)).map(|_| scope.spawn(worker)).collect();
        results.extend(worker()?);
        for worker in workers {
            results.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(())
    })?;
    results.sort_unstable_by_key(|&(piece, _)| piece);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
