//! Compressed data, read as what they were made of.
//!
//! Everything happens in this process: starting a program for a file costs more than decompressing a small one, and
//! what it says about damaged data would have to be guessed from its exit status.

mod lz4;
mod member;

use std::io::{self, BufRead, BufReader, Read};

use thiserror::Error;

use lz4::Lz4;
use member::{Bzip2, Decoder, Gzip, Lzma, Members, Xz, Zstd};

/// How many bytes of compressed data are read at a time.
const INPUT_BUFFER: usize = 128 << 10;

/// How much memory data may demand for being decompressed, in bytes, where their format leaves that to them. `xz -9`
/// demands a sixteenth of it. For zstd the library's own limit holds: a window of 128 MiB, as for `zstd -d`.
const MEMORY_LIMIT: u64 = 1 << 30;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How data are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Lzma,
    Lz4,
}

impl Format {
    /// How many first bytes of a file tell its format.
    const START: usize = 16;

    /// The format of a file that begins with `start`: its first [`Format::START`] bytes, or all if it has fewer.
    /// None if it is not compressed, or in a way that is not known here.
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] if is_bzip2_block(rest) => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [4, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            _ if is_zstd(start) => Some(Self::Zstd),
            _ if is_lzma(start) => Some(Self::Lzma),
            _ => None,
        }
    }

    /// Whether more bytes are needed to tell the format of something that begins with `start`.
    pub(crate) fn may_continue(start: &[u8]) -> bool {
        let is_first_of_some = |byte| matches!(byte, 0x1f | b'B' | 0xfd | 4 | 0x28 | 0x50..=0x5f);
        start.len() < Self::START && start.first().is_none_or(|&byte| is_first_of_some(byte))
    }

    /// Decompresses `input`, which begins with the bytes that told the format: all members, streams or frames in it,
    /// one after another.
    ///
    /// What can be decompressed before the place where data are damaged or end too early is given first, then an
    /// error that says so in one line, and the same error at each later read.
    pub(crate) fn reader(self, input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        self.reader_behind(false, input)
    }

    /// As [`Format::reader`], from the beginning of a later member on if `behind_another` is true: what is no member there is
    /// said to follow the data.
    pub(crate) fn reader_behind(
        self,
        behind_another: bool,
        input: impl Read + Send + 'static,
    ) -> io::Result<Box<dyn Read + Send>> {
        let input = BufReader::with_capacity(INPUT_BUFFER, Box::new(input) as Box<dyn Read + Send>);
        let fail = |failure: Failure| failure.of(self);
        let decoder: Box<dyn Decoder> = match self {
            Self::Gzip => Box::new(Gzip::new()),
            Self::Zstd => Box::new(Zstd::new().map_err(fail)?),
            Self::Bzip2 => Box::new(Bzip2::new()),
            Self::Xz => Box::new(Xz::new().map_err(fail)?),
            Self::Lzma => Box::new(Lzma::new().map_err(fail)?),
            Self::Lz4 => return Ok(Box::new(Lz4::new(input))),
        };
        // The decoder of xz reads all streams of a file as one member.
        let behind = behind_another && self != Self::Xz;
        Ok(Box::new(Members::new(self, input, decoder, behind)))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Lzma => "lzma",
            Self::Lz4 => "lz4",
        }
    }
}

/// Whether a stream of bzip2 goes on with its first block, or with its end if it is empty: a text may well begin
/// with "BZh1".
fn is_bzip2_block(rest: &[u8]) -> bool {
    rest.starts_with(&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
        || rest.starts_with(&[0x17, 0x72, 0x45, 0x38, 0x50, 0x90])
}

/// A frame of zstd; or, as `pzstd` writes, a frame to be skipped that is short enough to see a frame of zstd behind it.
fn is_zstd(start: &[u8]) -> bool {
    let [0x50..=0x5f, 0x2a, 0x4d, 0x18, l0, l1, l2, l3, rest @ ..] = start else {
        return start.starts_with(&ZSTD_MAGIC);
    };
    let length = u32::from_le_bytes([*l0, *l1, *l2, *l3]);
    let behind = usize::try_from(length).ok().and_then(|length| rest.get(length..));
    behind.is_some_and(|behind| behind.starts_with(&ZSTD_MAGIC))
}

/// The format has no magic number: this is what `xz` looks at, too. The first byte is that of all common settings,
/// the dictionary is as large as some 2^n or 2^n + 2^(n-1) bytes, and the data are of unknown size or below 256 GiB.
fn is_lzma(start: &[u8]) -> bool {
    let [0x5d, d0, d1, d2, d3, s0, s1, s2, s3, s4, s5, s6, s7, ..] = *start else { return false };
    let dictionary = u32::from_le_bytes([d0, d1, d2, d3]);
    let size = u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]);
    let lowest = dictionary & dictionary.wrapping_neg();
    let is_round = dictionary == lowest || u64::from(dictionary) == 3 * u64::from(lowest);
    dictionary >= 1 << 12 && is_round && (size == u64::MAX || size < 1 << 38)
}

/// Why data cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
enum Failure {
    #[error("compressed data truncated")]
    Truncated,
    #[error("compressed data corrupt")]
    Damaged,
    #[error("compressed data followed by other data")]
    Followed,
    #[error("compressed data requires an unsupported dictionary or option")]
    Unsupported,
    #[error("decompression exceeds the memory limit")]
    Memory,
}

impl Failure {
    fn of(self, format: Format) -> io::Error {
        let kind = match self {
            Self::Truncated => io::ErrorKind::UnexpectedEof,
            Self::Damaged | Self::Followed => io::ErrorKind::InvalidData,
            Self::Unsupported => io::ErrorKind::Unsupported,
            Self::Memory => io::ErrorKind::OutOfMemory,
        };
        io::Error::new(kind, format!("{}: {self}", format.name()))
    }
}

/// Where compressed data come from.
type Input = BufReader<Box<dyn Read + Send>>;

/// The bytes that are there to be read, at least one, or none at the end. A signal is no reason to stop.
fn available(input: &mut Input) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    Ok(input.buffer())
}

#[cfg(test)]
pub(in crate::source) mod tests;
