//! Masks of strings and brackets, as in JSON.

use super::Masks;

/// Positions whose number is even.
const EVEN: u64 = 0x5555_5555_5555_5555;

/// Mask of the bytes that a backslash precedes which is not escaped itself. `carry` is 1 if the first byte is escaped, and
/// becomes 1 if the first byte of the next window is. In a run of backslashes every other one escapes, beginning with the
/// first.
#[inline(always)]
pub fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    let runs = backslashes & !*carry;
    let starts = runs & !(runs << 1);
    // Adding its first bit to a run removes the run, and sets the bit after it.
    let from_even = runs & !runs.wrapping_add(starts & EVEN);
    let from_odd = runs & !from_even;
    let escaping = (from_even & EVEN) | (from_odd & !EVEN);
    let escaped = escaping << 1 | *carry;
    *carry = escaping >> 63;
    escaped
}

/// Open objects and arrays at a place of a text. Brackets of both kinds are counted alike.
#[derive(Clone, Copy, Debug)]
pub struct Nesting {
    /// Number of open objects and arrays.
    pub depth: usize,
    /// Whether the place is in a string: all ones if it is, else zero.
    pub in_string: u64,
}

impl Nesting {
    /// Returns the position of the bracket that closes all open ones. `None` if it is not in the window, which is passed then. `quotes` are
    /// the quotes that are not escaped.
    #[inline(always)]
    pub fn close<M: Masks>(&mut self, masks: M, window: &[u8; 64], quotes: u64) -> Option<u32> {
        let inside = masks.prefix_xor(quotes) ^ self.in_string;
        let closing = masks.equal_either(window, b'}', b']') & !inside;
        let opening = masks.equal_either(window, b'{', b'[') & !inside;
        if closing.count_ones() as usize >= self.depth
            && let Some(bit) = closing_bit(opening, closing, self.depth)
        {
            return Some(bit);
        }
        self.in_string = ((inside as i64) >> 63) as u64;
        self.depth = self.depth + opening.count_ones() as usize - closing.count_ones() as usize;
        None
    }
}

/// Returns the position of the closing bracket that ends `depth` open containers.
#[inline(always)]
fn closing_bit(opening: u64, closing: u64, depth: usize) -> Option<u32> {
    let mut left = closing;
    let mut closed = 0;
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        closed += 1;
        let opened = (opening & !(u64::MAX << bit)).count_ones() as usize;
        if depth + opened == closed {
            return Some(bit);
        }
    }
    None
}
