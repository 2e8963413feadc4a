//! Tags files in the extended format of Exuberant and Universal Ctags: sorted lines of name, path, search pattern and fields.

use std::io::{self, Write};

use super::{ListedFile, bytes};
use crate::symbol::truncated;

/// Lines of a tags file, in any order until they are written.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    lines: Vec<u8>,
    /// End of each line.
    ends: Vec<usize>,
}

/// Description of the format for readers. `!` sorts before every name.
const HEADER: &str = "!_TAG_FILE_ENCODING\tutf-8\t//\n\
!_TAG_FILE_FORMAT\t2\t/extended format; --format=1 will not append ;\" to lines/\n\
!_TAG_FILE_SORTED\t1\t/0=unsorted, 1=sorted, 2=foldcase/\n\
!_TAG_PROGRAM_NAME\tcomb symbols\t//\n";

impl Tags {
    /// Adds the definitions of a file. Names and paths with tabs or line feeds have no place in the format.
    pub(crate) fn add_file(&mut self, file: &ListedFile<'_>) {
        let path = bytes(file.path);
        if path.contains(&b'\t') || path.contains(&b'\n') {
            return;
        }
        for symbol in file.symbols {
            let name = file.name(symbol);
            if name.iter().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) {
                continue;
            }
            let out = &mut self.lines;
            out.extend_from_slice(name);
            out.push(b'\t');
            out.extend_from_slice(path);
            out.extend_from_slice(b"\t/^");
            pattern(file.line(symbol), out);
            let _ = write!(
                out,
                "/;\"\tkind:{}\tline:{}\tlanguage:{}",
                symbol.label(),
                symbol.line,
                file.language.title()
            );
            if let (Some(kind), false) = (symbol.scope_kind, symbol.scope.is_empty()) {
                let _ = write!(out, "\t{kind}:");
                value(&symbol.scope, out);
            } else if !symbol.scope.is_empty() {
                out.extend_from_slice(b"\tclass:");
                value(&symbol.scope, out);
            }
            if let Some(parameters) = &symbol.parameters {
                out.extend_from_slice(b"\tsignature:");
                value(&file.collapsed(parameters), out);
            }
            let _ = writeln!(out, "\tend:{}", symbol.end_line);
            self.ends.push(self.lines.len());
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        let before = self.lines.len();
        self.lines.extend_from_slice(&other.lines);
        self.ends.extend(other.ends.iter().map(|end| before + end));
    }

    /// Writes the header, and all lines in sorted order, merged with the kept lines of an older file.
    pub(crate) fn write<'l>(
        &'l self,
        kept: impl Iterator<Item = &'l [u8]>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut lines: Vec<&[u8]> = kept.collect();
        lines.reserve(self.ends.len());
        let mut begin = 0;
        for &end in &self.ends {
            lines.push(&self.lines[begin..end]);
            begin = end;
        }
        lines.sort_unstable();
        lines.dedup();
        out.write_all(HEADER.as_bytes())?;
        for line in lines {
            out.write_all(line)?;
        }
        Ok(())
    }
}

/// Longest part of a line in a search command, in bytes: that of Universal Ctags.
const MAX_PATTERN: usize = 96;

/// Writes a line as the literal text of a search command, to its end unless it is long.
fn pattern(line: &[u8], out: &mut Vec<u8>) {
    let part = truncated(line, MAX_PATTERN);
    for &byte in part {
        if matches!(byte, b'/' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    if part.len() == line.len() {
        if line.ends_with(b"$") {
            // As the last character of a pattern it would stand for the end of the line.
            out.pop();
            out.extend_from_slice(b"\\$");
        }
        out.push(b'$');
    }
}

/// Writes the value of a field: tabs, line ends and backslashes are escaped.
fn value(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => out.push(byte),
        }
    }
}
