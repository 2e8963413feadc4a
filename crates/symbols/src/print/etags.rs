//! TAGS files of Emacs: a section for each file, with the text up to a name, the name, line and byte offset of its line.

use std::io::Write;

use super::{ListedFile, bytes};

/// Longest text before a name, in bytes. Lines of minified code are longer.
const MAX_PREFIX: usize = 200;

pub(super) fn print(file: &ListedFile<'_>, out: &mut Vec<u8>) {
    let mut section = Vec::new();
    for symbol in file.symbols {
        let begin = symbol.name.start + 1 - symbol.column;
        section.extend_from_slice(
            &file.text[begin.max(symbol.name.start.saturating_sub(MAX_PREFIX))..symbol.name.end],
        );
        section.push(0x7f);
        section.extend_from_slice(file.name(symbol));
        // Writing to memory does not fail.
        let _ = writeln!(section, "\x01{},{begin}", symbol.line);
    }
    out.extend_from_slice(b"\x0c\n");
    out.extend_from_slice(bytes(file.path));
    let _ = writeln!(out, ",{}", section.len());
    out.extend_from_slice(&section);
}
