//! Skimming: the parts of a source text that hold definitions, found by a lexer many times faster than a parser.
//!
//! Most bytes of a program lie in bodies of functions and in comments, which hold no definition that a list shows. The lexer copies all
//! else into a shorter text, which is parsed. Positions in it are mapped back by [`Skimmed::source_range`].

#[cfg(any(feature = "go", feature = "java", feature = "rust"))]
mod brace;
mod bytes;
pub(crate) mod c;
mod code;
mod comments;
#[cfg(feature = "kotlin")]
mod kotlin;
#[cfg(feature = "python")]
mod python;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use finecomb_scan::Stop;

pub(crate) use self::bytes::is_word;
pub(crate) use self::code::{may_be_code, may_name_definition, possible_uses};
use crate::kind::Kind;
use crate::language::Language;

/// Length of the pieces that a text is parsed in, in bytes. A syntax error affects one piece, and a list for a name parses only pieces
/// that may define it. Larger ones are parsed no faster.
const PIECE: usize = 4 << 10;

/// Name of the placeholder for functions that were left out.
pub(crate) const MARK_NAME: &[u8] = b"$left_out$";
const MARK: &[u8] = b"void $left_out$(){}";

/// Skims a text. Returns `false` if all of it has to be parsed.
pub(crate) fn skim(language: Language, source: &[u8], out: &mut Skimmed) -> bool {
    match language {
        #[cfg(feature = "go")]
        Language::Go => brace::go::skim(source, out),
        #[cfg(feature = "java")]
        Language::Java => brace::java::skim(source, out),
        #[cfg(feature = "kotlin")]
        Language::Kotlin => {
            kotlin::prepare(source, out);
            false
        }
        #[cfg(feature = "python")]
        Language::Python => python::skim(source, out),
        #[cfg(feature = "rust")]
        Language::Rust => brace::rust::skim(source, out),
        #[allow(unreachable_patterns, reason = "a build for languages with a lexer alone has no other")]
        _ => has_preprocessor(language) && c::skim(source, language.name() == "cpp", out),
    }
}

/// Returns `true` for languages that [`skim`] shortens.
pub(crate) fn has_lexer(language: Language) -> bool {
    matches!(language.name(), "go" | "java" | "python" | "rust") || has_preprocessor(language)
}

/// Returns `true` for languages whose lexer changes what the parser gets even if all of it is parsed.
pub(crate) fn prepares(language: Language) -> bool {
    has_preprocessor(language) || language.name() == "kotlin"
}

/// Returns `true` for C and C++, whose macros may define something.
pub(crate) fn has_preprocessor(language: Language) -> bool {
    matches!(language.name(), "c" | "cpp")
}

/// Returns `false` if a place in a text, skimmed or not, cannot be the name of a definition because of the text around it.
pub(crate) fn may_define(language: Language, source: &[u8], place: &Range<usize>) -> bool {
    !has_preprocessor(language) || c::may_define(source, place)
}

/// Returns `true` for words that are neither names nor types, for languages whose lexer decides what is a use.
pub(crate) fn is_keyword(language: Language, word: &[u8]) -> bool {
    has_preprocessor(language) && c::is_keyword(word)
        || language.name() == "cpp" && c::is_keyword_of_cplusplus(word)
}

/// End of the macro that begins at an offset: the end of its last continuation line. `None` for languages without such macros.
pub(crate) fn macro_end(language: Language, source: &[u8], start: usize) -> Option<usize> {
    has_preprocessor(language).then(|| c::directive_end(source, start))
}

/// The lexer that separates code from literals and comments as the parser does, for languages that have one.
pub(crate) fn code(language: Language, source: &[u8]) -> Option<c::Code<'_>> {
    has_preprocessor(language).then(|| c::Code::new(source))
}

/// Shortened text, and where its parts come from.
#[derive(Debug, Default)]
pub(crate) struct Skimmed {
    text: Vec<u8>,
    segments: Vec<Segment>,
    /// A run of white space in the text, after the beginning or another byte.
    blank: Range<usize>,
    /// Offsets in the text between declarations that are in no other.
    cuts: Vec<usize>,
    /// Ranges of a declaration that the parser does not see.
    left_out: Vec<Range<usize>>,
    /// Directives, and branches that do not count.
    directives: Vec<Range<usize>>,
    /// Replacement lists of macros.
    replacements: Vec<Range<usize>>,
    /// Offsets of bytes that the grammar does not take, and those that it gets in their place.
    replaced: Vec<(usize, u8)>,
    /// Definitions by invocations of macros, which no grammar knows.
    pub(crate) by_macros: Vec<LexedDefinition>,
    /// Functions and other definitions of a plain form. The parser does not see them.
    pub(crate) plain: Vec<LexedDefinition>,
    /// A definition that the lexer found is in a scope, which only the parser knows.
    pub(crate) has_inner: bool,
    /// Ends a text that takes long.
    stop: Option<Arc<Stop>>,
}

/// Start of a run of copied bytes.
#[derive(Clone, Copy, Debug)]
struct Segment {
    in_text: usize,
    in_source: usize,
    length: usize,
}

/// Definition that the lexer finds, such as one by a macro: `DEFINE_MUTEX(name)`. Ranges are of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LexedDefinition {
    pub(crate) kind: Kind,
    pub(crate) name: Range<usize>,
    pub(crate) head: Range<usize>,
    pub(crate) extent: Range<usize>,
    pub(crate) parameters: Option<Range<usize>>,
    /// Scope that is written before the name.
    pub(crate) qualifier: Option<Range<usize>>,
}

impl Skimmed {
    /// Nothing, with the stop that ends a text.
    pub(crate) fn until(stop: Option<Arc<Stop>>) -> Self {
        Self { stop, ..Self::default() }
    }

    /// Whether the job was asked to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.is_raised())
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.segments.clear();
        self.cuts.clear();
        self.left_out.clear();
        self.directives.clear();
        self.blank = 0..0;
        self.replacements.clear();
        self.replaced.clear();
        self.by_macros.clear();
        self.plain.clear();
        self.has_inner = false;
    }

    /// The shortened text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Copies a range of the source.
    fn keep(&mut self, source: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            self.segments.push(Segment {
                in_text: self.text.len(),
                in_source: range.start,
                length: range.len(),
            });
            self.text.extend_from_slice(&source[range]);
        }
    }

    /// Takes back what was copied from an offset of the source on.
    fn take_back(&mut self, from: usize) {
        while let Some(last) = self.segments.pop_if(|last| last.in_source + last.length > from) {
            let length = from.saturating_sub(last.in_source);
            self.text.truncate(last.in_text + length);
            self.blank.end = self.blank.end.min(self.text.len());
            self.blank.start = self.blank.start.min(self.blank.end);
            if length > 0 {
                self.segments.push(Segment { length, ..last });
            }
        }
    }

    /// Returns `true` if the text since the last cut, and some more bytes, are enough for a piece.
    fn is_piece(&self, more: usize) -> bool {
        self.text.len() + more - self.cuts.last().copied().unwrap_or_default() >= PIECE
    }

    /// Cuts the text here.
    fn cut(&mut self) {
        self.cuts.push(self.text.len());
    }

    /// End of a head with what was left out right after it. `end` is its end without that.
    pub(crate) fn head_end(&self, source: &[u8], mut end: usize) -> usize {
        loop {
            let next = end + source[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let index = self.left_out.partition_point(|range| range.start < next);
            match self.left_out.get(index).filter(|range| range.start == next && range.end > next) {
                Some(range) => end = range.end,
                None => return end,
            }
        }
    }

    /// The source with spaces and other bytes for what is outside of the grammar.
    pub(crate) fn without_left_out<'s>(&self, source: &'s [u8]) -> Cow<'s, [u8]> {
        let mut text = Cow::Borrowed(source);
        for &(at, byte) in &self.replaced {
            text.to_mut()[at] = byte;
        }
        let mut blank = |range: &Range<usize>, mut first: u8| {
            let bytes = text.to_mut()[range.clone()].iter_mut();
            bytes.filter(|byte| !byte.is_ascii_whitespace()).for_each(|byte| {
                *byte = std::mem::replace(&mut first, b' ');
            });
        };
        // Ranges may be within others.
        let mut done = 0;
        let mut ranges: Vec<_> = self.left_out.iter().chain(&self.directives).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        for range in ranges {
            let rest = range.start.max(done)..range.end.max(done);
            blank(&rest, b' ');
            done = rest.end;
        }
        // A macro without a replacement would take the next line for it.
        self.replacements.iter().for_each(|range| blank(range, b'0'));
        text
    }

    /// Pieces of the text that can be parsed one after the other: no definition crosses a cut.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.cuts.iter().copied());
        let ends = self.cuts.iter().copied().chain([self.text.len()]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|piece| !piece.is_empty())
    }

    /// Adds bytes that are not in the source, to keep tokens apart. No definition begins or ends in them.
    fn insert(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }

    /// Inserts an empty function, at which the parser can recover from an error, unless one is there.
    fn insert_mark(&mut self) {
        let end = self.trimmed();
        if !self.text[..end].ends_with(MARK) {
            self.insert(MARK);
        }
    }

    /// Length of the text without white space at its end. Only what was added since the last call is looked at.
    fn trimmed(&mut self) -> usize {
        let length = self.text.len();
        let Range { start, end } = self.blank.clone();
        let added = self.text[end..].trim_ascii_end().len();
        let trimmed = if added > 0 { end + added } else { self.text[..start].trim_ascii_end().len() };
        self.blank = trimmed..length;
        trimmed
    }

    /// Returns `true` if the text ends after a complete declaration.
    fn is_complete(&mut self) -> bool {
        let end = self.trimmed();
        matches!(self.text[..end].last(), None | Some(b';' | b'{' | b'}' | b':'))
    }

    /// Adds a byte that stands for the one at an offset of the source: a definition may begin or end with it.
    #[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
    fn stand_in(&mut self, byte: u8, offset: usize) {
        self.segments.push(Segment { in_text: self.text.len(), in_source: offset, length: 1 });
        self.text.push(byte);
    }

    /// Maps a range of the shortened text to one of the source. Inserted bytes at its end do not belong to it.
    pub(crate) fn source_range(&self, range: Range<usize>) -> Range<usize> {
        let start = self.source(range.start, range.start);
        start..self.source(range.end.saturating_sub(1), range.end).max(start)
    }

    /// Maps `offset` by the run of copied bytes that contains `of` or ends before it.
    fn source(&self, of: usize, offset: usize) -> usize {
        let index = self.segments.partition_point(|segment| segment.in_text <= of);
        index.checked_sub(1).map_or(0, |index| {
            let Segment { in_text, in_source, length } = self.segments[index];
            in_source + offset.saturating_sub(in_text).min(length)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_mapped_to_the_source_without_inserted_bytes() {
        let mut skimmed = Skimmed::default();
        skimmed.keep(b"int a; /**/ b", 0..6);
        skimmed.insert(b"  ");
        skimmed.keep(b"int a; /**/ b", 11..13);
        skimmed.insert(b"\n");
        assert_eq!(skimmed.text(), b"int a;   b\n");
        for (range, expected) in
            [(0..6, 0..6), (4..5, 4..5), (0..7, 0..6), (9..10, 12..13), (9..11, 12..13), (0..11, 0..13)]
        {
            assert_eq!(skimmed.source_range(range.clone()), expected, "{range:?}");
        }
        assert_eq!(Skimmed::default().source_range(0..3), 0..0);
    }
}
