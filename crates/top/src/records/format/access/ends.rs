//! Searches for the ends of values, 64 bytes at a time.

use finecomb_sys::simd::{Masks, equal_either_at};

/// Mask of the first `length` bytes of a window.
#[inline(always)]
fn first_bits(length: usize) -> u64 {
    if length < 64 { !(u64::MAX << length) } else { u64::MAX }
}

/// Returns the first position of a byte from `at` on and before `end`.
#[inline(always)]
pub(super) fn find_byte<M: Masks>(
    masks: M,
    text: &[u8],
    mut at: usize,
    end: usize,
    byte: u8,
) -> Option<usize> {
    while at < end {
        let hits = equal_either_at(masks, text, at, byte, byte) & first_bits(end - at);
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize);
        }
        at += 64;
    }
    None
}

/// Returns the position of the first double quote that is not escaped. A backslash escapes the next byte.
#[inline(always)]
pub(super) fn find_quote<M: Masks>(masks: M, text: &[u8], mut at: usize, end: usize) -> Option<usize> {
    // Bit of the first byte, if the last byte before it escapes it.
    let mut escaped = 0;
    while at < end {
        let mut hits = equal_either_at(masks, text, at, b'"', b'\\') & first_bits(end - at) & !escaped;
        escaped = 0;
        while hits != 0 {
            let hit = hits.trailing_zeros();
            if text[at + hit as usize] == b'"' {
                return Some(at + hit as usize);
            }
            escaped = u64::from(hit == 63);
            hits &= !(0b11 << hit);
        }
        at += 64;
    }
    None
}

/// A text between values, of at most 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortText {
    word: u64,
    mask: u64,
    length: usize,
    first: u8,
}

impl ShortText {
    /// Returns `None` if the text is empty or longer.
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let first = *text.first()?;
        let mut bytes = [0; 8];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        let mask = first_bits(8 * text.len());
        Some(Self { word: u64::from_le_bytes(bytes), mask, length: text.len(), first })
    }

    /// Whether this text is at `at`, and ends before or at `end`.
    #[inline(always)]
    pub(super) fn is_at(&self, text: &[u8], at: usize, end: usize) -> bool {
        let word = match text.get(at..).and_then(|rest| rest.first_chunk()) {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => last_word(text, at),
        };
        at + self.length <= end && (word ^ self.word) & self.mask == 0
    }

    /// Returns the first position of this text from `at` on. It ends before or at `end`.
    #[inline(always)]
    pub(super) fn find<M: Masks>(&self, masks: M, text: &[u8], mut at: usize, end: usize) -> Option<usize> {
        while at < end {
            let mut hits = equal_either_at(masks, text, at, self.first, self.first) & first_bits(end - at);
            while hits != 0 {
                let hit = at + hits.trailing_zeros() as usize;
                if self.is_at(text, hit, end) {
                    return Some(hit);
                }
                hits &= hits - 1;
            }
            at += 64;
        }
        None
    }
}

#[cold]
#[inline(never)]
fn last_word(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default().iter().take(8);
    rest.rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
