//! Code and text: a lexer separates the code of a source from its literals and comments, many times faster than a parser.

use std::ops::Range;

use memchr::{memmem, memrchr};

#[cfg(any(feature = "go", feature = "java", feature = "rust"))]
use super::brace::{self, BraceLexer};
use super::bytes::is_word;
use super::comments::Comments;
#[cfg(feature = "python")]
use super::python::PythonLexer;
use super::{c, has_preprocessor};
use crate::language::Language;

/// Keywords before the name of what they define, in any language whose literals span lines.
const KEYWORDS: [&[u8]; 11] =
    [b"class", b"def", b"enum", b"fn", b"func", b"interface", b"mod", b"struct", b"trait", b"type", b"union"];

/// Number of bytes of a line in which the beginning of a literal is looked for.
const LINE: usize = 400;

/// Returns `false` if all places in a text, which are in order, are in comments or literals.
pub(crate) fn may_be_code(
    language: Language,
    source: &[u8],
    mut places: impl Iterator<Item = Range<usize>>,
) -> bool {
    let mut lexer = Lexer::new(language, source);
    places.any(|place| lexer.may_be_code(place.start))
}

/// Returns `true` if one of the places in a text is in a literal that names a test, as in `TEST_CASE("name")`, or after a keyword of
/// definitions: before it, a literal without an end may have made text of code, and code of text.
pub(crate) fn may_name_definition(source: &[u8], mut places: impl Iterator<Item = Range<usize>>) -> bool {
    places.any(|place| {
        let before = &source[place.start.saturating_sub(LINE)..place.start];
        let line = memrchr(b'\n', before).map_or(before, |end| &before[end + 1..]);
        let word = line.trim_ascii_end();
        let is_after = |keyword: &&[u8]| {
            word.strip_suffix(*keyword).is_some_and(|rest| !rest.last().is_some_and(is_word))
        };
        memmem::find(line, b"(\"").is_some() || word.len() < line.len() && KEYWORDS.iter().any(is_after)
    })
}

/// Filter of the words of a text by their offsets, in order: returns `false` if a word is in a comment or literal, so that it is no use.
pub(crate) fn possible_uses(language: Language, source: &[u8]) -> impl FnMut(usize) -> bool + '_ {
    let mut lexer = Lexer::new(language, source);
    move |offset| lexer.may_be_use(offset)
}

/// Lexer for offsets that do not go back.
enum Lexer<'s> {
    C(c::Code<'s>),
    #[cfg(any(feature = "go", feature = "java", feature = "rust"))]
    Brace(BraceLexer<'s>),
    #[cfg(feature = "python")]
    Python(PythonLexer<'s>),
    Comments(Comments<'s>),
    None,
}

impl<'s> Lexer<'s> {
    fn new(language: Language, source: &'s [u8]) -> Self {
        #[cfg(any(feature = "go", feature = "java", feature = "rust"))]
        if let Some(lexer) = brace::lexer(language, source) {
            return Self::Brace(lexer);
        }
        match language {
            #[cfg(feature = "python")]
            Language::Python => Self::Python(PythonLexer::new(source)),
            _ if has_preprocessor(language) => Self::C(c::Code::new(source)),
            _ => Comments::new(language, source).map_or(Self::None, Self::Comments),
        }
    }

    /// Returns `true` if an offset may be in code: it is, or the text before it is not understood.
    fn may_be_code(&mut self, offset: usize) -> bool {
        let is_code = match self {
            Self::C(code) => Some(code.may_contain(offset)),
            #[cfg(any(feature = "go", feature = "java", feature = "rust"))]
            Self::Brace(lexer) => lexer.is_code(offset),
            #[cfg(feature = "python")]
            Self::Python(lexer) => lexer.is_code(offset),
            Self::Comments(comments) => Some(!comments.contains(offset)),
            Self::None => Some(true),
        };
        is_code.unwrap_or_else(|| {
            // A lexer that has failed knows nothing of the text after that.
            *self = Self::None;
            true
        })
    }

    /// Returns `true` if a word at an offset may be a use. In C and C++, this lexer alone decides that.
    fn may_be_use(&mut self, offset: usize) -> bool {
        match self {
            Self::C(code) => code.contains(offset),
            _ => self.may_be_code(offset),
        }
    }
}
