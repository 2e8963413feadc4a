//! Writes index files atomically, on all cores.

use std::borrow::Cow;
use std::fs::{File, Permissions};
use std::io::{self, Seek};
use std::ops::Range;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use finecomb_sys::stdio::{is_stream, open_stream};
use finecomb_sys::temporary::{link, reserve, unnamed};
use finecomb_sys::threads::map;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::format::{Header, PIECE, Section, checksum, piece_hash};

/// Operation named in error messages.
const WRITING: &str = "cannot write the index: ";

/// Writer of an index file.
pub(crate) struct Writer {
    output: PathBuf,
    file: TemporaryFile,
    header: Header,
    ranges: [Range<u64>; Section::ALL.len()],
    threads: usize,
}

/// Directory of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file, in the directory of the file that it will replace.
enum TemporaryFile {
    /// Unnamed, so that nothing remains if the process is killed.
    Unnamed(File),
    /// Named, on systems and file systems without unnamed files.
    Named(NamedTempFile),
    /// Copied to a stream, which nothing can replace.
    Copied(File),
}

impl TemporaryFile {
    /// Creates a temporary file in the directory of `path`.
    fn beside(path: &Path) -> io::Result<Self> {
        if is_stream(path) {
            return tempfile::tempfile().map(Self::Copied);
        }
        let directory = directory_of(path);
        if let Ok(file) = unnamed(directory, MODE) {
            return Ok(Self::Unnamed(file));
        }
        let mut named = tempfile::Builder::new();
        named.prefix(PREFIX).permissions(Permissions::from_mode(MODE)).tempfile_in(directory).map(Self::Named)
    }

    fn file(&self) -> &File {
        match self {
            Self::Unnamed(file) | Self::Copied(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Syncs the file and renames it to `path`, or copies it to the stream.
    fn persist(self, path: &Path) -> io::Result<()> {
        let directory = directory_of(path);
        match self {
            Self::Copied(mut file) => {
                file.rewind()?;
                return io::copy(&mut file, &mut open_stream(path)?).map(drop);
            }
            Self::Named(file) => {
                file.as_file().sync_all()?;
                file.persist(path).map_err(|error| error.error)?;
            }
            Self::Unnamed(file) => {
                file.sync_all()?;
                // A link cannot replace an existing file, so it is linked under a temporary name first.
                let named =
                    tempfile::Builder::new().prefix(PREFIX).make_in(directory, |name| link(&file, name))?;
                named.persist(path).map_err(|error| error.error)?;
            }
        }
        // The new name is durable only after the directory is synced.
        File::open(directory)?.sync_all()
    }
}

/// Prefix of the names of temporary files.
const PREFIX: &str = ".comb-index-";

/// Permissions of new files, from which the umask is taken.
const MODE: u32 = 0o666;

/// Writes a file atomically, or writes to a stream.
///
/// # Errors
///
/// If it cannot be written. A previous file is then unchanged.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unplaced = TemporaryFile::beside(path)?;
    unplaced.file().write_all_at(bytes, 0)?;
    unplaced.persist(path)
}

impl Writer {
    /// Creates a temporary file and reserves its space.
    pub(crate) fn create(output: &Path, header: Header, threads: usize) -> Result<Self, Error> {
        let failed = |error| Error::Io { path: output.to_owned(), doing: WRITING, error };
        let too_long = || failed(io::Error::from(io::ErrorKind::FileTooLarge));
        let ranges = header.ranges().ok_or_else(too_long)?;
        let file = TemporaryFile::beside(output).map_err(failed)?;
        let length = ranges[Section::ALL.len() - 1].end;
        file.file().set_len(length).map_err(failed)?;
        reserve(file.file(), length).map_err(failed)?;
        Ok(Self { output: output.to_owned(), file, header, ranges, threads })
    }

    /// Writes a section from memory.
    pub(crate) fn section(&mut self, section: Section, bytes: &[u8]) -> Result<(), Error> {
        debug_assert_eq!(bytes.len() as u64, self.len(section));
        self.pieces(section, |range| Cow::Borrowed(&bytes[range]))
    }

    /// Writes a section in pieces; `bytes` returns the bytes of a range.
    pub(crate) fn pieces<'a>(
        &mut self,
        section: Section,
        bytes: impl Fn(Range<usize>) -> Cow<'a, [u8]> + Sync,
    ) -> Result<(), Error> {
        let length = self.len(section) as usize;
        let start = self.ranges[section as usize].start;
        let file = self.file.file();
        let hashes = map_pieces(length, self.threads, |range| {
            let piece = bytes(range.clone());
            file.write_all_at(&piece, start + range.start as u64)?;
            Ok(piece_hash(&piece))
        });
        self.header.checksums[section as usize] = checksum(hashes.map_err(|error| self.failed(error))?);
        Ok(())
    }

    /// Writes the header, syncs the file and renames it.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let Self { output, file, header, .. } = self;
        let written = file.file().write_all_at(&header.encode(), 0).and_then(|()| file.persist(&output));
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
pub(crate) fn map_pieces<T: Send, E: Send>(
    length: usize,
    threads: usize,
    work: impl Fn(Range<usize>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let pieces = (0..length).step_by(PIECE).map(|start| start..length.min(start + PIECE));
    map(threads, pieces, work).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::Alphabet;
    use crate::index::Index;
    use crate::packed::PADDING;

    #[test]
    fn each_piece_of_a_section_is_written_at_its_offset() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("text.comb");
        let symbols = PIECE + 1000;
        let text: Vec<u8> = (0..symbols + PADDING).map(|at| (at % 251) as u8).collect();
        let header = Header::new(Alphabet::Bytes, symbols as u64, [true; 256]);
        let mut writer = Writer::create(&path, header, 2).expect("a file");
        writer.section(Section::Text, &text).expect("written");
        writer.finish().expect("an index");
        let index = Index::open(&path).expect("an index");
        assert!(index.section(Section::Text) == text);
        let pieces = text.chunks(PIECE).map(piece_hash);
        assert_eq!(index.header().checksums[Section::Text as usize], checksum(pieces));
    }
}
