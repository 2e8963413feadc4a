//! The delimiter of CSV.

/// Parses the delimiter of CSV: an ASCII character other than a quote, or `\t` for a tab.
pub(crate) fn delimiter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        b"\\t" => Some(b'\t'),
        &[byte] if !matches!(byte, b'"' | b'\r' | b'\n') => Some(byte),
        _ => None,
    }
}
