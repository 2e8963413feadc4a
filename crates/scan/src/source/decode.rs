//! Decoding of other encodings into UTF-8.
//!
//! The settings equal those of the `grep-searcher` crate, so that a file is decoded as in ripgrep.

use std::io::{self, Read};
use std::ops::Range;

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;
use finecomb_sys::BufferedInput;
use memchr::{memchr, memrchr};

use super::HEAD_SIZE;
use super::cut::FullReads;
use crate::block::FirstNul;

/// Size of a read, in bytes. The decoder on its own reads less.
const INPUT_BUFFER: usize = 64 << 10;

/// Text encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Determined by the byte order mark if there is one; otherwise bytes are left unchanged.
    Auto,
    /// Bytes are left unchanged, including a byte order mark.
    None,
    /// This encoding, unless there is a byte order mark of UTF-16. A byte order mark of UTF-8 is dropped but otherwise
    /// ignored.
    Label(&'static encoding_rs::Encoding),
}

/// Length of the longest byte order mark, in bytes.
pub(crate) const MAX_BOM: usize = 3;

/// Conversion needed to read a file as UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// None.
    Plain,
    /// Skip a byte order mark of this many bytes.
    StripBom(usize),
    /// Decode with [`Encoding::reader`].
    Transcode,
}

impl Encoding {
    /// Parses `auto`, `none`, or a label of the [Encoding
    /// Standard](https://encoding.spec.whatwg.org/#names-and-labels).
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "none" => Some(Self::None),
            label => encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()).map(Self::Label),
        }
    }

    /// Returns the conversion of a file that begins with `start`: its first three bytes, or all if it has fewer.
    pub(crate) fn conversion(self, start: &[u8]) -> Conversion {
        match self {
            Self::None => Conversion::Plain,
            Self::Label(_) => Conversion::Transcode,
            Self::Auto => match encoding_rs::Encoding::for_bom(start) {
                Some((encoding, length)) if encoding == UTF_8 => Conversion::StripBom(length),
                Some((encoding, _)) if encoding == UTF_16LE || encoding == UTF_16BE => Conversion::Transcode,
                _ => Conversion::Plain,
            },
        }
    }

    /// Returns `true` if more bytes are needed to determine the conversion of a file that begins with `start`.
    pub(crate) fn may_continue(self, start: &[u8]) -> bool {
        let may_be_mark = start.first().is_none_or(|byte| matches!(byte, 0xEF | 0xFE | 0xFF));
        self == Self::Auto && start.len() < MAX_BOM && may_be_mark
    }

    /// Decodes `input` into UTF-8. Invalid sequences become U+FFFD. Where no decoding is needed (see
    /// [`Encoding::conversion`]), bytes are passed through, valid or not. Records the piece with the first NUL in
    /// `first_nul`; the length of pieces depends on the line ends.
    pub(crate) fn reader(
        self,
        input: impl Read + Send + 'static,
        line_end: u8,
        first_nul: FirstNul,
    ) -> Box<dyn Read + Send> {
        let mut builder = DecodeReaderBytesBuilder::new();
        let sniff = self != Self::None;
        builder.utf8_passthru(true).strip_bom(sniff).bom_override(true).bom_sniffing(sniff);
        if let Self::Label(encoding) = self {
            builder.encoding(Some(encoding));
        }
        Box::new(Pieces::new(builder.build(input), line_end, first_nul))
    }

    /// Buffers `input` for [`Encoding::reader`]. A file always fills the reads of the decoder, so that its pieces are
    /// the same on every run.
    pub(crate) fn buffered(input: impl Read + Send + 'static, is_file: bool) -> Box<dyn Read + Send> {
        let input = BufferedInput::new(input, INPUT_BUFFER, 0);
        if is_file { Box::new(FullReads(input)) } else { Box::new(input) }
    }
}

/// Minimum size of a read from the decoder, in bytes. It loses the last characters if they do not fit a read.
const MIN_READ: usize = 64;

/// Maximum size of a read from the decoder, in bytes. It decodes 8 KiB at a time.
const MAX_READ: usize = 1 << 20;

/// Reads decoded text piece by piece, and searches each piece for NULs.
///
/// ripgrep searches for NULs in each read: the result of one call of the decoder, limited by the room in its buffer after the
/// unterminated line. The buffer has 64 KiB, and triples when a line does not fit.
struct Pieces<R> {
    decoder: R,
    line_end: u8,
    first_nul: FirstNul,
    piece: Vec<u8>,
    /// Unread part of the piece.
    rest: Range<usize>,
    /// Offset of the next piece in the text, in bytes.
    offset: u64,
    /// Number of bytes after the last line end.
    unterminated: usize,
    capacity: usize,
}

impl<R: Read> Pieces<R> {
    fn new(decoder: R, line_end: u8, first_nul: FirstNul) -> Self {
        Self {
            decoder,
            line_end,
            first_nul,
            piece: Vec::new(),
            rest: 0..0,
            offset: 0,
            unterminated: 0,
            capacity: HEAD_SIZE,
        }
    }

    fn next(&mut self) -> io::Result<()> {
        if self.unterminated >= self.capacity {
            self.capacity = self.capacity.saturating_mul(3);
        }
        let wanted = self.capacity.saturating_sub(self.unterminated).clamp(MIN_READ, MAX_READ);
        if self.piece.len() < wanted {
            self.piece.resize(wanted, 0);
        }
        let got = self.decoder.read(&mut self.piece[..wanted])?;
        let piece = &self.piece[..got];
        if let Some(nul) = memchr(0, piece) {
            self.first_nul.record(self.offset, self.offset + nul as u64);
        }
        self.unterminated =
            memrchr(self.line_end, piece).map_or(self.unterminated + got, |end| got - end - 1);
        self.offset += got as u64;
        self.rest = 0..got;
        Ok(())
    }
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.next()?;
        }
        let length = self.rest.len().min(output.len());
        output[..length].copy_from_slice(&self.piece[self.rest.start..self.rest.start + length]);
        self.rest.start += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests;
