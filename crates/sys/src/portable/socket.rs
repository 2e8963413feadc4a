//! Options of sockets.

use std::io;
use std::os::fd::AsFd;

/// Returns `false`: who is at the other end of a Unix socket is not known.
pub fn has_own_peer(_socket: impl AsFd) -> bool {
    false
}

/// Does nothing: the system ends a connection of TCP if the other side acknowledges nothing for the time that it has set.
///
/// # Errors
/// Never.
pub fn limit_unacknowledged(_socket: impl AsFd, _milliseconds: u32) -> io::Result<()> {
    Ok(())
}
