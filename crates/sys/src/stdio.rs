//! Standard streams that were closed when the process started, and outputs that are streams.
//!
//! The Rust runtime opens `/dev/null` in place of closed streams before `main`, so a program cannot distinguish a
//! closed stream from an empty one: its input would be read as empty and its output would be lost silently. A binary
//! that needs to know calls [`record_closed_streams`] before the runtime starts.
#![allow(unsafe_code, reason = "a stream that may be closed is examined by its number")]

use std::fs::{self, File};
use std::io::{self, stdin, stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::fstat;
use rustix::io::{FdFlags, fcntl_setfd};

static CLOSED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];

/// Returns `true` if standard input was closed when the process started; `false` without a call of
/// [`record_closed_streams`].
pub fn input_was_closed() -> bool {
    CLOSED[0].load(Ordering::Relaxed)
}

/// Returns `true` if standard output was closed when the process started; `false` without a call of
/// [`record_closed_streams`].
pub fn output_was_closed() -> bool {
    CLOSED[1].load(Ordering::Relaxed)
}

/// Whether a path, such as `/dev/stdout`, is the standard output.
pub fn is_output(path: &Path) -> bool {
    let (Ok(file), Ok(output)) = (fs::metadata(path), fstat(stdout())) else { return false };
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let output = (output.st_dev as u64, output.st_ino as u64);
    (file.dev(), file.ino()) == output
}

/// Whether a path exists and is written to as it is, not replaced: a device, a pipe, or the standard output, even if that is a regular
/// file.
pub fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) || is_output(path)
}

/// Opens a path that [is a stream](is_stream). Standard output is not opened again, which would truncate it.
///
/// # Errors
///
/// If it cannot be opened.
pub fn open_stream(path: &Path) -> io::Result<File> {
    match is_output(path) {
        true => Ok(stdout().as_fd().try_clone_to_owned()?.into()),
        false => File::options().write(true).open(path),
    }
}

/// Makes streams that were closed when the process started closed ones of the program that this process becomes next.
pub fn close_again_on_exec() {
    for (was_closed, stream) in
        [(input_was_closed(), stdin().as_fd()), (output_was_closed(), stdout().as_fd())]
    {
        if was_closed {
            // If it fails, the program reads nothing, or writes to nowhere.
            let _ = fcntl_setfd(stream, FdFlags::CLOEXEC);
        }
    }
}

/// Records whether standard input and output are closed.
///
/// Place it in the `.init_array` section of the binary, whose functions the loader calls before the runtime starts. It
/// does not use the runtime: it makes two system calls and stores to two atomics.
pub extern "C" fn record_closed_streams() {
    for (stream, closed) in (0..).zip(&CLOSED) {
        // SAFETY: the borrow ends within this statement. Querying a descriptor that is not open is harmless: the kernel
        // returns EBADF.
        let open = rustix::io::fcntl_getfd(unsafe { BorrowedFd::borrow_raw(stream) }).is_ok();
        closed.store(!open, Ordering::Relaxed);
    }
}
