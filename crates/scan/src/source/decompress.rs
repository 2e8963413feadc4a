//! Decompression.
//!
//! Everything runs in this process: starting a program per file costs more than decompressing a small one, and its
//! error about damaged data would have to be guessed from its exit status.
//!
//! # Adding a format
//!
//! A variant of `Compression`, its extension in `EXTENSIONS`, its signature in `Compression::of` and `Compression::may_continue`, and a `Decoder` in a module below. The compiler
//! then asks `split` whether it has parts; `reader_after` and `members::is_header` decide by a `_` arm, and `archive/zip` refuses a
//! method that it does not name. `tests` compresses and damages texts in every format, and so does `fuzz/hunt_inputs.py`.
//! An index of a tree knows which files are compressed: the version of its catalog goes up (`MAGIC` in `finecomb-tree-index`,
//! docs/tree-index-format.md).
//! Extensions of archives are in `archive`, and those without splits in `python/finecomb/spark/splits.py`. The help of `comb top`, docs/commands/top.md, docs/tutorial.md and docs/faq.md list the formats.

mod brotli;
mod compress;
pub(crate) mod format;
mod lz4;
mod member;
mod windows;

use std::io::{self, Read};

use finecomb_sys::BufferedInput;

use brotli::Brotli;
use compress::Compress;
use format::{Compression, DecompressError};
use lz4::Lz4;
use member::{Bzip2, Decoder, Deflate, MemberDecoder, Xz, Zstd};
use windows::Windows;

/// Size of a read of compressed data, in bytes.
pub(super) const INPUT_BUFFER: usize = 128 << 10;

impl Compression {
    /// Decompresses `input`, which begins with the signature of the format: all members, streams or frames, one after
    /// another.
    ///
    /// Data before a damaged or truncated place are returned first, then an error that describes the damage in one
    /// line. Every later read returns the same error. Neither depends on the sizes of the reads.
    pub(crate) fn reader(self, input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        self.reader_after(None, input)
    }

    /// Like [`Compression::reader`]. With `before`, `input` begins at a later member of a file, after this many bytes of
    /// text, and data that are not a member there are reported as trailing data.
    pub(crate) fn reader_after(
        self,
        before: Option<u64>,
        input: impl Read + Send + 'static,
    ) -> io::Result<Box<dyn Read + Send>> {
        let input = BufferedInput::new(Box::new(input) as Box<dyn Read + Send>, INPUT_BUFFER, 0);
        let fail = |failure: DecompressError| failure.of(self);
        let decoder: Box<dyn Decoder> = match self {
            Self::Gzip => Box::new(Deflate::new(true)),
            Self::Zstd => Box::new(Zstd::new().map_err(fail)?),
            Self::Bzip2 => Box::new(Bzip2::new()),
            Self::Xz => Box::new(Xz::new().map_err(fail)?),
            Self::Lzma => Box::new(Xz::lzma().map_err(fail)?),
            Self::Lz4 => return Ok(Box::new(Lz4::new(input))),
            Self::Brotli => Box::new(Brotli::new()),
            Self::Compress => Box::new(Compress::new()),
            Self::Deflate => Box::new(Deflate::new(false)),
        };
        // The xz decoder reads all streams of a file as a single member.
        let after_member = before.is_some() && self != Self::Xz;
        let members = MemberDecoder::new(self, input, decoder, after_member);
        Ok(match self {
            Self::Bzip2 | Self::Xz => Box::new(Windows::new(members, before.unwrap_or(0))),
            _ => Box::new(members),
        })
    }
}

#[cfg(test)]
pub(in crate::source) mod tests;
