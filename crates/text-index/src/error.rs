//! What can go wrong with an index, a text or a pattern.

use std::fmt;
use std::io;
use std::path::PathBuf;

use finecomb_sys::io_reason;
use thiserror::Error;

use crate::alphabet::Alphabet;

/// What can go wrong.
#[derive(Debug, Error)]
pub enum Error {
    /// A file could not be opened, read, written or renamed.
    #[error("{}: {doing}{}", path.display(), io_reason(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done, with a colon behind it; empty if the reason says it all.
        doing: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// The index cannot be used.
    #[error("{}: {damage}", path.display())]
    Damaged {
        /// The index file.
        path: PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
    /// The text has a byte that is no symbol of the alphabet.
    #[error("{}: byte {at} is {}, which is not of the alphabet {alphabet}; --alphabet bytes takes any text", path.display(), Shown(*byte))]
    ForeignText {
        /// The text.
        path: PathBuf,
        /// The byte.
        byte: u8,
        /// Bytes before it.
        at: usize,
        /// The alphabet that was asked for.
        alphabet: Alphabet,
    },
    /// The text changed while it was read.
    #[error("{}: the file changed while it was read", path.display())]
    Changed {
        /// The text.
        path: PathBuf,
    },
    /// The text is longer than an entry of 40 bits can say.
    #[error("{}: {symbols} symbols are more than an index can hold (1099511627775)", path.display())]
    TooLong {
        /// The text.
        path: PathBuf,
        /// Symbols in it.
        symbols: u64,
    },
    /// The suffixes could not be sorted.
    #[error("{}: cannot sort the suffixes: {reason}", path.display())]
    Sort {
        /// The text.
        path: PathBuf,
        /// What the library said.
        reason: String,
    },
    /// The index cannot be written in another format.
    #[error("{}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A pattern without a symbol.
    #[error("the pattern is empty")]
    EmptyPattern,
    /// A pattern that is longer than the limit.
    #[error("the pattern has {length} symbols; at most {longest} are allowed")]
    LongPattern {
        /// Its symbols.
        length: usize,
        /// The limit.
        longest: usize,
    },
    /// A pattern with a symbol that the index's alphabet does not have.
    #[error("the pattern has {} at {}, and this index is of {}", Shown(*byte), at + 1, what(*alphabet))]
    ForeignPattern {
        /// The byte.
        byte: u8,
        /// Bytes before it.
        at: usize,
        /// The index's alphabet.
        alphabet: Alphabet,
    },
    /// A position before the text.
    #[error("positions of this index are counted from {first}")]
    Before {
        /// The first there is.
        first: u64,
    },
    /// A position behind the text.
    #[error("position {position} is behind the end of the text, whose last position is {last}")]
    Behind {
        /// The position that was asked for.
        position: u64,
        /// The last there is.
        last: u64,
    },
}

/// What can be wrong with an index file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Damage {
    /// It begins with other bytes.
    #[error("is not an index of comb; 'comb index build' makes one")]
    Foreign,
    /// It is of a version that is not known.
    #[error(
        "is an index of format version {found}; this comb reads version {known}; build it again",
        known = crate::format::VERSION
    )]
    Version {
        /// Its version.
        found: u32,
    },
    /// It ends too early.
    #[error("the index is cut off: it has {found} bytes and should have {expected}")]
    Cut {
        /// Its length.
        found: u64,
        /// The length that its header tells.
        expected: u64,
    },
    /// A checksum is wrong.
    #[error("the index is damaged: the checksum of its {0} is wrong")]
    Checksum(&'static str),
    /// What it says cannot be.
    #[error("the index is damaged: {0}")]
    Nonsense(&'static str),
    /// It became shorter, or could not be read, while it was in use.
    #[error("the index file was cut off or could not be read while it was in use")]
    Vanished,
}

/// A byte as an error shows it.
struct Shown(u8);

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            byte if byte.is_ascii_graphic() => write!(formatter, "'{}'", char::from(byte)),
            b' ' => formatter.write_str("a space"),
            b'\n' => formatter.write_str("a line feed"),
            byte => write!(formatter, "the byte 0x{byte:02x}"),
        }
    }
}

fn what(alphabet: Alphabet) -> &'static str {
    match alphabet {
        Alphabet::Digits => "digits, 0 to 9",
        Alphabet::Dna => "DNA: A, C, G and T",
        Alphabet::Bytes => "bytes",
    }
}
