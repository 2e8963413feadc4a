//! Properties of file systems, by their magic numbers in `linux/magic.h` and in the sources of the file systems.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, StatFs, StatxFlags, fstatfs, statfs, statx};
use rustix::path::Arg;
use rustix::time::{ClockId, Timespec, clock_gettime};

const EXT: u64 = 0xEF53;
const XFS: u64 = 0x5846_5342;
const BTRFS: u64 = 0x9123_683E;
const F2FS: u64 = 0xF2F5_2010;
const TMPFS: u64 = 0x0102_1994;
const OVERLAY: u64 = 0x794C_7630;
const ZFS: u64 = 0x2FC1_2FC1;

/// File systems whose files other machines or processes change without a report: 9P, AFS, Ceph, CIFS, FUSE, NFS, SMB, SMB 2.
const REMOTE: [u64; 8] =
    [0x0102_1997, 0x5346_414F, 0x00C3_6400, 0xFF53_4D42, 0x6573_5546, 0x6969, 0x517B, 0xFE53_4D42];

/// Returns `true` if a short read means the end of a file. That holds for file systems that store the
/// data; others, such as `/proc`, may return a file piece by piece.
pub fn short_read_is_end(file: impl AsFd) -> bool {
    magic_of(file).is_some_and(|magic| [EXT, XFS, BTRFS, F2FS, TMPFS, OVERLAY, ZFS].contains(&magic))
}

/// Returns `true` if every change of a file has a time of the local clock, and the first store to a page of a map
/// counts as a change. tmpfs records no time for stores to maps, and ZFS one only when it writes them back.
pub fn has_fine_clock(file: impl AsFd) -> bool {
    magic_of(file).is_some_and(|magic| [EXT, XFS, BTRFS, F2FS, OVERLAY].contains(&magic))
}

/// Returns `true` if the kernel reports all changes of an open file.
pub fn reports_changes(file: impl AsFd) -> bool {
    magic_of(file).is_some_and(|magic| !REMOTE.contains(&magic))
}

/// Returns `true` if the kernel reports all changes of the files in a directory.
///
/// # Errors
/// If there is no such directory, or it cannot be examined.
pub fn reports_changes_in(directory: &Path) -> io::Result<bool> {
    Ok(!REMOTE.contains(&magic(&statfs(directory)?)))
}

/// Seconds and nanoseconds at which a file in a directory was created; `None` if the file system does not record it.
pub fn created(directory: impl AsFd, name: impl Arg) -> Option<(i64, u32)> {
    let stat = statx(directory, name, AtFlags::empty(), StatxFlags::BTIME).ok()?;
    let is_known = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    is_known.then_some((stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec))
}

/// The time of the clock that file systems use for changes.
pub fn now() -> Timespec {
    clock_gettime(ClockId::RealtimeCoarse)
}

fn magic_of(file: impl AsFd) -> Option<u64> {
    Some(magic(&fstatfs(file).ok()?))
}

fn magic(status: &StatFs) -> u64 {
    #[allow(clippy::unnecessary_cast, reason = "the type differs between architectures")]
    let magic = status.f_type as u64;
    magic
}
