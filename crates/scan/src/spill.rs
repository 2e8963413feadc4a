//! Temporary files for results that do not fit into memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use finecomb_sys::ReadBuffer;

/// A temporary file that is written from the beginning to the end, and read anywhere.
///
/// It has no name, so that nothing of it remains when the process ends, also if it is killed.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    length: AtomicU64,
}

impl SpillFile {
    /// Creates an empty file in a directory.
    ///
    /// # Errors
    /// Returns the error of the system, such as a missing directory.
    pub fn create(directory: &Path) -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(directory)?, length: AtomicU64::new(0) })
    }

    /// Number of bytes written.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes. Only one thread may do so at a time.
    ///
    /// # Errors
    /// Returns the error of the system, such as a full disk.
    pub fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.len())?;
        self.length.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Reads `length` bytes at an offset, and appends them to `to`.
    ///
    /// # Errors
    /// Returns the error of the system, or [`io::ErrorKind::UnexpectedEof`] past the end.
    pub fn read(&self, offset: u64, length: usize, to: &mut Vec<u8>) -> io::Result<()> {
        let bytes = ReadBuffer::of_file(&self.file, offset, length)?;
        if bytes.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        to.extend_from_slice(&bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_the_file_has_no_name() {
        let directory = tempfile::tempdir().unwrap();
        let file = SpillFile::create(directory.path()).unwrap();
        assert!(file.is_empty());
        file.append(b"one").unwrap();
        file.append(b"two").unwrap();
        assert_eq!(file.len(), 6);
        let mut bytes = b"thr".to_vec();
        file.read(2, 4, &mut bytes).unwrap();
        assert_eq!(bytes, b"thretwo");
        assert_eq!(file.read(3, 4, &mut bytes).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let error = SpillFile::create(Path::new("/none/such")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
