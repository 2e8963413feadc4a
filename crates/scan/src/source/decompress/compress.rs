//! Files of the program `compress` (`.Z`): codes of Lempel, Ziv and Welch. No library reads them.
//!
//! A file has two bytes of signature, a byte with the maximum length of codes in bits and a flag for codes that clear the table,
//! and the codes, least significant bit first. Codes come in groups of eight; where their length changes, and after a code that
//! clears the table, the rest of the group is padding. Nothing marks the end, so a truncated file is shorter, not damaged. Source: T. A. Welch,
//! "A Technique for High-Performance Data Compression", and ncompress for the padding.

use std::mem;

use super::format::DecompressError;
use super::member::{Decoder, StepResult};

const HEADER: usize = 3;

/// Length of the first codes, in bits.
const MIN_BITS: u32 = 9;
const MAX_BITS: u32 = 16;

/// Flags without a meaning.
const RESERVED: u8 = 0x60;

/// Code that clears the table, if the flag is set.
const CLEAR: u16 = 256;

/// Number of codes in a group.
const GROUP: u32 = 8;

/// Decoder of a file.
pub(super) struct Compress {
    header: Vec<u8>,
    /// The text of a code is that of its prefix and one more byte. Codes below 256 are bytes.
    prefixes: Vec<u16>,
    last_bytes: Vec<u8>,
    /// Number of codes in the table, including the bytes and the code that clears it.
    codes: usize,
    /// Length of the next code, in bits.
    length: u32,
    max_length: u32,
    clears: bool,
    /// Bits that are not yet part of a code.
    bits: u32,
    bit_count: u32,
    /// Codes read of the current group.
    in_group: u32,
    /// Bits of padding to skip.
    padding: u32,
    /// The code before, and the first byte of its text.
    previous: Option<(u16, u8)>,
    /// Text that did not fit into the output, last byte first.
    pending: Vec<u8>,
}

impl Compress {
    pub(super) fn new() -> Self {
        Self {
            header: Vec::with_capacity(HEADER),
            prefixes: Vec::new(),
            last_bytes: Vec::new(),
            codes: 0,
            length: MIN_BITS,
            max_length: MAX_BITS,
            clears: false,
            bits: 0,
            bit_count: 0,
            in_group: 0,
            padding: 0,
            previous: None,
            pending: Vec::new(),
        }
    }

    fn begin(&mut self) -> Result<(), DecompressError> {
        let flags = self.header[2];
        self.max_length = u32::from(flags & 0x1f);
        self.clears = flags & 0x80 != 0;
        if !(MIN_BITS..=MAX_BITS).contains(&self.max_length) || flags & RESERVED != 0 {
            return Err(DecompressError::Unsupported);
        }
        // Codes of 10 bits follow also in a file that says 9: gzip reads them so.
        self.max_length = self.max_length.max(MIN_BITS + 1);
        self.prefixes = vec![0; 1 << self.max_length];
        self.last_bytes = (0..1 << self.max_length).map(|code: usize| code as u8).collect();
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        self.codes = if self.clears { usize::from(CLEAR) + 1 } else { usize::from(CLEAR) };
        self.length = MIN_BITS;
        self.previous = None;
    }

    /// Skips the rest of a group of codes of this length.
    fn end_group(&mut self, length: u32) {
        if self.in_group > 0 {
            self.padding = (GROUP - mem::take(&mut self.in_group)) * length;
        }
    }

    /// Takes bits from the input until there is a code. Returns `None` if there are too few.
    fn next_code(&mut self, input: &mut impl Iterator<Item = u8>) -> Option<u16> {
        loop {
            let skipped = self.padding.min(self.bit_count);
            self.bits >>= skipped;
            self.bit_count -= skipped;
            self.padding -= skipped;
            if self.padding == 0 && self.bit_count >= self.length {
                break;
            }
            self.bits |= u32::from(input.next()?) << self.bit_count;
            self.bit_count += 8;
        }
        let code = self.bits & ((1 << self.length) - 1);
        self.bits >>= self.length;
        self.bit_count -= self.length;
        self.in_group = (self.in_group + 1) % GROUP;
        Some(code as u16)
    }

    /// Puts the text of a code into `pending`, and adds a code to the table.
    fn take(&mut self, code: u16) -> Result<(), DecompressError> {
        if self.clears && code == CLEAR {
            self.end_group(self.length);
            self.clear();
            return Ok(());
        }
        let mut at = code;
        match self.previous {
            None if code >= CLEAR => return Err(DecompressError::Damaged),
            // The code that is about to be added: the text before, and its first byte once more.
            Some((previous, first)) if usize::from(code) == self.codes => {
                self.pending.push(first);
                at = previous;
            }
            _ if usize::from(code) > self.codes => return Err(DecompressError::Damaged),
            _ => {}
        }
        while at >= CLEAR {
            self.pending.push(self.last_bytes[usize::from(at)]);
            at = self.prefixes[usize::from(at)];
        }
        let first = at as u8;
        self.pending.push(first);
        if let Some((previous, _)) = self.previous
            && self.codes < self.prefixes.len()
        {
            self.prefixes[self.codes] = previous;
            self.last_bytes[self.codes] = first;
            self.codes += 1;
        }
        self.previous = Some((code, first));
        if self.codes > (1 << self.length) - 1 && self.length < self.max_length {
            self.end_group(self.length);
            self.length += 1;
        }
        Ok(())
    }
}

impl Decoder for Compress {
    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> StepResult {
        let mut unread = input.iter().copied();
        let mut made = 0;
        let mut failure = None;
        while self.header.len() < HEADER
            && let Some(byte) = unread.next()
        {
            self.header.push(byte);
            if self.header.len() == HEADER {
                failure = self.begin().err();
            }
        }
        let is_begun = self.header.len() == HEADER;
        while is_begun && failure.is_none() {
            while made < output.len()
                && let Some(byte) = self.pending.pop()
            {
                output[made] = byte;
                made += 1;
            }
            if made == output.len() {
                break;
            }
            let Some(code) = self.next_code(&mut unread) else { break };
            failure = self.take(code).err();
        }
        let is_over = last && unread.len() == 0 && self.pending.is_empty() && made < output.len();
        StepResult {
            used: input.len() - unread.len(),
            made,
            ended: match failure {
                Some(failure) => Err(failure),
                None if is_over && !is_begun => Err(DecompressError::Truncated),
                None => Ok(is_over),
            },
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
