//! Classes of bytes, for lexers.

/// Returns `true` for letters, digits and `_`.
pub(crate) fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Bytes of words.
pub(super) const WORD: u8 = 1;
/// White space.
pub(super) const SPACE: u8 = 2;
/// Bytes that mean something in a body.
pub(super) const STOP: u8 = 4;

/// Classes of all bytes, as bits. Letters, digits, `_` and bytes beyond ASCII are in words; `others` has further bytes by class.
pub(super) const fn classes(others: &[(u8, &[u8])]) -> [u8; 256] {
    let mut classes = [0; 256];
    let mut index = 0;
    while index < 256 {
        let byte = index as u8;
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128 {
            classes[index] |= WORD;
        }
        index += 1;
    }
    let mut row = 0;
    while row < others.len() {
        let (class, bytes) = others[row];
        let mut index = 0;
        while index < bytes.len() {
            classes[bytes[index] as usize] |= class;
            index += 1;
        }
        row += 1;
    }
    classes
}
