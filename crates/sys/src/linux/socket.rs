//! Options of sockets.

use std::io;
use std::os::fd::AsFd;

use rustix::net::sockopt::{set_tcp_user_timeout, socket_peercred};
use rustix::process::geteuid;

/// Returns `true` if the process at the other end of a Unix socket runs as this user.
pub fn has_own_peer(socket: impl AsFd) -> bool {
    socket_peercred(socket).is_ok_and(|peer| peer.uid == geteuid())
}

/// Ends a connection of TCP if the other side acknowledges nothing for a time, in milliseconds.
///
/// # Errors
/// If the system refuses.
pub fn limit_unacknowledged(socket: impl AsFd, milliseconds: u32) -> io::Result<()> {
    Ok(set_tcp_user_timeout(socket, milliseconds)?)
}
