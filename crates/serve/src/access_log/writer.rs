//! Writes the queued lines to the target, which may be full, closed or blocked.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use finecomb_sys::io_reason;
use finecomb_sys::locks::unpoisoned;
use finecomb_sys::units::counted;
use rustix::event::{PollFd, PollFlags, poll};

use super::{DELAY, LogQueue, LogTarget, Shared, WRITE_SIZE, line};

/// Writer of the queued lines.
pub(super) struct LogWriter {
    target: LogTarget,
    file: File,
    /// Rest of a line whose beginning was written before the target failed.
    rest: Vec<u8>,
    shared: Arc<Shared>,
}

/// Lines and commands taken from the queue.
struct LogBatch {
    lines: Vec<u8>,
    reopen: bool,
    /// Number of lines dropped before the batch was taken.
    dropped: u64,
}

impl LogQueue {
    /// Takes everything. `buffer` is reused for the following lines.
    fn take(&mut self, mut buffer: Vec<u8>) -> LogBatch {
        buffer.clear();
        let lines = mem::replace(&mut self.lines, buffer);
        self.taken = line::count(&lines);
        LogBatch { lines, reopen: mem::take(&mut self.reopen), dropped: self.dropped }
    }

    /// Returns `true` if there is nothing to do.
    fn is_idle(&self) -> bool {
        self.lines.is_empty() && !self.reopen && !self.close
    }

    /// Returns `true` if the writer may wait for more lines.
    fn can_wait(&self) -> bool {
        self.lines.len() < WRITE_SIZE && !self.reopen && !self.close
    }
}

impl LogWriter {
    /// Opens the target.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(super) fn open(target: LogTarget, shared: Arc<Shared>) -> io::Result<Self> {
        Ok(Self { file: target.open()?, target, rest: Vec::new(), shared })
    }

    /// Writes lines until the log is closed.
    pub(super) fn run(mut self) {
        let mut buffer = Vec::new();
        loop {
            let batch = self.wait(buffer);
            buffer = self.process(batch);
            let mut queue = self.shared.lock();
            if queue.close && queue.lines.is_empty() {
                queue.dropped += u64::from(!self.rest.is_empty());
                queue.is_closed = true;
                self.shared.closed.notify_all();
                return;
            }
        }
    }

    /// Writes the lines that are queued now.
    pub(super) fn write_queued(&mut self) {
        let batch = self.shared.lock().take(Vec::new());
        self.process(batch);
    }

    /// Waits for a line, and then up to [`DELAY`] for more.
    fn wait(&self, buffer: Vec<u8>) -> LogBatch {
        let Shared { changed, .. } = &*self.shared;
        let queue = changed.wait_while(self.shared.lock(), |queue| queue.is_idle());
        let queue = unpoisoned(queue);
        let waited = changed.wait_timeout_while(queue, DELAY, |queue| queue.can_wait());
        unpoisoned(waited).0.take(buffer)
    }

    /// Writes a batch, and returns its buffer.
    fn process(&mut self, batch: LogBatch) -> Vec<u8> {
        let LogBatch { mut lines, reopen, dropped } = batch;
        if !self.rest.is_empty() {
            lines.splice(..0, self.rest.drain(..));
        }
        if !lines.is_empty() {
            self.write(&lines, dropped);
        }
        if reopen {
            self.reopen();
        }
        lines
    }

    /// Writes lines. After an error, unwritten lines are dropped, but the rest of a partly written line is kept.
    fn write(&mut self, lines: &[u8], dropped: u64) {
        let (written, result) = write_all(&mut self.file, lines);
        let Err(error) = result else { return self.recover(dropped) };
        let (rest, lost) = split_unwritten(lines, written);
        self.rest = rest.to_vec();
        let message =
            || format!("{}: cannot write the access log: {}; dropping lines", self.target, io_reason(&error));
        let mut queue = self.shared.lock();
        queue.taken = 0;
        self.shared.drop_lines(queue, line::count(lost), message);
    }

    /// Reports that lines are no longer dropped, if none was dropped during the last write.
    fn recover(&self, dropped: u64) {
        let mut queue = self.shared.lock();
        queue.taken = 0;
        if queue.is_dropping && queue.dropped == dropped {
            (queue.is_dropping, queue.dropped) = (false, 0);
            drop(queue);
            let lines = counted(dropped, "line");
            (self.shared.on_message)(&format!("resumed writing the access log; dropped {lines}"));
        }
    }

    fn reopen(&mut self) {
        match self.target.open() {
            Ok(file) => {
                self.file = file;
                self.rest.clear();
            }
            Err(error) => (self.shared.on_message)(&format!(
                "{}: cannot reopen the access log: {}; still writing to the previous one",
                self.target,
                io_reason(&error)
            )),
        }
    }
}

/// Splits the unwritten bytes into the rest of a partly written line and the remaining lines.
fn split_unwritten(lines: &[u8], written: usize) -> (&[u8], &[u8]) {
    let (written, unwritten) = lines.split_at(written);
    if written.last().is_none_or(|&last| last == b'\n') {
        return (&[], unwritten);
    }
    let end = unwritten.iter().position(|&byte| byte == b'\n').map_or(unwritten.len(), |at| at + 1);
    unwritten.split_at(end)
}

/// Writes all bytes, or as many as the target takes before it fails. Returns their number, and the error.
fn write_all(file: &mut File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(number) => written += number,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Another process that shares standard output may have made it non-blocking. This thread may block.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let _ = poll(&mut [PollFd::new(file, PollFlags::OUT)], None);
            }
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The target may fail after any number of bytes; once the rest is written, it has whole lines only.
        #[test]
        fn no_line_is_written_in_part(lines in prop::collection::vec("[a-z]{0,5}", 0..8), at in any::<prop::sample::Index>()) {
            let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let written = at.index(lines.len() + 1);
            let (rest, lost) = split_unwritten(lines.as_bytes(), written);
            let kept = [&lines.as_bytes()[..written], rest].concat();
            prop_assert_eq!(&[&kept, lost].concat(), lines.as_bytes());
            prop_assert!(kept.is_empty() || kept.ends_with(b"\n"));
            prop_assert!(!rest[..rest.len().saturating_sub(1)].contains(&b'\n'), "at most one line");
            prop_assert_eq!(rest.is_empty(), written == 0 || lines.as_bytes()[written - 1] == b'\n');
        }
    }

    #[test]
    fn lines_wait_for_more_unless_there_are_many_or_a_command_is_pending() {
        let queue = |bytes, reopen, close| LogQueue {
            lines: vec![b'x'; bytes],
            reopen,
            close,
            ..LogQueue::default()
        };
        assert!(queue(1, false, false).can_wait());
        assert!(queue(WRITE_SIZE - 1, false, false).can_wait());
        assert!(!queue(WRITE_SIZE, false, false).can_wait());
        assert!(!queue(1, true, false).can_wait());
        assert!(!queue(1, false, true).can_wait());
    }

    #[test]
    fn the_writer_sleeps_until_there_is_something_to_do() {
        let queue = |lines: &[u8], reopen, close| LogQueue {
            lines: lines.to_vec(),
            reopen,
            close,
            ..LogQueue::default()
        };
        assert!(queue(b"", false, false).is_idle());
        assert!(!queue(b"x\n", false, false).is_idle());
        assert!(!queue(b"", true, false).is_idle());
        assert!(!queue(b"", false, true).is_idle());
    }
}
