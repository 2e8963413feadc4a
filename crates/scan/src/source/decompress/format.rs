//! Formats of compressed data, how they are recognised, and why data cannot be decompressed.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use thiserror::Error;

pub(super) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Lzma,
    Lz4,
    /// Has no signature: see [`Compression::of`].
    Brotli,
    /// Written by the program `compress`.
    Compress,
    /// Has no signature: only in archives.
    Deflate,
}

/// Extensions of compressed files.
pub(super) const EXTENSIONS: [(&str, Compression); 8] = [
    ("br", Compression::Brotli),
    ("bz2", Compression::Bzip2),
    ("gz", Compression::Gzip),
    ("lz4", Compression::Lz4),
    ("lzma", Compression::Lzma),
    ("xz", Compression::Xz),
    ("Z", Compression::Compress),
    ("zst", Compression::Zstd),
];

/// Name of a file without the extension of a compressed file.
pub fn decompressed_name(path: &Path) -> &Path {
    let extension = path.extension().unwrap_or_default();
    match path.file_stem() {
        Some(stem) if EXTENSIONS.iter().any(|(known, _)| extension == *known) => Path::new(stem),
        _ => path,
    }
}

impl Compression {
    /// Number of bytes at the beginning of a file that determine its format.
    pub(super) const START: usize = 16;

    /// Returns the format of a file that begins with `start`: at least its first [`Compression::START`] bytes, or all if it has
    /// fewer. Returns `None` if it is not compressed, or in an unknown format. `extension` is that of its name: brotli has no
    /// signature, so a file with its extension counts as compressed unless it is text.
    pub(crate) fn of(start: &[u8], extension: Option<&OsStr>) -> Option<Self> {
        match start {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] if is_bzip2_block(rest) => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [4, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            [0x1f, 0x9d, ..] => Some(Self::Compress),
            _ if is_zstd(start) => Some(Self::Zstd),
            _ if is_lzma(start) => Some(Self::Lzma),
            _ if extension.is_some_and(|extension| extension == "br") && !is_text(start) => {
                Some(Self::Brotli)
            }
            _ => None,
        }
    }

    /// Returns `true` if more bytes are needed to determine the format of data that begin with `start`.
    pub(crate) fn may_continue(start: &[u8]) -> bool {
        let is_first_of_some = |byte| matches!(byte, 0x1f | b'B' | 0xfd | 4 | 0x28 | 0x50..=0x5f);
        start.len() < Self::START && start.first().is_none_or(|&byte| is_first_of_some(byte))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Lzma => "lzma",
            Self::Lz4 => "lz4",
            Self::Brotli => "brotli",
            Self::Compress => "compress",
            Self::Deflate => "deflate",
        }
    }
}

/// Whether these first bytes of a file, any number of them, may be text. The last character may be truncated.
fn is_text(start: &[u8]) -> bool {
    !start.contains(&0)
        && std::str::from_utf8(start).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// Returns `true` if a bzip2 stream continues with its first block, or with its end if it is empty. Text may begin with
/// "BZh1", too.
fn is_bzip2_block(rest: &[u8]) -> bool {
    rest.starts_with(&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
        || rest.starts_with(&[0x17, 0x72, 0x45, 0x38, 0x50, 0x90])
}

/// Returns `true` for a zstd frame, or, as written by `pzstd`, for a skippable frame that is short enough to see a zstd
/// frame after it.
fn is_zstd(start: &[u8]) -> bool {
    let [0x50..=0x5f, 0x2a, 0x4d, 0x18, l0, l1, l2, l3, rest @ ..] = start else {
        return start.starts_with(&ZSTD_MAGIC);
    };
    let length = u32::from_le_bytes([*l0, *l1, *l2, *l3]);
    let next = usize::try_from(length).ok().and_then(|length| rest.get(length..));
    next.is_some_and(|next| next.starts_with(&ZSTD_MAGIC))
}

/// The format has no magic number; `xz` applies the same test. The first byte is the one of all common settings, the
/// dictionary has 2^n or 2^n + 2^(n-1) bytes, and the data have an unknown size or less than 256 GiB.
fn is_lzma(start: &[u8]) -> bool {
    let [0x5d, d0, d1, d2, d3, s0, s1, s2, s3, s4, s5, s6, s7, ..] = *start else { return false };
    let dictionary = u32::from_le_bytes([d0, d1, d2, d3]);
    let size = u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]);
    let lowest = dictionary & dictionary.wrapping_neg();
    let is_round = dictionary == lowest || u64::from(dictionary) == 3 * u64::from(lowest);
    dictionary >= 1 << 12 && is_round && (size == u64::MAX || size < 1 << 38)
}

/// Reason why data cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum DecompressError {
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

impl DecompressError {
    pub(super) fn of(self, format: Compression) -> io::Error {
        let kind = match self {
            Self::Truncated => io::ErrorKind::UnexpectedEof,
            Self::Damaged | Self::Followed => io::ErrorKind::InvalidData,
            Self::Unsupported => io::ErrorKind::Unsupported,
            Self::Memory => io::ErrorKind::OutOfMemory,
        };
        io::Error::new(kind, format!("{}: {self}", format.name()))
    }
}
