//! Sizes such as `128K`.

use finecomb_sys::units::ByteLimit;

/// Parses a size from `least` to `most` bytes: a number with an optional suffix K, M or G for powers of 1024.
pub(crate) fn parse(text: &str, least: usize, most: usize) -> Result<usize, String> {
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number: usize =
        digits.parse().map_err(|_| "expected a size in bytes, such as 4096, 128K, 64M or 1G".to_owned())?;
    let bytes = number.checked_mul(1 << shift).filter(|bytes| (least..=most).contains(bytes));
    bytes.ok_or_else(|| {
        format!("expected a size from {} to {}", ByteLimit(least as u64), ByteLimit(most as u64))
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, size) in
            [("0", 0), ("4096", 4096), ("128K", 128 << 10), ("64m", 64 << 20), ("1G", 1 << 30)]
        {
            assert_eq!(parse(text, 0, usize::MAX), Ok(size));
        }
    }

    #[test]
    fn invalid_sizes_and_sizes_out_of_bounds_are_rejected() {
        for wrong in ["", "K", "-1", "1.5M", "12X", "é", "1KK"] {
            assert!(parse(wrong, 0, usize::MAX).is_err(), "{wrong}");
        }
        assert!(parse("0", 1, 10).is_err());
        assert!(parse("11", 1, 10).is_err());
        assert!(parse("99999999999G", 1, usize::MAX).is_err());
    }
}
