//! Definitions around matches, as `git grep -p` shows them: the innermost function, type or module that a line is in.
//!
//! The command implements [`ScopeFinder`] by the parsers of `symbols`: the two crates do not know each other. A parser needs the whole text,
//! so source files up to its limit are read at once, and parsed while a block is printed, when the first match asks. As nothing is read
//! twice, a file that changes meanwhile has one text.

use std::cmp::Reverse;
use std::ops::Range;
use std::path::Path;

use finecomb_scan::decompressed_name;
use memchr::{memchr, memchr_iter, memrchr};

#[cfg(test)]
pub(crate) mod tests;

/// Definition that is a scope: a function, a type or a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Kind of the definition.
    pub kind: &'static str,
    /// Name of the definition.
    pub name: String,
    /// Names of the scopes around it, if there are any.
    pub scope: Option<String>,
    /// From the first token to the end of the body, in bytes of the text.
    pub extent: Range<usize>,
    /// Offset in the line that shows the definition.
    pub line: usize,
}

/// Finds the scopes of source texts. Each worker has its own.
pub trait ScopeFinder: Send {
    /// Returns `true` if the language of a file is known by its name.
    fn knows(&self, path: &Path) -> bool;

    /// Largest text that is parsed, in bytes.
    fn size_limit(&self) -> usize;

    /// Finds the scopes of a text, in any order.
    ///
    /// # Errors
    /// If the text is not parsed, with the reason.
    fn scopes(&mut self, path: &Path, text: &[u8]) -> Result<Vec<Scope>, String>;
}

/// Creates the scope finder of a worker.
pub type NewScopeFinder = fn() -> Box<dyn ScopeFinder>;

/// Reason why matches are printed without definitions, as a message.
pub(crate) fn not_shown(reason: &str) -> String {
    format!("{reason}; definitions around its matches are not shown")
}

/// Scopes of the file that is being printed, found when the first match asks for one.
pub(crate) struct Enclosing<'a> {
    pub(crate) finder: &'a mut dyn ScopeFinder,
    pub(crate) path: &'a Path,
    pub(crate) text: &'a [u8],
    pub(crate) line_end: u8,
    pub(crate) scopes: Option<Scopes>,
    /// Receives the reason if the text is not parsed.
    pub(crate) errors: &'a mut Vec<String>,
}

impl Enclosing<'_> {
    fn scopes(&mut self) -> &mut Scopes {
        let Self { finder, path, text, line_end, scopes, errors } = self;
        scopes.get_or_insert_with(|| {
            let found = finder.scopes(decompressed_name(path), text).unwrap_or_else(|reason| {
                errors.push(not_shown(&reason));
                Vec::new()
            });
            Scopes::new(found, text, *line_end)
        })
    }

    /// The line that an offset is in, terminator included.
    pub(crate) fn line_at(&self, at: usize) -> Range<usize> {
        line_at(self.text, at.min(self.text.len()), self.line_end)
    }

    /// Returns the line of the definition around a matching line, unless it has been printed or is not above it.
    pub(crate) fn line_to_print(&mut self, line: Range<usize>) -> Option<Range<usize>> {
        self.scopes().line_to_print(line)
    }

    /// Records that the line at an offset is printed.
    pub(crate) fn mark_printed(&mut self, line: usize) {
        if let Some(scopes) = &mut self.scopes {
            scopes.mark_printed(line);
        }
    }

    /// Returns the definition around a line with this number, with the numbers of its own line and of its last line.
    pub(crate) fn around(&mut self, line: Range<usize>, number: u64) -> Option<Around<'_>> {
        let (text, line_end, start) = (self.text, self.line_end, line.start);
        let indexed = self.scopes().around(line)?;
        let lines = |range: Range<usize>| memchr_iter(line_end, &text[range]).count() as u64;
        let (first, last) = (indexed.line.start, indexed.scope.extent.end - 1);
        let number_of = |at: usize| {
            if at < start { number.saturating_sub(lines(at..start)) } else { number + lines(start..at) }
        };
        let (first, last) = *indexed.numbers.get_or_insert_with(|| (number_of(first), number_of(last)));
        Some(Around {
            scope: &indexed.scope,
            line: first,
            end_line: last,
            bytes: &text[indexed.line.clone()],
        })
    }
}

/// Definition around a match.
pub(crate) struct Around<'a> {
    pub(crate) scope: &'a Scope,
    /// Number of the line that shows it.
    pub(crate) line: u64,
    /// Number of its last line.
    pub(crate) end_line: u64,
    /// The line that shows it, terminator included.
    pub(crate) bytes: &'a [u8],
}

/// Scopes of a text, and whether their lines have been printed.
pub(crate) struct Scopes {
    /// By where they begin, outer ones first.
    scopes: Vec<Indexed>,
    /// Starts of the lines that show them, in order, and whether they have been printed.
    lines: Vec<(usize, bool)>,
}

struct Indexed {
    scope: Scope,
    /// The line that shows it, terminator included.
    line: Range<usize>,
    /// Index of the innermost scope around it.
    around: Option<usize>,
    /// Numbers of its line and of its last line, if they were asked for.
    numbers: Option<(u64, u64)>,
}

impl Scopes {
    pub(crate) fn new(mut found: Vec<Scope>, text: &[u8], line_end: u8) -> Self {
        found.retain(|scope| {
            let Range { start, end } = scope.extent;
            start < end && end <= text.len() && scope.line < text.len()
        });
        found.sort_by_key(|scope| (scope.extent.start, Reverse(scope.extent.end)));
        let mut scopes: Vec<Indexed> = Vec::with_capacity(found.len());
        let mut open: Vec<usize> = Vec::new();
        for scope in found {
            while open.pop_if(|&mut last| scopes[last].scope.extent.end <= scope.extent.start).is_some() {}
            let line = line_at(text, scope.line, line_end);
            let around = open.last().copied();
            open.push(scopes.len());
            scopes.push(Indexed { scope, line, around, numbers: None });
        }
        let mut lines: Vec<_> = scopes.iter().map(|indexed| (indexed.line.start, false)).collect();
        lines.sort_unstable();
        lines.dedup();
        Self { scopes, lines }
    }

    /// Returns the innermost scope whose extent has bytes in a line. If there are several, returns the one that begins last.
    fn around(&mut self, line: Range<usize>) -> Option<&mut Indexed> {
        let begun = self.scopes.partition_point(|indexed| indexed.scope.extent.start < line.end);
        let mut candidate = begun.checked_sub(1);
        while let Some(index) = candidate.filter(|&index| self.scopes[index].scope.extent.end <= line.start) {
            candidate = self.scopes[index].around;
        }
        candidate.map(|index| &mut self.scopes[index])
    }

    pub(crate) fn line_to_print(&mut self, line: Range<usize>) -> Option<Range<usize>> {
        let start = line.start;
        let definition = self.around(line)?.line.clone();
        let printed = self.place(definition.start).is_some_and(|place| self.lines[place].1);
        (definition.start < start && !printed).then_some(definition)
    }

    pub(crate) fn mark_printed(&mut self, line: usize) {
        if let Some(place) = self.place(line) {
            self.lines[place].1 = true;
        }
    }

    /// Index of the line at an offset, if it shows a scope.
    fn place(&self, line: usize) -> Option<usize> {
        self.lines.binary_search_by_key(&line, |&(start, _)| start).ok()
    }
}

/// The line that an offset is in, terminator included.
fn line_at(text: &[u8], at: usize, line_end: u8) -> Range<usize> {
    let start = memrchr(line_end, &text[..at]).map_or(0, |before| before + 1);
    start..memchr(line_end, &text[at..]).map_or(text.len(), |length| at + length + 1)
}
