//! Whether a file is open for writing.

use std::os::fd::{AsFd, AsRawFd};

/// Returns whether some process has the file open for writing, or mapped to be written; `None` if the system does not
/// tell, as for files of other users.
///
/// A read lease can be had only if there is no writer (`F_SETLEASE` in fcntl(2)). It is given back at once: a process
/// that opens the file for writing in between waits for some microseconds, or is refused if it does not want to wait.
#[cfg(target_os = "linux")]
pub fn has_writer(file: impl AsFd) -> Option<bool> {
    /// The `libc` crate does not have it for all targets.
    const F_SETSIG: libc::c_int = 10;

    let file = file.as_fd().as_raw_fd();
    // SAFETY: these operations take a number and touch no memory of this process; the descriptor is open.
    let set = |operation, value: libc::c_int| unsafe { libc::fcntl(file, operation, value) };
    // The signal that a break of the lease raises here: this one is ignored by default, the usual one would end the process.
    if set(F_SETSIG, libc::SIGURG) == -1 {
        return None;
    }
    if set(libc::F_SETLEASE, libc::F_RDLCK) == 0 {
        set(libc::F_SETLEASE, libc::F_UNLCK);
        return Some(false);
    }
    let error = std::io::Error::last_os_error();
    (error.kind() == std::io::ErrorKind::WouldBlock).then_some(true)
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
