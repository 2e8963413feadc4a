//! Decoders whose output before damage depends on the size of the reads.
//!
//! The library for xz notices only at the end of a call that a chunk is longer than its header says, and returns the
//! whole output of the byte after the chunk. The library for bzip2 loses the output of the call in which it notices
//! the damage. So both are called with the same windows of the text for any size of the reads.

use std::io::{self, Read};
use std::ops::Range;

/// Size of a window, in bytes. Up to this much of the text before the damage is lost for bzip2.
const WINDOW: usize = if cfg!(test) { 1000 } else { 64 << 10 };

/// Reads a text in windows of a fixed size, counted from the beginning of the text of the file.
pub(super) struct Windows<R> {
    input: R,
    /// Bytes of the window after the current position.
    room: usize,
    /// Text of the current window, if the reads are smaller.
    buffer: Vec<u8>,
    /// The part of `buffer` that has not been returned.
    pending: Range<usize>,
}

impl<R: Read> Windows<R> {
    /// A reader for the text that `input` decodes, which follows `before` bytes of text.
    pub(super) fn new(input: R, before: u64) -> Self {
        let room = WINDOW - (before % WINDOW as u64) as usize;
        Self { input, room, buffer: Vec::new(), pending: 0..0 }
    }

    /// Reads the rest of the window, or its beginning, and returns the number of bytes.
    fn fill(input: &mut R, room: &mut usize, output: &mut [u8]) -> io::Result<usize> {
        let got = input.read(&mut output[..*room])?;
        *room = if got == *room { WINDOW } else { *room - got };
        Ok(got)
    }
}

impl<R: Read> Read for Windows<R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if self.pending.is_empty() {
            if output.len() >= self.room {
                return Self::fill(&mut self.input, &mut self.room, output);
            }
            if output.is_empty() {
                return Ok(0);
            }
            self.buffer.resize(WINDOW, 0);
            self.pending = 0..Self::fill(&mut self.input, &mut self.room, &mut self.buffer)?;
        }
        let pending = &self.buffer[self.pending.clone()];
        let got = pending.len().min(output.len());
        output[..got].copy_from_slice(&pending[..got]);
        self.pending.start += got;
        Ok(got)
    }
}
