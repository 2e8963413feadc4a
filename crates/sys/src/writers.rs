//! Whether a file is open for writing.
#![allow(unsafe_code, reason = "leases of files have no safe interface")]

use std::os::fd::{AsFd, AsRawFd};

/// Returns whether some process has the file open for writing, or mapped to be written; `None` if the system does not
/// tell, as for files of other users.
#[cfg(target_os = "linux")]
pub fn has_writer(file: impl AsFd) -> Option<bool> {
    match Lease::take(file) {
        Ok(_) => Some(false),
        Err(error) => (error.kind() == std::io::ErrorKind::WouldBlock).then_some(true),
    }
}

/// A read lease (`F_SETLEASE` in fcntl(2)): while it is held, no process has the file open for writing, or mapped to be
/// written. A process that opens the file for writing waits until the lease is given back, which dropping it does, or is
/// refused if it does not want to wait.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct Lease<F: AsFd>(F);

#[cfg(target_os = "linux")]
impl<F: AsFd> Lease<F> {
    /// Takes a lease of a file that is open for reading only.
    ///
    /// # Errors
    /// `WouldBlock` if there is a writer. Others if the system does not tell.
    pub fn take(file: F) -> std::io::Result<Self> {
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

#[cfg(target_os = "linux")]
impl<F: AsFd> Drop for Lease<F> {
    fn drop(&mut self) {
        // The file may stay open.
        let _ = fcntl(&self.0, libc::F_SETLEASE, libc::F_UNLCK);
    }
}

#[cfg(target_os = "linux")]
fn fcntl(file: impl AsFd, operation: libc::c_int, value: libc::c_int) -> std::io::Result<libc::c_int> {
    // SAFETY: these operations take a number and touch no memory of this process; the descriptor is open.
    match unsafe { libc::fcntl(file.as_fd().as_raw_fd(), operation, value) } {
        -1 => Err(std::io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// Returns `None`: only Linux tells.
#[cfg(not(target_os = "linux"))]
pub fn has_writer(_file: impl AsFd) -> Option<bool> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions};

    #[test]
    fn a_file_has_a_writer_while_it_is_open_for_writing_or_mapped_to_be_written() {
        let directory = std::env::temp_dir().join(format!("finecomb-writers-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("file");
        std::fs::write(&path, "text").unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(has_writer(&file), Some(false));
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
        assert_eq!(has_writer(&file), Some(false));
        std::fs::remove_dir_all(directory).unwrap();
    }
}
