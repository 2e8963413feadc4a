//! Parts of long lines.

use std::ops::Range;

/// Returns the part of a line to show in at most about `most` bytes, where a match begins at the offset `from`; a shorter line is
/// shown in full. A third of the part is before the match, to show its context. Characters are not divided.
pub fn excerpt(line: &[u8], from: usize, most: usize) -> Range<usize> {
    if line.len() <= most {
        return 0..line.len();
    }
    let start = from.min(line.len()).saturating_sub(most / 3).min(line.len() - most);
    char_boundary(line, start)..char_boundary(line, start + most)
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
    fn parts_are_around_the_match() {
        assert_eq!(excerpt(b"short", 0, 5), 0..5);
        assert_eq!(excerpt(b"0123456789", 0, 6), 0..6);
        assert_eq!(excerpt(b"0123456789", 5, 6), 3..9);
        assert_eq!(excerpt(b"0123456789", 9, 6), 4..10);
        assert_eq!(excerpt(b"0123456789", 99, 6), 4..10);
    }

    #[test]
    fn characters_stay_whole() {
        let line = "é".repeat(10);
        for (from, most) in [(0, 5), (7, 6), (11, 7), (19, 9)] {
            let part = excerpt(line.as_bytes(), from, most);
            assert!(part.len() <= most + 2 && line.get(part).is_some(), "{from} {most}");
        }
        assert_eq!(excerpt(&[0x80; 20], 6, 6), 4..10);
    }
}
