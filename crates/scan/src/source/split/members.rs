//! Members, frames or streams that begin at a byte with a signature: gzip (including BGZF), zstd, LZ4, xz.
//!
//! The signature may also occur inside compressed data, so a part is a guess. The decompressor confirms it: a member
//! must end exactly where the next signature begins.

use std::fs::File;
use std::mem;
use std::sync::Arc;

use memchr::memmem::Finder;

use super::super::decompress::format::Compression;
use super::{CompressedPart, Restart, append};

/// Minimum size of a part, in compressed bytes. Small members are grouped.
const MIN_PART: usize = if cfg!(test) { 200 } else { 256 << 10 };

/// Maximum number of bytes searched for a signature.
const MAX_SEARCH: usize = if cfg!(test) { 4000 } else { 16 << 20 };

/// Maximum number of bytes searched for the second signature when a file is opened.
const MAX_PROBE: usize = if cfg!(test) { 4000 } else { 4 << 20 };

/// Size of a read, in bytes.
const STEP: usize = if cfg!(test) { 100 } else { 512 << 10 };

/// A file split where members seem to begin.
pub(crate) struct SplitMembers {
    file: Arc<File>,
    format: Compression,
    finder: Finder<'static>,
    /// Bytes read past the last part.
    pending: Vec<u8>,
    /// Offset of `pending` in the file.
    offset: u64,
    size: u64,
    done: bool,
}

impl SplitMembers {
    /// A splitter for a file of `size` bytes; `None` if no second member is found near its beginning.
    pub(super) fn new(file: Arc<File>, size: u64, format: Compression) -> Option<Self> {
        let finder = Finder::new(signature(format)?);
        let mut members = Self { file, format, finder, pending: Vec::new(), offset: 0, size, done: false };
        members.find(1, MAX_PROBE)?;
        Some(members)
    }

    pub(super) fn next(&mut self) -> CompressedPart {
        if self.done {
            return CompressedPart::End;
        }
        let restart = Restart::At(self.offset);
        let end = self.find(MIN_PART, MAX_SEARCH);
        let reaches_end = self.offset + self.pending.len() as u64 == self.size;
        let Some(end) = end.or(reaches_end.then_some(self.pending.len())) else {
            self.done = true;
            return CompressedPart::Stream(restart);
        };
        let rest = self.pending.split_off(end);
        let bytes = mem::replace(&mut self.pending, rest);
        self.offset += end as u64;
        self.done = self.offset == self.size;
        CompressedPart::Whole { bytes, restart, is_last: self.done }
    }

    /// Returns the position of the first member in the pending bytes at or after `start`, searching at most `most`
    /// bytes.
    fn find(&mut self, start: usize, most: usize) -> Option<usize> {
        let mut searched = start;
        loop {
            if let Some(bytes) = self.pending.get(searched..) {
                let mut found = self.finder.find_iter(bytes).map(|at| searched + at);
                if let Some(at) = found.find(|&at| is_header(self.format, &self.pending[at..])) {
                    return Some(at);
                }
                // The last bytes may be the beginning of a header.
                searched = start.max(self.pending.len().saturating_sub(MAX_HEADER));
            }
            let read = self.offset + self.pending.len() as u64;
            if self.pending.len() >= most || read == self.size {
                return None;
            }
            if !append(&self.file, &mut self.pending, read, self.size, STEP) {
                return None;
            }
        }
    }
}

/// Maximum number of bytes needed to recognize a header.
const MAX_HEADER: usize = 12;

/// The first bytes of a member.
fn signature(format: Compression) -> Option<&'static [u8]> {
    match format {
        Compression::Gzip => Some(&[0x1f, 0x8b, 8]),
        Compression::Zstd => Some(&[0x28, 0xb5, 0x2f, 0xfd]),
        Compression::Lz4 => Some(&[4, 0x22, 0x4d, 0x18]),
        Compression::Xz => Some(&[0xfd, b'7', b'z', b'X', b'Z', 0]),
        Compression::Bzip2
        | Compression::Lzma
        | Compression::Brotli
        | Compression::Compress
        | Compression::Deflate => None,
    }
}

/// Returns `true` if bytes that begin with the signature may be a header.
fn is_header(format: Compression, bytes: &[u8]) -> bool {
    match (format, bytes) {
        // Flags, time, extra flags and operating system, as defined by RFC 1952.
        (Compression::Gzip, [_, _, _, flags, _, _, _, _, extra, system, ..]) => {
            flags & 0xe0 == 0 && matches!(extra, 0 | 2 | 4) && matches!(system, 0..=13 | 255)
        }
        (Compression::Gzip, _) => false,
        _ => true,
    }
}
