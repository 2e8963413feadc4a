//! Definitions of a file as a tree: path, then line, kind and name, indented by scope.

use std::io::Write;

use super::{File, Styles, bytes};

pub(super) fn print(file: &File<'_>, styles: &Styles, out: &mut Vec<u8>) {
    let Styles { path, line, kind, name } = styles;
    let width = file.symbols.iter().map(|symbol| symbol.line).max().unwrap_or(0).to_string().len();
    // Writing to memory does not fail.
    let _ = write!(out, "{path}");
    out.extend_from_slice(bytes(file.path));
    let _ = writeln!(out, "{path:#}");
    for symbol in file.symbols {
        let _ = write!(out, "{line}{:>width$}{line:#}  ", symbol.line);
        out.resize(out.len() + 2 * symbol.depth, b' ');
        let _ = write!(out, "{kind}{}{kind:#} {name}", symbol.kind);
        out.extend_from_slice(file.name(symbol));
        let _ = write!(out, "{name:#}");
        out.extend_from_slice(symbol.parameters.as_deref().unwrap_or_default());
        out.push(b'\n');
    }
}
