//! Properties of file systems: all unknown.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rustix::fs::{Mode, OFlags, openat};
use rustix::path::Arg;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Returns `false`: a file is read until a read returns nothing.
pub fn short_read_is_end(_file: impl AsFd) -> bool {
    false
}

/// Returns `false`: no time of a change proves anything, so that no index of a directory spares a file.
pub fn has_fine_clock(_file: impl AsFd) -> bool {
    false
}

/// Returns `false`: no change is reported.
pub fn reports_changes(_file: impl AsFd) -> bool {
    false
}

/// Returns `false`: no change is reported.
///
/// # Errors
/// Never.
pub fn reports_changes_in(_directory: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Seconds and nanoseconds at which a file in a directory was created; `None` if the file system does not record it, or the
/// file may not be read.
pub fn created(directory: impl AsFd, name: impl Arg) -> Option<(i64, u32)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(directory, name, flags, Mode::empty()).ok()?);
    let created = file.metadata().ok()?.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((created.as_secs().try_into().ok()?, created.subsec_nanos()))
}

/// The time of the clock that file systems use for changes.
pub fn now() -> Timespec {
    clock_gettime(ClockId::Realtime)
}
