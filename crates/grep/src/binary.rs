//! How far a file is searched that turns out to be binary.

use memchr::memrchr;

/// How much of a file ripgrep has in memory at a time, at first.
const WINDOW: usize = 64 << 10;

/// How many bytes of a file are searched that has its first NUL at `nul`.
///
/// ripgrep reads a file piece by piece, and what is in one piece with a NUL is not searched any more. Its pieces begin
/// where the last line of the one before began, and are as long as its memory, which triples when a line does not fit.
pub(crate) fn searched_before(nul: usize, bytes: &[u8], line_end: u8) -> usize {
    let (mut searched, mut window, mut read) = (0, WINDOW, WINDOW);
    while read <= nul {
        let end = bytes.len().min(read);
        match memrchr(line_end, &bytes[searched..end]) {
            Some(last) => searched += last + 1,
            None => window *= 3,
        }
        read = searched + window;
    }
    searched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_one_piece_with_a_nul_is_not_searched() {
        let lines = "x".repeat(99) + "\n";
        let bytes = lines.repeat(3000).into_bytes();
        let searched = |nul| searched_before(nul, &bytes, b'\n');
        assert_eq!([searched(0), searched(WINDOW - 1)], [0, 0]);
        assert_eq!([searched(WINDOW), searched(65_500 + WINDOW - 1)], [65_500, 65_500]);
        assert_eq!(searched(65_500 + WINDOW), 131_000);
    }

    #[test]
    fn a_line_that_does_not_fit_is_read_in_larger_pieces() {
        let mut bytes = vec![b'x'; 3 * WINDOW];
        bytes[3 * WINDOW - 10] = b'\n';
        assert_eq!(searched_before(2 * WINDOW, &bytes, b'\n'), 0);
        bytes.extend(vec![b'y'; 4 * WINDOW]);
        assert_eq!(searched_before(3 * WINDOW + 5, &bytes, b'\n'), 3 * WINDOW - 9);
    }
}
