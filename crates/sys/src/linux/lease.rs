//! Leases, by which a process knows that a file has no writer.
#![allow(unsafe_code, reason = "leases of files have no safe interface")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// A read lease (`F_SETLEASE` in fcntl(2)): while it is held, no process has the file open for writing, or mapped to be
/// written. A process that opens the file for writing waits until the lease is given back, which dropping it does, or is
/// refused if it does not want to wait.
#[derive(Debug)]
pub struct Lease<F: AsFd>(F);

impl<F: AsFd> Lease<F> {
    /// Takes a lease of a file that is open for reading only.
    ///
    /// # Errors
    /// `WouldBlock` if there is a writer; other errors if the system does not report writers.
    pub fn take(file: F) -> io::Result<Self> {
        /// The `libc` crate does not have it for all targets.
        const F_SETSIG: libc::c_int = 10;

        // The signal that a break of the lease raises here: this one is ignored by default, the usual one would end the process.
        fcntl(&file, F_SETSIG, libc::SIGURG)?;
        fcntl(&file, libc::F_SETLEASE, libc::F_RDLCK)?;
        Ok(Self(file))
    }

    /// The file.
    pub fn file(&self) -> &F {
        &self.0
    }

    /// Returns `true` if no process has begun to open the file for writing since the lease was taken.
    pub fn is_whole(&self) -> bool {
        fcntl(&self.0, libc::F_GETLEASE, 0).is_ok_and(|lease| lease == libc::F_RDLCK)
    }
}

impl<F: AsFd> Drop for Lease<F> {
    fn drop(&mut self) {
        // The file may stay open.
        let _ = fcntl(&self.0, libc::F_SETLEASE, libc::F_UNLCK);
    }
}

fn fcntl(file: impl AsFd, operation: libc::c_int, value: libc::c_int) -> io::Result<libc::c_int> {
    // SAFETY: these operations take a number and touch no memory of this process; the descriptor is open.
    match unsafe { libc::fcntl(file.as_fd().as_raw_fd(), operation, value) } {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::has_writer;
    use crate::writers::tests::await_no_writer;
    use std::fs::{File, OpenOptions};

    #[test]
    fn a_lease_is_broken_by_a_writer_and_not_given_while_there_is_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "text").unwrap();
        let file = File::open(&path).unwrap();
        await_no_writer(&file);
        let lease = Lease::take(&file).unwrap();
        assert!(lease.is_whole() && File::open(&path).is_ok() && lease.is_whole());
        let waiting = {
            let path = path.clone();
            std::thread::spawn(move || OpenOptions::new().write(true).open(path).map(drop))
        };
        while lease.is_whole() {
            std::thread::yield_now();
        }
        drop(lease);
        waiting.join().unwrap().unwrap();
        let writer = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        assert_eq!(has_writer(&file), Some(true));
        // SAFETY: the map is not used, and removed below.
        let map = unsafe {
            let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), 4, protection, flags, writer.as_raw_fd(), 0)
        };
        assert_ne!(map, libc::MAP_FAILED);
        drop(writer);
        assert_eq!(has_writer(&file), Some(true));
        // SAFETY: it was mapped above.
        assert_eq!(unsafe { libc::munmap(map, 4) }, 0);
        await_no_writer(&file);
    }
}
