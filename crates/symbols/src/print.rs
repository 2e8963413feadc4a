//! Forms of the output.

mod ctags;
mod etags;
mod json;
mod outline;
mod records;
mod text;

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use finecomb_scan::Output;
use finecomb_sys::display;

use crate::language::Language;
use crate::query::{SymbolsFormat, SymbolsOptions, SymbolsQuery};
use crate::symbol::{MAX_LINE, Symbol, collapse};

pub(crate) use ctags::Tags;

/// Definitions of a file.
pub(crate) struct ListedFile<'f> {
    pub(crate) path: &'f Path,
    pub(crate) text: &'f [u8],
    pub(crate) language: Language,
    /// The file has syntax errors: definitions may be missing.
    pub(crate) has_errors: bool,
    pub(crate) symbols: &'f [Symbol],
}

impl<'f> ListedFile<'f> {
    /// Prints the file in any form but that of a tags file, whose lines are sorted over all files.
    pub(crate) fn print(&self, query: &SymbolsQuery, out: &mut Output<'_>) {
        let styles = Styles::new(&query.options);
        match query.options.format {
            SymbolsFormat::Text => text::print(self, &styles, out.bytes()),
            SymbolsFormat::Outline => outline::print(self, &styles, out.bytes()),
            SymbolsFormat::Compact => outline::print_compact(self, out.bytes()),
            SymbolsFormat::Json => json::print(self, query.options.bodies, out.bytes()),
            SymbolsFormat::Etags => etags::print(self, out.bytes()),
            SymbolsFormat::Records => records::print(self, out),
            SymbolsFormat::Ctags => {}
        }
    }

    /// Appends a part of the text on one line.
    fn collapse(&self, part: &Range<usize>, out: &mut Vec<u8>) {
        collapse(&self.text[part.clone()], out);
    }

    /// A part of the text on one line.
    fn collapsed(&self, part: &Range<usize>) -> Vec<u8> {
        let mut line = Vec::new();
        self.collapse(part, &mut line);
        line
    }

    /// The lines of a definition, at most this many bytes of whole lines or a part of the first one, and the number of the first line.
    fn body(&self, symbol: &Symbol, most: usize) -> (usize, &'f [u8]) {
        let Range { start, end } = symbol.extent;
        let begin = memchr::memrchr(b'\n', &self.text[..start]).map_or(0, |before| before + 1);
        let body = &self.text[begin..end];
        // The name may be in a later line.
        let (name, line) = (symbol.name.start, symbol.line);
        let before = memchr::memchr_iter(b'\n', &self.text[begin.min(name)..name]).count();
        let cut = &body[..body.len().min(most)];
        let whole = if cut.len() < body.len() { memchr::memrchr(b'\n', cut) } else { None };
        (line - before, &cut[..whole.unwrap_or(cut.len())])
    }

    fn name(&self, symbol: &Symbol) -> &'f [u8] {
        &self.text[symbol.name.clone()]
    }

    /// The line of a definition's name, without its end, or the beginning of a very long one.
    fn line(&self, symbol: &Symbol) -> &'f [u8] {
        let begin = symbol.name.start + 1 - symbol.column;
        let rest = &self.text[begin..self.text.len().min(begin + MAX_LINE)];
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

/// Styles of the output for people. Without colours they are empty.
struct Styles {
    escapes: bool,
    path: Style,
    line: Style,
    kind: Style,
    name: Style,
}

impl Styles {
    fn new(options: &SymbolsOptions) -> Self {
        let style = |style| if options.color { style } else { Style::new() };
        Self {
            escapes: options.escape,
            path: style(AnsiColor::Magenta.on_default()),
            line: style(AnsiColor::Green.on_default()),
            kind: style(AnsiColor::Cyan.on_default()),
            name: style(Style::new().bold()),
        }
    }
}

impl Styles {
    /// Appends bytes of a name or a text.
    fn add(&self, style: &Style, bytes: &[u8], out: &mut Vec<u8>) {
        if self.escapes {
            return styled(style, display::escaped_bytes(bytes).as_bytes(), out);
        }
        styled(style, bytes, out);
    }
}

/// Appends bytes in a style.
fn styled(style: &Style, bytes: &[u8], out: &mut Vec<u8>) {
    if style.is_plain() {
        return out.extend_from_slice(bytes);
    }
    // Writing to memory does not fail.
    let _ = write!(out, "{style}");
    out.extend_from_slice(bytes);
    let _ = write!(out, "{style:#}");
}

/// Bytes of a path as they are printed.
fn bytes(path: &Path) -> &[u8] {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes()
}
