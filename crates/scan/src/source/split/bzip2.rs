//! The blocks of bzip2, which begin at arbitrary bits.
//!
//! A block begins with a fixed signature of 48 bits, and ends where the next block or the end of the stream begins,
//! which has a signature of its own. Each block is turned into a stream: a header, its bits, and an end with the
//! checksum of that single block. The format has no specification but its program; see Joe Tsai, "bzip2: format
//! specification" (2016).

use std::fs::File;
use std::sync::Arc;

use super::{CompressedPart, Restart, append};

const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;
const MAGIC_BITS: u64 = 48;
const MAGIC: u64 = (1 << MAGIC_BITS) - 1;
const CRC_BITS: u64 = 32;

/// Length of the header of a stream, in bytes.
const HEADER: u64 = 4;

/// Size of a read, in bytes.
const STEP: usize = if cfg!(test) { 1000 } else { 512 << 10 };

/// More than the length of any compressed block, in bytes: a block holds at most 900,000 bytes of text.
const MAX_BLOCK: usize = 4 << 20;

/// A file split into its blocks.
pub(crate) struct Blocks {
    file: Arc<File>,
    size: u64,
    /// Bytes read from `offset` on.
    pending: Vec<u8>,
    offset: u64,
    /// Bit at which the next block begins, relative to `pending`.
    bit: u64,
    /// Compression level in the header of the current stream, as a digit.
    level: u8,
    /// Checksum of the current stream so far.
    checksum: u32,
    done: bool,
}

/// The element that follows a block.
enum NextElement {
    /// Another block, at this bit.
    Block(u64),
    /// The end of the stream, at this bit.
    End(u64),
}

impl Blocks {
    /// A splitter for a file of `size` bytes; `None` if its first stream has fewer than two blocks.
    pub(super) fn new(file: Arc<File>, size: u64) -> Option<Self> {
        let (pending, offset) = (Vec::new(), 0);
        let mut blocks = Self { file, size, pending, offset, bit: 0, level: b'9', checksum: 0, done: false };
        blocks.begin_stream(0)?;
        matches!(blocks.find_next()?, NextElement::Block(_)).then_some(blocks)
    }

    pub(super) fn next(&mut self) -> CompressedPart {
        if self.done {
            return CompressedPart::End;
        }
        self.next_block().unwrap_or_else(|| {
            self.done = true;
            CompressedPart::Stream(Restart::Beginning)
        })
    }

    /// Returns the next block; `None` if the data do not continue as expected.
    fn next_block(&mut self) -> Option<CompressedPart> {
        self.drop_consumed();
        let checksum = self.bits(self.bit + MAGIC_BITS, CRC_BITS)? as u32;
        self.checksum = self.checksum.rotate_left(1) ^ checksum;
        let (start, level) = (self.bit, self.level);
        let end = match self.find_next()? {
            NextElement::Block(at) => {
                self.bit = at;
                at
            }
            NextElement::End(at) => {
                self.end_stream(at)?;
                at
            }
        };
        let bytes = self.as_stream(start..end, level, checksum);
        Some(CompressedPart::Whole { bytes, restart: Restart::Beginning, is_last: self.done })
    }

    /// Reads the header of a stream at this pending byte, and checks the beginning of its first block.
    fn begin_stream(&mut self, at: usize) -> Option<()> {
        while self.pending.len() < at + 10 {
            self.read_on()?;
        }
        let [b'B', b'Z', b'h', level @ b'1'..=b'9'] = self.pending[at..at + HEADER as usize] else {
            return None;
        };
        self.level = level;
        self.checksum = 0;
        self.bit = 8 * (at as u64 + HEADER);
        (self.bits(self.bit, MAGIC_BITS)? == BLOCK).then_some(())
    }

    /// Checks the end of a stream at this bit, and moves on to the next stream if there is one.
    fn end_stream(&mut self, at: u64) -> Option<()> {
        let checksum = self.bits(at + MAGIC_BITS, CRC_BITS)? as u32;
        if checksum != self.checksum {
            return None;
        }
        let next = (at + MAGIC_BITS + CRC_BITS).div_ceil(8);
        if self.offset + next == self.size {
            self.done = true;
            return Some(());
        }
        self.begin_stream(next as usize)
    }

    /// Finds the end of the block that begins at `bit`.
    fn find_next(&mut self) -> Option<NextElement> {
        let start = self.bit + MAGIC_BITS + CRC_BITS;
        let mut byte = start.div_ceil(8) as usize;
        let mut window = 0_u64;
        loop {
            while byte < self.pending.len() {
                // The last eight positions at which 48 bits can end.
                window = window << 8 | u64::from(self.pending[byte]);
                byte += 1;
                for back in (0..8).rev() {
                    let magic = window >> back & MAGIC;
                    if magic == BLOCK || magic == END {
                        let end = 8 * byte as u64 - back;
                        if end >= start + MAGIC_BITS {
                            let at = end - MAGIC_BITS;
                            return Some(if magic == BLOCK {
                                NextElement::Block(at)
                            } else {
                                NextElement::End(at)
                            });
                        }
                    }
                }
            }
            if self.pending.len() > self.bit as usize / 8 + MAX_BLOCK {
                return None;
            }
            self.read_on()?;
        }
    }

    /// Reads more of the file. Returns `None` at its end.
    fn read_on(&mut self) -> Option<()> {
        let read = self.offset + self.pending.len() as u64;
        (read < self.size && append(&self.file, &mut self.pending, read, self.size, STEP)).then_some(())
    }

    /// Drops the pending bytes before the next block once there are many.
    fn drop_consumed(&mut self) {
        let read = (self.bit / 8) as usize;
        if read >= STEP {
            self.pending.drain(..read);
            self.offset += read as u64;
            self.bit -= 8 * read as u64;
        }
    }

    /// Returns up to 56 pending bits, from `start` on.
    fn bits(&mut self, start: u64, count: u64) -> Option<u64> {
        let first = (start / 8) as usize;
        while self.pending.len() < first + 8 {
            if self.read_on().is_none() {
                break;
            }
        }
        let mut eight = [0; 8];
        let known = self.pending.get(first..)?;
        let length = known.len().min(8);
        if (8 * length as u64) < start % 8 + count {
            return None;
        }
        eight[..length].copy_from_slice(&known[..length]);
        Some(u64::from_be_bytes(eight) << (start % 8) >> (64 - count))
    }

    /// Turns the pending bits of a block into a stream of its own.
    fn as_stream(&self, block: std::ops::Range<u64>, level: u8, checksum: u32) -> Vec<u8> {
        let mut stream = BitWriter { bytes: vec![b'B', b'Z', b'h', level], last: 0, used: 0 };
        let (first, shift) = ((block.start / 8) as usize, (block.start % 8) as u32);
        let whole = ((block.end - block.start) / 8) as usize;
        let bytes = &self.pending[first..];
        let shifted = |at: usize| {
            let next = bytes.get(at + 1).copied().unwrap_or(0);
            ((u16::from(bytes[at]) << 8 | u16::from(next)) << shift >> 8) as u8
        };
        stream.bytes.extend((0..whole).map(shifted));
        let rest = (block.end - block.start) % 8;
        if rest > 0 {
            stream.put(u64::from(shifted(whole)) >> (8 - rest), rest);
        }
        stream.put(END, MAGIC_BITS);
        stream.put(checksum.into(), CRC_BITS);
        stream.finish()
    }
}

/// Writes bytes bit by bit, the most significant bit first.
struct BitWriter {
    bytes: Vec<u8>,
    last: u8,
    used: u32,
}

impl BitWriter {
    /// Appends the lowest `count` bits.
    fn put(&mut self, bits: u64, count: u64) {
        for place in (0..count).rev() {
            self.last = self.last << 1 | (bits >> place & 1) as u8;
            self.used += 1;
            if self.used == 8 {
                self.bytes.push(self.last);
                (self.last, self.used) = (0, 0);
            }
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.used > 0 {
            self.bytes.push(self.last << (8 - self.used));
        }
        self.bytes
    }
}
