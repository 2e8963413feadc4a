//! A line for each definition: `PATH:LINE:COLUMN`, kind, qualified name and signature, separated by tabs.

use anstyle::Style;

use super::{ListedFile, Styles, bytes, styled};

pub(super) fn print(file: &ListedFile<'_>, styles: &Styles, out: &mut Vec<u8>) {
    let path = bytes(file.path);
    for symbol in file.symbols {
        styles.add(&styles.path, path, out);
        out.push(b':');
        styled(&styles.line, itoa::Buffer::new().format(symbol.line).as_bytes(), out);
        out.push(b':');
        styled(&styles.line, itoa::Buffer::new().format(symbol.column).as_bytes(), out);
        out.push(b'\t');
        styled(&styles.kind, symbol.label().as_bytes(), out);
        out.push(b'\t');
        if symbol.kind.is_some() && !symbol.scope.is_empty() {
            styles.add(&Style::new(), &symbol.scope, out);
            out.extend_from_slice(file.language.separator().as_bytes());
        }
        styles.add(&styles.name, file.name(symbol), out);
        out.push(b'\t');
        styles.add(&Style::new(), &file.collapsed(&symbol.head), out);
        out.push(b'\n');
    }
}
