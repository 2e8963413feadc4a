//! Packed text: a few bits per symbol, the first symbol in the highest bits of a byte.
//!
//! Words that are read big-endian compare like their symbols.

use std::cmp::Ordering;

use crate::alphabet::Alphabet;
use crate::pattern::Pattern;

/// Zero bytes after the packed text, so that a window can be read anywhere in it.
pub(crate) const PADDING: usize = 16;

/// A packed text.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    bytes: &'a [u8],
    symbols: u64,
    alphabet: Alphabet,
}

/// Size of a packed text with its padding, in bytes.
pub(crate) fn packed_len(symbols: u64, alphabet: Alphabet) -> u64 {
    symbols.div_ceil(alphabet.per_byte() as u64) + PADDING as u64
}

/// Packs symbols, and pads the last byte with zero bits. All bytes of the text must be in the alphabet.
pub(crate) fn pack(text: &[u8], alphabet: Alphabet, packed: &mut Vec<u8>) {
    let Some(codes) = alphabet.codes() else { return packed.extend_from_slice(text) };
    let (bits, per_byte) = (alphabet.bits(), alphabet.per_byte());
    let chunks = text.chunks_exact(per_byte);
    let rest = chunks.remainder();
    let symbols = |chunk: &[u8]| chunk.iter().fold(0, |byte, &symbol| byte << bits | codes.code(symbol));
    match alphabet {
        // A table lookup would prevent vectorisation.
        Alphabet::Digits => packed.extend(chunks.map(|chunk| chunk[0] << 4 | (chunk[1] & 15))),
        _ => packed.extend(chunks.map(symbols)),
    }
    if !rest.is_empty() {
        packed.push(symbols(rest) << (bits * (per_byte - rest.len()) as u32));
    }
}

/// Mask of the first `symbols` symbols of a window.
fn mask(symbols: usize, bits: u32) -> u64 {
    match symbols as u32 * bits {
        0 => 0,
        bits => u64::MAX << (64 - bits),
    }
}

impl<'a> Packed<'a> {
    /// Wraps the bytes of a packed text, whose length must be [`packed_len`].
    pub(crate) fn new(bytes: &'a [u8], symbols: u64, alphabet: Alphabet) -> Self {
        debug_assert_eq!(bytes.len() as u64, packed_len(symbols, alphabet));
        Self { bytes, symbols, alphabet }
    }

    pub(crate) fn symbols(&self) -> u64 {
        self.symbols
    }

    /// Reads 64 bits of symbols starting at a position; bits past the end of the text are zero.
    fn window(&self, position: u64) -> u64 {
        let bit = position * u64::from(self.alphabet.bits());
        let (byte, shift) = ((bit / 8) as usize, (bit % 8) as u32);
        let Some(window) = self.bytes.get(byte..byte + 9) else { return 0 };
        let (head, tail) = window.split_at(8);
        let head = head.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        head << shift | u64::from(tail[0]) >> (8 - shift)
    }

    /// Compares the suffix at a position with a pattern. Returns `Equal` if the suffix begins with the pattern.
    pub(crate) fn compare(&self, position: u64, pattern: &Pattern) -> Ordering {
        self.compare_first(position, pattern, pattern.len())
    }

    /// Compares the suffix at a position with the first `length` symbols of a pattern. Returns `Equal` if the suffix begins with
    /// them.
    pub(crate) fn compare_first(&self, position: u64, pattern: &Pattern, length: usize) -> Ordering {
        let (bits, per_word) = (self.alphabet.bits(), self.alphabet.per_word());
        let mut position = position;
        let mut wanted = length;
        for &word in &pattern.words()[..length.div_ceil(per_word)] {
            let length = wanted.min(per_word);
            let there = self.symbols.saturating_sub(position).min(length as u64) as usize;
            let mask = mask(there, bits);
            let order = (self.window(position) & mask).cmp(&(word & mask));
            if order.is_ne() {
                return order;
            }
            if there < length {
                return Ordering::Less;
            }
            position += length as u64;
            wanted -= length;
        }
        Ordering::Equal
    }

    /// Compares two suffixes. Returns `None` if their first `at_most` symbols are equal.
    pub(crate) fn compare_suffixes(&self, left: u64, right: u64, at_most: u64) -> Option<Ordering> {
        if left == right {
            return Some(Ordering::Equal);
        }
        let per_word = self.alphabet.per_word() as u64;
        let longest = self.symbols - left.min(right);
        for offset in (0..longest.min(at_most)).step_by(per_word as usize) {
            let (left, right) = (left + offset, right + offset);
            // At the end of the text, the shorter suffix is smaller.
            let there = per_word.min(self.symbols.saturating_sub(left.max(right)));
            let mask = mask(there as usize, self.alphabet.bits());
            let order = (self.window(left) & mask).cmp(&(self.window(right) & mask));
            if order.is_ne() {
                return Some(order);
            }
            if there < per_word {
                return Some(right.cmp(&left));
            }
        }
        None
    }

    /// Code of a symbol.
    pub(crate) fn code(&self, position: u64) -> u8 {
        let bits = self.alphabet.bits();
        (self.window(position) >> (64 - bits)) as u8
    }

    /// Appends the codes of the symbols from `start` to `end`, up to the end of the text.
    pub(crate) fn codes(&self, start: u64, end: u64, codes: &mut Vec<u8>) {
        let end = end.min(self.symbols);
        if start >= end {
            return;
        }
        let per_byte = self.alphabet.per_byte() as u64;
        let from = codes.len();
        let bytes = &self.bytes[(start / per_byte) as usize..end.div_ceil(per_byte) as usize];
        match self.alphabet {
            Alphabet::Bytes => codes.extend_from_slice(bytes),
            Alphabet::Digits => codes.extend(bytes.iter().flat_map(|byte| [byte >> 4, byte & 15])),
            Alphabet::Dna => {
                codes.extend(
                    bytes.iter().flat_map(|byte| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3]),
                );
            }
        }
        codes.drain(from..from + (start % per_byte) as usize);
        codes.truncate(from + (end - start) as usize);
    }

    /// Returns the original text from `start` to `end`, up to the end of the text, or `None` if a code in it is invalid.
    pub(crate) fn text(&self, start: u64, end: u64) -> Option<Vec<u8>> {
        let mut text = Vec::with_capacity(end.min(self.symbols).saturating_sub(start) as usize);
        self.codes(start, end, &mut text);
        if let Some(codes) = self.alphabet.codes() {
            for symbol in &mut text {
                *symbol = codes.byte(*symbol)?;
            }
        }
        Some(text)
    }

    /// Returns `true` if all bits after the last symbol are zero, including the padding.
    pub(crate) fn has_zero_padding(&self) -> bool {
        let bits = self.symbols * u64::from(self.alphabet.bits());
        let (last, padding) = self.bytes[(bits / 8) as usize..].split_at(1);
        last[0] << (bits % 8) == 0 && padding.iter().all(|&byte| byte == 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts() -> impl Strategy<Value = (Alphabet, Vec<u8>)> {
        prop_oneof![
            "[0-9]{0,200}".prop_map(|text| (Alphabet::Digits, text.into_bytes())),
            "[ACGT]{0,300}".prop_map(|text| (Alphabet::Dna, text.into_bytes())),
            "[ab]{0,100}".prop_map(|text| (Alphabet::Bytes, text.into_bytes())),
            prop::collection::vec(any::<u8>(), 0..100).prop_map(|text| (Alphabet::Bytes, text)),
        ]
    }

    proptest! {
        #[test]
        fn packed_texts_read_and_compare_like_unpacked_ones(
            (alphabet, text) in texts(),
            start in 0..300_usize, length in 0..80_usize, other in 0..300_usize, cut in 0..80_usize,
            first in any::<prop::sample::Index>(),
        ) {
            let mut bytes = Vec::new();
            pack(&text, alphabet, &mut bytes);
            bytes.extend([0; PADDING]);
            let packed = Packed::new(&bytes, text.len() as u64, alphabet);
            let start = start.min(text.len());
            let end = (start + length).min(text.len());
            prop_assert_eq!(packed.text(start as u64, (start + length) as u64), Some(text[start..end].to_vec()));
            prop_assert!(packed.has_zero_padding());
            let other = other.min(text.len());
            let wanted = text[start..].cmp(&text[other..]);
            prop_assert_eq!(packed.compare_suffixes(start as u64, other as u64, u64::MAX), Some(wanted));
            // A pattern from the text, and a prefix of it.
            let piece = &text[other..(other + cut).min(text.len())];
            let pattern = Pattern::new(piece, alphabet, 1000).ok();
            if let Some(pattern) = pattern {
                let suffix = &text[start..];
                let wanted = if suffix.starts_with(piece) { Ordering::Equal } else { suffix.cmp(piece) };
                prop_assert_eq!(packed.compare(start as u64, &pattern), wanted);
                let piece = &piece[..first.index(piece.len() + 1)];
                let wanted = if suffix.starts_with(piece) { Ordering::Equal } else { suffix.cmp(piece) };
                prop_assert_eq!(packed.compare_first(start as u64, &pattern, piece.len()), wanted);
            }
        }
    }
}
