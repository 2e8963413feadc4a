//! Properties of file systems, by their magic numbers in `linux/magic.h` and in the sources of XFS and ZFS.

use std::os::fd::AsFd;

#[cfg(target_os = "linux")]
mod magic {
    pub(super) const EXT: u64 = 0xEF53;
    pub(super) const XFS: u64 = 0x5846_5342;
    pub(super) const BTRFS: u64 = 0x9123_683E;
    pub(super) const F2FS: u64 = 0xF2F5_2010;
    pub(super) const TMPFS: u64 = 0x0102_1994;
    pub(super) const OVERLAY: u64 = 0x794C_7630;
    pub(super) const ZFS: u64 = 0x2FC1_2FC1;
}

/// Returns `true` if a short read means the end of a file. That holds for file systems that store the
/// data; others, such as `/proc`, may return a file piece by piece.
#[cfg(target_os = "linux")]
pub(crate) fn short_read_is_end(file: impl AsFd) -> bool {
    use magic::{BTRFS, EXT, F2FS, OVERLAY, TMPFS, XFS, ZFS};
    magic_of(file).is_some_and(|magic| [EXT, XFS, BTRFS, F2FS, TMPFS, OVERLAY, ZFS].contains(&magic))
}

/// Returns `true` if every change of a file has a time of the local clock, and the first store to a page of a map
/// counts as a change. tmpfs records no time for stores to maps, and ZFS one only when it writes them back.
#[cfg(target_os = "linux")]
pub(crate) fn has_fine_clock(file: impl AsFd) -> bool {
    use magic::{BTRFS, EXT, F2FS, OVERLAY, XFS};
    magic_of(file).is_some_and(|magic| [EXT, XFS, BTRFS, F2FS, OVERLAY].contains(&magic))
}

#[cfg(target_os = "linux")]
fn magic_of(file: impl AsFd) -> Option<u64> {
    let status = rustix::fs::fstatfs(file).ok()?;
    #[allow(clippy::unnecessary_cast, reason = "the type differs between architectures")]
    Some(status.f_type as u64)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn short_read_is_end(_file: impl AsFd) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn has_fine_clock(_file: impl AsFd) -> bool {
    false
}
