//! Cutting compressed data into parts that decompress independently.

mod bzip2;
mod members;
mod xz;

use std::fs::File;
use std::sync::Arc;

use super::decompress::Format;

/// Part of the compressed data of a file.
pub(crate) enum Part {
    /// Data that decompress by themselves.
    Whole {
        bytes: Vec<u8>,
        /// Where to read on as a stream if they turn out to be damaged or none.
        restart: Restart,
        is_last: bool,
    },
    /// The rest of the file is to be read as a stream.
    Stream(Restart),
    /// There are no more parts.
    Nothing,
}

/// Where a file is read on as a stream.
#[derive(Clone, Copy)]
pub(crate) enum Restart {
    /// From this offset on, where a member begins.
    At(u64),
    /// From the beginning, without the text that has been cut already: streams cannot begin between blocks.
    Over,
}

/// Cuts a file into parts, in order.
pub(crate) enum Splitter {
    Members(Box<members::Members>),
    Bzip2(bzip2::Blocks),
    Xz(xz::Blocks),
}

impl Splitter {
    /// A splitter for a file of `size` bytes; none if it cannot be cut into several parts, or it is not worth it.
    pub(crate) fn new(file: Arc<File>, size: u64, format: Format) -> Option<Self> {
        let members = |file| members::Members::new(file, size, format).map(Box::new).map(Self::Members);
        match format {
            Format::Bzip2 => bzip2::Blocks::new(file, size).map(Self::Bzip2),
            Format::Xz => xz::Blocks::new(Arc::clone(&file), size).map(Self::Xz).or_else(|| members(file)),
            Format::Gzip | Format::Zstd | Format::Lz4 => members(file),
            Format::Lzma => None,
        }
    }

    /// The next part.
    pub(crate) fn next(&mut self) -> Part {
        match self {
            Self::Members(members) => members.next(),
            Self::Bzip2(blocks) => blocks.next(),
            Self::Xz(blocks) => blocks.next(),
        }
    }
}

/// Reads the bytes of a file from `offset` to `end` behind those in `bytes`, up to a number of them. False if that failed, or the
/// file is shorter.
fn append(file: &File, bytes: &mut Vec<u8>, offset: u64, end: u64, most: usize) -> bool {
    use std::os::unix::fs::FileExt;
    let wanted = usize::try_from(end.saturating_sub(offset)).map_or(most, |rest| rest.min(most));
    let filled = bytes.len();
    bytes.resize(filled + wanted, 0);
    let read = super::cut::retry(|| file.read_exact_at(&mut bytes[filled..], offset));
    if read.is_err() {
        bytes.truncate(filled);
    }
    read.is_ok()
}
