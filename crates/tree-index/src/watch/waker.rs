//! The way to wake a watch.

use std::io::{self, ErrorKind, Write};
use std::os::unix::net::UnixStream;

/// Wakes the watch that waits for the other end of the stream.
pub(super) struct Waker(UnixStream);

impl Waker {
    /// A waker, and the stream that becomes readable. Neither blocks.
    ///
    /// # Errors
    /// If the process has no file descriptors left.
    pub(super) fn new() -> io::Result<(Self, UnixStream)> {
        let (woken, waker) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        Ok((Self(waker), woken))
    }

    /// Wakes the watch. Returns `false` if there is none any more.
    pub(super) fn wake(&self) -> bool {
        // It may have been woken often enough.
        (&self.0).write_all(&[0]).map_or_else(|error| error.kind() == ErrorKind::WouldBlock, |()| true)
    }
}
