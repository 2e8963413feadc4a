//! Lines of files as they are shown: as text, and cut around the match if they are long.

use std::borrow::Cow;

/// Returns a line as text. A line of more than `most` bytes is cut to that many around the match, which begins at the offset
/// `from`.
pub(super) fn excerpt(line: &[u8], from: usize, most: usize) -> Cow<'_, str> {
    let part = finecomb_grep::excerpt(line, from, most);
    if part.len() == line.len() {
        return String::from_utf8_lossy(line);
    }
    let mark = |is_cut| if is_cut { finecomb_grep::CUT } else { "" };
    let (before, after) = (mark(part.start > 0), mark(part.end < line.len()));
    Cow::Owned(format!("{before}{}{after}", String::from_utf8_lossy(&line[part])))
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn lines_are_cut_around_the_match() {
        assert_eq!(excerpt(b"0123456789", 0, 6), "012345…");
        assert_eq!(excerpt(b"0123456789", 5, 6), "…345678…");
        assert_eq!(excerpt(b"0123456789", 9, 6), "…456789");
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        assert_eq!(excerpt(b"a\xffb", 0, 9), "a\u{fffd}b");
        assert_eq!(excerpt(&[0x80; 20], 6, 6), format!("…{}…", "\u{fffd}".repeat(6)));
    }
}
