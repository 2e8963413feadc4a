//! Temporary files, and space for files.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::unsupported;

/// Creates no file: all of them have names.
///
/// # Errors
/// Always.
pub fn unnamed(_directory: &Path, _mode: u32) -> io::Result<File> {
    unsupported()
}

/// Gives no file a path.
///
/// # Errors
/// Always.
pub fn link(_file: impl AsFd, _path: &Path) -> io::Result<()> {
    unsupported()
}

/// Does nothing: a full disk is an error of a later write.
///
/// # Errors
/// Never.
pub fn reserve(_file: impl AsFd, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// A file in the directory of temporary files, which is removed when it is dropped.
#[derive(Debug)]
pub struct FileInMemory(NamedTempFile);

impl FileInMemory {
    /// Creates an empty file. Its name begins with `name`.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(name: &str) -> io::Result<Self> {
        tempfile::Builder::new().prefix(name).tempfile().map(Self)
    }

    /// The file, open for reading and writing.
    pub fn file(&mut self) -> &mut File {
        self.0.as_file_mut()
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}
