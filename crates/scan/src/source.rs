//! Turns a file into blocks of whole lines or records: opens it, inspects its first bytes, and reads it at once, in chunks, or as
//! a stream.
//!
//! Every scanning command reads through this module, so all of them support the same compression formats and encodings.

pub(crate) mod archive;
pub(crate) mod bounds;
pub(crate) mod chunks;
pub(crate) mod cut;
pub(crate) mod decode;
pub(crate) mod decompress;
mod narrow;
mod part;
mod parted;
pub(crate) mod prefetch;
pub(crate) mod preprocess;
pub(crate) mod reader;
pub(crate) mod shared;
mod split;
pub(crate) mod stream;

use std::ops::Range;

use crate::heading::Heading;

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
    /// The last heading before it, if the source has some.
    pub(crate) heading: Option<Heading>,
    /// Whether it begins within a long line that NULs split: see [`bounds::NulEnds::LongLines`].
    pub(crate) in_long_line: bool,
    /// Length of the last record if its quotes are not closed up to the end of the text, and it is not too long;
    /// otherwise 0.
    pub(crate) unclosed: usize,
}
