//! Values in double quotes, with escapes by backslashes.

use memchr::{memchr, memchr2};

/// Returns the position of the first quote that is not escaped. A backslash escapes the next byte.
pub(crate) fn closing_quote(quoted: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', quoted.get(at..)?)?;
        if quoted[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// Appends a text without its escapes. `escape` appends what the escape at the beginning of a text stands for, and returns the
/// length of the escape. A backslash without a length stays; returns the position of the first.
pub(super) fn unescape(
    text: &[u8],
    out: &mut Vec<u8>,
    escape: impl Fn(&[u8], &mut Vec<u8>) -> Option<usize>,
) -> Option<usize> {
    let (mut at, mut first_literal) = (0, None);
    while let Some(length) = memchr(b'\\', &text[at..]) {
        out.extend_from_slice(&text[at..at + length]);
        at += length;
        at += escape(&text[at..], out).unwrap_or_else(|| {
            first_literal.get_or_insert(at);
            out.push(b'\\');
            1
        });
    }
    out.extend_from_slice(&text[at..]);
    first_literal
}

/// Appends the character of `\uXXXX`, or of two of them that are a pair of surrogates, and returns their length. A surrogate
/// without its other half becomes U+FFFD.
pub(super) fn unicode(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let first = unit(text)?;
    if let 0xD800..0xDC00 = first
        && let Some(second @ 0xDC00..0xE000) = unit(&text[6..])
    {
        push_character(0x1_0000 + ((first - 0xD800) << 10 | (second - 0xDC00)), out);
        return Some(12);
    }
    push_character(first, out);
    Some(6)
}

/// The number in `\uXXXX`.
fn unit(text: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = text.first_chunk::<6>()? else { return None };
    hexadecimal(digits)
}

/// The number of up to eight hexadecimal digits.
pub(super) fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | char::from(digit).to_digit(16)?))
}

/// Appends the character with this number, or U+FFFD if there is none.
pub(super) fn push_character(number: u32, out: &mut Vec<u8>) {
    let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}
