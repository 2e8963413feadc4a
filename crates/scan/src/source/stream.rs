//! A stream: standard input, a pipe, or any other input that can only be read sequentially.
//!
//! Any idle worker reads the next block and then processes it while another worker reads on. So one worker at a time
//! reads, all of them process, and no block moves from the cache of one core to that of another.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use finecomb_meter::Phase;
use memchr::{memchr_iter, memrchr};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::cut::{ensure_len, retry};
use super::{LONG_LINE, TextBlock};
use crate::block::Source;
use crate::options::{Bounds, MAX_BLOCK_SIZE};
use crate::problem::{ProblemKind, Problems};
use crate::stop::Stop;

/// Requested capacity of a pipe, in bytes: the maximum without privileges. With the default of 64 KiB, writer and
/// reader wait for each other more often.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 1 << 20;

/// Blocks that are decoded at a time. Another worker takes about 50 µs to wake up and decode on. With a single block it
/// would come too late: the first worker has processed its block and is back by then.
const DECODED_BLOCKS: usize = 8;

/// Origin of the bytes of a stream.
pub(crate) enum Origin {
    File(File),
    /// Bytes decoded from those of a file.
    Decoded(Box<dyn Read + Send>),
}

/// A stream and its position.
pub(crate) struct Stream {
    pub(crate) source: Source,
    origin: Origin,
    pub(crate) bounds: Bounds,
    /// Bytes read past the last whole line.
    tail: Vec<u8>,
    /// Offset of `tail` in the stream, in bytes.
    offset: u64,
    line: u64,
    /// Set while the rest of an overlong line is being dropped.
    discarding: bool,
    /// Set if `tail` begins within a long line that NULs split.
    in_long_line: bool,
    ended: bool,
    /// Interrupts reads that wait for data.
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
    /// Creates a stream. `start` holds the bytes read so far; `stop` interrupts reads that wait for data.
    pub(crate) fn new(
        source: Source,
        origin: Origin,
        start: Vec<u8>,
        bounds: Bounds,
        stop: Option<Arc<Stop>>,
    ) -> Self {
        #[cfg(target_os = "linux")]
        if let Origin::File(file) = &origin {
            // Fails for anything but a pipe, and if the user's pipes exceed the system's limit. Both are harmless.
            let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_SIZE);
        }
        let factor = if matches!(origin, Origin::Decoded(_)) { DECODED_BLOCKS } else { 1 };
        let bounds = Bounds { block_size: (factor * bounds.block_size).min(MAX_BLOCK_SIZE), ..bounds };
        Self {
            source,
            origin,
            bounds,
            tail: start,
            offset: 0,
            line: 1,
            discarding: false,
            in_long_line: false,
            ended: false,
            stop,
        }
    }

    /// Phase of the next read.
    pub(crate) fn phase(&self) -> Phase {
        match self.origin {
            Origin::File(_) => Phase::Read,
            Origin::Decoded(_) => Phase::Decompress,
        }
    }

    /// Returns `true` if its bytes are decoded, so that their number is not known in advance.
    pub(crate) fn is_decoded(&self) -> bool {
        matches!(self.origin, Origin::Decoded(_))
    }

    /// Reads the next whole lines into `buffer`: a full block, or the rest of the stream. Returns `None` at the end. A
    /// last line over the limit may be truncated past the limit. If `eager`, returns whole lines as soon as there are
    /// any rather than waiting for a full block.
    pub(crate) fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        eager: bool,
        problems: &mut Problems,
    ) -> Option<TextBlock> {
        let block_size = self.bounds.block_size;
        let mut wanted = block_size.max(self.tail.len() + 1);
        ensure_len(buffer, wanted, block_size);
        buffer[..self.tail.len()].copy_from_slice(&self.tail);
        let mut filled = self.tail.len();
        self.tail.clear();
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
            let prefix = if self.in_long_line { LONG_LINE } else { searched.min(LONG_LINE) };
            if let Some(end) = self.bounds.last_end(&buffer[searched..filled], prefix) {
                return self.emit(buffer, searched + end + 1, filled);
            }
            if filled > self.bounds.max_line {
                self.discarding = true;
                return self.emit(buffer, filled, filled);
            }
            searched = filled;
            wanted = (2 * filled).clamp(block_size, self.bounds.max_line.max(block_size) + 1);
            ensure_len(buffer, wanted, block_size);
        }
    }

    /// Reads until `buffer` is full or the stream ends; if `eager`, until it holds a whole line and a read would block.
    /// Returns the filled length.
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
                // The last line is not complete.
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

    /// Returns `true` if a read would block.
    fn is_idle(&self) -> bool {
        let Origin::File(file) = &self.origin else { return false };
        let mut waiting = [PollFd::new(file, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut waiting, Some(&now)).is_ok_and(|ready| ready == 0)
    }

    /// Drops the rest of an overlong line from the front of the buffer, and returns the remaining length.
    fn discard(&mut self, buffer: &mut [u8], filled: usize) -> usize {
        // An overlong line is a long line.
        let dropped = match self.bounds.first_end(&buffer[..filled], LONG_LINE) {
            Some(end) => {
                self.discarding = false;
                self.line += 1;
                self.in_long_line = self.bounds.prefix_after(buffer[end]) > 0;
                end + 1
            }
            None => filled,
        };
        self.offset += dropped as u64;
        buffer.copy_within(dropped..filled, 0);
        filled - dropped
    }

    /// Returns the first `cut` bytes of the buffer as a block, and keeps those up to `filled`.
    fn emit(&mut self, buffer: &[u8], cut: usize, filled: usize) -> Option<TextBlock> {
        let (first_line, in_long_line) = (Some(self.line), self.in_long_line);
        let block = TextBlock { range: 0..cut, offset: self.offset, first_line, in_long_line };
        if cut > 0 {
            self.in_long_line = self.bounds.prefix_after(buffer[cut - 1]) > 0;
        }
        self.tail.extend_from_slice(&buffer[cut..filled]);
        self.offset += cut as u64;
        self.line += memchr_iter(self.bounds.line_end, &buffer[..cut]).count() as u64;
        (cut > 0).then_some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ScanOptions;

    #[test]
    fn only_the_rest_of_an_overlong_line_is_dropped() {
        let text = b"one\nan overlong line of many blocks\ntwo\nthree";
        let bounds = ScanOptions { block_size: 1, max_line: 10, ..ScanOptions::default() }.bounds();
        let origin = Origin::Decoded(Box::new(&text[..]));
        let mut stream = Stream::new(Source::named(0, None), origin, Vec::new(), bounds, None);
        let (mut buffer, mut problems) = (Vec::new(), Problems::default());
        let mut blocks = Vec::new();
        while let Some(block) = stream.read(&mut buffer, false, &mut problems) {
            let bytes = String::from_utf8_lossy(&buffer[block.range]).into_owned();
            blocks.push((block.offset, block.first_line, bytes));
        }
        let beginning = "an overlong".to_owned();
        assert_eq!(blocks[..2], [(0, Some(1), "one\n".to_owned()), (4, Some(2), beginning)]);
        let rest: String = blocks[2..].iter().map(|(.., bytes)| bytes.as_str()).collect();
        assert_eq!((blocks[2].0, blocks[2].1, rest.as_str()), (36, Some(3), "two\nthree"));
        assert!(problems.is_empty());
    }
}
