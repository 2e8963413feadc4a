//! Temporary files, and space for files.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FallocateFlags, MemfdFlags, Mode, OFlags, fallocate, linkat, memfd_create, open,
};
use rustix::io::Errno;

/// Directory of links to open files.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Creates a file without a name in a directory. It vanishes if the process is killed. [`link`] names it.
///
/// # Errors
/// If the file system does not support such files, or the file cannot be created.
pub fn unnamed(directory: &Path, mode: u32) -> io::Result<File> {
    // Otherwise it could not be named.
    if !Path::new(DESCRIPTORS).is_dir() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(open(directory, flags, Mode::from_raw_mode(mode))?.into())
}

/// Gives a file without a name a path in its file system, which must not exist.
///
/// # Errors
/// If there is something at the path, or it may not be written.
pub fn link(file: impl AsFd, path: &Path) -> io::Result<()> {
    Ok(linkat(CWD, descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Reserves storage for the first bytes of a file. If the file system cannot do so, a full disk is an error of a later write.
///
/// # Errors
/// If there is no room.
pub fn reserve(file: impl AsFd, bytes: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A file in memory, which has a path in this process until it is dropped.
#[derive(Debug)]
pub struct FileInMemory(File);

impl FileInMemory {
    /// Creates an empty file, with a name for debuggers.
    ///
    /// # Errors
    /// If there is no descriptor left.
    pub fn new(name: &str) -> io::Result<Self> {
        Ok(Self(memfd_create(name, MemfdFlags::CLOEXEC)?.into()))
    }

    /// The file, open for reading and writing.
    pub fn file(&mut self) -> &mut File {
        &mut self.0
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        descriptor(&self.0)
    }
}

/// The path of an open file.
fn descriptor(file: impl AsFd) -> PathBuf {
    PathBuf::from(format!("{DESCRIPTORS}/{}", file.as_fd().as_raw_fd()))
}
