//! Entries of directories.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{Dir, FileType, OFlags};
use rustix::io::{Errno, Result};

/// Flag to open a directory in order to open what is in it. It takes the right to list it, unlike on Linux.
pub const PLACE: OFlags = OFlags::RDONLY;

/// Calls `add` with the name, the type and the inode of each entry of a directory that was just opened, `.` and `..` included.
/// The C library has a buffer of its own.
///
/// # Errors
/// If the directory cannot be read.
#[inline]
pub fn for_each_entry(
    directory: BorrowedFd<'_>,
    _buffer: &mut Vec<u8>,
    mut add: impl FnMut(&CStr, FileType, u64),
) -> Result<()> {
    let entries = match Dir::read_from(directory) {
        // The directory was removed after it was opened: it is empty.
        Err(Errno::NOENT) => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        match entry {
            Ok(entry) => add(entry.file_name(), entry.file_type(), entry.ino()),
            Err(Errno::NOENT) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
