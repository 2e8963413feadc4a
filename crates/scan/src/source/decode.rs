//! Text in other encodings than UTF-8, read as UTF-8.
//!
//! The settings are those of the `grep-searcher` crate, so that a file reads the same here as in ripgrep.

use std::io::{self, BufReader, Read};

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;

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
    /// [`Encoding::needed`], bytes are passed on as they are, valid or not.
    pub(crate) fn reader(self, input: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        let mut builder = DecodeReaderBytesBuilder::new();
        let sniff = self != Self::None;
        builder.utf8_passthru(true).strip_bom(sniff).bom_override(true).bom_sniffing(sniff);
        if let Self::Label(encoding) = self {
            builder.encoding(Some(encoding));
        }
        let decoder = builder.build(BufReader::with_capacity(INPUT_BUFFER, input));
        Box::new(MinReadSize(BufReader::with_capacity(MIN_READ, decoder)))
    }
}

/// The smallest read that the decoder is asked for, in bytes. Asked for less than the last characters take, it loses them.
const MIN_READ: usize = 64;

/// Reads at least [`MIN_READ`] bytes at a time, however few are asked for. A `BufReader` by itself does so in `read`, but not in
/// `read_to_end`, which is not its own here.
struct MinReadSize<R>(BufReader<R>);

impl<R: Read> Read for MinReadSize<R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        self.0.read(output)
    }
}

#[cfg(test)]
mod tests;
