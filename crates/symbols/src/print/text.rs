//! A line for each definition: `PATH:LINE:COLUMN`, kind, qualified name and signature, separated by tabs.

use std::io::Write;

use super::{File, Styles, bytes};

pub(super) fn print(file: &File<'_>, styles: &Styles, out: &mut Vec<u8>) {
    let Styles { path, line, kind, name } = styles;
    for symbol in file.symbols {
        // Writing to memory does not fail.
        let _ = write!(out, "{path}");
        out.extend_from_slice(bytes(file.path));
        let _ = write!(out, "{path:#}:{line}{}{line:#}:{line}{}{line:#}", symbol.line, symbol.column);
        let _ = write!(out, "\t{kind}{}{kind:#}\t", symbol.label());
        if symbol.kind.is_some() && !symbol.scope.is_empty() {
            out.extend_from_slice(&symbol.scope);
            out.extend_from_slice(file.language.separator().as_bytes());
        }
        let _ = write!(out, "{name}");
        out.extend_from_slice(file.name(symbol));
        let _ = write!(out, "{name:#}\t");
        out.extend_from_slice(&symbol.signature);
        out.push(b'\n');
    }
}
