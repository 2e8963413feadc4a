//! Definitions of a file as a tree: path, then line, kind and name, indented by scope.

use std::io::Write;

use anstyle::Style;

use super::{ListedFile, Styles, bytes, styled};

pub(super) fn print(file: &ListedFile<'_>, styles: &Styles, out: &mut Vec<u8>) {
    let Styles { path, line, kind, name, .. } = styles;
    let width = file.symbols.iter().map(|symbol| symbol.line).max().unwrap_or(0).to_string().len();
    styles.add(path, bytes(file.path), out);
    out.push(b'\n');
    for symbol in file.symbols {
        // Writing to memory does not fail.
        let _ = write!(out, "{line}{:>width$}{line:#}  ", symbol.line);
        out.resize(out.len() + 2 * symbol.depth, b' ');
        styled(kind, symbol.label().as_bytes(), out);
        out.push(b' ');
        styles.add(name, file.name(symbol), out);
        if let Some(parameters) = &symbol.parameters {
            styles.add(&Style::new(), &file.collapsed(parameters), out);
        }
        out.push(b'\n');
    }
}

/// The same for programs: first and last line, kind and name, a blank for each scope, nothing aligned.
pub(super) fn print_compact(file: &ListedFile<'_>, out: &mut Vec<u8>) {
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
        if let Some(parameters) = &symbol.parameters {
            file.collapse(parameters, out);
        }
        out.push(b'\n');
    }
}
