//! Errors of indexes, texts and patterns.

use std::fmt;
use std::io;
use std::path::PathBuf;

use finecomb_sys::io_reason;
use finecomb_sys::units::{Count, counted};
use thiserror::Error;

use crate::alphabet::Alphabet;

/// Error of an index, a text or a pattern.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read, written or renamed.
    #[error("{}: {doing}{}", path.display(), io_reason(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// The failed operation, followed by a colon; empty if the reason is enough.
        doing: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// The index cannot be used.
    #[error("{}: {damage}", path.display())]
    Damaged {
        /// The index file.
        path: PathBuf,
        /// The damage.
        damage: Damage,
    },
    /// The text has a byte outside the alphabet.
    #[error("{}: invalid {} at byte {at} for the alphabet {alphabet}", path.display(), ByteName(*byte))]
    InvalidText {
        /// The text.
        path: PathBuf,
        /// The byte.
        byte: u8,
        /// Offset of the byte.
        at: usize,
        /// The requested alphabet.
        alphabet: Alphabet,
    },
    /// The text changed while it was read.
    #[error("{}: the file changed while it was read; try again", path.display())]
    Changed {
        /// The text.
        path: PathBuf,
    },
    /// The text is too long for entries of 40 bits.
    #[error("{}: {} symbols exceed the limit of 1,099,511,627,775 per index; split the text", path.display(), Count(*symbols))]
    TextTooLong {
        /// The text.
        path: PathBuf,
        /// Number of symbols.
        symbols: u64,
    },
    /// The suffixes could not be sorted.
    #[error("{}: cannot sort the suffixes: {reason}", path.display())]
    Sort {
        /// The text.
        path: PathBuf,
        /// The library's error.
        reason: String,
    },
    /// A file does not have the required form.
    #[error("{}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The pattern has no symbols.
    #[error("the pattern is empty")]
    EmptyPattern,
    /// The pattern is longer than the limit.
    #[error("the pattern is {} symbols long; the limit is {}", Count(*length as u64), Count(*limit as u64))]
    PatternTooLong {
        /// Number of symbols.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// The pattern has a byte outside the index's alphabet.
    #[error("invalid {} at position {}: the index contains only {}", ByteName(*byte), at + 1, symbols_of(*alphabet))]
    InvalidPattern {
        /// The byte.
        byte: u8,
        /// Offset of the byte.
        at: usize,
        /// The index's alphabet.
        alphabet: Alphabet,
    },
    /// The position is before the start of the text.
    #[error("position {position} is before the start of the text; the first position is {first}")]
    PositionTooLow {
        /// The requested position.
        position: u64,
        /// The first position.
        first: u64,
    },
    /// The position is past the end of the text.
    #[error("position {position} is past the end of the text; the last position is {last}")]
    PositionTooHigh {
        /// The requested position.
        position: u64,
        /// The last position.
        last: u64,
    },
}

/// Damage of an index file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Damage {
    /// The file does not begin as an index does.
    #[error("not a comb index")]
    NotAnIndex,
    /// The version of the format is not supported.
    #[error(
        "unsupported index format version {found} (this comb reads version {known}); build the index again"
    )]
    Version {
        /// The version of the file.
        found: u32,
        /// The supported version.
        known: u32,
    },
    /// The file is shorter than its header says.
    #[error("index truncated: {} instead of {}; build it again", counted(*found, "byte"), Count(*expected))]
    Truncated {
        /// Length of the file.
        found: u64,
        /// Length according to the header.
        expected: u64,
    },
    /// A checksum does not match.
    #[error("index corrupt: wrong checksum of the {0}; build it again")]
    Checksum(&'static str),
    /// Parts of the file contradict each other.
    #[error("index corrupt: {0}")]
    Inconsistent(&'static str),
    /// The file was truncated, or became unreadable, while it was in use.
    #[error("index truncated or unreadable while in use; build it again")]
    TruncatedInUse,
}

/// Name of a byte in messages.
struct ByteName(u8);

impl fmt::Display for ByteName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            byte if byte.is_ascii_graphic() => write!(formatter, "'{}'", char::from(byte)),
            b' ' => formatter.write_str("space"),
            b'\n' => formatter.write_str("line feed"),
            byte => write!(formatter, "byte 0x{byte:02x}"),
        }
    }
}

fn symbols_of(alphabet: Alphabet) -> &'static str {
    match alphabet {
        Alphabet::Digits => "digits",
        Alphabet::Dna => "the bases A, C, G and T",
        Alphabet::Bytes => "bytes",
    }
}
