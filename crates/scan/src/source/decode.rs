//! Text in other encodings than UTF-8, read as UTF-8.
//!
//! The settings are those of the `grep-searcher` crate, so that a file reads the same here as in ripgrep.

use std::io::{self, BufReader, Read};
use std::ops::Range;

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;
use memchr::{memchr, memrchr};

use super::START;
use super::cut::FullReads;
use crate::block::FirstNul;

/// How many bytes are read at a time; the decoder by itself would read less.
const INPUT_BUFFER: usize = 64 << 10;

/// How the characters of a file are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As its byte order mark says, if it begins with one; otherwise its bytes are taken as they are.
    Auto,
    /// Its bytes are taken as they are, a byte order mark too.
    None,
    /// In this encoding, unless a byte order mark of UTF-16 says otherwise. One of UTF-8 is dropped, but otherwise
    /// goes unheeded.
    Label(&'static encoding_rs::Encoding),
}

/// Length of the longest byte order mark, in bytes.
pub(crate) const LONGEST_MARK: usize = 3;

/// What must be done to read a file as UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needed {
    /// Nothing.
    Plain,
    /// Skip this many bytes.
    StripBom(usize),
    /// Read it through [`Encoding::reader`].
    Transcode,
}

impl Encoding {
    /// `auto`, `none`, or a label of the [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels).
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "none" => Some(Self::None),
            label => encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()).map(Self::Label),
        }
    }

    /// What must be done with a file that begins with `start`: its first three bytes, or all if it has fewer.
    pub(crate) fn needed(self, start: &[u8]) -> Needed {
        match self {
            Self::None => Needed::Plain,
            Self::Label(_) => Needed::Transcode,
            Self::Auto => match encoding_rs::Encoding::for_bom(start) {
                Some((encoding, length)) if encoding == UTF_8 => Needed::StripBom(length),
                Some((encoding, _)) if encoding == UTF_16LE || encoding == UTF_16BE => Needed::Transcode,
                _ => Needed::Plain,
            },
        }
    }

    /// Whether more bytes are needed to tell what must be done with a file that begins with `start`.
    pub(crate) fn may_continue(self, start: &[u8]) -> bool {
        let may_be_mark = start.first().is_none_or(|byte| matches!(byte, 0xEF | 0xFE | 0xFF));
        self == Self::Auto && start.len() < LONGEST_MARK && may_be_mark
    }

    /// `input` as UTF-8. What the encoding does not allow becomes U+FFFD. Where nothing must be decoded, see
    /// [`Encoding::needed`], bytes are passed on as they are, valid or not. The piece with the first NUL is noted in
    /// `first_nul`; how long pieces are depends on where lines end.
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

    /// `input`, read as it should be for [`Encoding::reader`]. Of a file the decoder is given as much as it asks for, so that
    /// pieces are the same whenever it is read.
    pub(crate) fn buffered(input: impl Read + Send + 'static, is_file: bool) -> Box<dyn Read + Send> {
        let input = BufReader::with_capacity(INPUT_BUFFER, input);
        if is_file { Box::new(FullReads(input)) } else { Box::new(input) }
    }
}

/// The smallest read that the decoder is asked for, in bytes. Asked for less than the last characters take, it loses them.
const MIN_READ: usize = 64;

/// The largest read that the decoder is asked for, in bytes. It decodes 8 KiB at a time.
const LARGEST_READ: usize = 1 << 20;

/// Text as the decoder gives it, piece by piece, with a look for NULs in each.
///
/// ripgrep looks for NULs in what it reads at a time. That is what the decoder gives for one call, at most as much as there is
/// room behind the line that has not ended. Its room is 64 KiB, and three times as much when a line does not fit.
struct Pieces<R> {
    decoder: R,
    line_end: u8,
    first_nul: FirstNul,
    piece: Vec<u8>,
    /// Part of the piece that has not been read.
    rest: Range<usize>,
    /// Bytes of text before the next piece.
    offset: u64,
    /// Bytes behind the last end of a line.
    unended: usize,
    room: usize,
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
            unended: 0,
            room: START,
        }
    }

    fn next(&mut self) -> io::Result<()> {
        if self.unended >= self.room {
            self.room = self.room.saturating_mul(3);
        }
        let wanted = self.room.saturating_sub(self.unended).clamp(MIN_READ, LARGEST_READ);
        if self.piece.len() < wanted {
            self.piece.resize(wanted, 0);
        }
        let got = self.decoder.read(&mut self.piece[..wanted])?;
        let piece = &self.piece[..got];
        if let Some(nul) = memchr(0, piece) {
            self.first_nul.note(self.offset, self.offset + nul as u64);
        }
        self.unended = memrchr(self.line_end, piece).map_or(self.unended + got, |end| got - end - 1);
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
