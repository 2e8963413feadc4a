//! Wrapping of text.

use std::iter;

/// Wraps a text at spaces, to lines of at most a number of characters; a longer word is cut anywhere.
pub(crate) fn wrapped(text: &str, longest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let characters: Vec<char> = word.chars().collect();
        let mut pieces = characters.chunks(longest.max(1));
        // Of two spaces one stands between the other and the word before.
        let first = pieces.next().unwrap_or_default();
        for piece in iter::once(first).chain(pieces) {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + piece.len() <= longest => {
                    line.push(' ');
                    line.extend(piece);
                }
                _ => lines.push(piece.iter().collect()),
            }
        }
    }
    lines
}
