//! Changes of mounts: always unknown.

use std::io;

use rustix::event::PollFd;

use super::unsupported;

/// Returns no namespace.
///
/// # Errors
/// Always.
pub fn namespace() -> io::Result<(u64, u64)> {
    unsupported()
}

/// Reports no changes of mounts.
#[derive(Debug)]
pub struct Mounts(());

impl Mounts {
    /// Reports no changes.
    pub fn watch() -> Self {
        Self(())
    }

    /// Nothing becomes ready.
    pub fn poll(&self) -> Option<PollFd<'_>> {
        None
    }

    /// Returns `true`: mounts may have changed.
    pub fn take(&self) -> bool {
        true
    }
}
