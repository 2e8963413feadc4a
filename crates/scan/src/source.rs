//! Turns a file into blocks of whole lines or records: opens it, inspects its first bytes, and reads it at once, in chunks, or as
//! a stream.
//!
//! Every scanning command reads through this module, so all of them support the same compression formats and encodings.

pub(crate) mod archive;
mod chunks;
pub(crate) mod cut;
mod decode;
mod decompress;
mod ends;
mod narrow;
mod part;
mod parted;
pub(crate) mod prefetch;
pub(crate) mod preprocess;
pub(crate) mod reader;
mod split;
pub(crate) mod stream;

use std::ops::Range;

use finecomb_meter::{Meter, Phase};
use finecomb_sys::ReadBuffer;

use crate::block::{Lookahead, RereadFile, Source};
use crate::problem::Problems;
use crate::recognize::Recognized;

pub(crate) use chunks::ChunkedFile;
pub use decode::Encoding;
pub use ends::{LONG_LINE, NulEnds};
pub(crate) use parted::PartedFile;
pub use preprocess::Preprocessor;

/// Number of bytes at the beginning of a file that are known before its first block.
pub const HEAD_SIZE: usize = 64 << 10;

/// A block of whole records in a buffer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TextBlock {
    /// Its range in the buffer.
    pub(crate) range: Range<usize>,
    /// Its offset in the text, in bytes.
    pub(crate) offset: u64,
    /// Number of its first line, counted from 1, if lines were counted.
    pub(crate) first_line: Option<u64>,
    /// Whether it begins within a long line that NULs split: see [`NulEnds::LongLines`].
    pub(crate) in_long_line: bool,
    /// Length of the last record if its quotes are not closed up to the end of the text, and it is not too long;
    /// otherwise 0.
    pub(crate) unclosed: usize,
}

/// A file that several workers read chunk by chunk.
pub(crate) enum Chunks {
    Plain(Box<ChunkedFile>),
    Parted(Box<PartedFile>),
}

impl Chunks {
    pub(crate) fn source(&self) -> &Source {
        match self {
            Self::Plain(file) => &file.source,
            Self::Parted(file) => &file.source,
        }
    }

    /// Sets which NULs end lines.
    pub(crate) fn set_ends(&mut self, nul_ends: NulEnds) {
        let bounds = match self {
            Self::Plain(file) => &mut file.bounds,
            Self::Parted(file) => &mut file.bounds,
        };
        *bounds = bounds.with_ends(nul_ends);
    }

    /// Sets what was found out about the file, whose text starts at this offset.
    pub(crate) fn set_recognized(&mut self, recognized: Recognized, start: u64) {
        let (source, bounds) = match self {
            Self::Plain(file) => (&mut file.source, &mut file.bounds),
            Self::Parted(file) => (&mut file.source, &mut file.bounds),
        };
        bounds.records = recognized.records;
        source.set_recognized(recognized, start);
    }

    /// Access to the bytes after a block, if available.
    pub(crate) fn lookahead(&self) -> Lookahead<'_> {
        match self {
            Self::Plain(file) => Lookahead::in_file(&**file),
            Self::Parted(_) => Lookahead::default(),
        }
    }

    /// The file, if it has the bytes of a block at the offset of the block.
    pub(crate) fn reread(&self) -> Option<RereadFile> {
        match self {
            Self::Plain(file) => Some(file.reread()),
            Self::Parted(_) => None,
        }
    }

    /// Claims the next chunk, which the caller must then read; `None` if all are claimed.
    pub(crate) fn claim(&self) -> Option<u64> {
        match self {
            Self::Plain(file) => file.claim(),
            Self::Parted(file) => file.claim(),
        }
    }

    /// Records a problem if bytes of a chunk were missing when it was searched.
    pub(crate) fn check(&self, buffer: &ReadBuffer, problems: &mut Problems) {
        if let Self::Plain(file) = self {
            file.check(buffer, problems);
        }
    }

    /// Reads the records of a chunk into `buffer` and returns their range in it. A last record over the limit may be
    /// truncated past the limit.
    pub(crate) fn read(
        &self,
        chunk: u64,
        buffer: &mut ReadBuffer,
        meter: &mut Meter,
        problems: &mut Problems,
    ) -> TextBlock {
        match self {
            Self::Plain(file) => {
                meter.enter(Phase::Read);
                match file.bounds.quoting() {
                    None => file.read(chunk, buffer, problems),
                    Some(quoting) => file.read_records(quoting, chunk, buffer, meter, problems),
                }
            }
            Self::Parted(file) => file.read(chunk, buffer, meter, problems),
        }
    }
}
