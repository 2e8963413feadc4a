//! Splitting compressed data into parts that decompress independently.
//!
//! gzip, zstd and LZ4 have parts if they consist of several members or frames (`bgzip`, `pzstd`), bzip2 if it has several blocks, which any
//! file of more than 900 kB of text has, and xz if it has several blocks (`xz -T`) or streams. lzma, compress and brotli have none.

mod bzip2;
mod members;
mod xz;

use std::fs::File;
use std::sync::Arc;

use finecomb_sys::ReadBuffer;

use super::decompress::format::Compression;

/// Part of the compressed data of a file.
pub(crate) enum CompressedPart {
    /// Data that decompress independently.
    Whole {
        bytes: Vec<u8>,
        /// Where to continue as a stream if the data turn out to be damaged or not to be a part.
        restart: Restart,
        is_last: bool,
    },
    /// The rest of the file is to be read as a stream.
    Stream(Restart),
    /// The end of the file.
    End,
}

/// Where to continue reading a file as a stream.
#[derive(Clone, Copy)]
pub(crate) enum Restart {
    /// At this offset, where a member begins.
    At(u64),
    /// At the beginning of the file, skipping the text that was already cut into blocks: streams cannot begin between
    /// blocks.
    Beginning,
}

/// Splits a file into parts, in order.
pub(crate) enum Splitter {
    Members(Box<members::SplitMembers>),
    Bzip2(bzip2::Blocks),
    Xz(xz::Blocks),
}

impl Splitter {
    /// A splitter for a file of `size` bytes; `None` if splitting is impossible or not worthwhile.
    pub(crate) fn new(file: Arc<File>, size: u64, format: Compression) -> Option<Self> {
        let members = |file| members::SplitMembers::new(file, size, format).map(Box::new).map(Self::Members);
        match format {
            Compression::Bzip2 => bzip2::Blocks::new(file, size).map(Self::Bzip2),
            Compression::Xz => {
                xz::Blocks::new(Arc::clone(&file), size).map(Self::Xz).or_else(|| members(file))
            }
            Compression::Gzip | Compression::Zstd | Compression::Lz4 => members(file),
            Compression::Lzma | Compression::Brotli | Compression::Compress | Compression::Deflate => None,
        }
    }

    /// Returns the next part.
    pub(crate) fn next(&mut self) -> CompressedPart {
        match self {
            Self::Members(members) => members.next(),
            Self::Bzip2(blocks) => blocks.next(),
            Self::Xz(blocks) => blocks.next(),
        }
    }
}

/// Size of a read, in bytes.
const STEP: usize = 512 << 10;

/// Appends up to `most` bytes of a file between `offset` and `end` to `bytes`. Returns `false` on an error, or if the
/// file is shorter.
fn append(file: &File, bytes: &mut Vec<u8>, offset: u64, end: u64, most: usize) -> bool {
    let wanted = usize::try_from(end.saturating_sub(offset)).map_or(most, |rest| rest.min(most));
    let had = bytes.len();
    bytes.reserve(wanted);
    let mut buffer = ReadBuffer::new();
    while bytes.len() < had + wanted {
        let got = bytes.len() - had;
        let (at, step) = (offset + got as u64, STEP.min(wanted - got));
        buffer.restart(at);
        if !buffer.fill_at(file, 0..step, at).is_ok_and(|filled| filled == step) {
            bytes.truncate(had);
            return false;
        }
        bytes.extend_from_slice(&buffer[..step]);
    }
    true
}
