//! The machine that a process runs on.

use std::time::Duration;

use rustix::system::uname;

/// Name of the kind of processor, which is all that a portable call returns.
pub fn processor() -> Option<String> {
    Some(uname().machine().to_string_lossy().into_owned())
}

/// Returns zero: how long the machine has been suspended is not known.
pub fn suspended() -> Duration {
    Duration::ZERO
}
