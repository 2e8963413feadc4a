//! A stream: standard input, a pipe, or whatever else can only be read from front to back.
//!
//! Any free worker reads the next block and then works on it, while the next one reads on. So the reading is done by
//! one worker at a time, the work by all of them, and no block moves from the cache of one core to that of another.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use finecomb_meter::Phase;
use memchr::{memchr_iter, memrchr};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::cut::{provide, retry};
use super::{LONG_LINE, TextBlock};
use crate::block::Source;
use crate::options::{Bounds, MAX_BLOCK_SIZE};
use crate::problem::{ProblemKind, Problems};
use crate::stop::Stop;

/// What the kernel is asked to hold of a pipe, in bytes: the most that it gives without privilege. With its usual
/// 64 KiB, writer and reader wait for each other more often.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 1 << 20;

/// Blocks that are decoded at a time. Another thread takes 50 microseconds to wake up and decode on. Of a single block it would
/// come too late: whoever decoded it has worked on it and is back by then.
const DECODED_BLOCKS: usize = 8;

/// What a stream is read from.
pub(crate) enum Origin {
    File(File),
    /// Bytes that are made from those of a file.
    Decoded(Box<dyn Read + Send>),
}

/// A stream and how far it has been read.
pub(crate) struct Stream {
    pub(crate) source: Source,
    origin: Origin,
    pub(crate) bounds: Bounds,
    /// What was read behind the last whole line.
    carry: Vec<u8>,
    /// Where `carry` stands in the stream.
    offset: u64,
    line: u64,
    /// Whether the rest of a line that is too long is still to come.
    discarding: bool,
    /// Whether `carry` begins within a long line that NULs cut into several.
    in_long_line: bool,
    ended: bool,
    /// Ends the waiting for more.
    stop: Option<Arc<Stop>>,
}

impl Read for Origin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Decoded(contents) => contents.read(buffer),
        }
    }
}

impl Stream {
    /// A stream. `start` is what has been read of it before; `stop` ends the waiting for more.
    pub(crate) fn new(
        source: Source,
        origin: Origin,
        start: Vec<u8>,
        bounds: Bounds,
        stop: Option<Arc<Stop>>,
    ) -> Self {
        #[cfg(target_os = "linux")]
        if let Origin::File(file) = &origin {
            // Anything but a pipe refuses, and so does the kernel when the user holds too much in pipes: both are fine.
            let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_SIZE);
        }
        let factor = if matches!(origin, Origin::Decoded(_)) { DECODED_BLOCKS } else { 1 };
        let bounds = Bounds { block_size: (factor * bounds.block_size).min(MAX_BLOCK_SIZE), ..bounds };
        Self {
            source,
            origin,
            bounds,
            carry: start,
            offset: 0,
            line: 1,
            discarding: false,
            in_long_line: false,
            ended: false,
            stop,
        }
    }

    /// The phase that reading on belongs to.
    pub(crate) fn phase(&self) -> Phase {
        match self.origin {
            Origin::File(_) => Phase::Read,
            Origin::Decoded(_) => Phase::Decompress,
        }
    }

    /// Whether its bytes are made from others, so that their number is not known before.
    pub(crate) fn is_decoded(&self) -> bool {
        matches!(self.origin, Origin::Decoded(_))
    }

    /// Reads the next whole lines into `buffer`: a block's worth, or the rest of the stream. None at its end.
    /// A last line that is over the limit may be cut short behind the limit. Who is `eager` has whole lines as soon as
    /// there are any, rather than waiting for a block's worth of them.
    pub(crate) fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        eager: bool,
        problems: &mut Problems,
    ) -> Option<TextBlock> {
        let block_size = self.bounds.block_size;
        let mut wanted = block_size.max(self.carry.len() + 1);
        provide(buffer, wanted, block_size);
        buffer[..self.carry.len()].copy_from_slice(&self.carry);
        let mut filled = self.carry.len();
        self.carry.clear();
        let mut searched = 0;
        loop {
            filled = self.fill(&mut buffer[..wanted], filled, eager, problems);
            if self.discarding {
                filled = self.discard(buffer, filled);
                if self.discarding && self.ended {
                    return None;
                }
                if self.discarding || !self.ended && filled < wanted {
                    continue;
                }
            }
            if self.ended {
                return self.emit(buffer, filled, filled);
            }
            let since = if self.in_long_line { LONG_LINE } else { searched.min(LONG_LINE) };
            if let Some(end) = self.bounds.last_end(&buffer[searched..filled], since) {
                return self.emit(buffer, searched + end + 1, filled);
            }
            if filled > self.bounds.max_line {
                self.discarding = true;
                return self.emit(buffer, filled, filled);
            }
            searched = filled;
            wanted = (2 * filled).clamp(block_size, self.bounds.max_line.max(block_size) + 1);
            provide(buffer, wanted, block_size);
        }
    }

    /// Reads until `buffer` is filled or the stream ends, or, if `eager`, until there is a whole line in it and nothing
    /// more to read at the moment. Gives how far it is filled.
    fn fill(&mut self, buffer: &mut [u8], mut filled: usize, eager: bool, problems: &mut Problems) -> usize {
        while filled < buffer.len() && !self.ended {
            if eager
                && filled > 0
                && self.is_idle()
                && memrchr(self.bounds.line_end, &buffer[..filled]).is_some()
            {
                break;
            }
            if self.is_stopped() {
                self.ended = true;
                // The line that is on its way is not a whole one.
                return memrchr(self.bounds.line_end, &buffer[..filled]).map_or(0, |line_feed| line_feed + 1);
            }
            match retry(|| self.origin.read(&mut buffer[filled..])) {
                Ok(0) => self.ended = true,
                Ok(more) => filled += more,
                Err(error) => {
                    let offset = self.offset + filled as u64;
                    let kind = match self.origin {
                        Origin::File(_) => ProblemKind::Read { offset, error },
                        Origin::Decoded(_) => ProblemKind::Decode { error },
                    };
                    problems.add(&self.source, kind);
                    self.ended = true;
                }
            }
        }
        filled
    }

    fn is_stopped(&self) -> bool {
        let Some(stop) = &self.stop else { return false };
        match &self.origin {
            Origin::File(file) => stop.wait_for(file),
            Origin::Decoded(_) => stop.is_raised(),
        }
    }

    /// Whether there is nothing to read at the moment, so that reading on would wait.
    fn is_idle(&self) -> bool {
        let Origin::File(file) = &self.origin else { return false };
        let mut waiting = [PollFd::new(file, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut waiting, Some(&now)).is_ok_and(|ready| ready == 0)
    }

    /// Drops the rest of a line that is too long from the front of the buffer and gives how much is left.
    fn discard(&mut self, buffer: &mut [u8], filled: usize) -> usize {
        // A line that is too long is a long line.
        let dropped = match self.bounds.first_end(&buffer[..filled], LONG_LINE) {
            Some(end) => {
                self.discarding = false;
                self.line += 1;
                self.in_long_line = self.bounds.since(buffer[end]) > 0;
                end + 1
            }
            None => filled,
        };
        self.offset += dropped as u64;
        buffer.copy_within(dropped..filled, 0);
        filled - dropped
    }

    /// Hands out the first `cut` bytes of the buffer and keeps those up to `filled`.
    fn emit(&mut self, buffer: &[u8], cut: usize, filled: usize) -> Option<TextBlock> {
        let (first_line, in_long_line) = (Some(self.line), self.in_long_line);
        let block = TextBlock { range: 0..cut, offset: self.offset, first_line, in_long_line };
        if cut > 0 {
            self.in_long_line = self.bounds.since(buffer[cut - 1]) > 0;
        }
        self.carry.extend_from_slice(&buffer[cut..filled]);
        self.offset += cut as u64;
        self.line += memchr_iter(self.bounds.line_end, &buffer[..cut]).count() as u64;
        (cut > 0).then_some(block)
    }
}
