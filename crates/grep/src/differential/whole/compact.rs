//! Cuts long lines in the output of ripgrep's printers.

use std::ops::Range;

use super::definitions::{Piece, Role};
use crate::options::GrepOptions;
use crate::print::lines::{Style, looks_like_line, write_excerpt};

/// Rewrites the output of a file. `pieces` are its lines and their positions. `find` returns where the first match
/// begins in some lines of the file, relative to the first of them.
pub(super) fn compact(
    style: &Style,
    printed: &[u8],
    pieces: &mut [Piece],
    find: impl Fn(Range<usize>) -> Option<usize>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(printed.len());
    let mut at = 0;
    for (number, piece) in pieces.iter_mut().enumerate() {
        let mut part = &printed[at..piece.end];
        at = piece.end;
        if number == 0 && style.options.with_filename {
            let (path, rest) = part.split_at(heading_len(style, part));
            if looks_like_line(path) {
                out.extend_from_slice(b"./");
            }
            out.extend_from_slice(path);
            part = rest;
        }
        // With -o, the text is the match. Context, and lines without a match, are cut at their ends.
        let is_around = piece.role == Role::Match && !style.options.only_matching && !style.options.invert;
        let mut from = if is_around { find(piece.lines.clone()).unwrap_or(0) } else { 0 };
        for line in part.split_inclusive(|&byte| byte == style.terminator.as_byte()) {
            let (fields, text) = line.split_at(fields_len(&style.options, line, piece.role));
            let blanks = style.leading_blanks(text);
            out.extend_from_slice(fields);
            write_excerpt(style, &text[blanks..], from.saturating_sub(blanks), &mut out);
            // The match continues at the beginning of the next line.
            from = 0;
        }
        piece.end = out.len();
    }
    out.extend_from_slice(&printed[at..]);
    out
}

/// Length of the path above the lines, with its terminator.
fn heading_len(style: &Style, printed: &[u8]) -> usize {
    let end = if style.options.null_after_path { 0 } else { style.terminator.as_byte() };
    memchr::memchr(end, printed).map_or(printed.len(), |at| at + 1)
}

/// Length of the numbers before the text of a line.
fn fields_len(options: &GrepOptions, line: &[u8], role: Role) -> usize {
    // With -v, it is the context that has matches.
    let has_column = options.column && (role == Role::Match) != options.invert;
    let fields =
        [options.line_number, has_column, options.byte_offset].into_iter().filter(|&is_printed| is_printed);
    let separator = match role {
        Role::Match => &options.field_match_separator,
        _ => &options.field_context_separator,
    };
    let mut rest = line;
    for _ in fields {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let Some(behind) = rest[digits..].strip_prefix(&**separator).filter(|_| digits > 0) else { break };
        rest = behind;
    }
    line.len() - rest.len()
}
