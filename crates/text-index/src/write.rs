//! Writing an index file: beside the one it replaces, on all cores, and in its place only when all of it is on the disk.

use std::borrow::Cow;
use std::fs::{File, Permissions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use finecomb_sys::threads::map;
use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags};
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::format::{Header, PIECE, Section, checksum, piece_hash};

/// What was being done when the system refused.
const WRITING: &str = "cannot write the index: ";

/// An index file that is being written.
pub(crate) struct Writer {
    output: PathBuf,
    file: Unplaced,
    header: Header,
    ranges: [Range<u64>; Section::ALL.len()],
    threads: usize,
}

/// The directory that a file is in.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that is not yet in its place.
enum Unplaced {
    /// Without a name: if the process is ended, nothing is left of it.
    Nameless(File),
    /// With one, where the file system has no files without.
    Named(NamedTempFile),
}

impl Unplaced {
    /// Makes a file on the file system of another.
    fn beside(path: &Path) -> io::Result<Self> {
        let directory = directory_of(path);
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        // It gets its name by way of this directory.
        if Path::new(DESCRIPTORS).is_dir()
            && let Ok(file) = rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666))
        {
            return Ok(Self::Nameless(File::from(file)));
        }
        let mut named = tempfile::Builder::new();
        named
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)
            .map(Self::Named)
    }

    fn file(&self) -> &File {
        match self {
            Self::Nameless(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Puts it in the place of another when all of it is on the disk.
    fn put_in_place(self, path: &Path) -> io::Result<()> {
        self.file().sync_all()?;
        let directory = directory_of(path);
        match self {
            Self::Named(file) => drop(file.persist(path).map_err(|error| error.error)?),
            Self::Nameless(file) => {
                // A name cannot be given in place of another: it gets one of its own for a moment.
                let descriptor = format!("{DESCRIPTORS}/{}", file.as_raw_fd());
                let link = |name: &Path| {
                    Ok(rustix::fs::linkat(CWD, &*descriptor, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
                };
                let named = tempfile::Builder::new().prefix(PREFIX).make_in(directory, link)?;
                named.persist(path).map_err(|error| error.error)?;
            }
        }
        // The name is on the disk only when the directory is.
        File::open(directory)?.sync_all()
    }
}

/// How the name of a file begins that is not yet in its place.
const PREFIX: &str = ".comb-index-";

/// Where open files have names.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Writes a whole file, which is there with all its bytes or not at all.
///
/// # Errors
///
/// If it cannot be written; what was there before is still there then.
pub fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unplaced = Unplaced::beside(path)?;
    unplaced.file().write_all_at(bytes, 0)?;
    unplaced.put_in_place(path)
}

impl Writer {
    /// Makes a file beside the output, with all the room that it will need.
    pub(crate) fn create(output: &Path, header: Header, threads: usize) -> Result<Self, Error> {
        let failed = |error| Error::Io { path: output.to_owned(), doing: WRITING, error };
        let too_long = || failed(io::Error::from(io::ErrorKind::FileTooLarge));
        let ranges = header.ranges().ok_or_else(too_long)?;
        let file = Unplaced::beside(output).map_err(failed)?;
        let length = ranges[Section::ALL.len() - 1].end;
        file.file().set_len(length).map_err(failed)?;
        match rustix::fs::fallocate(file.file(), FallocateFlags::empty(), 0, length) {
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
        let file = self.file.file();
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
        let written = file.file().write_all_at(&header.encode(), 0).and_then(|()| file.put_in_place(&output));
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

/// Calls `work` for every piece of `length` bytes, on up to `threads` threads, and returns the results in the order of the
/// pieces, or the first error.
pub(crate) fn each_piece<T: Send, E: Send>(
    length: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let pieces = (0..length).step_by(PIECE).map(|start| start..length.min(start + PIECE));
    map(threads, pieces, work).into_iter().collect()
}
