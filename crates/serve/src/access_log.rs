//! The access log, in the Combined Log Format, which `comb top` and other tools read.
//!
//! The target may block, for example a pipe without a reader, and requests must not wait for it. Lines are therefore queued, and a
//! separate thread writes them. The queue is bounded: a line that does not fit is dropped and counted.

mod line;
mod writer;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, stdout};
use std::mem;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::request::Parts;
use finecomb_sys::locks::{lock, unpoisoned};
use finecomb_sys::threads;
use finecomb_sys::units::counted;
use jiff::Timestamp;
use prometheus_client::metrics::counter::Counter;

use self::writer::LogWriter;

/// Maximum size of the queue in bytes: some forty thousand lines.
const CAPACITY: usize = 4 << 20;

/// Size of the queue in bytes from which lines are written at once.
const WRITE_SIZE: usize = 32 << 10;

/// Maximum time that lines wait for more lines, to be written together.
const DELAY: Duration = Duration::from_secs(1);

/// Destination of the access log.
#[derive(Clone, Debug)]
pub enum LogTarget {
    /// Standard output.
    Output,
    /// A file, to which lines are appended. It is reopened on SIGHUP, so that it can be rotated.
    File(PathBuf),
}

impl fmt::Display for LogTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output => formatter.write_str("standard output"),
            Self::File(path) => path.display().fmt(formatter),
        }
    }
}

impl LogTarget {
    fn open(&self) -> io::Result<File> {
        match self {
            // Uses a separate descriptor, as a blocked write would hold the lock of the standard library's output.
            Self::Output => Ok(stdout().as_fd().try_clone_to_owned()?.into()),
            Self::File(path) => OpenOptions::new().append(true).create(true).open(path),
        }
    }
}

/// An open log.
pub(crate) struct AccessLog {
    shared: Arc<Shared>,
    /// Writer, if the system refused to start a thread for it: the calling threads then write the log.
    writer: Option<Mutex<LogWriter>>,
}

/// State shared with the writer.
struct Shared {
    queue: Mutex<LogQueue>,
    /// Wakes the writer.
    changed: Condvar,
    /// Wakes the thread that closes the log.
    closed: Condvar,
    /// Total number of lines dropped.
    dropped: Counter,
    on_message: fn(&str),
}

/// Queued lines, and commands to the writer.
#[derive(Default)]
struct LogQueue {
    lines: Vec<u8>,
    /// Number of lines being written.
    taken: u64,
    /// Number of lines dropped since [`is_dropping`](Self::is_dropping) was set.
    dropped: u64,
    /// Whether lines are being dropped, which has been reported.
    is_dropping: bool,
    /// Whether the writer should reopen the target.
    reopen: bool,
    /// Whether the writer should end when all lines are written.
    close: bool,
    /// Whether the writer has ended.
    is_closed: bool,
}

impl AccessLog {
    /// Opens a log. Dropped lines are added to `dropped`.
    ///
    /// # Errors
    ///
    /// If the target cannot be opened.
    pub(crate) fn open(target: LogTarget, dropped: Counter, on_message: fn(&str)) -> io::Result<Self> {
        let (queue, changed, closed) = Default::default();
        let shared = Arc::new(Shared { queue, changed, closed, dropped, on_message });
        let writer = || LogWriter::open(target.clone(), Arc::clone(&shared));
        let on_thread = writer()?;
        let is_started = threads::spawn_detached(move || on_thread.run());
        let writer = if is_started { None } else { Some(Mutex::new(writer()?)) };
        Ok(Self { shared, writer })
    }

    /// Queues the line of a request that was answered with a body of `bytes` bytes. `request` is `None` if it could not be parsed.
    pub(crate) fn write(&self, peer: IpAddr, request: Option<&Parts>, status: StatusCode, bytes: u64) {
        if self.shared.push(&line::format(peer, request, status, bytes, Timestamp::now())) >= WRITE_SIZE {
            self.write_inline();
        }
    }

    /// Reopens the target after the lines that are queued now.
    pub(crate) fn reopen(&self) {
        self.shared.lock().reopen = true;
        self.shared.changed.notify_one();
        self.write_inline();
    }

    /// Writes the queued lines on the calling thread, if the log has no thread of its own.
    pub(crate) fn write_inline(&self) {
        if let Some(writer) = &self.writer {
            lock(writer).write_queued();
        }
    }

    /// Writes the queued lines and closes the log. If the target blocks for longer than `timeout`, the lines are dropped.
    pub(crate) fn close(&self, timeout: Duration) {
        self.write_inline();
        let Shared { changed, closed, on_message, .. } = &*self.shared;
        let mut queue = self.shared.lock();
        if self.writer.is_none() {
            queue.close = true;
            changed.notify_one();
            let waited = closed.wait_timeout_while(queue, timeout, |queue| !queue.is_closed);
            queue = unpoisoned(waited).0;
        }
        let unwritten = if queue.is_closed { 0 } else { queue.taken + line::count(&queue.lines) };
        let dropped = queue.dropped + unwritten;
        drop(queue);
        if dropped > 0 {
            on_message(&format!("access log incomplete: dropped {}", counted(dropped, "line")));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, LogQueue> {
        // A panic while the lock is held leaves the queue usable.
        lock(&self.queue)
    }

    /// Queues a line, or drops it if the queue is full. Returns the number of bytes queued.
    fn push(&self, line: &str) -> usize {
        let mut queue = self.lock();
        let before = queue.lines.len();
        let after = before + line.len();
        if after > CAPACITY {
            self.drop_lines(queue, 1, || "access log blocked; dropping lines".to_owned());
            return before;
        }
        queue.lines.extend_from_slice(line.as_bytes());
        drop(queue);
        // The writer sleeps until there is a line, and then until there are enough for a write.
        if before == 0 || (before < WRITE_SIZE && after >= WRITE_SIZE) {
            self.changed.notify_one();
        }
        after
    }

    /// Counts dropped lines, and reports the first of them.
    fn drop_lines(&self, mut queue: MutexGuard<'_, LogQueue>, number: u64, message: impl FnOnce() -> String) {
        queue.dropped += number;
        let is_first = !mem::replace(&mut queue.is_dropping, true);
        drop(queue);
        self.dropped.inc_by(number);
        if is_first {
            (self.on_message)(&message());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn without_a_writer_thread_the_callers_write_the_log() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("access.log");
        let (queue, changed, closed) = Default::default();
        let shared =
            Arc::new(Shared { queue, changed, closed, dropped: Counter::default(), on_message: |_| {} });
        let writer = LogWriter::open(LogTarget::File(path.clone()), Arc::clone(&shared)).expect("a file");
        let log = AccessLog { shared, writer: Some(Mutex::new(writer)) };
        let write = |number| {
            (0..number).for_each(|_| log.write(Ipv4Addr::LOCALHOST.into(), None, StatusCode::OK, 1));
        };
        let lines = || fs::read(&path).map_or(0, |log| line::count(&log));
        // A single line waits for more.
        write(1);
        assert_eq!(lines(), 0);
        log.write_inline();
        assert_eq!(lines(), 1);
        write(WRITE_SIZE);
        assert!(lines() > 1, "a full queue is written at once");
        // After a rotation, the lines queued before are in the old file.
        let before = directory.path().join("access.log.1");
        fs::rename(&path, &before).expect("renamed");
        log.reopen();
        let old = fs::read(&before).expect("the old log");
        assert_eq!((line::count(&old), lines()), (1 + WRITE_SIZE as u64, 0));
        write(1);
        log.close(Duration::ZERO);
        assert_eq!(lines(), 1);
    }
}
