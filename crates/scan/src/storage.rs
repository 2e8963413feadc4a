//! Whether the work waits for storage, so that more workers than processors are worth having.

use std::fs;
use std::time::{Duration, Instant};

/// How often the kernel is asked: it takes about ten microseconds.
const EVERY: Duration = Duration::from_millis(5);

/// So many bytes from storage between two times show that files are not in memory. A program that is started for the
/// first time reads some itself.
const MUCH: u64 = 256 << 10;

/// Watches how much this process reads from storage.
pub(crate) struct Storage {
    asked: Instant,
    /// Bytes at that time; none if the system does not say.
    bytes: Option<u64>,
}

impl Storage {
    pub(crate) fn watch() -> Self {
        Self { asked: Instant::now(), bytes: bytes_from_storage() }
    }

    /// Whether much has been read lately. Mostly says no without looking.
    pub(crate) fn is_busy(&mut self) -> bool {
        let Some(before) = self.bytes else { return false };
        if self.asked.elapsed() < EVERY {
            return false;
        }
        self.asked = Instant::now();
        self.bytes = bytes_from_storage();
        self.bytes.is_some_and(|now| now >= before + MUCH)
    }
}

/// How many bytes this process has had the kernel fetch from storage (see proc_pid_io(5)).
fn bytes_from_storage() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok())
}
