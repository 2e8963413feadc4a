//! Text wrapping.

use std::iter;

/// Wraps text at spaces into lines of at most `longest` characters; splits longer words.
pub fn wrapped(text: &str, longest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let characters: Vec<char> = word.chars().collect();
        let mut pieces = characters.chunks(longest.max(1));
        // The empty word between two spaces has no chunk, but keeps its space.
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
