//! Skimming: the parts of a source text that hold definitions, found by a lexer many times faster than a parser.
//!
//! Most bytes of a program lie in bodies of functions and in comments, which hold no definition that a list shows. The lexer copies all
//! else into a shorter text, which is parsed. Positions in it are mapped back by [`Skimmed::source`].

pub(crate) mod c;

use std::ops::Range;

use crate::kind::Kind;
use crate::language::Language;

/// Skims a text. Returns `false` if all of it has to be parsed.
pub(crate) fn skim(language: Language, source: &[u8], out: &mut Skimmed) -> bool {
    match language {
        #[cfg(feature = "c")]
        Language::C => c::skim(source, out),
        #[cfg(feature = "cpp")]
        Language::Cpp => c::skim(source, out),
        #[allow(unreachable_patterns, reason = "a build for C and C++ alone has no other language")]
        _ => false,
    }
}

/// Shortened text, and where its parts come from.
#[derive(Debug, Default)]
pub(crate) struct Skimmed {
    text: Vec<u8>,
    segments: Vec<Segment>,
    /// Definitions that the parser cannot see: they are hidden in invocations of macros.
    pub(crate) hidden: Vec<Hidden>,
}

/// Start of a run of copied bytes.
#[derive(Clone, Copy, Debug)]
struct Segment {
    in_text: usize,
    in_source: usize,
}

/// Definition by a macro such as `DEFINE_MUTEX(name)`. Ranges are of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) kind: Kind,
    pub(crate) name: Range<usize>,
    pub(crate) head: Range<usize>,
    pub(crate) extent: Range<usize>,
    pub(crate) parameters: Option<Range<usize>>,
}

impl Skimmed {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.segments.clear();
        self.hidden.clear();
    }

    /// The shortened text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Copies a range of the source.
    fn keep(&mut self, source: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            self.segments.push(Segment { in_text: self.text.len(), in_source: range.start });
            self.text.extend_from_slice(&source[range]);
        }
    }

    /// Adds bytes that are not in the source, to keep tokens apart. No definition begins or ends in them.
    fn insert(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }

    /// Maps an offset of the shortened text to one of the source.
    pub(crate) fn source(&self, offset: usize) -> usize {
        let index = self.segments.partition_point(|segment| segment.in_text <= offset);
        match index.checked_sub(1).map(|index| self.segments[index]) {
            Some(segment) => segment.in_source + (offset - segment.in_text),
            None => 0,
        }
    }

    /// Maps a range of the shortened text to one of the source.
    pub(crate) fn source_range(&self, range: Range<usize>) -> Range<usize> {
        let start = self.source(range.start);
        let end = if range.is_empty() { start } else { self.source(range.end - 1) + 1 };
        start..end.max(start)
    }
}
