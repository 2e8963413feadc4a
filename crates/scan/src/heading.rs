//! Lines that hold for the lines after them, such as `#Fields:` in a log of W3C.
//!
//! A block is examined without those before it, so it gets the last such line before it. Chunks of a file are searched by their workers in
//! parallel and pass it on in turns. This cannot deadlock: chunks are claimed in order, and every claimed chunk takes its turn.

use std::sync::Arc;

use memchr::memchr;
use memchr::memmem::FinderRev;

/// A line without its line end.
pub type Heading = Arc<[u8]>;

/// Returns the last line of a text that begins with a prefix and is not too long. The text begins with a line.
pub fn last_heading(text: &[u8], prefix: &[u8], max_line: usize) -> Option<Heading> {
    let finder = FinderRev::new(prefix);
    let mut before = text.len();
    while let Some(at) = finder.rfind(&text[..before]) {
        let is_line = at == 0 || text[at - 1] == b'\n';
        let line = &text[at..];
        let line = &line[..memchr(b'\n', line).unwrap_or(line.len())];
        if is_line && line.len() <= max_line {
            return Some(line.strip_suffix(b"\r").unwrap_or(line).into());
        }
        // A later hit cannot overlap this one at the beginning of a line.
        before = at;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_last_heading_is_that_of_a_loop_over_lines(
            pieces in prop::collection::vec(prop::sample::select(&["#F:", "#F: a", "b", "\n", "\r\n", "#", " ", "long line"][..]), 0..20),
            max_line in 2..20_usize,
        ) {
            let text = pieces.concat();
            let mut lines = text.split('\n').filter(|line| line.starts_with("#F:") && line.len() <= max_line);
            let expected = lines.next_back().map(|line| line.strip_suffix('\r').unwrap_or(line).as_bytes());
            let found = last_heading(text.as_bytes(), b"#F:", max_line);
            prop_assert_eq!(found.as_deref(), expected);
        }
    }
}
