//! Finds the ends of values in a record, 64 bytes at a time.

use finecomb_sys::simd::brackets::{Nesting, escaped};
use finecomb_sys::simd::{Masks, window_at};

use crate::cells::Violation;

/// A record in a block.
#[derive(Clone, Copy)]
pub(super) struct RecordCursor<'t, M> {
    pub(super) masks: M,
    /// The block, which is read beyond the record to fill a window.
    pub(super) text: &'t [u8],
    /// End of the record.
    pub(super) end: usize,
}

/// The masks of the 64 bytes from `base` on, where a key or value begins.
#[derive(Clone, Copy)]
pub(super) struct TokenWindow {
    base: usize,
    /// Quotes that are not escaped.
    quotes: u64,
    backslashes: u64,
    /// Bytes that end a number, `true`, `false` or `null`.
    stops: u64,
}

impl TokenWindow {
    /// Mask of the bytes from `at` on.
    #[inline(always)]
    fn from(&self, at: usize) -> u64 {
        match at - self.base {
            place @ 0..64 => u64::MAX << place,
            _ => 0,
        }
    }
}

/// A position between two tokens of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum TokenPlace {
    /// A member or element is expected.
    Item(usize),
    /// The closing bracket of the innermost container.
    Close(usize),
}

/// End of a string: the position of its closing quote.
#[derive(Clone, Copy)]
pub(super) struct StringEnd {
    pub(super) quote: usize,
    /// Whether there is a backslash in the string.
    pub(super) has_escapes: bool,
}

impl<M: Masks> RecordCursor<'_, M> {
    /// The byte at a position; 0, which means nothing outside of a string, at the end of the record.
    #[inline(always)]
    pub(super) fn byte(&self, at: usize) -> u8 {
        if at < self.end { self.text[at] } else { 0 }
    }

    /// Returns the position of the first byte from `at` on that is no white space.
    #[inline(always)]
    pub(super) fn skip_space(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), b' ' | b'\t' | b'\n' | b'\r') {
            at += 1;
        }
        at
    }

    /// Returns the position of the bracket that opens a record. `None` if it has only white space.
    #[inline(always)]
    pub(super) fn object(&self, start: usize) -> Result<Option<usize>, Violation> {
        let at = self.skip_space(start);
        match self.byte(at) {
            b'{' => Ok(Some(at)),
            _ if at >= self.end => Ok(None),
            _ => Err((at, "expected an object")),
        }
    }

    /// Goes past the opening bracket of a container that `close` closes.
    #[inline(always)]
    pub(super) fn first_item(&self, bracket: usize, close: u8) -> TokenPlace {
        let at = self.skip_space(bracket + 1);
        if self.byte(at) == close { TokenPlace::Close(at) } else { TokenPlace::Item(at) }
    }

    /// Goes past the comma after a value, or to the bracket that closes the container.
    #[inline(always)]
    pub(super) fn after_value(&self, at: usize, close: u8) -> Result<TokenPlace, Violation> {
        let at = self.skip_space(at);
        match self.byte(at) {
            b',' => Ok(TokenPlace::Item(self.skip_space(at + 1))),
            byte if byte == close => Ok(TokenPlace::Close(at)),
            _ => Err((at, "expected ',' or a closing bracket after a value")),
        }
    }

    /// Goes past the colon after a key, to the value.
    #[inline(always)]
    pub(super) fn after_key(&self, at: usize) -> Result<usize, Violation> {
        let colon = self.skip_space(at);
        if self.byte(colon) != b':' {
            return Err((colon, "expected ':' after a key"));
        }
        Ok(self.skip_space(colon + 1))
    }

    /// Checks that nothing follows the object.
    #[inline(always)]
    pub(super) fn nothing_follows(&self, at: usize) -> Result<(), Violation> {
        let at = self.skip_space(at);
        if at < self.end { Err((at, "unexpected text after the object")) } else { Ok(()) }
    }

    /// Returns the position after a value.
    #[inline(always)]
    pub(super) fn skip_value(&self, at: usize, window: &TokenWindow) -> Result<usize, Violation> {
        match self.byte(at) {
            b'"' => Ok(self.string_end(at + 1, window)?.quote + 1),
            b'{' | b'[' => self.container_end(at + 1),
            _ => self.scalar_end(at, window),
        }
    }

    /// Loads the window at a position outside of strings, or directly after an opening quote.
    #[inline(always)]
    pub(super) fn look(&self, base: usize) -> TokenWindow {
        let mut spare = None;
        let window = window_at(self.text, base, &mut spare);
        let (quotes, backslashes) = self.quotes(window, &mut 0);
        TokenWindow { base, quotes, backslashes, stops: self.stops(window) }
    }

    /// Masks of the quotes that are not escaped, and of the backslashes. `carry` is that of [`escaped`].
    #[inline(always)]
    fn quotes(&self, window: &[u8; 64], carry: &mut u64) -> (u64, u64) {
        let backslashes = self.masks.equal(window, b'\\');
        let quotes = self.masks.equal(window, b'"');
        if backslashes | *carry == 0 {
            return (quotes, 0);
        }
        (quotes & !escaped(backslashes, carry), backslashes)
    }

    /// Mask of commas, closing brackets and white space.
    #[inline(always)]
    fn stops(&self, window: &[u8; 64]) -> u64 {
        self.masks.equal_either(window, b',', b'}')
            | self.masks.equal_either(window, b']', b' ')
            | self.masks.equal_either(window, b'\t', b'\r')
            | self.masks.equal(window, b'\n')
    }

    /// Finds the end of a string whose text begins at `at`, in the window or after it.
    #[inline(always)]
    pub(super) fn string_end(&self, at: usize, window: &TokenWindow) -> Result<StringEnd, Violation> {
        let quotes = window.quotes & window.from(at);
        if quotes == 0 {
            return self.far_string_end(at);
        }
        let quote = window.base + quotes.trailing_zeros() as usize;
        if quote >= self.end {
            return Err(self.unclosed_string());
        }
        let before = quotes.wrapping_sub(1) & !quotes & window.from(at);
        Ok(StringEnd { quote, has_escapes: window.backslashes & before != 0 })
    }

    /// Finds the end of a string whose text begins at `at`.
    #[inline(always)]
    fn far_string_end(&self, mut at: usize) -> Result<StringEnd, Violation> {
        let mut has_escapes = false;
        let mut carry = 0;
        let mut spare = None;
        while at < self.end {
            let window = window_at(self.text, at, &mut spare);
            let (quotes, backslashes) = self.quotes(window, &mut carry);
            let before = quotes.wrapping_sub(1) & !quotes;
            has_escapes |= backslashes & before != 0;
            if quotes != 0 {
                let quote = at + quotes.trailing_zeros() as usize;
                if quote >= self.end {
                    break;
                }
                return Ok(StringEnd { quote, has_escapes });
            }
            at += 64;
        }
        Err(self.unclosed_string())
    }

    #[inline(always)]
    fn unclosed_string(&self) -> Violation {
        (self.end, "unclosed string")
    }

    /// Returns the end of a number, `true`, `false` or `null` that begins at `at`, in the window or after it.
    #[inline(always)]
    pub(super) fn scalar_end(&self, at: usize, window: &TokenWindow) -> Result<usize, Violation> {
        let stops = window.stops & window.from(at);
        let end = match stops {
            0 => self.far_scalar_end(at),
            _ => window.base + stops.trailing_zeros() as usize,
        };
        let end = end.min(self.end);
        if end <= at { Err((at, "expected a value")) } else { Ok(end) }
    }

    #[inline(always)]
    fn far_scalar_end(&self, mut at: usize) -> usize {
        let mut spare = None;
        while at < self.end {
            let stops = self.stops(window_at(self.text, at, &mut spare));
            if stops != 0 {
                return at + stops.trailing_zeros() as usize;
            }
            at += 64;
        }
        at
    }

    /// Returns the position after the bracket that closes an object or array, in which `at` is outside of strings.
    #[inline(always)]
    pub(super) fn container_end(&self, mut at: usize) -> Result<usize, Violation> {
        let mut nesting = Nesting { depth: 1, in_string: 0 };
        let mut carry = 0;
        let mut spare = None;
        while at < self.end {
            let window = window_at(self.text, at, &mut spare);
            let (quotes, _) = self.quotes(window, &mut carry);
            if let Some(bit) = nesting.close(self.masks, window, quotes) {
                let bracket = at + bit as usize;
                if bracket >= self.end {
                    break;
                }
                return Ok(bracket + 1);
            }
            at += 64;
        }
        Err((self.end, "unclosed object or array"))
    }
}
