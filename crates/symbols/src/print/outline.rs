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
        let _ = write!(out, "{kind}{}{kind:#} {name}", symbol.label());
        out.extend_from_slice(file.name(symbol));
        let _ = write!(out, "{name:#}");
        out.extend_from_slice(symbol.parameters.as_deref().unwrap_or_default());
        out.push(b'\n');
    }
}

/// The same for programs: first and last line, kind and name, a blank for each scope, nothing aligned.
pub(super) fn print_compact(file: &File<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(bytes(file.path));
    out.push(b'\n');
    for symbol in file.symbols {
        out.resize(out.len() + symbol.depth, b' ');
        // Writing to memory does not fail.
        let _ = match symbol.end_line == symbol.line {
            true => write!(out, "{}", symbol.line),
            false => write!(out, "{}-{}", symbol.line, symbol.end_line),
        };
        let _ = write!(out, " {} ", symbol.label());
        out.extend_from_slice(file.name(symbol));
        out.extend_from_slice(symbol.parameters.as_deref().unwrap_or_default());
        out.push(b'\n');
    }
}
