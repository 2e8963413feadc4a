//! Which symbols a text is made of, and how many bits each takes.

use std::fmt;

/// The symbols of an indexed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// `0` to `9`, in four bits each.
    Digits,
    /// `A`, `C`, `G` and `T`, in two bits each.
    Dna,
    /// Any bytes, as they are.
    Bytes,
}

/// What stands for a byte that is no symbol.
const NONE: u8 = u8::MAX;

static DIGITS: Codes = Codes::of(b"0123456789");
static DNA: Codes = Codes::of(b"ACGT");

/// From bytes to codes, and back.
pub(crate) struct Codes {
    code: [u8; 256],
    symbols: &'static [u8],
}

impl Codes {
    const fn of(symbols: &'static [u8]) -> Self {
        let mut code = [NONE; 256];
        let mut at = 0;
        while at < symbols.len() {
            code[symbols[at] as usize] = at as u8;
            at += 1;
        }
        Self { code, symbols }
    }

    /// The code of a byte that is a symbol.
    pub(crate) fn known(&self, byte: u8) -> u8 {
        self.code[usize::from(byte)]
    }

    /// The byte of a code; of what is no code, as in a damaged file, that of the first symbol.
    pub(crate) fn byte(&self, code: u8) -> u8 {
        self.symbols.get(usize::from(code)).copied().unwrap_or(self.symbols[0])
    }
}

impl Alphabet {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Digits, Self::Dna, Self::Bytes];

    /// Its name, as in `--alphabet`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Dna => "dna",
            Self::Bytes => "bytes",
        }
    }

    /// Bits that a packed symbol takes: 4, 2 or 8.
    pub fn bits(self) -> u32 {
        match self {
            Self::Digits => 4,
            Self::Dna => 2,
            Self::Bytes => 8,
        }
    }

    /// Symbols in a byte.
    pub(crate) fn per_byte(self) -> usize {
        (8 / self.bits()) as usize
    }

    /// Symbols in 64 bits.
    pub(crate) fn per_word(self) -> usize {
        (64 / self.bits()) as usize
    }

    /// What the first symbol's position is called: digits are counted from 1 after the point, as people speak of them; all
    /// else by byte offsets.
    pub fn first_position(self) -> u64 {
        u64::from(self == Self::Digits)
    }

    /// The codes of the symbols; none if they are bytes.
    pub(crate) fn codes(self) -> Option<&'static Codes> {
        match self {
            Self::Digits => Some(&DIGITS),
            Self::Dna => Some(&DNA),
            Self::Bytes => None,
        }
    }

    /// The first byte that is none of the symbols.
    pub(crate) fn first_foreign(self, text: &[u8]) -> Option<usize> {
        let codes = self.codes()?;
        // A whole stretch is judged without a branch before the byte is looked for.
        const STRETCH: usize = 4096;
        let is_foreign = |&byte: &u8| codes.code[usize::from(byte)] == NONE;
        for (at, stretch) in text.chunks(STRETCH).enumerate() {
            if stretch.iter().fold(false, |any, byte| any | is_foreign(byte)) {
                return stretch.iter().position(is_foreign).map(|offset| at * STRETCH + offset);
            }
        }
        None
    }

    /// Its number in an index file.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Digits => 0,
            Self::Dna => 1,
            Self::Bytes => 2,
        }
    }

    pub(crate) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|alphabet| alphabet.number() == number)
    }
}

impl fmt::Display for Alphabet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
