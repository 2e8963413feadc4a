//! Whether a file is open for writing.

use std::io;
use std::os::fd::AsFd;

use crate::lease::Lease;

/// Returns whether some process has the file open for writing or has a writable map of it; `None` if the system does not report it,
/// as for files of other users, and on systems other than Linux.
pub fn has_writer(file: impl AsFd) -> Option<bool> {
    match Lease::take(file) {
        Ok(_) => Some(false),
        Err(error) => (error.kind() == io::ErrorKind::WouldBlock).then_some(true),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs::{File, OpenOptions};
    use std::time::{Duration, Instant};

    use super::*;

    /// Waits until a file has no writer: a process that another test starts has copies of all descriptors until it runs its program.
    pub(crate) fn await_no_writer(file: &File) {
        let start = Instant::now();
        while has_writer(file) == Some(true) && start.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        assert_eq!(has_writer(file), crate::IS_LINUX.then_some(false));
    }

    #[test]
    fn a_file_has_a_writer_while_it_is_open_for_writing_or_nothing_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let writer = OpenOptions::new().write(true).create_new(true).open(&path).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(has_writer(&file), crate::IS_LINUX.then_some(true));
        drop(writer);
        await_no_writer(&file);
    }
}
