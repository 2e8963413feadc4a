//! Entries of directories.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{FileType, OFlags, RawDir};
use rustix::io::{Errno, Result};

/// Flag to open a directory in order to open what is in it, but not to list it, in half of the time.
pub const PLACE: OFlags = OFlags::PATH;

/// Room for about a thousand entries per call.
const BUFFER: usize = 64 << 10;

/// Calls `add` with the name, the type and the inode of each entry of a directory that was just opened, `.` and `..` included.
/// `buffer` receives the entries from the kernel.
///
/// # Errors
/// If the directory cannot be read.
#[inline]
pub fn for_each_entry(
    directory: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    mut add: impl FnMut(&CStr, FileType, u64),
) -> Result<()> {
    buffer.clear();
    buffer.reserve(BUFFER);
    let mut entries = RawDir::new(directory, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) => add(entry.file_name(), entry.file_type(), entry.ino()),
            // The directory was removed after it was opened: it is empty.
            Err(Errno::NOENT) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
