//! Definitions as they are printed: with lines, columns and names of scopes.

use std::cmp::Reverse;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use crate::definition::Definition;
use crate::kind::{Kind, label};
use crate::language::Language;

/// Longest signature, in bytes. Longer ones are cut.
const MAX_SIGNATURE: usize = 400;

/// Longest part of a text that a signature is made of, in bytes: white space takes time, but no room.
const MAX_HEAD: usize = 4096;

/// Longest line that is looked at, in bytes, so that many definitions on one line take no more time than on many.
pub(crate) const MAX_LINE: usize = 4096;

/// A definition in a file, or the use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// Kind of the definition; none for a use.
    pub(crate) kind: Option<Kind>,
    /// Bytes of the name in the file.
    pub(crate) name: Range<usize>,
    /// Names of the scopes around it, joined by the separator of the language. Empty if there are none.
    pub(crate) scope: Vec<u8>,
    /// Kind of the innermost scope, if that is a definition of the same file.
    pub(crate) scope_kind: Option<Kind>,
    /// Number of scopes around it.
    pub(crate) depth: usize,
    /// From the first token to the end of the body, in bytes of the file.
    pub(crate) extent: Range<usize>,
    /// Line of the name, counted from 1.
    pub(crate) line: usize,
    /// Column of the name in bytes, counted from 1.
    pub(crate) column: usize,
    /// Line of the last byte of the extent; that of the name until [`add_end_lines`] is called.
    pub(crate) end_line: usize,
    /// Definition up to its body, in bytes of the file; the line of a use.
    pub(crate) head: Range<usize>,
    /// Parameters as they are written, in bytes of the file.
    pub(crate) parameters: Option<Range<usize>>,
}

impl Symbol {
    /// Kind of the definition, or `reference`.
    pub(crate) fn label(&self) -> &'static str {
        label(self.kind)
    }
}

/// Completes the definitions of a file that are asked for, in the order of their names.
pub(crate) fn symbols(
    text: &[u8],
    language: Language,
    definitions: &[Definition],
    is_wanted: impl Fn(Kind, &[u8]) -> bool,
) -> Vec<Symbol> {
    let mut lines = LineCounter { text, at: 0, line: 1, begin: 0 };
    let is_wanted = |&index: &usize| {
        let Definition { kind, name, .. } = &definitions[index];
        is_wanted(*kind, &text[name.clone()])
    };
    let mut order: Vec<usize> = (0..definitions.len()).filter(is_wanted).collect();
    order.sort_by_key(|&index| (definitions[index].name.start, index));
    order
        .into_iter()
        .map(|index| {
            let definition = &definitions[index];
            let (line, column) = lines.place(definition.name.start);
            let around = around(definitions, definition);
            Symbol {
                kind: Some(definition.kind),
                name: definition.name.clone(),
                scope: scope(text, language, &around, definition),
                scope_kind: definition.scope.map(|scope| definitions[scope].kind),
                depth: around.len(),
                extent: definition.extent.clone(),
                line,
                column,
                end_line: line,
                head: definition.head.clone(),
                parameters: definition.parameters.clone(),
            }
        })
        .collect()
}

/// Adds the lines on which definitions end.
pub(crate) fn add_end_lines(text: &[u8], symbols: &mut [Symbol]) {
    let mut ends: Vec<usize> = (0..symbols.len()).collect();
    ends.sort_by_key(|&index| symbols[index].extent.end);
    let mut lines = LineCounter { text, at: 0, line: 1, begin: 0 };
    for index in ends {
        let last = symbols[index].extent.end.saturating_sub(1);
        symbols[index].end_line = lines.place(last).0.max(symbols[index].line);
    }
}

/// Completes the uses of a name, in their order.
pub(crate) fn uses(
    text: &[u8],
    language: Language,
    definitions: &[Definition],
    references: &[Range<usize>],
) -> Vec<Symbol> {
    let mut lines = LineCounter { text, at: 0, line: 1, begin: 0 };
    let mut around = Around::new(definitions);
    let complete = |name: &Range<usize>| {
        let (line, column) = lines.place(name.start);
        let outer = around.innermost(name.start);
        let mut scope = Vec::new();
        if let Some(outer) = outer {
            scope = self::scope(text, language, &self::around(definitions, outer), outer);
            if !scope.is_empty() {
                scope.extend_from_slice(language.separator().as_bytes());
            }
            scope.extend_from_slice(&text[outer.name.clone()]);
        }
        Symbol {
            kind: None,
            name: name.clone(),
            scope,
            scope_kind: outer.map(|outer| outer.kind),
            depth: 0,
            extent: name.clone(),
            line,
            column,
            end_line: line,
            head: lines.current(),
            parameters: None,
        }
    };
    references.iter().map(complete).collect()
}

/// The definitions around places that do not go back.
struct Around<'d> {
    /// Definitions, the first one last.
    next: Vec<&'d Definition>,
    /// Those around the last place, the innermost one last.
    open: Vec<&'d Definition>,
}

impl<'d> Around<'d> {
    fn new(definitions: &'d [Definition]) -> Self {
        let mut next: Vec<&Definition> =
            definitions.iter().filter(|definition| definition.kind.is_scope()).collect();
        next.sort_by_key(|definition| Reverse((definition.extent.start, Reverse(definition.extent.end))));
        Self { next, open: Vec::new() }
    }

    fn innermost(&mut self, place: usize) -> Option<&'d Definition> {
        while let Some(next) = self.next.pop_if(|next| next.extent.start <= place) {
            self.open.push(next);
        }
        while self.open.pop_if(|last| last.extent.end <= place).is_some() {}
        self.open.last().copied()
    }
}

/// Counts lines up to places that do not go back.
struct LineCounter<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
    /// Offset of the line.
    begin: usize,
}

impl LineCounter<'_> {
    /// Line and column of an offset, both counted from 1.
    fn place(&mut self, offset: usize) -> (usize, usize) {
        let offset = offset.clamp(self.at, self.text.len());
        let passed = &self.text[self.at..offset];
        self.line += memchr_iter(b'\n', passed).count();
        if let Some(end) = memrchr(b'\n', passed) {
            self.begin = self.at + end + 1;
        }
        self.at = offset;
        (self.line, offset - self.begin + 1)
    }

    /// The line of the last place, or the beginning of a very long one.
    fn current(&self) -> Range<usize> {
        let rest = &self.text[self.begin..self.text.len().min(self.begin + MAX_LINE)];
        self.begin..self.begin + memchr(b'\n', rest).unwrap_or(rest.len())
    }
}

/// The definitions around one, from the outside in.
fn around<'d>(definitions: &'d [Definition], definition: &'d Definition) -> Vec<&'d Definition> {
    let mut around = Vec::new();
    let mut scope = definition.scope;
    while let Some(index) = scope {
        around.push(&definitions[index]);
        scope = definitions[index].scope;
    }
    around.reverse();
    around
}

/// Names of the definitions around one, and of the scope that is written before its name.
fn scope(text: &[u8], language: Language, around: &[&Definition], definition: &Definition) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for outer in around {
        parts.extend(outer.qualifier.clone().map(|qualifier| &text[qualifier]));
        parts.push(&text[outer.name.clone()]);
    }
    parts.extend(definition.qualifier.clone().map(|qualifier| &text[qualifier]));
    parts.join(language.separator().as_bytes())
}

/// The beginning of a text, which does not end in the middle of a character.
pub(crate) fn truncated(text: &[u8], max: usize) -> &[u8] {
    match text.len() > max {
        true => &text[..(0..=max).rev().find(|&end| text[end] & 0xc0 != 0x80).unwrap_or(0)],
        false => text,
    }
}

/// Appends a part of a text on one line: runs of white space are one space. Only its first [`MAX_HEAD`] bytes are read.
pub(crate) fn collapse(part: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    let read = truncated(part, MAX_HEAD);
    let mut is_cut = read.len() < part.len();
    for word in read.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        if out.len() > begin {
            out.push(b' ');
        }
        let room = MAX_SIGNATURE.saturating_sub(out.len() - begin);
        out.extend_from_slice(truncated(word, room));
        if word.len() > room {
            is_cut = true;
            break;
        }
    }
    if is_cut {
        out.extend_from_slice("…".as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_signatures_are_cut_between_characters() {
        let mut out = Vec::new();
        collapse(format!("int\n  a{}", "\u{e9}".repeat(MAX_SIGNATURE)).as_bytes(), &mut out);
        let cut = String::from_utf8(out).expect("UTF-8");
        assert!(cut.starts_with("int a\u{e9}") && cut.ends_with("\u{e9}…"), "{cut}");
        assert!((MAX_SIGNATURE..MAX_SIGNATURE + 3).contains(&cut.len()), "{}", cut.len());
    }
    #[test]
    fn signatures_are_made_of_a_limited_part_of_a_text() {
        for (blanks, signature) in [(MAX_HEAD - 2, "a b"), (MAX_HEAD - 1, "a…"), (50 * MAX_HEAD, "a…")] {
            let mut out = Vec::new();
            collapse(format!("a{}b", " ".repeat(blanks)).as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), signature);
        }
    }
}
