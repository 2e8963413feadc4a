//! Lines of files as they are shown: as text, and cut around the match if they are long.

use std::borrow::Cow;

/// Mark for the part of a line that was left out.
const MARK: &str = "…";

/// Returns a line as text. Of a line of more than `most` bytes, it has that many around the match that begins at the offset `from`.
pub(super) fn excerpt(line: &[u8], from: usize, most: usize) -> Cow<'_, str> {
    if line.len() <= most {
        return String::from_utf8_lossy(line);
    }
    // A third before the match shows what it belongs to.
    let start = from.min(line.len()).saturating_sub(most / 3).min(line.len() - most);
    let (start, end) = (char_boundary(line, start), char_boundary(line, start + most));
    let text = String::from_utf8_lossy(&line[start..end]);
    let mark = |is_cut| if is_cut { MARK } else { "" };
    Cow::Owned(format!("{}{text}{}", mark(start > 0), mark(end < line.len())))
}

/// The offset itself, or one of the next three bytes if a character begins there and the offset is within a character.
fn char_boundary(line: &[u8], offset: usize) -> usize {
    let is_within = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let skipped = line[offset..].iter().take(4).take_while(is_within).count();
    if skipped > 3 { offset } else { offset + skipped }
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn lines_are_cut_around_the_match() {
        assert_eq!(excerpt(b"short", 0, 5), "short");
        assert_eq!(excerpt(b"0123456789", 0, 6), "012345…");
        assert_eq!(excerpt(b"0123456789", 5, 6), "…345678…");
        assert_eq!(excerpt(b"0123456789", 9, 6), "…456789");
        assert_eq!(excerpt(b"0123456789", 99, 6), "…456789");
    }

    #[test]
    fn characters_stay_whole_and_invalid_bytes_are_replaced() {
        let line = "é".repeat(10);
        for (from, most) in [(0, 5), (7, 6), (11, 7), (19, 9)] {
            let text = excerpt(line.as_bytes(), from, most).replace('…', "");
            assert!(text.chars().all(|char| char == 'é') && text.len() <= most + 2, "{text}");
        }
        assert_eq!(excerpt(b"a\xffb", 0, 9), "a\u{fffd}b");
        assert_eq!(excerpt(&[0x80; 20], 6, 6), format!("…{}…", "\u{fffd}".repeat(6)));
    }
}
