//! Alphabets: the symbols of a text, and the number of bits that each takes.

use std::fmt;

/// Alphabet of an indexed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// `0` to `9`, in four bits each.
    Digits,
    /// `A`, `C`, `G` and `T`, in two bits each.
    Dna,
    /// Arbitrary bytes, eight bits each.
    Bytes,
}

/// Code of a byte that is not a symbol.
const NONE: u8 = u8::MAX;

static DIGITS: Codes = Codes::of(b"0123456789");
static DNA: Codes = Codes::of(b"ACGT");

/// Table that maps bytes to codes and back.
pub(crate) struct Codes {
    codes: [u8; 256],
    symbols: &'static [u8],
}

impl Codes {
    const fn of(symbols: &'static [u8]) -> Self {
        let mut codes = [NONE; 256];
        let mut at = 0;
        while at < symbols.len() {
            codes[symbols[at] as usize] = at as u8;
            at += 1;
        }
        Self { codes, symbols }
    }

    /// Code of a symbol.
    pub(crate) fn code(&self, byte: u8) -> u8 {
        self.codes[usize::from(byte)]
    }

    /// Symbol of a code; `None` if the code is invalid, as in a corrupt file.
    pub(crate) fn byte(&self, code: u8) -> Option<u8> {
        self.symbols.get(usize::from(code)).copied()
    }
}

impl Alphabet {
    /// All alphabets.
    pub const ALL: [Self; 3] = [Self::Digits, Self::Dna, Self::Bytes];

    /// Name, as in `--alphabet`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Dna => "dna",
            Self::Bytes => "bytes",
        }
    }

    /// Bits per packed symbol: 4, 2 or 8.
    pub fn bits(self) -> u32 {
        match self {
            Self::Digits => 4,
            Self::Dna => 2,
            Self::Bytes => 8,
        }
    }

    /// Number of symbols in a byte.
    pub(crate) fn per_byte(self) -> usize {
        (8 / self.bits()) as usize
    }

    /// Number of symbols in 64 bits.
    pub(crate) fn per_word(self) -> usize {
        (64 / self.bits()) as usize
    }

    /// Position of the first symbol. Digits are counted from 1, starting after the decimal point; other symbols from 0.
    pub fn first_position(self) -> u64 {
        u64::from(self == Self::Digits)
    }

    /// Codes of the symbols; `None` for bytes.
    pub(crate) fn codes(self) -> Option<&'static Codes> {
        match self {
            Self::Digits => Some(&DIGITS),
            Self::Dna => Some(&DNA),
            Self::Bytes => None,
        }
    }

    /// Finds the first byte that is not a symbol.
    pub(crate) fn first_invalid(self, text: &[u8]) -> Option<usize> {
        let codes = self.codes()?;
        // Tests whole blocks without a branch, and searches for the byte only in a block that has one.
        const BLOCK: usize = 4096;
        let is_invalid = |&byte: &u8| codes.codes[usize::from(byte)] == NONE;
        for (at, block) in text.chunks(BLOCK).enumerate() {
            if block.iter().fold(false, |any, byte| any | is_invalid(byte)) {
                return block.iter().position(is_invalid).map(|offset| at * BLOCK + offset);
            }
        }
        None
    }

    /// Number of the alphabet in an index file.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Digits => 0,
            Self::Dna => 1,
            Self::Bytes => 2,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|alphabet| alphabet.number() == number)
    }
}

impl fmt::Display for Alphabet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
