//! The access log, in the Combined Log Format that `comb top` and others read.
//!
//! A log may block, as a pipe that nobody reads does, and requests must not wait for it. So lines are queued, and a thread of
//! the log's own writes them. The queue is bounded: a line that does not fit is dropped and counted.

mod line;
mod writer;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, stdout};
use std::mem;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use finecomb_sys::threads;
use hyper::StatusCode;
use hyper::http::request::Parts;
use jiff::Timestamp;

use self::writer::Writer;
use crate::metrics::Counter;

/// Limit on the bytes that wait to be written: some forty thousand lines.
const CAPACITY: usize = 4 << 20;

/// Bytes from which waiting lines are written at once.
const WRITE_SIZE: usize = 32 << 10;

/// Time that lines wait for others, to be written together.
const DELAY: Duration = Duration::from_secs(1);

/// Destination of the access log.
#[derive(Clone, Debug)]
pub enum LogTarget {
    /// Standard output.
    Output,
    /// A file, to which lines are appended. It is opened again on SIGHUP, so that it can be rotated.
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
            // A descriptor of the log's own: the standard library's output has a lock, which a blocked write would hold.
            Self::Output => Ok(stdout().as_fd().try_clone_to_owned()?.into()),
            Self::File(path) => OpenOptions::new().append(true).create(true).open(path),
        }
    }
}

/// An open log.
pub(crate) struct AccessLog {
    shared: Arc<Shared>,
    /// The writer, if the system refused it a thread: the log is then written by the threads that use it.
    writer: Option<Mutex<Writer>>,
}

/// State that the threads of the log share.
struct Shared {
    queue: Mutex<Queue>,
    /// Wakes the writer.
    changed: Condvar,
    /// Wakes the thread that closes the log.
    closed: Condvar,
    /// All lines that were ever dropped.
    dropped: Arc<Counter>,
    on_message: fn(&str),
}

/// Lines that wait to be written, and what else the writer is to do.
#[derive(Default)]
struct Queue {
    lines: Vec<u8>,
    /// Number of lines that are being written.
    taken: u64,
    /// Number of lines that were dropped since [`is_dropping`](Self::is_dropping) was set.
    dropped: u64,
    /// Whether lines are being dropped, which has been reported.
    is_dropping: bool,
    /// Whether the target is to be opened again.
    reopen: bool,
    /// Whether the writer is to end when all is written.
    close: bool,
    /// Whether it has.
    is_closed: bool,
}

impl AccessLog {
    /// Opens a log. Dropped lines are added to `dropped`.
    ///
    /// # Errors
    ///
    /// If the target cannot be opened.
    pub(crate) fn open(target: LogTarget, dropped: Arc<Counter>, on_message: fn(&str)) -> io::Result<Self> {
        let (queue, changed, closed) = Default::default();
        let shared = Arc::new(Shared { queue, changed, closed, dropped, on_message });
        let writer = || Writer::open(target.clone(), Arc::clone(&shared));
        let on_thread = writer()?;
        let is_started = threads::spawn_detached(move || on_thread.run());
        let writer = if is_started { None } else { Some(Mutex::new(writer()?)) };
        Ok(Self { shared, writer })
    }

    /// Queues the line of a request that was answered with a body of `bytes` bytes; of what could not be read as a request there
    /// are no parts.
    pub(crate) fn write(&self, peer: IpAddr, request: Option<&Parts>, status: StatusCode, bytes: usize) {
        if self.shared.push(&line::format(peer, request, status, bytes, Timestamp::now())) >= WRITE_SIZE {
            self.write_here();
        }
    }

    /// Opens the target again, after all lines that are queued now.
    pub(crate) fn reopen(&self) {
        self.shared.lock().reopen = true;
        self.shared.changed.notify_one();
        self.write_here();
    }

    /// Writes what is queued, if the log has no thread.
    pub(crate) fn write_here(&self) {
        if let Some(writer) = &self.writer {
            writer.lock().unwrap_or_else(PoisonError::into_inner).write_queued();
        }
    }

    /// Writes what is queued. If the log is blocked for `patience`, the lines are given up.
    pub(crate) fn close(&self, patience: Duration) {
        self.write_here();
        let Shared { changed, closed, on_message, .. } = &*self.shared;
        let mut queue = self.shared.lock();
        if self.writer.is_none() {
            queue.close = true;
            changed.notify_one();
            let waited = closed.wait_timeout_while(queue, patience, |queue| !queue.is_closed);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let unwritten = if queue.is_closed { 0 } else { queue.taken + line::count(&queue.lines) };
        let dropped = queue.dropped + unwritten;
        drop(queue);
        if dropped > 0 {
            on_message(&format!("access log incomplete: dropped {}", line::number(dropped)));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic while the lock is held would leave the queue usable.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
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
        // The writer sleeps until there is a line, and then until there are many.
        if before == 0 || (before < WRITE_SIZE && after >= WRITE_SIZE) {
            self.changed.notify_one();
        }
        after
    }

    /// Counts dropped lines, and reports the first.
    fn drop_lines(&self, mut queue: MutexGuard<'_, Queue>, number: u64, message: impl FnOnce() -> String) {
        queue.dropped += number;
        let is_first = !mem::replace(&mut queue.is_dropping, true);
        drop(queue);
        self.dropped.add(number);
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
    fn without_a_thread_the_log_is_written_by_those_who_use_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("access.log");
        let (queue, changed, closed) = Default::default();
        let shared = Arc::new(Shared { queue, changed, closed, dropped: Arc::default(), on_message: |_| {} });
        let writer = Writer::open(LogTarget::File(path.clone()), Arc::clone(&shared)).expect("a file");
        let log = AccessLog { shared, writer: Some(Mutex::new(writer)) };
        let write = |number| {
            (0..number).for_each(|_| log.write(Ipv4Addr::LOCALHOST.into(), None, StatusCode::OK, 1));
        };
        let lines = || fs::read(&path).map_or(0, |log| line::count(&log));
        // A line waits for others.
        write(1);
        assert_eq!(lines(), 0);
        log.write_here();
        assert_eq!(lines(), 1);
        write(WRITE_SIZE);
        assert!(lines() > 1, "so many lines are written at once");
        // After a rotation, what was queued is in the old file.
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
