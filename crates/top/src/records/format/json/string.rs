//! Escapes in strings.

use crate::cells::Violation;

/// Appends the text of a string, given by its bytes between the quotes, in which each escape is complete. `start` is the
/// position of these bytes in the block. A surrogate without its other half becomes U+FFFD.
pub(super) fn decode(string: &[u8], start: usize, out: &mut Vec<u8>) -> Result<(), Violation> {
    let mut at = 0;
    while let Some(length) = memchr::memchr(b'\\', &string[at..]) {
        out.extend_from_slice(&string[at..at + length]);
        at += length;
        let (character, length) = escape(&string[at..]).ok_or((start + at, "invalid escape in a string"))?;
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at += length;
    }
    out.extend_from_slice(&string[at..]);
    Ok(())
}

/// The character of the escape at the beginning of `text`, and the length of the escape.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let character = match text.get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{C}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(text),
        _ => return None,
    };
    Some((character, 2))
}

/// The character of `\uXXXX`, or of two of them that are a pair of surrogates.
fn unicode(text: &[u8]) -> Option<(char, usize)> {
    let first = unit(text)?;
    if let 0xD800..0xDC00 = first
        && let Some(second @ 0xDC00..0xE000) = unit(&text[6..])
    {
        let code = 0x1_0000 + ((first - 0xD800) << 10 | (second - 0xDC00));
        return Some((char::from_u32(code)?, 12));
    }
    Some((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
}

/// The number in `\uXXXX`.
fn unit(text: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = text.first_chunk::<6>()? else { return None };
    digits.iter().try_fold(0, |number, &digit| Some(number << 4 | char::from(digit).to_digit(16)?))
}
