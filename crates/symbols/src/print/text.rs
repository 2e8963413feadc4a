//! A line for each definition: `PATH:LINE:COLUMN`, kind, qualified name and signature, separated by tabs.

use std::io::Write;

use anstyle::{AnsiColor, Style};

use super::{File, bytes};

pub(super) fn print(file: &File<'_>, color: bool, out: &mut Vec<u8>) {
    let style = |style| if color { style } else { Style::new() };
    let path = style(AnsiColor::Magenta.on_default());
    let place = style(AnsiColor::Green.on_default());
    let kind = style(AnsiColor::Cyan.on_default());
    let name = style(Style::new().bold());
    for symbol in file.symbols {
        // Writing to memory does not fail.
        let _ = write!(out, "{path}");
        out.extend_from_slice(bytes(file.path));
        let _ = write!(out, "{path:#}:{place}{}{place:#}:{place}{}{place:#}", symbol.line, symbol.column);
        let _ = write!(out, "\t{kind}{}{kind:#}\t", symbol.kind);
        out.extend_from_slice(&symbol.scope);
        if !symbol.scope.is_empty() {
            out.extend_from_slice(file.language.separator().as_bytes());
        }
        let _ = write!(out, "{name}");
        out.extend_from_slice(file.name(symbol));
        let _ = write!(out, "{name:#}\t");
        out.extend_from_slice(&symbol.signature);
        out.push(b'\n');
    }
}
